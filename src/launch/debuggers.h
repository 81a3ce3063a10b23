/* debuggers.h - the option -debugger: once all processes of the first job are there, the chosen
 * ones stopped at their first instruction, `wireup attach` gives each of these a debugger.
 *
 * It is a process of its own, so that a launcher that serves is not held up by debuggers.
 */
#ifndef WIREUP_LAUNCH_DEBUGGERS_H
#define WIREUP_LAUNCH_DEBUGGERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/log.h"
#include "core/job.h"
#include "launch/options.h"

struct debuggers {
    pid_t pid; /* 0: it does not run */
    bool over; /* it knows that the job is over */
};

/* Does nothing for other jobs, and without the option. */
void debuggers_start(struct debuggers *d, const struct launch_options *o, const struct job *j,
                     const struct log *log);
/* True: it was ours. */
bool debuggers_reaped(struct debuggers *d, pid_t pid);
/* The job is over, and debuggers in panes are ended.  True: they have not ended yet. */
bool debuggers_end(struct debuggers *d);

#endif
