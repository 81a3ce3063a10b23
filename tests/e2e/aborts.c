/* aborts.c - PMIx_Abort of some processes, of another job, and of what is not there.
 *
 *   aborts some         rank 0 aborts ranks 1 and 2; the others go on, and end
 *   aborts far          the same by the last rank
 *   aborts itself       rank 1 aborts itself
 *   aborts each         rank 0 aborts each rank, which is the whole job
 *   aborts all          rank 0 aborts the namespace
 *   aborts child        rank 0 spawns a job that waits, and aborts it
 *   aborts nobody       processes that are not there, or of an unrelated job
 */
#include <fcntl.h>
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "keeps.h"

enum { CODE = 7, RANKS_MAX = 64 };

static pmix_proc_t me;
static uint32_t size;

static void fail(const char *what, pmix_status_t rc)
{
    printf("aborts WRONG rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    fflush(stdout);
    _exit(1);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        fail(what, rc);
}

static pmix_proc_t process(const char *nspace, uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    return p;
}

/* Those that are not aborted meet at the end: a fence of theirs alone. */
static void meet(uint32_t first, uint32_t second)
{
    pmix_proc_t others[RANKS_MAX];
    size_t n = 0;

    for (uint32_t r = 0; r < size; r++) {
        if (r != first && r != second)
            others[n++] = process(me.nspace, r);
    }
    must("fence of the others", PMIx_Fence(others, n, NULL, 0));
}

static void abort_some(uint32_t by)
{
    pmix_proc_t two[2] = { process(me.nspace, 1), process(me.nspace, 2) };

    if (me.rank == 1 || me.rank == 2)
        pause();
    if (me.rank == by)
        must("abort", PMIx_Abort(CODE, "enough of you", two, 2));
    meet(1, 2);
}

/* Held by rank 1 until the kernel has ended it: all nodes of the test are on one machine. */
static int hold(void)
{
    int fd = open("aborts.lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        fail("aborts.lock", PMIX_ERROR);
    return fd;
}

/* The others end after it: a job of which nothing else is left would be told as aborted whole. */
static void abort_itself(void)
{
    if (me.rank == 1) {
        PMIx_Abort(CODE, "enough of me", &me, 1);
        pause();
    }
    close(hold());
    meet(1, 1);
    unlink("aborts.lock");
}

static void abort_all(bool each)
{
    pmix_proc_t all[RANKS_MAX] = { process(me.nspace, PMIX_RANK_WILDCARD) };

    for (uint32_t r = 0; r < size && each; r++)
        all[r] = process(me.nspace, r);
    if (me.rank == 0)
        PMIx_Abort(CODE, "enough of all", all, each ? size : 1);
    pause();
}

static void abort_child(void)
{
    char *argv[] = { "sh", "-c", "exec sleep 1000", NULL };
    pmix_proc_t child;
    pmix_nspace_t name;
    pmix_app_t app;

    if (me.rank == 0) {
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = "/bin/sh";
        app.argv = argv;
        app.maxprocs = 2;
        must("spawn", PMIx_Spawn(NULL, 0, &app, 1, name));
        child = process(name, PMIX_RANK_WILDCARD);
        must("abort", PMIx_Abort(CODE, "enough of it", &child, 1));
    }
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
}

/* OpenPMIx's client does not return what its server says. */
static void refused(const char *what, pmix_status_t rc)
{
    bool ours = strstr(PMIx_Get_version(), "Wireup") != NULL;

    if (rc != PMIX_ERR_NOT_FOUND && (ours || rc != PMIX_SUCCESS))
        fail(what, rc);
}

static void abort_nobody(void)
{
    pmix_proc_t beyond = process(me.nspace, size), unknown = process("nobody", 0);
    pmix_proc_t mixed[2] = { process(me.nspace, 1), unknown };

    if (me.rank == 0) {
        refused("a rank that is not there", PMIx_Abort(CODE, "no", &beyond, 1));
        refused("a job that is not there", PMIx_Abort(CODE, "no", mixed, 2));
    }
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pmix_value_t *v;
    pmix_proc_t all;

    must("init", PMIx_Init(&me, NULL, 0));
    all = process(me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    if (!strcmp(what, "itself") && me.rank == 1)
        hold();
    must("first fence", PMIx_Fence(NULL, 0, NULL, 0));
    if (!strcmp(what, "some"))
        abort_some(0);
    else if (!strcmp(what, "far"))
        abort_some(size - 1);
    else if (!strcmp(what, "itself"))
        abort_itself();
    else if (!strcmp(what, "each") || !strcmp(what, "all"))
        abort_all(!strcmp(what, "each"));
    else if (!strcmp(what, "child"))
        abort_child();
    else if (!strcmp(what, "nobody"))
        abort_nobody();
    else
        fail("what?", PMIX_ERR_BAD_PARAM);
    printf("rank %u goes on\n", me.rank);
    PMIx_Finalize(NULL, 0);
    return 0;
}
