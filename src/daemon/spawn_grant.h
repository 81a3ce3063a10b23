/* spawn_grant.h - a spawn reserves nodes for its job (spawn_wish.h), and a scheduler decides about
 * nodes (scheduler.h): the scheduler is asked as for a new allocation of the process that spawns,
 * and the spawn waits for its answer.
 *
 * A spawn of two kinds of jobs (cospawn.h) does not ask.
 */
#ifndef WIREUP_DAEMON_SPAWN_GRANT_H
#define WIREUP_DAEMON_SPAWN_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "daemon/spawn_held.h"

struct scheduler;

/* The scheduler has not answered that request within the time limit of the spawn, which is the
 * callee's. */
typedef void spawn_grant_late_fn(void *arg, uint32_t number, struct spawn_held *h);

struct spawn_grants {
    struct list all; /* next NULL: not open */
    struct loop *loop;
    spawn_grant_late_fn *late;
    void *arg;
};

void spawn_grants_open(struct spawn_grants *g, struct loop *loop, spawn_grant_late_fn *late,
                       void *arg);
void spawn_grants_close(struct spawn_grants *g); /* harmless twice, and on zeroed memory */

/* True: the scheduler has been asked, and the spawn is copied.  False: it reserves nothing, there
 * is no scheduler that it has to ask, or that cannot be asked. */
bool spawn_grant_ask(struct spawn_grants *g, struct scheduler *s, const struct spawn_held *h);

/* The spawn of the scheduler's request of that number, which is the caller's (spawn_held_free);
 * NULL: there is none. */
struct spawn_held *spawn_grant_take(struct spawn_grants *g, uint32_t number);
struct spawn_held *spawn_grant_take_any(struct spawn_grants *g); /* likewise */

#endif
