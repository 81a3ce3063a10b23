/* gets.c - PMIx_Get with attributes: what another process has put again, values with qualifiers, of
 * a scope, and by pointer.
 *
 *   gets fresh|stale PUTTERS     stale: without PMIX_GET_REFRESH_CACHE; ranks below PUTTERS put
 *                                values with qualifiers, which OpenPMIx 4.2.2's client never
 *                                commits
 *
 * Rank 0 prints how many ranks are good; each prints what is wrong. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keeps.h"

static pmix_proc_t me;
static uint32_t size;
static int wrong;

#define COMPLAIN(...)                                                                              \
    do {                                                                                           \
        printf("gets WRONG rank %u: ", me.rank);                                                   \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        wrong = 1;                                                                                 \
    } while (0)

static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        COMPLAIN("%s: %s", what, PMIx_Error_string(rc));
}

static void put(pmix_scope_t scope, const char *key, uint32_t number)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, &number, PMIX_UINT32);
    must(key, PMIx_Put(scope, key, &v));
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
}

static void commit_and_fence(bool collect)
{
    must("commit", PMIx_Commit());
    fence(collect);
}

static void expect(uint32_t rank, const char *key, const pmix_info_t *infos, size_t n,
                   uint32_t want)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, key, infos, n, &v);

    if (rc != PMIX_SUCCESS)
        COMPLAIN("%s of %u: %s, not %u", key, rank, PMIx_Error_string(rc), want);
    else if (v->type != PMIX_UINT32 || v->data.uint32 != want)
        COMPLAIN("%s of %u: %u, not %u", key, rank, v->data.uint32, want);
}

static void expect_status(uint32_t rank, const char *key, const pmix_info_t *infos, size_t n,
                          pmix_status_t want)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, key, infos, n, &v);

    if (rc != want)
        COMPLAIN("%s of %u: %s, not %s", key, rank, PMIx_Error_string(rc), PMIx_Error_string(want));
}

/* ---- put again ------------------------------------------------------------------------------- */

/* Told by a fence that carries no data. */
static void check_refresh(bool refresh)
{
    pmix_info_t again;

    PMIX_INFO_LOAD(&again, PMIX_GET_REFRESH_CACHE, &refresh, PMIX_BOOL);
    for (uint32_t round = 1; round < 4; round++) {
        put(PMIX_GLOBAL, "changes", 10 * round + me.rank);
        commit_and_fence(round == 1);
        for (uint32_t r = 0; r < size; r++)
            expect(r, "changes", &again, round > 1, 10 * round + r);
        fence(false); /* all have read */
    }
    expect(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &again, 1, size);
}

/* ---- qualifiers ------------------------------------------------------------------------------ */

static pmix_info_t color(const char *name)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "color", name, PMIX_STRING);
    info.flags |= PMIX_INFO_QUALIFIER;
    return info;
}

static void put_colored(const char *name, uint32_t number)
{
    pmix_data_array_t *array;
    pmix_info_t *infos;
    pmix_value_t v;

    PMIX_DATA_ARRAY_CREATE(array, 2, PMIX_INFO);
    infos = array->array;
    PMIX_INFO_LOAD(&infos[0], "paint", &number, PMIX_UINT32);
    infos[1] = color(name);
    v.type = PMIX_DATA_ARRAY;
    v.data.darray = array;
    must(name, PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &v));
}

static void check_qualified(uint32_t putters)
{
    pmix_info_t red = color("red"), blue = color("blue"), green = color("green");
    bool puts = me.rank < putters;

    if (puts) {
        put_colored("red", 100 + me.rank);
        put_colored("blue", 200 + me.rank);
    }
    commit_and_fence(true);
    for (uint32_t r = 0; r < putters; r++) {
        expect(r, "paint", &red, 1, 100 + r);
        expect(r, "paint", &blue, 1, 200 + r);
    }
    if (puts)
        expect_status(me.rank, "paint", &green, 1, PMIX_ERR_NOT_FOUND);
    fence(false);
    if (puts) {
        put_colored("red", 300 + me.rank);
        expect(me.rank, "paint", &red, 1, 300 + me.rank);
    }
    commit_and_fence(true);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

static uint32_t node_of(uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, PMIX_NODEID, NULL, 0, &v);

    return rc == PMIX_SUCCESS ? v->data.uint32 : UINT32_MAX;
}

