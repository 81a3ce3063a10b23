/* supervisor.h - two processes instead of one, so that nothing is left over whichever is killed,
 * and signals are handled from the first instruction on.
 *
 * The supervisor is the process that the user started: it takes signals, waits, and exits with the
 * job's exit code.  The worker, its only child, does everything else.  Both adopt orphans:
 *   - the supervisor is killed: the worker sees EOF on its control socket, kills every descendant,
 *     removes what they have registered, exits (a stopped worker is continued for that; one that
 *     does not read the socket yet dies);
 *   - the worker is killed: its processes become the supervisor's, which does the same, and reports
 *     it.
 *
 * Until the worker reads the socket (supervisor_listening()), a signal that asks for the end, or
 * the end of the time limit, makes the supervisor kill it: nothing has been started that could be
 * left over.  Afterwards signals are the worker's; if it does not end within its time (phase.def),
 * the supervisor kills it.
 *
 * The split is the one fork of the program: before any connection, key or process exists.
 */
#ifndef WIREUP_DAEMON_SUPERVISOR_H
#define WIREUP_DAEMON_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "daemon/leftovers.h"

/* Reports, in a sentence, that the worker was killed or interrupted. */
typedef void supervisor_word(void *arg, const char *sentence);

/* Returns in the worker only: 0, with the worker's end of the control socket, on which one byte
 * arrives per signal; or -errno, in the only process.  The supervisor never returns: it exits with
 * the worker's exit code, or, if it has ended the worker, with 128 plus the signal, or 124 for the
 * time limit.  word NULL: the sentence goes to the log. */
int supervisor_split(const struct log *log, supervisor_word *word, void *arg, int *control_fd_p);

/* The worker: the job may take that many seconds from begun_ns (clock_now_ns()) on; 0: no limit. */
void supervisor_limit(int control_fd, uint64_t begun_ns, uint32_t seconds);

/* The worker has something to tell a debugger that is attached (mpir.h); held: the job's processes
 * go on when it has taken it in. */
void supervisor_debug(int control_fd, bool held);

/* The worker: it reads its control socket from now on.  Before it starts anything.  This wakes
 * nobody: the supervisor need not know before the next signal. */
void supervisor_listening(void);

/* The worker, at its end: kills what it still has, and removes what is registered, because the
 * supervisor may have been killed meanwhile.  From then on the worker dies with it. */
void supervisor_finish(void);

/* What is to be removed when one of the two processes is killed; NULL: there is only one. */
struct leftovers *supervisor_leftovers(void);

/* Before anything is opened, by who will detach: which descriptors it was started with. */
void supervisor_note_inherited(void);

/* The worker: both processes leave the standard streams that they were started with, and those that
 * were noted.  Who reads them to their end, as $(...) does, would otherwise wait until both have
 * ended. */
void supervisor_detach(int control_fd);

/* Before anything else: makes sure that 0, 1 and 2 exist, that no other inherited descriptor
 * reaches the processes we start, and that children can be waited for. */
void supervisor_tidy(void);

#endif
