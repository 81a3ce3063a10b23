/* spawn_stops.h - which processes of a job stop for a debugger, and where.
 *
 * Infos of a command: stop-on-exec, stop-in-init, stop-in-app, each "all" (processes of the
 * command) or ranks of the job ("0,3"); breakpoint, a name for where the program stops;
 * debug-target, what the job itself debugs: "RANK:NAMESPACE" or "all:NAMESPACE".
 */
#ifndef WIREUP_LAUNCH_SPAWN_STOPS_H
#define WIREUP_LAUNCH_SPAWN_STOPS_H

#include "core/job_map.h"
#include "core/spawn.h"

struct launch_options;

/* The plan has its processes.  0, -ENOMEM, or SPAWN_BAD_REQUEST with one sentence. */
int spawn_stops_read(struct job_map *plan, const struct spawn_command *commands, uint32_t n,
                     struct errmsg *err);

/* The same from the command line: all processes. */
int spawn_stops_options(struct job_map *plan, const struct launch_options *opt, struct errmsg *err);

#endif
