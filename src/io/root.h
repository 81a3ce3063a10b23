/* root.h - the file system as another process sees it.
 *
 * A name that a process gives us is a name in its own root directory and among its own mounts: in a
 * container something else than here.
 */
#ifndef WIREUP_IO_ROOT_H
#define WIREUP_IO_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

/* 0: the process sees what we see, *fd_p is -1.  1: it does not; *fd_p is its root directory, which
 * stays when the process has gone.  -errno: it cannot be found out; *fd_p is -1. */
int root_of(pid_t pid, int *fd_p);

/* Both see the same.  False also when that cannot be found out. */
bool root_is_same(pid_t a, pid_t b);

#endif
