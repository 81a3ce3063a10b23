/* resources.c - shared memory and files that are registered for removal, through one of the three
 * interfaces.
 *
 *   resources make                    makes a System V segment and prints its number
 *   resources pmi|pmi2|pmix DIR
 *       each rank makes a file in DIR, a POSIX and a System V segment, and registers them; then the
 *       last rank dies
 *   resources pmi|pmi2|pmix DIR stay
 *       the same, but all stay, and the last one prints who started it
 *   resources pmi2|pmix DIR early
 *       each rank registers a file and a POSIX segment and makes them then, again and again
 *   resources pmi|pmi2|pmix DIR NAME...
 *       one rank registers these names, and ends
 *
 * DIR gets a file `segments` with a line for each segment that was made.
 */
#include <fcntl.h>
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "pmi.h"
#include "pmi2.h"

enum { EARLY = 100 };

static const char *by;
static int rank, size;

#define NEED(call)                                                                                 \
    do {                                                                                           \
        int rc_ = (call);                                                                          \
        if (rc_ != 0) {                                                                            \
            printf("resources WRONG: rank %d: %s is %d\n", rank, #call, rc_);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void begin(void)
{
    int spawned, app;
    pmix_proc_t me;

    if (!strcmp(by, "pmi")) {
        NEED(PMI_Init(&spawned));
        NEED(PMI_Get_rank(&rank));
        NEED(PMI_Get_size(&size));
    } else if (!strcmp(by, "pmi2")) {
        NEED(PMI2_Init(&spawned, &size, &rank, &app));
    } else {
        pmix_value_t *v = NULL;
        pmix_proc_t all;
        NEED(PMIx_Init(&me, NULL, 0));
        rank = (int)me.rank;
        PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
        NEED(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
        size = (int)v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
}

static void fence(void)
{
    if (!strcmp(by, "pmi"))
        NEED(PMI_Barrier());
    else if (!strcmp(by, "pmi2"))
        NEED(PMI2_KVS_Fence());
    else
        NEED(PMIx_Fence(NULL, 0, NULL, 0));
}

/* 0: registered. */
static int add(const char *names)
{
    char kvs[256], key[64];
    pmix_info_t info;
    static int n;
    int rc;

    snprintf(key, sizeof key, "wireup.cleanup.%d.%d", rank, n++);
    if (!strcmp(by, "pmi")) {
        NEED(PMI_KVS_Get_my_name(kvs, sizeof kvs));
        rc = PMI_KVS_Put(kvs, key, names);
        return rc ? rc : PMI_KVS_Commit(kvs);
    }
    if (!strcmp(by, "pmi2"))
        return PMI2_Info_PutNodeAttr("wireup.cleanup", names);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, names, PMIX_STRING);
    rc = PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    return rc == PMIX_OPERATION_SUCCEEDED ? 0 : rc;
}

static int make_segment(void)
{
    return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
}

static void note(const char *dir, const char *what)
{
    char path[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/segments", dir);
    f = fopen(path, "a");
    fprintf(f, "%s\n", what);
    fclose(f);
}

static void make_all(const char *dir)
{
    char file[600], shm[64], names[1000];
    int id = make_segment(), fd;

    snprintf(file, sizeof file, "%s/file%d", dir, rank);
    close(open(file, O_WRONLY | O_CREAT, 0600));
    snprintf(shm, sizeof shm, "/wu-res-%s-%d", by, rank);
    fd = shm_open(shm, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || id < 0 || access(file, F_OK) < 0)
        printf("resources WRONG: they cannot be made\n");
    snprintf(names, sizeof names, "%d", id);
    note(dir, names);
    snprintf(names, sizeof names, "%s,shm:%s,sysv:%d", file, shm, id);
    NEED(add(names));
}

/* What is registered before it is there is never to stay, whenever we are killed. */
static int early(const char *dir)
{
    char file[600], shm[64], names[700];

    fence();
    for (int i = 0; i < EARLY; i++) {
        snprintf(file, sizeof file, "%s/file%d-%d", dir, rank, i);
        snprintf(shm, sizeof shm, "/wu-res-%s-%d-%d", by, rank, i);
        snprintf(names, sizeof names, "%s,shm:%s", file, shm);
        NEED(add(names));
        close(open(file, O_WRONLY | O_CREAT, 0600));
        close(shm_open(shm, O_RDWR | O_CREAT, 0600));
        if (i == 0 && rank == size - 1) {
            printf("%d\n", (int)getppid());
            fflush(stdout);
        }
    }
    pause();
    return 0;
}

static int stop(const char *dir, bool stays)
{
    make_all(dir);
    fence();
    if (rank == size - 1 && stays) {
        printf("%d\n", (int)getppid());
        fflush(stdout);
    } else if (rank == size - 1) {
        raise(SIGKILL);
    }
    pause();
    return 0;
}

static void finish(void)
{
    if (!strcmp(by, "pmi"))
        NEED(PMI_Finalize());
    else if (!strcmp(by, "pmi2"))
        NEED(PMI2_Finalize());
    else
        NEED(PMIx_Finalize(NULL, 0));
}

static int register_names(char **names)
{
    for (; *names; names++)
        printf("%s %s\n", *names, add(*names) == 0 ? "registered" : "refused");
    finish();
    return 0;
}

int main(int argc, char **argv)
{
    by = argc > 1 ? argv[1] : "";
    if (!strcmp(by, "make")) {
        printf("%d\n", make_segment());
        return 0;
    }
    if (argc < 3)
        return 2;
    begin();
    if (argc > 3 && !strcmp(argv[3], "early"))
        return early(argv[2]);
    if (argc == 3 || !strcmp(argv[3], "stay"))
        return stop(argv[2], argc > 3);
    return register_names(argv + 3);
}
