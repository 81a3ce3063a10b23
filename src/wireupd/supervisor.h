/* supervisor.h - two processes instead of one, so that nothing stays whoever is killed, and so that
 * somebody listens from the first instruction on.
 *
 * The guard is the process that the user started: it takes signals, waits, and ends with the job's
 * exit code.  The worker, its only child, does everything else.  Both adopt orphans:
 *   - the guard is killed: the worker sees its control socket close, kills every descendant, ends
 *     (a worker that was stopped is made to go on for that; one that does not listen yet dies);
 *   - the worker is killed: its processes become the guard's, which kills them, and says so.
 *
 * Until the worker listens (supervisor_listening()), a signal that asks for the end, or the end of
 * the time limit, makes the guard kill it: nothing has been started that could stay.  Afterwards
 * signals are the worker's; should it not end within what it is given (phase.def), the guard ends
 * it.
 *
 * The split is the one fork of the program: before any connection, key or process exists.
 */
#ifndef WIREUP_WIREUPD_SUPERVISOR_H
#define WIREUP_WIREUPD_SUPERVISOR_H

#include <stdint.h>

#include "base/log.h"

/* What the guard says when its worker was killed or has been interrupted: a sentence. */
typedef void supervisor_word(void *arg, const char *sentence);

/* Returns in the worker only: 0, with the worker's end of the control socket, on which one byte
 * arrives per signal; or -errno, in the one process there still is.  The guard never returns: it
 * ends with the worker's exit code, or with 128 and the signal, or 124 for the time limit, when it
 * has ended it.  word NULL: the log has its sentence. */
int supervisor_split(const struct log *log, supervisor_word *word, void *arg, int *control_fd_p);

/* The worker: the job has so many seconds from begun_ns (clock_now_ns()) on; 0: as many as it
 * takes. */
void supervisor_limit(int control_fd, uint64_t begun_ns, uint32_t seconds);

/* The worker: it reads control_fd from now on.  Before it starts anything. */
void supervisor_listening(int control_fd);

/* Before anything else: 0, 1 and 2 exist, nothing else that we inherited reaches the processes we
 * start, and their ends can be waited for. */
void supervisor_tidy(void);

#endif
