/* dvm_warm.c - see dvm_warm.h. */
#include "daemon/dvm_warm.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/bootstrap.h"

extern char **environ;

static void close_ends(struct dvm_warm *w)
{
    if (w->in >= 0)
        close(w->in);
    if (w->out >= 0)
        close(w->out);
    w->in = w->out = -1;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Ours, and the variable by which it waits; NULL: no memory. */
static char **environment(void)
{
    static char waits[] = BOOTSTRAP_WAITS_VARIABLE "=1";
    size_t n = 0;
    char **env;

    while (environ[n])
        n++;
    env = calloc(n + 2, sizeof *env);
    for (size_t i = 0; env && i < n; i++)
        env[i] = environ[i];
    if (env)
        env[n] = waits;
    return env;
}

static int start(struct dvm_warm *w, const struct child_fd fds[3])
{
    char self[PATH_MAX];
    char *const argv[] = { self, NULL };
    struct child_plan plan = { .path = self, .argv = argv, .fds = fds, .nfds = 3 };
    char **env = environment();
    int rc = DVM_ZYGOTE_NOT;

    plan.env = env;
    if (env && dvm_zygote_own_path(self, sizeof self))
        rc = dvm_zygote_start(w->zygote, w->loop, w->log, &plan, &w->pid);
    free(env);
    return rc;
}

static void make(void *arg)
{
    struct dvm_warm *w = arg;
    int in[2], out[2];

    if (w->pid || !dvm_zygote_is_ready(w->zygote) || pipe2(in, O_CLOEXEC) < 0)
        return;
    w->in = in[1];
    if (pipe2(out, O_CLOEXEC) == 0) {
        const struct child_fd fds[] = { { in[0], 0 }, { out[1], 1 }, { out[1], 2 } };
        w->out = out[0];
        if (start(w, fds) != 0)
            w->pid = 0;
        close(out[1]);
    }
    close(in[0]);
    if (!w->pid)
        close_ends(w);
}

void dvm_warm_started(struct dvm_warm *w)
{
    timer_set(&w->due, LIMIT_WARM_STARTED_MS); /* fails: later daemons are forked when asked for */
}

void dvm_warm_ended(struct dvm_warm *w)
{
    timer_set(&w->due, LIMIT_WARM_ENDED_MS);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Nobody has waited for it yet: it may have been killed in this turn. */
static bool lives(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

bool dvm_warm_take(struct dvm_warm *w, pid_t *pid_p, int *in_p, int *out_p)
{
    if (!w->pid || !lives(w->pid) || write(w->in, BOOTSTRAP_BEGIN, 1) != 1)
        return false;
    *pid_p = w->pid;
    *in_p = w->in;
    *out_p = w->out;
    w->pid = 0;
    w->in = w->out = -1;
    return true;
}

bool dvm_warm_reaped(struct dvm_warm *w, pid_t pid)
{
    if (!w->pid || w->pid != pid)
        return false;
    w->pid = 0;
    close_ends(w);
    return true;
}

void dvm_warm_open(struct dvm_warm *w, struct dvm_zygote *z, struct loop *loop,
                   const struct log *log)
{
    *w = (struct dvm_warm){ .zygote = z, .loop = loop, .log = log, .in = -1, .out = -1 };
    timer_init(&w->due, loop, make, w);
}

void dvm_warm_close(struct dvm_warm *w)
{
    if (!w->zygote)
        return;
    timer_stop(&w->due);
    if (w->pid)
        kill(-w->pid, SIGKILL);
    close_ends(w);
    w->pid = 0;
    w->zygote = NULL;
}
