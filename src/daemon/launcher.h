/* launcher.h - starts the processes of jobs, a batch in each turn of the loop, so that Ctrl-C and
 * clients are served meanwhile. */
#ifndef WIREUP_DAEMON_LAUNCHER_H
#define WIREUP_DAEMON_LAUNCHER_H

#include "daemon/local_job.h"
#include "io/streams.h"

struct processes;

struct launcher {
    struct local_jobs *jobs;
    struct processes *processes;
    struct pump pump; /* of our standard input, to processes of the first job */
    int *stdin_ends;  /* its ends, collected while that job starts */
    uint32_t nstdin_ends;
};

void launcher_open(struct launcher *l, struct local_jobs *jobs, struct processes *p);
void launcher_close(struct launcher *l); /* harmless on zeroed memory */

/* Room for the first job's standard input: that many ranks, and other nodes.  0 or -ENOMEM. */
int launcher_expect(struct launcher *l, uint32_t count);

/* Marks the ranks of this node that have not been tried as not started. */
void launcher_skip(struct local_job *w);

#endif
