/* look_test.c - how processes are: waiting, stopped, ended, behind a script, gone. */
#include "io/look.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

extern char **environ;

static pid_t start(const char *script)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    pid_t pid = 0;

    posix_spawnp(&pid, "sh", NULL, NULL, (char *const *)(uintptr_t)argv, environ);
    return pid;
}

/* It gets there some time. */
static bool comes_to(struct proc_looks *l, pid_t pid, char state, const char *wait,
                     struct proc_look *p)
{
    for (int i = 0; i < 3000; i++) {
        if (proc_look_at(l, pid, p) == 0 && p->state == state && !strcmp(p->waits_in, wait))
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

int main(void)
{
    struct proc_looks l = { NULL };
    struct proc_look p;
    siginfo_t info;
    pid_t pid = start("exec sleep 1000"), script = start("sleep 1000; exit 3");

    OK(proc_look_at(&l, getpid(), &p) == 0 && p.state == 'R' && p.pid == getpid() && p.over_ns > 0);
    OK_F(p.rss > 100 << 10 && p.rss < (uint64_t)1 << 40, "it has memory");
    OK_F(p.mpi[0] == '\0', "we have no MPI library");
    OK_F(comes_to(&l, pid, 'S', "nanosleep", &p) && p.pid == pid, "sleeping");
    OK_F(comes_to(&l, script, 'S', "nanosleep", &p) && p.pid != script, "behind a script");
    kill(p.pid, SIGKILL);
    OK(kill(pid, SIGSTOP) == 0);
    OK_F(comes_to(&l, pid, 'T', "", &p), "stopped");
    OK(kill(pid, SIGKILL) == 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    OK_F(proc_look_at(&l, pid, &p) == 0 && p.state == 'Z', "ended");
    OK(waitpid(pid, NULL, 0) == pid && waitpid(script, NULL, 0) == script);
    OK_F(proc_look_at(&l, pid, &p) == -ESRCH, "gone");
    proc_looks_free(&l);
    proc_looks_free(&l);
    return tap_done();
}
