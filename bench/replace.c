/* replace.c - how long it takes until a process that has died is replaced by one that is wired up.
 *
 *   bench-replace FILE rank|node STEPS    in each step the last rank dies, alone or with its
 *                                         daemon, while the others wait in a fence; all fence
 *                                         again with the new process
 *   bench-replace FILE init               the time that PMIx_Init takes
 *   bench-replace FILE main STEP          what the last rank starts before it dies: the time of
 *                                         main
 *
 * Each process appends lines to FILE: STEP WHAT NANOSECONDS.  The clock is that of the machine, on
 * which all nodes are.  WHAT:
 *
 *   spawn  before posix_spawn of this program     main    in main of what was started so
 *   died   the last act of the victim             begun   in main of the process that replaces it
 *   init   it has left PMIx_Init
 *   told   a survivor has left the fence that the death ends
 *   joined a process, also the new one, has left the fence of all
 *   alone  how long PMIx_Init took
 */
#include <fcntl.h>
#include <pmix.h> /* no functions that only one of the libraries has */
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int file;
static pmix_proc_t me;

static long long now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void note(unsigned step, const char *what, long long ns)
{
    char line[64];
    int n = snprintf(line, sizeof line, "%u %s %lld\n", step, what, ns);

    if (write(file, line, (size_t)n) != n)
        exit(3);
}

static void must(const char *what, pmix_status_t want, pmix_status_t rc)
{
    if (rc == want)
        return;
    fprintf(stderr, "replace: rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    exit(1);
}

static pmix_status_t fence(void)
{
    pmix_info_t info = { .key = PMIX_COLLECT_DATA,
                         .value = { .type = PMIX_BOOL, .data.flag = true } };

    return PMIx_Fence(NULL, 0, &info, 1);
}

static void put(void)
{
    char text[] = "an address";
    pmix_value_t v = { .type = PMIX_STRING, .data.string = text };

    must("put", PMIX_SUCCESS, PMIx_Put(PMIX_GLOBAL, "card", &v));
    must("commit", PMIX_SUCCESS, PMIx_Commit());
}

static uint32_t job_size(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t all = me;

    all.rank = PMIX_RANK_WILDCARD;
    must("size", PMIX_SUCCESS, PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    return v->data.uint32; /* kept: once per job */
}

/* What the program itself needs until main, on this node and at this moment. */
static void start_alone(char **argv, unsigned step)
{
    char main_word[] = "main", number[16];
    char *words[] = { argv[0], argv[1], main_word, number, NULL };
    pid_t pid;

    snprintf(number, sizeof number, "%u", step);
    note(step, "spawn", now_ns());
    if (posix_spawn(&pid, argv[0], NULL, NULL, words, environ) != 0 || waitpid(pid, NULL, 0) != pid)
        exit(4);
}

static void die(bool with_daemon, unsigned step)
{
    note(step, "died", now_ns());
    kill(with_daemon ? getppid() : getpid(), SIGKILL);
    pause();
}

/* From the first process on, or as the one that replaces it in the step before first. */
static void take_part(char **argv, unsigned first, long long begun)
{
    bool with_daemon = strcmp(argv[2], "node") == 0;
    unsigned steps = (unsigned)atoi(argv[3]);
    bool victim;
    long long init;

    must("init", PMIX_SUCCESS, PMIx_Init(&me, NULL, 0));
    init = now_ns();
    victim = me.rank == job_size() - 1;
    put();
    must("the first fence", PMIX_SUCCESS, fence());
    if (first) {
        note(first - 1, "joined", now_ns());
        note(first - 1, "begun", begun);
        note(first - 1, "init", init);
    }
    for (unsigned step = first; step < steps; step++) {
        if (victim) {
            start_alone(argv, step);
            die(with_daemon, step);
        }
        must("the fence that ends", PMIX_ERR_PROC_RESTART, fence());
        note(step, "told", now_ns());
        must("the fence of all", PMIX_SUCCESS, fence());
        note(step, "joined", now_ns());
    }
    must("the last fence", PMIX_SUCCESS, fence());
    must("finalize", PMIX_SUCCESS, PMIx_Finalize(NULL, 0));
}

int main(int argc, char **argv)
{
    long long begun = now_ns();
    const char *restarts = getenv("WIREUP_RESTARTS");

    file = argc > 2 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file < 0)
        return 2;
    if (strcmp(argv[2], "init") == 0) {
        must("init", PMIX_SUCCESS, PMIx_Init(&me, NULL, 0));
        note(0, "alone", now_ns() - begun);
        PMIx_Finalize(NULL, 0);
    } else if (argc < 4) {
        return 2;
    } else if (strcmp(argv[2], "main") == 0) {
        note((unsigned)atoi(argv[3]), "main", begun);
    } else {
        take_part(argv, restarts ? (unsigned)atoi(restarts) : 0, begun);
    }
    return 0;
}
