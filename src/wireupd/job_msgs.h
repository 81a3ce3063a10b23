/* job_msgs.h - jobs that are shared: the launcher announces them, the others follow; what happens
 * to them is told both ways.
 */
#ifndef WIREUP_WIREUPD_JOB_MSGS_H
#define WIREUP_WIREUPD_JOB_MSGS_H

#include "wireupd/multinode.h"

/* Launcher: everybody is told of a job of ours and starts its part.  rq: what has been put into its
 * store before; or NULL; push_to: as in the message. */
void job_msgs_job(struct multinode *s, struct job *j, const uint32_t *positions, int64_t push_to,
                  const struct spawn_request *rq);
void job_msgs_kill(struct multinode *s,
                   const struct job *j); /* launcher: as the core has decided */
void job_msgs_over(struct multinode *s, const struct job *j); /* launcher: everybody forgets it */

/* A daemon: the launcher is to end the job; asked once. */
void job_msgs_ask_end(struct multinode *s, struct job *j, uint32_t rank, int code,
                      const char *reason);
/* EFFECT_ABORT */
void job_msgs_ask_abort(struct multinode *s, const struct effect *e);

/* A daemon: that rank's shared libraries are not found; before the news of its end. */
void job_msgs_unloaded(struct multinode *s, const struct job *j, uint32_t rank, struct slice line);

/* MSG_job, _news, _unloaded, _abort, _kill or _over. */
void job_msgs_hear(struct multinode *s, const struct msg *m);

#endif
