/* proc_look.h - how the operating system sees one process at one moment: what a host reads from its
 * machine (io/look.h) for the report on pending operations, which cannot (report/who_part.h). */
#ifndef WIREUP_CORE_PROC_LOOK_H
#define WIREUP_CORE_PROC_LOOK_H

#include <stdint.h>

enum { PROC_LOOK_WAIT_MAX = 40, PROC_LOOK_MPI_MAX = 160 };

struct proc_look {
    int pid; /* the process that was looked at: the rank's, or the only child for which that waits
              */
    char state;                        /* R, S, D, T ..., as in /proc; 0: not known */
    char waits_in[PROC_LOOK_WAIT_MAX]; /* function of the kernel, or system call; empty: in none */
    uint64_t cpu_ns, over_ns;          /* CPU time, and in which time it was used; 0: not known */
    uint64_t total_ns, rss;            /* CPU time since its start; resident memory in bytes */
    char mpi[PROC_LOOK_MPI_MAX];       /* file of its MPI library; empty: it has none */
    const char *stack; /* a line for each call, innermost first (report/stack_tree.h); NULL: not
                          taken */
};

#endif
