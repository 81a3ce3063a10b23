/* client_put.h - the puts of this process, before and after their commit.
 *
 * The values are in the cache like all others (client_cache.h); this file keeps their order and
 * which of them the server has.  Our own server keeps the values that it was sent, so each commit
 * sends it only new ones; other servers are sent everything again.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_PUT_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_PUT_H

#include <stdbool.h>

#include "base/list.h"
#include "pmix_common.h"

struct client;
struct server_link;

struct puts {
    struct list fresh; /* struct known, by its link `put`: not sent yet, or to be sent again */
    struct list sent;
    const struct server_link *to; /* who was sent them */
};

void puts_init(struct puts *p);

/* The outcome of a commit that was not waited for: a refusal is returned once, and the values are
 * to be sent again; PMIX_SUCCESS when there is none. */
pmix_status_t puts_outcome(struct puts *p, struct server_link *s);

/* A process that was alone has a server now: sends it what was committed before. */
pmix_status_t puts_recommit(struct client *c);

#endif
