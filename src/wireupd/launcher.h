/* launcher.h - starts the processes of jobs, a batch in each turn of the loop, so that Ctrl-C and
 * clients are served meanwhile. */
#ifndef WIREUP_WIREUPD_LAUNCHER_H
#define WIREUP_WIREUPD_LAUNCHER_H

#include "cluster/msg.h"
#include "wireupd/local_job.h"

/* Timer callback: starts a batch. */
void launcher_run(void *node);

/* Daemon: starts our part of a job.  Takes the plan over on success.  NULL with a sentence. */
struct job *launcher_follow(struct node *n, struct job_map *plan, const struct msg_job *m,
                            uint32_t here, struct errmsg *err);

#endif
