/* floor.c - the least that starting N processes can cost: posix_spawn them all, wait for all.
 *
 *   bench-floor N PROGRAM ARGS...
 *
 * No pipes, no environment of their own, no protocol: nobody who does something for the processes
 * can be faster than this.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0, bad = 0;

    if (n < 1) {
        fprintf(stderr, "usage: bench-floor N PROGRAM ARGS...\n");
        return 2;
    }
    for (int i = 0; i < n; i++) {
        pid_t pid;
        int rc = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);

        if (rc != 0) {
            fprintf(stderr, "bench-floor: %s: %s\n", argv[2], strerror(rc));
            return 2;
        }
    }
    for (int i = 0; i < n; i++) {
        int status;

        if (wait(&status) < 0 || status != 0)
            bad = 1;
    }
    return bad;
}
