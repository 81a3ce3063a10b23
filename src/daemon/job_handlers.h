/* job_handlers.h - received messages about jobs: a daemon makes its part of each job that the
 * launcher announces, starts it, and removes it when the launcher says so; the launcher learns of
 * missing libraries.  Those that are sent are in job_msgs.h.
 */
#ifndef WIREUP_DAEMON_JOB_HANDLERS_H
#define WIREUP_DAEMON_JOB_HANDLERS_H

struct msg;
struct cluster_io;

/* MSG_job, _node_replaced, _unloaded or _job_done. */
void job_handlers_receive(struct cluster_io *s, const struct msg *m);

#endif
