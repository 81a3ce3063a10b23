/* pmixtools.c - ranks for the tests of the PMIx tools, on any PMIx library.
 *
 *   pmixtools FILE     rank 0 publishes "tools.key"; all fence, and say so in FILE.RANK; then each
 *                      fences again and again, and checks what the others have put, until FILE is
 *                      there; then it says that all was good
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static unsigned rounds;

static void fail(const char *what, int rc)
{
    printf("pmixtools WRONG: rank %u, round %u: %s: %s\n", me.rank, rounds, what,
           PMIx_Error_string(rc));
    exit(1);
}

static void must(const char *what, int rc)
{
    if (rc != PMIX_SUCCESS)
        fail(what, rc);
}

static void publish(void)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "tools.key", "said by rank 0", PMIX_STRING);
    must("publish", PMIx_Publish(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
}

static void put(const char *key, uint32_t number)
{
    pmix_value_t v = { .type = PMIX_UINT32 };

    v.data.uint32 = number;
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    must("commit", PMIx_Commit());
}

static void fence(void)
{
    pmix_proc_t all = me;
    pmix_info_t collect;
    bool yes = true;

    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    must("fence", PMIx_Fence(&all, 1, &collect, 1));
}

static uint32_t size_of_job(void)
{
    pmix_proc_t all = me;
    pmix_value_t *v = NULL;
    uint32_t n;

    all.rank = PMIX_RANK_WILDCARD;
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    n = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

static void check(const char *key, uint32_t ranks, uint32_t base)
{
    for (uint32_t r = 0; r < ranks; r++) {
        pmix_proc_t who = me;
        pmix_value_t *v = NULL;
        who.rank = r;
        must("get", PMIx_Get(&who, key, NULL, 0, &v));
        if (v->data.uint32 != base + r)
            fail("value", PMIX_ERR_BAD_PARAM);
        PMIX_VALUE_RELEASE(v);
    }
}

static void ready(const char *file)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s.%u", file, me.rank);
    f = fopen(path, "w");
    if (!f || fclose(f) != 0)
        fail("ready", PMIX_ERROR);
}

/* Rank 0 decides for all: it puts 1000 and more as long as they go on. */
static void go_round(const char *file, uint32_t ranks)
{
    bool more = true;

    while (more) {
        char key[32];
        pmix_proc_t first = me;
        pmix_value_t *v = NULL;
        uint32_t base = me.rank == 0 && access(file, F_OK) == 0 ? 1 : 1000;
        snprintf(key, sizeof key, "r%u", ++rounds); /* OpenPMIx's library keeps what it has got */
        put(key, base + me.rank + (rounds << 11));
        fence();
        first.rank = 0;
        must("get", PMIx_Get(&first, key, NULL, 0, &v));
        more = (v->data.uint32 & 2047) >= 1000;
        PMIX_VALUE_RELEASE(v);
        if (more)
            check(key, ranks, 1000 + (rounds << 11));
        usleep(2000);
    }
}

int main(int argc, char **argv)
{
    uint32_t ranks;

    if (argc != 2)
        return 2;
    must("init", PMIx_Init(&me, NULL, 0));
    ranks = size_of_job();
    if (me.rank == 0)
        publish();
    fence();
    ready(argv[1]);
    go_round(argv[1], ranks);
    must("finalize", PMIx_Finalize(NULL, 0));
    if (me.rank == 0)
        printf("pmixtools good\n");
    return 0;
}
