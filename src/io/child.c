/* child.c - see child.h.
 *
 * Between clone and exec the child borrows our memory, as after vfork: it makes system calls only,
 * writes nothing but its result record, and runs with all signals blocked until the last moment.
 *
 * Where the kernel can (5.9), it borrows our descriptors too, and copies the few that it needs at
 * once: a launcher of many processes has thousands of others, and copying and closing them for each
 * further process would cost more than the rest of its start.
 */
#include "io/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/procstat.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

enum { CHILD_STACK = 32 * 1024, SIGNAL_ACTION = 64 /* at least the kernel's struct */ };

enum step { STEP_EXEC, STEP_GROUP, STEP_DIR, STEP_BIND, STEP_FD, STEP_LIMIT, STEP_STOP };

/* Written by the child in our memory, between clone and exec.  The whole object has to be volatile:
 * with volatile members alone gcc keeps the parent's copy in registers. */
struct result {
    int error;
    enum step step;
};

/* Code that runs on the borrowed stack: sanitizers do not know it, and would use the parent's
 * bookkeeping. */
#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

/* Signals whose handling we changed (loop and supervisor ignore or block them). */
static const int reset_signals[] = { SIGPIPE, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1, SIGUSR2,
                                     SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD, SIGWINCH, SIGXFSZ };

/* The limit of open files before we raised ours. */
static struct {
    rlim_t files;
    bool raised;
} before;

IN_CHILD static bool restore_nofile(void)
{
    struct rlimit r;

    if (!before.raised)
        return true;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return false;
    r.rlim_cur =
        before.files < r.rlim_max ? before.files : r.rlim_max; /* prlimit(1) may lower it */
    return setrlimit(RLIMIT_NOFILE, &r) == 0;
}

IN_CHILD static bool place_fd(const struct child_fd *f)
{
    if (f->from == f->to)
        return fcntl(f->to, F_SETFD, 0) == 0;
    return dup2(f->from, f->to) >= 0;
}

IN_CHILD static bool fail(volatile struct result *r, enum step step)
{
    r->error = errno;
    r->step = step;
    return false;
}

IN_CHILD static bool prepare(const struct child_plan *p, volatile struct result *r)
{
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return fail(r, STEP_GROUP);
    if (p->wdir && chdir(p->wdir) < 0)
        return fail(r, STEP_DIR);
    if (p->cpus && syscall(SYS_sched_setaffinity, 0, p->cpus_bytes, p->cpus) < 0)
        return fail(r, STEP_BIND);
    if (!restore_nofile())
        return fail(r, STEP_LIMIT);
    for (size_t i = 0; i < p->nfds; i++) {
        if (!place_fd(&p->fds[i]))
            return fail(r, STEP_FD);
    }
    return true;
}

struct start {
    const struct child_plan *plan;
    volatile struct result *result;
    const sigset_t *no_signals;
    unsigned keep; /* descriptors below are copied; 0: ours are not borrowed */
};

/* By the raw system call: the sanitizers' libraries record handlers, in memory that is ours. */
IN_CHILD static void reset_signal(int sig)
{
    static const alignas(8) char by_default[SIGNAL_ACTION];

    syscall(SYS_rt_sigaction, sig, by_default, NULL, _NSIG / 8);
}

/* Who is traced stops as soon as the new program is loaded. */
IN_CHILD static bool be_traced(const struct child_plan *p, volatile struct result *r)
{
    if (p->stopped && syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL) < 0)
        return fail(r, STEP_STOP);
    return true;
}

