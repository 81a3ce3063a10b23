/* announce.h - jobs that are shared: the launcher announces them, the others follow; what happens
 * to them is told both ways.
 */
#ifndef WIREUP_WIREUPD_ANNOUNCE_H
#define WIREUP_WIREUPD_ANNOUNCE_H

#include "wireupd/share.h"

/* Launcher: everybody is told of a job of ours and starts its part.  rq: what has been put into its
 * store before; or NULL; push_to: as in the message. */
void announce_job(struct share *s, struct job *j, const uint32_t *positions, int64_t push_to,
                  const struct spawn_request *rq);
void announce_kill(struct share *s, const struct job *j); /* launcher: as the core has decided */
void announce_over(struct share *s, const struct job *j); /* launcher: everybody forgets it */

/* A daemon: the launcher is to end the job; asked once. */
void announce_ask_end(struct share *s, struct job *j, uint32_t rank, int code, const char *reason);
/* EFFECT_ABORT */
void announce_ask_abort(struct share *s, const struct effect *e);

/* A daemon: that rank's shared libraries are not found; before the news of its end. */
void announce_unloaded(struct share *s, const struct job *j, uint32_t rank, struct slice line);

/* MSG_job, _news, _unloaded, _abort, _kill or _over. */
void announce_hear(struct share *s, const struct msg *m);

#endif
