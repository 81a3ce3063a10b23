/* dynamic.c - processes that start processes, over PMI-1 and our library.
 *
 *   dynamic row N         N spawns of one process each, one after the other
 *   dynamic once N        one spawn of N processes
 *   dynamic depth N       a process that spawns a process that spawns ..., N deep
 *   dynamic crash         spawns a process that dies in the middle of its job
 *   dynamic nothing       spawns what does not exist, twice, and goes on
 *   dynamic refused       spawns on a node that nobody can reach: the control of all of them
 *   dynamic child ...     what the others spawn
 *
 * Each child reads a preput, and tells in its own exit whether it was right.
 */
#include <dirent.h>
#include <pmi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *self;

enum { FEW = 8 }; /* descriptors, however many spawns */

struct wish {
    const char *program, *what, *more, *host;
    int nprocs;
};

static int spawn(const struct wish *w, int *errors)
{
    const char *commands[] = { w->program };
    const char *words[] = { w->what, w->more, NULL };
    const char **lists[] = { words };
    static char word[] = "said so";
    char node[64] = "";
    PMI_keyval_t host[] = { { "host", node } }, preput[] = { { "PARENT", word } };
    const PMI_keyval_t *infos[] = { host };
    int counts[] = { w->nprocs }, ninfos[] = { w->host ? 1 : 0 };

    if (w->host)
        snprintf(node, sizeof node, "%s", w->host);
    return PMI_Spawn_multiple(1, commands, lists, counts, ninfos, infos, 1, preput, errors);
}

static int open_files(pid_t pid)
{
    char path[64];
    int n = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    d = opendir(path);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static int good_spawn(const struct wish *w)
{
    int errors[1024];

    memset(errors, 0x55, sizeof errors);
    if (spawn(w, errors) != PMI_SUCCESS)
        return 0;
    for (int i = 0; i < w->nprocs; i++) {
        if (errors[i] != 0)
            return 0;
    }
    return 1;
}

static int row(int n)
{
    int before = open_files(getppid()), good = 0;

    for (int i = 0; i < n; i++)
        good += good_spawn(&(struct wish){ self, "child", "end", NULL, 1 });
    /* The last children may not have ended yet. */
    for (int i = 0; i < 12000 && open_files(getppid()) - before >= FEW; i++)
        usleep(10000);
    printf("row %d good %d more descriptors %s\n", n, good,
           open_files(getppid()) - before < FEW ? "few" : "many");
    return good == n ? 0 : 1;
}

static int nothing(void)
{
    int errors[3] = { 5, 5, 5 }, bad = 0;

    for (int i = 0; i < 2; i++)
        bad += spawn(&(struct wish){ "/there/is/no/such/program", NULL, NULL, NULL, 3 }, errors) !=
               PMI_SUCCESS;
    printf("nothing refused %d errors %s\n", bad,
           errors[0] && errors[1] && errors[2] ? "each" : "not each");
    return good_spawn(&(struct wish){ self, "child", "end", NULL, 1 }) ? 0 : 1;
}

static int child(const char *what)
{
    char name[256], value[256] = "";

    PMI_KVS_Get_my_name(name, sizeof name);
    if (PMI_KVS_Get(name, "PARENT", value, sizeof value) != PMI_SUCCESS ||
        strcmp(value, "said so") != 0) {
        printf("child without its preput\n");
        return 1;
    }
    if (!strcmp(what, "crash")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    return PMI_Barrier() == PMI_SUCCESS ? 0 : 1;
}

static int deeper(int n)
{
    char left[16];

    snprintf(left, sizeof left, "%d", n - 1);
    if (n == 0) {
        printf("the bottom\n");
        return 0;
    }
    return good_spawn(&(struct wish){ self, "depth", left, NULL, 1 }) ? 0 : 1;
}

static int act(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "";
    int n = atoi(more), errors[4];

    if (!strcmp(what, "row"))
        return row(n);
    if (!strcmp(what, "once")) {
        int good = good_spawn(&(struct wish){ self, "child", "end", NULL, n });
        printf("once %d %s\n", n, good ? "good" : "bad");
        return !good;
    }
    if (!strcmp(what, "depth"))
        return deeper(n);
    if (!strcmp(what, "crash")) {
        good_spawn(&(struct wish){ self, "child", "crash", NULL, 2 });
        for (;;)
            pause(); /* the other rank waits for us; both are ended */
    }
    if (!strcmp(what, "nothing"))
        return nothing();
    if (!strcmp(what, "refused")) {
        int rc = spawn(&(struct wish){ self, "child", "end", "nowhere.invalid", 1 }, errors);
        printf("refused %s\n", rc == PMI_SUCCESS ? "NOT" : "yes");
        return rc == PMI_SUCCESS;
    }
    return child(more);
}

int main(int argc, char **argv)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    int spawned, rank, rc;

    self = n > 0 ? path : argv[0];
    if (PMI_Init(&spawned) != PMI_SUCCESS || PMI_Get_rank(&rank) != PMI_SUCCESS)
        return 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rc = rank == 0 || spawned ? act(argc, argv) : PMI_Barrier();
    return PMI_Finalize() == PMI_SUCCESS ? rc : 4;
}
