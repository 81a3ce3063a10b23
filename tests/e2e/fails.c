/* fails.c - a PMIx program of which rank 1 fails; what becomes of the others is what -on-failure is
 * about.
 *
 *   fails HOW TIMES     rank 1 fails in its first TIMES lives, when all have met: `exit` with 3,
 *                       `signal` by SIGKILL, `node` with its daemon, `machine` with the process
 *                       whose number is in the file $FAILS_MACHINES.HOST
 *
 * Each process prints `rank R begins`, and at its end `rank R met`: all have met after that; or
 * `rank R alone`: they cannot, and the others have met without rank 1. */
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static void print_line(const char *what)
{
    printf("rank %u %s\n", me.rank, what);
    fflush(stdout);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        return;
    printf("rank %u WRONG: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    fflush(stdout);
    _exit(9);
}

static pid_t machine(void)
{
    char host[256] = "", name[1024];
    int pid = 0;
    FILE *f;

    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "%s.%s", getenv("FAILS_MACHINES"), host);
    f = fopen(name, "r");
    if (!f || fscanf(f, "%d", &pid) != 1 || pid < 2)
        must(name, PMIX_ERR_NOT_FOUND);
    return pid;
}

/* A process ends with its daemon: it waits for that. */
static void fail(const char *how)
{
    if (!strcmp(how, "exit"))
        _exit(3);
    kill(!strcmp(how, "node")      ? getppid()
         : !strcmp(how, "machine") ? machine()
                                   : getpid(),
         SIGKILL);
    for (;;)
        pause();
}

static bool others_meet(void)
{
    pmix_proc_t others[2];

    PMIX_LOAD_PROCID(&others[0], me.nspace, 0);
    PMIX_LOAD_PROCID(&others[1], me.nspace, 2);
    return PMIx_Fence(others, 2, NULL, 0) == PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *life = getenv("WIREUP_RESTARTS");
    pmix_status_t rc;

    if (argc != 3)
        return 2;
    must("init", PMIx_Init(&me, NULL, 0));
    print_line("begins");
    if (!life || !strcmp(life, "0"))
        must("the first fence", PMIx_Fence(NULL, 0, NULL, 0));
    if (me.rank == 1 && atoi(life ? life : "0") < atoi(argv[2]))
        fail(argv[1]);
    do {
        rc = PMIx_Fence(NULL, 0, NULL, 0);
    } while (rc == PMIX_ERR_PROC_RESTART);
    if (rc == PMIX_SUCCESS)
        print_line("met");
    else if (others_meet())
        print_line("alone");
    PMIx_Finalize(NULL, 0);
    return 0;
}
