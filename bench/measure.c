/* measure.c - runs a command and says what its whole tree of processes cost, as one line of JSON.
 *
 *   bench-measure COMMAND ARGS...
 *
 * Standard input is empty; standard output and error are the caller's, the JSON goes to
 * descriptor 3.  Processes that the command leaves behind come to us (child subreaper) and are
 * counted too, so a launcher cannot look cheap by not waiting for its helpers.
 *
 * None of them begins a session: where the kernel has sched_autogroup, the processors are shared
 * out to sessions.  Hydra begins one for each process that it starts, so that on a busy machine its
 * jobs have as many shares as processes, and those of others one.
 *
 *   wall_ms  from just before the start to the command's own end
 *   cpu_ms   user and system time of everything that was waited for, the command included
 *   rss_kb   the largest resident size of any single process
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double ms(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* setsid() does nothing here and below, and says that it has. */
static void keep_session(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

    if (geteuid() != 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        perror("bench-measure: sessions are as the launchers begin them");
}

int main(int argc, char **argv)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    int status = 0, rc, seen;
    double start, end;
    pid_t pid, gone;

    if (argc < 2) {
        fprintf(stderr, "usage: bench-measure COMMAND ARGS...   (JSON on descriptor 3)\n");
        return 2;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    keep_session();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addclose(&actions, 3);

    start = now_ms();
    rc = posix_spawnp(&pid, argv[1], &actions, NULL, argv + 1, environ);
    if (rc != 0) {
        fprintf(stderr, "bench-measure: %s: %s\n", argv[1], strerror(rc));
        return 2;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    end = now_ms();
    while ((gone = waitpid(-1, &seen, 0)) > 0 || (gone < 0 && errno == EINTR))
        ;

    getrusage(RUSAGE_CHILDREN, &usage);
    dprintf(3, "{\"wall_ms\": %.3f, \"cpu_ms\": %.3f, \"rss_kb\": %ld, \"status\": %d}\n",
            end - start, ms(usage.ru_utime) + ms(usage.ru_stime), usage.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
