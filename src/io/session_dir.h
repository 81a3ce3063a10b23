/* session_dir.h - where programs may put their files: a directory of the launch on each node.
 *
 *   <tmp>/wireup-<uid>/<pid>-<random>                of one launcher or daemon (PMIX_TMPDIR)
 *   <tmp>/wireup-<uid>/<pid>-<random>/<job>          of a job (PMIX_NSDIR)
 *   <tmp>/wireup-<uid>/<pid>-<random>/<job>/<rank>   of a process (PMIX_PROCDIR)
 *
 * The name is chosen at the start, before the fork of supervisor and worker, and costs at most two
 * lookups; directories are made when their path is given to somebody, so a job that does not ask
 * has none.  All are of mode 0700.  A first level that others can enter (another user was there
 * before) is skipped: then the launch has a name of its own beside it.
 *
 * Everything below is removed with the launch, or with its job if that ends before; no link is
 * followed.  If the supervisor or the worker is killed, the other one cleans up
 * (daemon/supervisor.h); if both were killed, the next launch of the user that makes a directory
 * does: a living owner holds a lock (flock) on its own.
 */
#ifndef WIREUP_IO_SESSION_DIR_H
#define WIREUP_IO_SESSION_DIR_H

#include <stdbool.h>
#include <stdint.h>

enum { SESSION_DIR_MAX = 512 };

struct session_dir {
    char base[SESSION_DIR_MAX], path[SESSION_DIR_MAX]; /* path empty: there will be none */
    bool own_base;                                     /* the first level is skipped */
    int fd;                                            /* of path, locked; -1: not made yet */
};

#define SESSION_DIR_NULL ((struct session_dir){ .fd = -1 })

/* Chooses the name below `tmp`; none if nothing can be made there. */
void session_dir_name(struct session_dir *d, const char *tmp);

/* Makes the missing directories of a job, and of one of its processes (or SESSION_DIR_JOB).  0 or
 * -errno. */
#define SESSION_DIR_JOB UINT32_MAX
int session_dir_make(struct session_dir *d, uint32_t job, uint32_t rank);

/* Removes the directories of a job, or everything (also those that another process with the same
 * name, which has ended, has made).  Harmless twice, and if nothing was made. */
void session_dir_drop(struct session_dir *d, uint32_t job);
void session_dir_remove(struct session_dir *d);

#endif
