/* debuggers.c - see debuggers.h. */
#include "launch/debuggers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "core/job_map.h"
#include "core/rank_ranges.h"
#include "io/child.h"

extern char **environ;

enum { DEBUGGERS_RANKS = 1 << 20, DEBUGGERS_ARENA = 1 << 22 };

/* Those that wait for a debugger: of a job whose other processes run. */
static char *stopped_ranks(struct arena *a, const struct job *j)
{
    struct buf text = BUF_NULL(DEBUGGERS_RANKS);
    struct rank_ranges r = { .out = &text };
    char *made;

    for (uint32_t rank = 0; rank < j->plan.nprocs; rank++) {
        if (j->plan.procs[rank].stops & job_map_stop_bit(JOB_MAP_STOP_ON_EXEC))
            rank_ranges_add(&r, rank);
    }
    rank_ranges_end(&r);
    made = buf_ok(&text) ? arena_str(a, buf_slice(&text)) : NULL;
    buf_free(&text);
    return made;
}

static int start(struct debuggers *d, const char *const *argv, struct errmsg *err)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), rc = 0;
    struct child_fd fds[3];
    struct child_plan plan = { .path = argv[0], .env = environ, .fds = fds, .nfds = 3 };

    for (int i = 0; i < 3; i++) {
        fds[i] = (struct child_fd){ fcntl(i ? i : null, F_DUPFD_CLOEXEC, 3), i };
        if (fds[i].from < 0)
            rc = errmsg_set(err, -errno, "%s", err_text(errno));
    }
    plan.argv = (char *const *)(uintptr_t)argv;
    if (rc == 0)
        rc = child_start(&plan, &d->pid, err);
    for (int i = 0; i < 3; i++) {
        if (fds[i].from >= 0)
            close(fds[i].from);
    }
    if (null >= 0)
        close(null);
    return rc;
}

void debuggers_start(struct debuggers *d, const struct launch_options *o, const struct job *j,
                     const struct log *log)
{
    struct arena a = ARENA_NULL(DEBUGGERS_ARENA);
    struct errmsg err = { "out of memory" };
    const char *ranks;
    char self[4096];
    ssize_t n;

    if (!o->debugger || d->pid || j->parent != JOB_NO_RANK)
        return;
    n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    ranks = stopped_ranks(&a, j);
    if (!ranks || start(d,
                        (const char *[]){ self, "attach", "--apart", "--debugger", o->debugger,
                                          j->nspace, ranks, NULL },
                        &err) < 0)
        log_error(log, "the debuggers cannot be started: %s", err.text);
    arena_free(&a);
}

bool debuggers_reaped(struct debuggers *d, pid_t pid)
{
    bool ours = d->pid && d->pid == pid;

    if (ours)
        d->pid = 0;
    return ours;
}

bool debuggers_end(struct debuggers *d)
{
    if (d->pid && !d->over)
        kill(d->pid, SIGTERM);
    d->over = true;
    return d->pid != 0;
}
