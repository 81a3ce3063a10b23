/* launcher.h - starts the processes of jobs, a batch in each turn of the loop, so that Ctrl-C and
 * clients are served meanwhile. */
#ifndef WIREUP_DAEMON_LAUNCHER_H
#define WIREUP_DAEMON_LAUNCHER_H

#include "daemon/local_job.h"

/* Timer callback: starts a batch. */
void launcher_run(void *node);

/* Marks the ranks of this node that have not been tried as not started. */
void launcher_skip(struct local_job *w);

#endif
