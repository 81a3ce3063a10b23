/* child.h - starts one process, and ends all of its descendants.
 *
 * One struct lists what a child is given: descriptors, directory, environment, processors.  All else
 * it has from us as we have it from whoever started us (docs/design/processes.md has the list), and
 * nothing that we have changed for ourselves: our descriptors are all close-on-exec, signals have
 * their default handling, and the limit of open files is the one from before child_raise_nofile().
 * Between clone and exec the child runs in our memory; nothing of ours is copied.
 */
#ifndef WIREUP_IO_CHILD_H
#define WIREUP_IO_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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
};

/* Signals that whoever started us ignores get their default handling: nobody whom we start shall
 * ignore them.  Those that children get back in any case stay as they are for ourselves (SIGHUP by
 * nohup, SIGINT behind a shell's `&`). */
void child_restore_signals(void);

/* Raises our limit of open files as far as it may be.  Children get back the one from before the
 * first call. */
void child_raise_nofile(void);

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
