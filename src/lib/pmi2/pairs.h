/* pairs.h - the lists of pairs that callers of PMI2_Job_Spawn pass, in either of two forms.
 *
 *   SLURM  an array of struct MPID_Info (infos), or of pointers to such (pre-puts)
 *   MPICH  an array of { const char *key, *val; } (both), of MPICH from 4.1 on
 *
 * The call does not tell which form its caller was built for.  So the memory is inspected, by reads
 * that cannot fault: in the right form, each key is a word and each value text.
 */
#ifndef WIREUP_LIB_PMI2_PAIRS_H
#define WIREUP_LIB_PMI2_PAIRS_H

#include <stdbool.h>

#include "lib/pmi2/jobs.h"

enum pairs_form {
    PAIRS_UNKNOWN, /* neither: must not be used */
    PAIRS_SLURM,
    PAIRS_MPICH
};

/* by_pointer: in Slurm's form a list of pointers, as for pre-puts.  n of 0 is SLURM's.  Should
 * both forms fit, the result is the one that the other can resemble only by a rare chance. */
enum pairs_form pairs_form_of(const void *list, int n, bool by_pointer);

/* The pair at index i; its strings are the caller's. */
struct spawn_pair_text pairs_get(const void *list, int i, bool by_pointer, enum pairs_form form);

#endif
