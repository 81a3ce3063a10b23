/* launcher.h - starts the processes of jobs: some in each turn of the loop, so that Ctrl-C and
 * clients are heard meanwhile. */
#ifndef WIREUP_WIREUPD_LAUNCHER_H
#define WIREUP_WIREUPD_LAUNCHER_H

#include "overlay/msg.h"
#include "wireupd/local_job.h"

/* The starter's timer: starts some. */
void launcher_run(void *node);

/* Those who have not been tried will not be started either. */
void launcher_skip(struct local_job *w);

/* A daemon: starts our part of a job.  The plan is taken over on success.  NULL with a sentence. */
struct job *launcher_follow(struct node *n, struct job_map *plan, const struct msg_job *m,
                            uint32_t here, struct errmsg *err);

#endif
