/* preflight.h - what the user has asked for is checked on all nodes before any process is started.
 *
 * Files that take output are made first (output.h), and recordings.  On one node that is all.  On
 * several, a job that needs such files is held: each daemon makes its own and says so, or why not,
 * and only when all have said so does the launcher let them begin.  A job without such files costs
 * no message more.
 */
#ifndef WIREUP_WIREUPD_PREFLIGHT_H
#define WIREUP_WIREUPD_PREFLIGHT_H

#include "overlay/msg.h"
#include "wireupd/local_job.h"

/* This node's part of a job that we lead.  0, or positive with a sentence: nothing may be started.
 */
int preflight_here(struct local_job *w, struct errmsg *err);

/* Launcher, when a job is announced: are the others to be waited for?  Then it is held. */
bool preflight_holds(struct multinode *s, const struct job *j);

/* A daemon: it makes its files, and answers if the job is held; bad: what has failed already, or
 * empty. */
void preflight_answer(struct multinode *s, struct job *j, const struct msg_job *m,
                      const struct errmsg *bad);

/* The starter passes over it. */
bool preflight_waits(const struct local_job *w);

/* MSG_checked, MSG_begin. */
void preflight_hear(struct multinode *s, const struct msg *m);
/* Launcher: a daemon will not answer any more. */
void preflight_lost(struct node *n, uint32_t position);

#endif
