/* singleton_promote.h - a program that was started by hand gets a process manager of its own.
 *
 * When a singleton wants what only a process manager can give (spawning), its library starts
 * `wireup` beside it, on one end of a socket pair, and goes on as the only member of a job that
 * keeps the name it had.  The launcher ends when the connection does.
 */
#ifndef WIREUP_LIB_COMMON_SINGLETON_PROMOTE_H
#define WIREUP_LIB_COMMON_SINGLETON_PROMOTE_H

#include <sys/types.h>

#include "base/err.h"

/* Starts the launcher (WIREUP in the environment, else `wireup` on PATH).  0 with our end of the
 * connection and the launcher's pid; or -errno with a sentence (-ENOENT: it is not installed). */
int promote(const char *name, int *fd_p, pid_t *pid_p, struct errmsg *err);

/* The connection has been closed: waits for the launcher's end, so that it is no zombie of ours,
 * and forgets it.  0 instead of a pid: there is none. */
void singleton_promote_end(pid_t *pid_p);

#endif