/* (OpenPMIx 4.2.2 has neither scopes nor pointers: its clients only take part in the fences.) */
static bool is_ours(void)
{
    return strstr(PMIx_Get_version(), "Wireup") != NULL;
}

static void check_scopes(void)
{
    static const struct {
        const char *key;
        pmix_scope_t scope;
    } keys[] = { { "local", PMIX_LOCAL }, { "remote", PMIX_REMOTE }, { "global", PMIX_GLOBAL } };
    enum { KEYS = sizeof keys / sizeof *keys };

    for (size_t k = 0; k < KEYS; k++)
        put(keys[k].scope, keys[k].key, (uint32_t)k);
    commit_and_fence(true);
    for (uint32_t r = 0; is_ours() && r < size; r++) {
        bool own = r == me.rank, near = node_of(r) == node_of(me.rank);
        for (size_t k = 0; k < KEYS; k++) {
            if (!own && keys[k].scope == (near ? PMIX_REMOTE : PMIX_LOCAL))
                continue; /* it is not for us */
            for (pmix_scope_t asked = PMIX_LOCAL; asked <= PMIX_GLOBAL; asked++) {
                pmix_info_t info;
                PMIX_INFO_LOAD(&info, PMIX_DATA_SCOPE, &asked, PMIX_SCOPE);
                if (asked == PMIX_GLOBAL || keys[k].scope == PMIX_GLOBAL || asked == keys[k].scope)
                    expect(r, keys[k].key, &info, 1, (uint32_t)k);
                else
                    expect_status(r, keys[k].key, &info, 1, PMIX_ERR_EXISTS_OUTSIDE_SCOPE);
            }
        }
    }
    fence(false);
}

/* ---- by pointer ------------------------------------------------------------------------------ */

static const pmix_value_t *lent(uint32_t rank)
{
    bool yes = true;
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_GET_POINTER_VALUES, &yes, PMIX_BOOL);
    must("lent", PMIx_Get(&p, "lent", &info, 1, &v));
    return v;
}

static void check_pointers(void)
{
    const pmix_value_t *first[64], *second;

    put(PMIX_GLOBAL, "lent", me.rank);
    commit_and_fence(true);
    for (uint32_t r = 0; is_ours() && r < size; r++) {
        first[r] = lent(r);
        for (int i = 0; i < 3; i++) {
            if (lent(r) != first[r])
                COMPLAIN("a value of %u is copied for each call", r);
        }
    }
    fence(false);
    put(PMIX_GLOBAL, "lent", 1000 + me.rank);
    commit_and_fence(true);
    for (uint32_t r = 0; is_ours() && r < size; r++) {
        second = lent(r);
        if (!first[r] || !second || first[r]->data.uint32 != r || second->data.uint32 != 1000 + r)
            COMPLAIN("values of %u: %u, %u", r, first[r] ? first[r]->data.uint32 : 0,
                     second ? second->data.uint32 : 0);
    }
    fence(false);
}

int main(int argc, char **argv)
{
    pmix_proc_t all;
    pmix_value_t *v;

    must("init", PMIx_Init(&me, NULL, 0));
    all = process(PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    check_refresh(argc > 1 && !strcmp(argv[1], "fresh"));
    check_qualified(argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0);
    check_scopes();
    check_pointers();
    fence(false);
    if (!wrong && me.rank == 0)
        printf("gets %u good\n", size);
    PMIx_Finalize(NULL, 0);
    return 0;
}
