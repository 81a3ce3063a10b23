/* procstat.h - reads the state and the parent of a process from /proc/PID/stat. */
#ifndef WIREUP_IO_PROCSTAT_H
#define WIREUP_IO_PROCSTAT_H

#include <sys/types.h>

struct procstat {
    char state; /* R, S, D, T (stopped), t (by a debugger), Z ... */
    pid_t parent;
};

/* 0; -errno if the process is gone (or there is no /proc). */
int procstat_read(pid_t pid, struct procstat *st);

#endif