IN_CHILD static int run_child(void *arg)
{
    const struct start *s = arg;
    const struct child_plan *p = s->plan;

    if (s->keep && syscall(SYS_close_range, s->keep, ~0U, CLOSE_RANGE_UNSHARE) < 0) {
        fail(s->result, STEP_FD);
        _exit(127);
    }
    for (size_t i = 0; i < sizeof reset_signals / sizeof *reset_signals; i++)
        reset_signal(reset_signals[i]);
    if (prepare(p, s->result)) {
        sigprocmask(SIG_SETMASK, s->no_signals, NULL);
        if (be_traced(p, s->result)) {
            execve(p->path, p->argv, p->env);
            fail(s->result, STEP_EXEC);
        }
    }
    _exit(127);
}

/* One more than the highest descriptor that the child uses; 0: the kernel cannot copy a part. */
static unsigned keep_below(const struct child_plan *p)
{
    int most = 2;

    for (size_t i = 0; i < p->nfds; i++) {
        most = p->fds[i].from > most ? p->fds[i].from : most;
        most = p->fds[i].to > most ? p->fds[i].to : most;
    }
    /* A kernel that has the call refuses these arguments. */
    return syscall(SYS_close_range, 1U, 0U, CLOSE_RANGE_UNSHARE) < 0 && errno == EINVAL
               ? (unsigned)most + 1
               : 0;
}

static const char *step_text(enum step s)
{
    switch (s) {
    case STEP_EXEC: return "cannot run";
    case STEP_GROUP: return "cannot make a process group for";
    case STEP_DIR: return "cannot enter the working directory of";
    case STEP_BIND: return "cannot bind to its processors";
    case STEP_FD: return "cannot pass a descriptor to";
    case STEP_LIMIT: return "cannot restore the limit of open files of";
    case STEP_STOP: return "this system does not let a debugger stop";
    }
    return "cannot start";
}

/* It is stopped for us; from here on it is for anybody.  (If it has ended meanwhile, our caller
 * finds that out.) */
static void leave_stopped(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    int rc;

    do
        rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT);
    while (rc < 0 && errno == EINTR);
    if (rc == 0 && info.si_code == CLD_TRAPPED)
        ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)SIGSTOP);
}

static bool is_reset(int sig)
{
    for (size_t i = 0; i < sizeof reset_signals / sizeof *reset_signals; i++) {
        if (reset_signals[i] == sig)
            return true;
    }
    return false;
}

/* The C library hides its own two signals (32 and 33), which its posix_spawn leaves ignored: by the
 * raw system call. */
static bool is_ignored(int sig)
{
    const void *now[SIGNAL_ACTION / sizeof(void *)] = { NULL }; /* the handler is first */

    return syscall(SYS_rt_sigaction, sig, NULL, now, _NSIG / 8) == 0 &&
           now[0] == (const void *)(uintptr_t)SIG_IGN;
}

void child_restore_signals(void)
{
    for (int sig = 1; sig < _NSIG; sig++) {
        if (!is_reset(sig) && is_ignored(sig))
            reset_signal(sig);
    }
}

void child_raise_nofile(void)
{
    struct rlimit r;
    rlim_t files;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    files = r.rlim_cur;
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &r) < 0 || before.raised)
        return;
    before.files = files;
    before.raised = true;
}

int child_start(const struct child_plan *p, pid_t *pid_p, struct errmsg *err)
{
    volatile struct result r = { 0, STEP_EXEC };
    sigset_t all, old, none;
    struct start s = { p, &r, &none, keep_below(p) };
    alignas(16) char stack[CHILD_STACK];
    pid_t pid;
    int saved;

    sigemptyset(&none);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid = clone(run_child, stack + sizeof stack,
                CLONE_VM | CLONE_VFORK | (s.keep ? CLONE_FILES : 0) | SIGCHLD, &s);
    saved = errno;
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (pid < 0)
        return errmsg_set(err, -saved, "cannot start another process: %s",
                          err_text_of_start(saved));
    if (r.error) {
        waitpid(pid, NULL, 0);
        if (r.step == STEP_EXEC && r.error == ENOENT && access(p->path, F_OK) == 0)
            return errmsg_set(err, -r.error, "cannot run %s: its interpreter does not exist",
                              p->path);
        return errmsg_set(err, -r.error, "%s %s%s%s: %s", step_text(r.step), p->path,
                          r.step == STEP_DIR ? ", " : "", r.step == STEP_DIR ? p->wdir : "",
                          err_text(r.error));
    }
    if (p->stopped)
        leave_stopped(pid);
    *pid_p = pid;
    return 0;
}

