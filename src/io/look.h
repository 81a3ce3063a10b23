/* look.h - reads from /proc how a process is at this moment (core/proc_look.h): its state, what it
 * waits in, the CPU time that it has used since the last look at it, its MPI library.
 *
 * A process that only waits for its single child (a script that starts the program) is not looked
 * at: the child is.
 */
#ifndef WIREUP_IO_LOOK_H
#define WIREUP_IO_LOOK_H

#include "core/proc_look.h"

struct look_past;

/* The CPU times of the last looks.  Zeroed memory is empty.  Of a process that it does not know (it
 * keeps a bounded number) the time counts from the start of the process. */
struct proc_looks {
    struct look_past *past;
};

/* 0; -errno if the process is gone, or there is no /proc. */
int proc_look_at(struct proc_looks *l, int pid, struct proc_look *look_p);
/* The same without what it waits in and its library, which cost most. */
int proc_look_usage(struct proc_looks *l, int pid, struct proc_look *look_p);

void proc_looks_free(struct proc_looks *l); /* harmless twice */

#endif
