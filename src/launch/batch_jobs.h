/* batch_jobs.h - all lines of a batch through one launcher: one lease of slots, daemons that are
 * started once, and a job for each line, as those that programs spawn.
 *
 * The lease has as many slots as the lines can use, of those that are free when it is made, and at
 * least those of the largest line; the lines share it, in their order, until the last one ends.
 */
#ifndef WIREUP_LAUNCH_BATCH_JOBS_H
#define WIREUP_LAUNCH_BATCH_JOBS_H

#include "launch/batch_file.h"

/* The options that are in force are those of a launcher for each line: nothing was done. */
enum { BATCH_JOBS_NOT = -1 };

/* Returns the exit code, or BATCH_JOBS_NOT. */
int batch_jobs_run(struct batch_file *file, const struct log *log);

#endif
