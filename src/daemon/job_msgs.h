/* job_msgs.h - messages about jobs on several nodes: the launcher announces jobs, the daemons
 * start their parts, and remove them when it says so (job_handlers.h).  Changes of jobs
 * meanwhile: cluster/job_states.h.
 */
#ifndef WIREUP_DAEMON_JOB_MSGS_H
#define WIREUP_DAEMON_JOB_MSGS_H

#include "daemon/local_job.h"
#include "daemon/cluster_io.h"

/* Launcher: announces a job, which is complete, to all daemons, which start their parts. rq:
 * entries for its store given before the start, or NULL. */
void job_msgs_announce(struct cluster_io *s, struct local_job *w, const struct spawn_request *rq);
/* Launcher: all jobs, for daemons that have joined since; the others know them. */
void job_msgs_repeat(struct cluster_io *s);
void job_msgs_over(struct cluster_io *s, const struct job *j); /* launcher: all daemons forget it */

struct node_replacement; /* core/job_restart.h */

/* Launcher: the node is at that position from now on, for all daemons at the same place in the
 * order of our reports.  False: the server does not take it. */
bool job_msgs_replace(struct cluster_io *s, const struct job *j, const struct node_replacement *n,
                      uint32_t position);

/* Daemon: asks the launcher to end the job, once per job. */
void job_msgs_ask_end(struct cluster_io *s, struct job *j, uint32_t rank, int code,
                      const char *reason);

/* Daemon: reports that rank's missing shared libraries, before the process state of its end. */
void job_msgs_unloaded(struct cluster_io *s, const struct job *j, uint32_t rank, struct slice line);

#endif
