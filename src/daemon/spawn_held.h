/* spawn_held.h - a spawn that waits for nodes (spawn_growth.h, spawn_grant.h). */
#ifndef WIREUP_DAEMON_SPAWN_HELD_H
#define WIREUP_DAEMON_SPAWN_HELD_H

#include "core/spawn.h"

struct spawn_held {
    uint32_t job; /* that asks */
    uint64_t ticket;
    struct spawn_request *request;
    uint32_t session;    /* the reservation that a scheduler has granted it; 0: none */
    const char *refusal; /* why it does not go on; NULL: it does */
};

/* A copy that owns its request; NULL: no memory. */
struct spawn_held *spawn_held_copy(const struct spawn_held *h);
void spawn_held_free(struct spawn_held *h);

#endif
