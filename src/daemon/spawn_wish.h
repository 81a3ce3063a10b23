/* spawn_wish.h - the nodes that a spawn request reserves for its job.
 *
 *   alloc-nodes, alloc-cpus    at least so many nodes, and nodes with so many slots
 *   alloc-node-list            of these; without a number, all of them
 *   alloc-exclude              but not of these
 *   alloc-time                 for so many seconds
 *   alloc-req-id               the request id of what is reserved
 *
 * A request with one of the first five wants nodes of its own; without a number and a list, as many
 * slots as it has processes.  It cannot name an allocation that there is, nor processes whose nodes
 * it is to share. */
#ifndef WIREUP_DAEMON_SPAWN_WISH_H
#define WIREUP_DAEMON_SPAWN_WISH_H

#include <stdbool.h>

#include "base/err.h"
#include "core/reservation.h"
#include "core/spawn.h"

/* *wanted_p: whether it wants any; *w borrows its texts, and has neither owner nor present time. 0,
 * or SPAWN_BAD_REQUEST with a sentence. */
int spawn_wish_read(const struct spawn_request *rq, struct reservation_wish *w, bool *wanted_p,
                    struct errmsg *err);

#endif
