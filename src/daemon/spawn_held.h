/* spawn_held.h - a spawn that waits for nodes (spawn_growth.h, spawn_grant.h), at most until the
 * time limit for its start (spawn_limit.h), which counts from the request on. */
#ifndef WIREUP_DAEMON_SPAWN_HELD_H
#define WIREUP_DAEMON_SPAWN_HELD_H

#include "base/err.h"
#include "core/spawn.h"
#include "io/loop.h"

struct spawn_held {
    uint32_t job; /* that asks */
    uint64_t ticket;
    struct spawn_request *request;
    uint64_t since_ns; /* the request was made then */
    uint32_t session;  /* the reservation that a scheduler has granted it; 0: none */
    int failure;       /* why it does not go on (enum spawn_failure), with a sentence; 0: it does */
    struct errmsg why;
    struct timer limit; /* of a copy, with what it calls */
    void (*late)(struct spawn_held *h);
    void *holder;
};

/* A copy that owns its request.  late: its time is over; takes the copy over.  NULL: no memory. */
struct spawn_held *spawn_held_copy(const struct spawn_held *h, struct loop *loop,
                                   void (*late)(struct spawn_held *h), void *holder);
void spawn_held_free(struct spawn_held *h);

#endif
