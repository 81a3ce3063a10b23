/* usage.h - reads from /proc, and from the file systems, what this machine and its processes use
 * (core/usage.h). */
#ifndef WIREUP_IO_USAGE_H
#define WIREUP_IO_USAGE_H

#include "core/usage.h"

/* 0; -errno if the process is gone, or there is no /proc. */
int usage_of_proc(int pid, struct proc_usage *u_p);
int usage_of_node(struct node_usage *u_p);

/* Each mounted file system that keeps files.  Of those on other machines, which may not answer, no
 * numbers are asked. */
int usage_of_storages(storage_fn *fn, void *arg);
/* Likewise, of a file with the form of /proc/self/mounts. */
int usage_of_mounts(const char *table, storage_fn *fn, void *arg);

#endif
