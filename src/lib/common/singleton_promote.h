/* singleton_promote.h - starts a process manager for a program that was started by hand.
 *
 * When a singleton needs a process manager (to spawn), its library starts `wireup` on one end of a
 * socket pair and goes on as the only member of a job that keeps its name.  The launcher ends when
 * the connection closes.
 */
#ifndef WIREUP_LIB_COMMON_SINGLETON_PROMOTE_H
#define WIREUP_LIB_COMMON_SINGLETON_PROMOTE_H

#include <sys/types.h>

#include "base/err.h"

/* Starts the launcher (WIREUP in the environment, else `wireup` on PATH).  0 with our end of the
 * connection and the launcher's pid; or -errno with a sentence (-ENOENT: it is not installed). */
int promote(const char *name, int *fd_p, pid_t *pid_p, struct errmsg *err);

/* The connection has been closed: waits for the launcher to exit, so that it leaves no zombie,
 * and clears *pid_p.  0 instead of a pid: there is none. */
void singleton_promote_end(pid_t *pid_p);

#endif
