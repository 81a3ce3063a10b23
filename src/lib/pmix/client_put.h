/* client_put.h - what this process puts, until it is committed and afterwards.
 *
 * Its values are known like all others (client_cache.h); here is their order, and what of them the
 * server has.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_PUT_H
#define WIREUP_LIB_PMIX_CLIENT_PUT_H

#include <stdbool.h>

#include "base/list.h"
#include "pmix_common.h"

struct client;

struct puts {
    struct list all;       /* struct known, by its link `put` */
    bool news;             /* something was put since the last commit */
    pmix_status_t refused; /* what came of a commit that nobody waited for; or PMIX_SUCCESS */
};

void puts_init(struct puts *p);

/* The server has not taken what was committed. */
void puts_refused(struct puts *p, pmix_status_t status);
/* Hands out, once, what is to be told of it: PMIX_SUCCESS when there is nothing. */
pmix_status_t puts_outcome(struct puts *p);

#endif
