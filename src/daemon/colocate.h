/* colocate.h - a spawned job on the nodes of processes of another: a debugger's daemons.
 *
 * Infos of a command: colocate, "RANKS:NAMESPACE" (RANKS: "all", or "0,3"), with
 *   colocate-per-node   N: so many on each node that has one of those processes; default: 1
 *   colocate-per-proc   N: so many for each of those processes, on its node
 */
#ifndef WIREUP_DAEMON_COLOCATE_H
#define WIREUP_DAEMON_COLOCATE_H

#include "base/err.h"
#include "core/core.h"
#include "core/spawn.h"

/* Gives such commands their hosts and their number of processes.  0, or enum spawn_failure with one
 * sentence. */
int colocate(const struct core *c, struct spawn_request *rq, struct errmsg *err);

#endif
