/* client_put.h - what this process puts, until it is committed and afterwards.
 *
 * Its values are known like all others (client_cache.h); here is their order, and what of them the
 * server has.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_PUT_H
#define WIREUP_LIB_PMIX_CLIENT_PUT_H

#include <stdbool.h>

#include "base/list.h"

struct client;

struct puts {
    struct list all; /* struct known, by its link `put` */
    bool news;       /* something was put since the last commit */
    bool committed;  /* once at least */
};

void puts_init(struct puts *p);

#endif
