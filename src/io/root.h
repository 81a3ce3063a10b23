/* root.h - the file system as another process sees it.
 *
 * A path that a process sends us is a path in its own root directory and among its own mounts: in a
 * container it names another file than here.
 */
#ifndef WIREUP_IO_ROOT_H
#define WIREUP_IO_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

/* 0: the process has our root and mounts, *fd_p is -1.  1: it has not; *fd_p is its root directory,
 * which stays open after the process is gone.  -errno: it cannot be determined; *fd_p is -1. */
int root_of(pid_t pid, int *fd_p);

/* Both have the same root and mounts.  False also if that cannot be determined. */
bool root_is_same(pid_t a, pid_t b);

/* The process sees our System V shared memory.  False also if that cannot be determined. */
bool root_shares_ipc(pid_t pid);

#endif
