/* child.h - starts one process, and ends all of its descendants.
 *
 * One struct lists everything that a child inherits: descriptors, directory, environment,
 * processors, limits.  Nothing else leaks: our own descriptors are all close-on-exec.  Between
 * clone and exec the child runs in our memory; nothing of ours is copied.
 */
#ifndef WIREUP_IO_CHILD_H
#define WIREUP_IO_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

struct child_fd {
    int from; /* ours */
    int to;   /* the child's; listed in ascending order; `from` is never below 3 */
};

struct child_plan {
    const char *path;
    char *const *argv;
    char *const *env;
    const char *wdir; /* NULL: ours */
    const struct child_fd *fds;
    size_t nfds;
    const unsigned long *cpus; /* NULL: ours */
    size_t cpus_bytes;
    bool stopped; /* before its first instruction, until a SIGCONT; a debugger can attach to it */
    const struct rlimit *nofile; /* NULL: ours; else the user's limit before we raised ours */
};

/* Starts it in a process group of its own, with default signal handling, bound to die with us
 * (SIGKILL when the calling thread ends).  0 and the pid; or -errno with one sentence in err that
 * names the step: directory, binding, descriptor or exec. */
int child_start(const struct child_plan *p, pid_t *pid_p, struct errmsg *err);

/* From now on orphaned descendants become our children. */
int child_adopt_orphans(void);

/* Kills (SIGKILL) and reaps every descendant, whatever group or session it hides in, until none is
 * left.  Only those that became our children (child_adopt_orphans) are found.  Returns their
 * number. */
unsigned child_end_all(void);

/* The same, but these n of our children live, with all that is below them; those of them that have
 * ended are not reaped. */
void child_end_except(const pid_t *keep, size_t n);

#endif
