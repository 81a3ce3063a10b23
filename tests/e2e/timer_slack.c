/* timer_slack.c - starts a program that is to be many on few processors: `crowd PROGRAM WORDS...`.
 *
 * MPI ranks are busy while they wait.  Those of Open MPI sleep for 100 us at a time when they
 * start, and a hundred of them, woken thousands of times a second each, leave nothing for whom they
 * wait for: so a sleep may take as long as is good for everybody (the slack of timers).  Those of
 * MPICH give way and come back at once: so the daemon of their node goes first (nice), and, where
 * the kernel groups by sessions, the sessions of hosts leave what else runs here its part.  The
 * program itself, and all that it says and hears, stay as they are.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Not where the session is somebody else's, outside the test: it has no number here then. */
static void humble_session(void)
{
    int fd = getsid(0) > 0 ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;

    if (fd >= 0 && write(fd, "5", 1) < 0)
        perror("crowd: /proc/self/autogroup");
}

int main(int argc, char **argv)
{
    humble_session();
    if (prctl(PR_SET_TIMERSLACK, 50000000UL) < 0 || nice(19) < 0)
        perror("crowd");
    if (argc > 1)
        execvp(argv[1], argv + 1);
    perror(argc > 1 ? argv[1] : "crowd PROGRAM");
    return 127;
}
