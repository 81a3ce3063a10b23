/* spawn_limit.h - time limits that a spawn request sets: for the start of the job, and for the job.
 *
 * A job whose time has passed ends, and so do those that it has spawned; its parent goes on.  Where
 * the request asks for it, the launcher first reports what its processes wait for, and their
 * stacks.
 */
#ifndef WIREUP_DAEMON_SPAWN_LIMIT_H
#define WIREUP_DAEMON_SPAWN_LIMIT_H

#include "daemon/local_job.h"

/* For the start; 0: there is none. */
uint32_t spawn_limit_seconds(const struct spawn_request *rq);

/* The start begins, of what was asked for then.  late(w): its time has passed; the job has been
 * ended, and is still awaited. */
void spawn_limit_begin(struct local_job *w, const struct spawn_request *rq, uint64_t since_ns,
                       void (*late)(struct local_job *w));
/* All its processes have been started. */
void spawn_limit_started(struct local_job *w);
/* The job is removed: its time does not count any more. */
void spawn_limit_forget(struct local_job *w);

#endif
