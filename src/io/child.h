/* child.h - starting one process, and ending all that came from it.
 *
 * One struct says what a child inherits: descriptors, directory, environment, processors, limits.
 * Nothing else leaks: our own descriptors are all close-on-exec.  The child runs between clone and
 * exec only; nothing of ours is copied.
 */
#ifndef WIREUP_IO_CHILD_H
#define WIREUP_IO_CHILD_H

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
    const unsigned long *cpus; /* NULL: as we */
    size_t cpus_bytes;
    const struct rlimit *nofile; /* NULL: as we; else what the user had before we raised ours */
};

/* Starts it in a process group of its own, with default signal handling, bound to die with us
 * (SIGKILL when the calling thread ends).  0 and the pid; or -errno with one sentence in err that
 * names the step: directory, binding, descriptor or exec. */
int child_start(const struct child_plan *p, pid_t *pid_p, struct errmsg *err);

/* From now on orphans among our descendants become our children. */
int child_adopt_orphans(void);

/* Kills (SIGKILL) and reaps every descendant, whatever group or session it hides in, until none is
 * left.  Only those that became ours (child_adopt_orphans) are found.  Returns how many. */
unsigned child_end_all(void);

#endif
