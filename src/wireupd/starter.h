/* starter.h - starts the processes of jobs: some in each turn of the loop, so that Ctrl-C and
 * clients are heard meanwhile. */
#ifndef WIREUP_WIREUPD_STARTER_H
#define WIREUP_WIREUPD_STARTER_H

#include "overlay/msg.h"
#include "wireupd/work.h"

/* The starter's timer: starts some. */
void starter_run(void *node);

/* Those who have not been tried will not be started either. */
void starter_skip(struct work *w);

/* A daemon: starts our part of a job.  The plan is taken over on success.  NULL with a sentence. */
struct job *starter_follow(struct node *n, struct plan *plan, const struct msg_job *m,
                           uint32_t here, struct errmsg *err);

#endif
