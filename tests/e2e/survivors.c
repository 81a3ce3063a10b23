/* survivors.c - a PMIx program of which some processes die with their node: the others meet without
 * them, and have each other's cards.
 *
 *   survivors UP GO DEAD...     each rank makes the file UP.rank after a fence of everybody; the
 *                               last one goes on at once, the others when the file GO is there;
 *                               then all but the ranks DEAD fence with data and look at each
 *                               other's cards
 *   survivors spoil UP GO DEAD...   the same, but expects what nobody has put: the control
 *
 * SURVIVORS_WAYS in the environment is what each fence gets as PMIX_COLLECTIVE_ALGO; SURVIVORS_MUST
 * makes that required.  SURVIVORS_BYTES is how long each card is.
 *
 * Each survivor prints `survivor R good`, or WRONG and what. */
#include <pmix.h>
#include <pmix_deprecated.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CARD_MAX = 1 << 17 };

static pmix_proc_t me;
static uint32_t size;
static const char *expected = "late";

static void fail(const char *what, pmix_status_t rc)
{
    printf("survivor %u WRONG: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    fflush(stdout);
    _exit(1);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        fail(what, rc);
}

static void write_card(char text[CARD_MAX], const char *prefix, uint32_t rank)
{
    const char *bytes = getenv("SURVIVORS_BYTES");

    snprintf(text, CARD_MAX, "%s of %-*u", prefix, bytes ? atoi(bytes) : 0, rank);
}

static void put(const char *key, const char *prefix)
{
    static char text[CARD_MAX];
    pmix_value_t v;

    write_card(text, prefix, me.rank);
    PMIX_VALUE_LOAD(&v, text, PMIX_STRING);
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    PMIX_VALUE_DESTRUCT(&v);
    must("commit", PMIx_Commit());
}

static void look(uint32_t rank, const char *key, const char *prefix)
{
    static char want[CARD_MAX];
    pmix_value_t *v = NULL;
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    write_card(want, prefix, rank);
    must(key, PMIx_Get(&p, key, NULL, 0, &v));
    if (!v || v->type != PMIX_STRING || strcmp(v->data.string, want) != 0)
        fail(key, PMIX_ERR_NOT_FOUND);
    PMIX_VALUE_RELEASE(v);
}

static void fence(const pmix_proc_t *procs, size_t n)
{
    const char *ways = getenv("SURVIVORS_WAYS");
    bool yes = true;
    pmix_info_t infos[3];
    size_t ninfos = 1;

    PMIX_INFO_LOAD(&infos[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (ways)
        PMIX_INFO_LOAD(&infos[ninfos++], PMIX_COLLECTIVE_ALGO, ways, PMIX_STRING);
    if (ways && getenv("SURVIVORS_MUST"))
        PMIX_INFO_LOAD(&infos[ninfos++], PMIX_COLLECTIVE_ALGO_REQD, &yes, PMIX_BOOL);
    must("fence", PMIx_Fence(procs, n, infos, ninfos));
    while (ninfos) {
        ninfos--; /* (a macro of OpenPMIx uses its argument several times) */
        PMIX_INFO_DESTRUCT(&infos[ninfos]);
    }
}

static void make(const char *name)
{
    char file[4096];
    FILE *f;

    snprintf(file, sizeof file, "%s.%u", name, me.rank);
    f = fopen(file, "w");
    if (!f || fclose(f) != 0)
        fail(file, PMIX_ERROR);
}

static void wait_for(const char *file)
{
    const struct timespec pause = { 0, 20000000 };

    while (access(file, F_OK) < 0)
        nanosleep(&pause, NULL);
}

static bool is_dead(uint32_t rank, char **dead)
{
    for (; *dead; dead++) {
        if (strtoul(*dead, NULL, 10) == rank)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static pmix_proc_t others[1024];
    pmix_value_t *v;
    pmix_proc_t all;
    size_t n = 0;

    if (argc > 1 && strcmp(argv[1], "spoil") == 0) {
        expected = "no card";
        argv++;
        argc--;
    }
    if (argc < 4)
        return 2;
    must("init", PMIx_Init(&me, NULL, 0));
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    put("early", "early");
    fence(NULL, 0);
    make(argv[1]);
    put("late", "late");
    if (me.rank != size - 1)
        wait_for(argv[2]);
    for (uint32_t r = 0; r < size && n < 1024; r++) {
        if (is_dead(r, argv + 3))
            continue;
        PMIX_LOAD_PROCID(&others[n], me.nspace, r);
        n++; /* (OpenPMIx's macro uses its argument several times) */
    }
    fence(others, n);
    for (size_t i = 0; i < n; i++) {
        look(others[i].rank, "early", "early");
        look(others[i].rank, "late", expected);
    }
    printf("survivor %u good\n", me.rank);
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}
