/* procstat_test.c - the state of a process: running, stopped, ended, gone. */
#include "io/procstat.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

extern char **environ;

int main(void)
{
    char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
    struct procstat st;
    siginfo_t info;
    pid_t pid;
    int status;

    OK(procstat_read(getpid(), &st) == 0 && st.state == 'R' && st.parent == getppid());
    OK(posix_spawnp(&pid, "sleep", NULL, NULL, argv, environ) == 0);
    OK(kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    OK_F(procstat_read(pid, &st) == 0 && st.state == 'T' && st.parent == getpid(), "stopped");
    OK(kill(pid, SIGKILL) == 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    OK_F(procstat_read(pid, &st) == 0 && st.state == 'Z', "ended, and not yet buried");
    OK(waitpid(pid, &status, 0) == pid);
    OK_F(procstat_read(pid, &st) == -ENOENT, "gone");
    return tap_done();
}
