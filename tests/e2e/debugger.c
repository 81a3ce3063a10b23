/* debugger.c - holds a process as a debugger does, until its own input ends.
 *
 *   debugger PID     prints `held` once the process stands still
 *
 * Exit: 0, or 77 when the machine does not let us.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    pid_t pid = argc == 2 ? atoi(argv[1]) : 0;
    char c;

    if (pid <= 0 || ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0 || waitpid(pid, NULL, 0) < 0) {
        perror("debugger");
        return 77;
    }
    printf("held\n");
    fflush(stdout);
    while (read(0, &c, 1) > 0)
        ;
    return ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0 ? 77 : 0;
}
