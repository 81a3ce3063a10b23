/* signalled.c - a rank that prints which signals it gets: `RANK ready`, then `RANK got NAME` each
 * time.
 *
 *   signalled             ends with 5 by SIGINT and with 6 by SIGTERM
 *   signalled stubborn    does not end; has a child in a group and one in a session of its own
 *
 * Signals are waited for, not handled: none is lost between two instructions.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int handled[] = { SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

static void child(int (*apart)(void))
{
    if (fork() == 0) {
        sigset_t none;

        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        apart();
        for (;;)
            pause();
    }
}

static int own_group(void)
{
    return setpgid(0, 0);
}

static int own_session(void)
{
    return setsid() < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    int stubborn = argc > 1 && strcmp(argv[1], "stubborn") == 0, sig;
    sigset_t set;

    sigemptyset(&set); /* what stops and what hangs up does so */
    for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++)
        sigaddset(&set, handled[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (stubborn) {
        child(own_group);
        child(own_session);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s ready\n", rank ? rank : "?");
    while (sigwait(&set, &sig) == 0) {
        printf("%s got %s\n", rank ? rank : "?", sigabbrev_np(sig));
        if (!stubborn && (sig == SIGINT || sig == SIGTERM))
            return sig == SIGINT ? 5 : 6;
    }
    return 1;
}
