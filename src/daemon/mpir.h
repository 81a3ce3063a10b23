/* mpir.h - the table of processes for debuggers that read it in the launcher's memory: the MPIR
 * process acquisition interface (TotalView, DDT, gdb scripts).
 *
 * A debugger starts or attaches to the process that the user started, which is the supervisor; the
 * worker knows the processes.  So the table and the interface's variables lie in memory that both
 * share at the same addresses, and the worker writes them.  Only if a debugger is there must the
 * supervisor be woken (supervisor_debug()), to call MPIR_Breakpoint().  Processes of a job that the
 * debugger itself has started are stopped at their first instruction until that function has
 * returned.  (On other nodes programs are found by name: then the table has the name.)
 */
#ifndef WIREUP_DAEMON_MPIR_H
#define WIREUP_DAEMON_MPIR_H

#include <stdbool.h>

struct job;

/* Makes the shared memory; before the processes split.  Without memory there is no table. */
void mpir_open(void);

/* A debugger has started this launcher, or is attached to it. */
bool mpir_is_debugged(void);

/* The worker: all processes of the job have been started; or it fails, for this reason.  Debuggers
 * see it from now on.  True: one is there and is to be told (supervisor_debug()). */
bool mpir_add(const struct job *j);
bool mpir_abort(const char *reason);

/* The supervisor: where a debugger that is to be told has set its breakpoint. */
void mpir_stop_for_debugger(void);

#endif
