/* mpir.h - the table of processes for debuggers that read it in the launcher's memory: the MPIR
 * process acquisition interface (TotalView, DDT, gdb scripts).
 *
 * A debugger starts or attaches to the process that the user started, which is the supervisor; the
 * worker knows the processes.  So the table lies in memory that both share at the same address: the
 * worker writes it, the supervisor sets the interface's variables and calls MPIR_Breakpoint().
 * Processes of a job that the debugger itself has started are stopped at their first instruction
 * until that function has returned.  (On other nodes programs are found by name: then the table has
 * the name.)
 */
#ifndef WIREUP_DAEMON_MPIR_H
#define WIREUP_DAEMON_MPIR_H

#include <stdbool.h>

struct job;

/* What the worker tells the supervisor (supervisor_debug()). */
enum mpir_news {
    MPIR_NEWS_NONE,
    MPIR_NEWS_TABLE, /* processes were added */
    MPIR_NEWS_ABORT, /* a job fails */
};

/* Makes the shared memory; before the processes split.  Without memory there is no table. */
void mpir_open(void);

/* A debugger has started this launcher. */
bool mpir_is_debugged(void);

/* The worker: all processes of the job have been started; or it fails, for this reason.  False:
 * there is no table, or no room in it. */
bool mpir_add(const struct job *j);
bool mpir_abort(const char *reason);

/* The supervisor: carries it out. */
void mpir_publish(enum mpir_news news);

#endif
