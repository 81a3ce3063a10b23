/* batch.h - `wireup run -batch FILE OPTIONS`: many jobs on a DVM, one for each line of the file.
 *
 * Each line is run as `wireup run -wait OPTIONS LINE` would run it, in the order of the file, as
 * many at once as the DVM has slots for.  Their output is ours; their input is empty.  One launcher
 * runs all of them (batch_jobs.h), unless they have options that only a launcher of their own can
 * honour.
 */
#ifndef WIREUP_LAUNCH_BATCH_H
#define WIREUP_LAUNCH_BATCH_H

#include <stdbool.h>

#include "base/log.h"

/* Is it such a command line? */
bool batch_meant(int argc, char **argv);

/* Returns the exit code: 0; that of the first job that fails; 128 and the signal that has ended it;
 * 2 or 125: nothing was started. */
int batch_run(int argc, char **argv, const struct log *log);

#endif
