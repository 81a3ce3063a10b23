/* preflight.h - checks the user's settings on all nodes before any process is started.
 *
 * Output files (output.h) and traces are created first.  On one node that is all.  On several, a
 * job that needs such files is held: each daemon creates its own and reports success or the reason
 * of failure, and the launcher lets the processes start only when all have succeeded.  A job
 * without such files costs no additional message.  One whose files are staged (staging.h) is held
 * until they are on all of its nodes, also if that is only this one.
 */
#ifndef WIREUP_DAEMON_PREFLIGHT_H
#define WIREUP_DAEMON_PREFLIGHT_H

#include "cluster/msg_address.h"
#include "daemon/local_job.h"

struct op_job;

/* This node's part of a job that we lead, before it is announced.  0, or positive with a sentence:
 * nothing may be started.  A job that must wait for other nodes, or for staged files, is held. */
int preflight_here(struct local_job *w, struct errmsg *err);

/* A daemon: creates its files, and answers if the job is held; bad: an earlier failure, or empty.
 */
void preflight_answer(struct cluster_io *s, struct job *j, const struct op_job *m,
                      const struct errmsg *bad);

/* The launch loop skips it. */
bool preflight_waits(const struct local_job *w);

/* MSG_checked, MSG_begin. */
void preflight_receive(struct cluster_io *s, const struct msg *m);
/* Launcher: a daemon will not answer any more. */
void preflight_lost(struct local_jobs *jobs, uint32_t position);

#endif
