/* guard.c - see guard.h. */
#include "wireupd/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "io/child.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* What the user, the terminal and batch systems send us. */
static const int watched[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                               SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };

enum { NWATCHED = sizeof watched / sizeof *watched };

static void watched_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < NWATCHED; i++)
        sigaddset(set, watched[i]);
    sigaddset(set, SIGCHLD);
}

static void pass_on(int pipe_fd, int sig)
{
    unsigned char byte = (unsigned char)sig;

    /* The pipe holds thousands of signals; when it is full, one more changes nothing. */
    if (write(pipe_fd, &byte, 1) < 0)
        return;
    if (sig == SIGTSTP)
        kill(getpid(), SIGSTOP);
}

/* Who guards whom, and who hears of it. */
struct guard {
    const struct log *log;
    guard_word *word;
    void *arg;
    pid_t worker;
};

static void tell_killed(const struct guard *g, int sig)
{
    const char *abbrev = sigabbrev_np(sig);
    struct errmsg text;

    errmsg_set(&text, 0,
               "the worker process of %s was killed by signal %d (SIG%s), and what it had started "
               "with it",
               g->log->who, sig, abbrev ? abbrev : "?");
    if (g->word)
        g->word(g->arg, text.text);
    else
        log_error(g->log, "%s", text.text);
}

/* -1: the worker goes on. */
static int worker_status(const struct guard *g)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != g->worker)
            continue;
        child_end_all();
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        tell_killed(g, WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return -1;
}

__attribute__((noreturn)) static void keep_guard(const struct guard *g, int pipe_fd,
                                                 const sigset_t *set)
{
    int status;

    while ((status = worker_status(g)) < 0) {
        int sig = sigwaitinfo(set, NULL);
        if (sig > 0 && sig != SIGCHLD)
            pass_on(pipe_fd, sig);
    }
    _exit(status);
}

/* The worker hears of signals through the pipe only; those of the terminal reach it too.  Stopped,
 * it could not see that the guard has gone. */
static void become_worker(const sigset_t *old)
{
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    for (int i = 0; i < NWATCHED; i++) {
        if (watched[i] != SIGCONT)
            signal(watched[i], SIG_IGN);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    sigprocmask(SIG_SETMASK, old, NULL);
}

int guard_split(const struct log *log, guard_word *word, void *arg, int *control_fd_p)
{
    struct guard g = { .log = log, .word = word, .arg = arg };
    sigset_t set, old;
    int ends[2];

    child_adopt_orphans();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    watched_set(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    g.worker = fork();
    if (g.worker < 0)
        return -errno;
    if (g.worker > 0) {
        close(ends[0]);
        keep_guard(&g, ends[1], &set);
    }
    close(ends[1]);
    child_adopt_orphans();
    become_worker(&old);
    *control_fd_p = ends[0];
    return 0;
}

/* Whoever has started us may ignore SIGCHLD (trap '' CHLD): then the kernel would bury our children
 * without a word, and we would wait for ever. */
void guard_tidy(void)
{
    signal(SIGCHLD, SIG_DFL);
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", O_RDWR); /* the lowest that is free: this one */
    }
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
}