int child_adopt_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0;
}

/* ---- ending all descendants ------------------------------------------------------------------ */

struct spared {
    const pid_t *pids;
    size_t n;
    bool reaps; /* each that is killed is waited for at once, as the others may not be reaped */
};

static bool is_spared(const struct spared *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->pids[i] == pid)
            return true;
    }
    return false;
}

/* Whatever a list contains, only our own children are killed.  The group that a child leads is
 * killed with it: its members are its children, which would be found next. */
static bool kill_child(const struct spared *spared, pid_t pid)
{
    siginfo_t info;

    if (is_spared(spared, pid))
        return false;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return false;
    kill(-pid, SIGKILL);
    if (kill(pid, SIGKILL) < 0)
        return false;
    if (spared->reaps)
        waitpid(pid, NULL, 0);
    return true;
}

/* Kills the processes in a list of children; their number, or -errno if there is no such list. */
static int kill_listed(const struct spared *spared, const char *path)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC), killed = 0;
    pid_t pid = 0;
    ssize_t n;

    if (fd < 0)
        return -errno;
    while ((n = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            killed += pid > 0 && kill_child(spared, pid);
            pid = 0;
        }
    }
    close(fd);
    return killed;
}

/* By the kernel's own lists of the children of each thread, if it has them.  0: none was found.
 * (Reading every process of a busy machine takes milliseconds.) */
static unsigned kill_by_lists(const struct spared *spared)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;
    unsigned killed = 0;

    while (tasks && (e = readdir(tasks))) {
        char path[sizeof "/proc/self/task//children" + sizeof e->d_name];
        int n;

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/children", e->d_name);
        n = kill_listed(spared, path);
        killed += n > 0 ? (unsigned)n : 0;
    }
    if (tasks)
        closedir(tasks);
    return killed;
}

static unsigned kill_by_search(const struct spared *spared)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;
    pid_t self = getpid();
    unsigned killed = 0;

    if (!proc)
        return 0;
    while ((e = readdir(proc))) {
        struct procstat st;
        char *end;
        long pid = strtol(e->d_name, &end, 10);
        if (*end == '\0' && pid > 1 && procstat_read((pid_t)pid, &st) == 0 && st.parent == self)
            killed += kill_child(spared, (pid_t)pid);
    }
    closedir(proc);
    return killed;
}

/* Waits for n children, then reaps all others that have ended.  False: none is left. */
static bool bury(unsigned n, unsigned *ended_p)
{
    for (;;) {
        pid_t pid = waitpid(-1, NULL, n ? 0 : WNOHANG);
        if (pid == 0)
            return true;
        if (pid < 0 && errno != EINTR)
            return false;
        *ended_p += pid > 0;
        n -= pid > 0 && n > 0;
    }
}

unsigned child_end_all(void)
{
    const struct spared none = { NULL, 0, false };
    unsigned ended = 0, killed = 0;

    /* The orphans of processes that die become ours, so this ends with the last generation.  A list
     * that is read while some die may lack others: the next round finds them. */
    while (bury(killed, &ended)) {
        killed = kill_by_lists(&none);
        if (killed == 0)
            killed = kill_by_search(&none);
        if (killed == 0)
            killed = 1; /* wait for the processes that we may not kill */
    }
    return ended;
}

void child_end_except(const pid_t *keep, size_t n)
{
    const struct spared spared = { keep, n, true };

    while (kill_by_lists(&spared) > 0 || kill_by_search(&spared) > 0) {
        /* the orphans of processes that die become ours */
    }
}
