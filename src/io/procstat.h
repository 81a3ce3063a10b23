/* procstat.h - what the kernel says of a process in /proc/PID/stat: its state and its parent. */
#ifndef WIREUP_IO_PROCSTAT_H
#define WIREUP_IO_PROCSTAT_H

#include <sys/types.h>

struct procstat {
    char state; /* R, S, D, T (stopped), t (by a debugger), Z ... */
    pid_t parent;
};

/* 0; -errno when it has gone (or there is no /proc). */
int procstat_read(pid_t pid, struct procstat *st);

#endif
