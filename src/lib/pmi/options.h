/* options.h - command-line words PMI_NAME=VALUE, as pairs.  Needs no process manager. */
#ifndef WIREUP_LIB_PMI_OPTIONS_H
#define WIREUP_LIB_PMI_OPTIONS_H

#include <stdbool.h>

#include "pmi.h"

bool options_is_one(const char *word); /* false for NULL */

/* The options among nwords words, in order, as an array for options_free; NULL when there are none.
 * 0 or -ENOMEM. */
int options_to_pairs(char *const *words, int nwords, PMI_keyval_t **pairs_p, int *n_p);
void options_free(PMI_keyval_t *pairs, int n);

/* The text that PMI_Get_options returns. */
extern const char options_text[];

#endif
