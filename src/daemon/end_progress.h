/* end_progress.h - while jobs are being ended, tells a person at a terminal now and then how many
 * of their processes have ended, and which one has not.
 *
 * These are lines of their own, because processes may still write to the same terminal. */
#ifndef WIREUP_DAEMON_END_PROGRESS_H
#define WIREUP_DAEMON_END_PROGRESS_H

#include "io/loop.h"

struct local_jobs;
struct node_context;

struct end_progress {
    const struct node_context *context;
    const struct local_jobs *jobs;
    struct timer timer;
};

void end_progress_open(struct end_progress *e, const struct node_context *c,
                       const struct local_jobs *jobs);
void end_progress_close(struct end_progress *e); /* harmless twice, and on zeroed memory */

/* Processes have been asked to end.  Nothing is done for a daemon, nor without a terminal. */
void end_progress_begin(struct end_progress *e);

#endif
