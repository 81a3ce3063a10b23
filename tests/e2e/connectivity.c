/* connectivity.c - values of all other ranks after each of two fences, put once and put again,
 * whatever the fences have left on other nodes.
 *
 *   connectivity WORD|none         WORD: what the job's information tells of its connectivity
 *   connectivity spawn WORD N PROGRAM     rank 0 spawns N processes of PROGRAM with that attribute
 *   connectivity spoil             rank 0 puts other values than it should
 *
 * Rank 0 prints how many ranks are good; each prints what is wrong. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "connectivity"
#include "keeps.h"
#include "pmix_rank.h"

/* Of wireup_client.h, which is not among OpenPMIx's headers. */
#define CONNECTIVITY "wireup.connectivity"
#define PREFETCH     "wireup.prefetch"

static void fence_with_data(void)
{
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    must("fence with data", PMIx_Fence(NULL, 0, &info, 1));
}

static uint32_t card(uint32_t rank, uint32_t round)
{
    return rank * 100 + round + (rank == 0 && !strcmp(mode, "spoil"));
}

static void put(const char *key, uint32_t number)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, &number, PMIX_UINT32);
    must(key, PMIx_Put(PMIX_GLOBAL, key, &v));
}

/* With each hint; without one; the value is the same. */
static void expect(uint32_t rank, const char *key, uint32_t want)
{
    static const char *const hints[] = { "proc", "node", "app", "job" };
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_info_t hint;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&hint, PREFETCH, hints[rank % 4], PMIX_STRING);
    rc = PMIx_Get(&p, key, &hint, want % 2, &v);
    PMIX_INFO_DESTRUCT(&hint);

    if (rc != PMIX_SUCCESS)
        complain("%s of rank %u: %s", key, rank, PMIx_Error_string(rc));
    else if (v->type != PMIX_UINT32 || v->data.uint32 != want)
        complain("%s of rank %u is %u, not %u", key, rank, v->data.uint32, want);
    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(v);
}

static void expect_absent(uint32_t rank)
{
    bool yes = true;
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    rc = PMIx_Get(&p, "absent", &info, 1, &v);
    if (rc != PMIX_ERR_NOT_FOUND)
        complain("an absent key of rank %u: %s", rank, PMIx_Error_string(rc));
}

static void exchange(uint32_t round)
{
    char key[20];

    snprintf(key, sizeof key, "card%u", round);
    put(key, card(me.rank, round));
    put("latest", me.rank * 100 + round);
    must("commit", PMIx_Commit());
    fence_with_data();
    for (uint32_t i = 1; i < size; i++)
        expect((me.rank + i) % size, key, ((me.rank + i) % size) * 100 + round);
    expect_absent((me.rank + size / 2) % size);
    fence();
}

/* "latest" was put in each round.  OpenPMIx's client keeps what it has got before. */
static void expect_latest(uint32_t round)
{
    for (uint32_t r = 0; r < size; r++)
        expect(r, "latest", r * 100 + round);
}

static void check_word(void)
{
    pmix_proc_t job = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&job, CONNECTIVITY, NULL, 0, &v);
    const char *got = rc == PMIX_SUCCESS && v->type == PMIX_STRING ? v->data.string : "none";

    if (strcmp(got, strcmp(mode, "spoil") == 0 ? "sparse" : mode) != 0)
        complain("the job's connectivity is %s", got);
    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(v);
}

static void spawn(const char *word, int n, const char *program)
{
    char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)word, NULL };
    pmix_nspace_t child;
    pmix_info_t info;
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = n;
    PMIX_INFO_LOAD(&info, CONNECTIVITY, word, PMIX_STRING);
    if (me.rank == 0)
        printf("spawn: %s\n", PMIx_Error_string(PMIx_Spawn(&info, 1, &app, 1, child)));
    fflush(stdout);
}

static void find_size(void)
{
    pmix_proc_t job = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;

    must("size", PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v ? v->data.uint32 : 0;
    if (v)
        PMIX_VALUE_RELEASE(v);
}

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "none";
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 3;
    find_size();
    if (argc == 5) {
        spawn(argv[2], atoi(argv[3]), argv[4]);
    } else {
        exchange(1);
        exchange(2);
        expect_latest(2);
        check_word();
        if (!wrong)
            printf("connectivity rank good\n");
    }
    fence();
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}
