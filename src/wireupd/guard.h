/* guard.h - two processes instead of one, so that nothing stays whoever is killed.
 *
 * The guard is the process that the user started: it takes signals, waits, and ends with the job's
 * exit code.  The worker, its only child, does everything else.  Both adopt orphans:
 *   - the guard is killed: the worker sees its control pipe close, kills every descendant, ends
 *     (a worker that was stopped is made to go on for that);
 *   - the worker is killed: its processes become the guard's, which kills them, and says so.
 *
 * The split is the one fork of the program: before any connection, key or process exists.
 */
#ifndef WIREUP_WIREUPD_GUARD_H
#define WIREUP_WIREUPD_GUARD_H

#include "base/log.h"

/* What the guard says when its worker was killed: a sentence. */
typedef void guard_word(void *arg, const char *sentence);

/* Returns in the worker only: 0, with the end of the control pipe on which one byte arrives per
 * signal; or -errno, in the one process there still is.  The guard never returns: it ends with the
 * worker's exit code.  word NULL: the log has its sentence. */
int guard_split(const struct log *log, guard_word *word, void *arg, int *control_fd_p);

/* Before anything else: 0, 1 and 2 exist, nothing else that we inherited reaches the processes we
 * start, and their ends can be waited for. */
void guard_tidy(void);

#endif
