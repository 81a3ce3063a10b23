/* session_dir.h - where programs may put their files: a directory of the launch on each node.
 *
 *   <tmp>/wireup-<uid>/<pid>-<random>          of one launcher or daemon (PMIX_TMPDIR)
 *   <tmp>/wireup-<uid>/<pid>-<random>/<job>          of a job (PMIX_NSDIR)
 *   <tmp>/wireup-<uid>/<pid>-<random>/<job>/<rank>   of a process (PMIX_PROCDIR)
 *
 * The name is chosen at the start, before the guard and the worker part, and costs no more than two
 * looks; directories are made when one is told to somebody, so a job that does not ask has
 * none.  All are of mode 0700.  A first level that is not ours alone (somebody else
 * was there before) is passed over: then the launch has a name of its own beside it.
 *
 * Everything below goes with the launch, and with a job that ends before it; no link is followed.
 * Whoever is killed is swept behind by its other half (wireupd/supervisor.h); where all were
 * killed, by the next of the user's launches that makes one: a living owner holds a lock (flock) on
 * its own.
 */
#ifndef WIREUP_IO_SESSION_DIR_H
#define WIREUP_IO_SESSION_DIR_H

#include <stdbool.h>
#include <stdint.h>

enum { SESSION_DIR_MAX = 512 };

struct session_dir {
    char base[SESSION_DIR_MAX], path[SESSION_DIR_MAX]; /* path empty: there will be none */
    bool own_base;                                     /* the first level is passed over */
    int fd;                                            /* of path, locked; -1: not made yet */
};

#define SESSION_DIR_NULL ((struct session_dir){ .fd = -1 })

/* Chooses the name below `tmp`; none where nothing can be made. */
void session_dir_name(struct session_dir *d, const char *tmp);

/* Makes what is missing for a job, and for one of its processes (or SESSION_DIR_JOB).  0 or -errno.
 */
#define SESSION_DIR_JOB UINT32_MAX
int session_dir_make(struct session_dir *d, uint32_t job, uint32_t rank);

/* Removes what a job has, or everything (also what another process with the same name in hand has
 * made, which has ended).  Harmless twice, and when nothing was made. */
void session_dir_drop(struct session_dir *d, uint32_t job);
void session_dir_remove(struct session_dir *d);

#endif
