/* modex_values.c - a PMIx program whose ranks may be anywhere: each puts a card of a length of its
 * own, reads those of all, and compares every byte; with a fence that carries the data, and by
 * asking.
 *
 *   cards [spoil | collected]   spoil: the last rank puts a wrong byte; collected: nothing is asked
 *                               for
 *
 * Rank 0 prints `cards N good`, or whoever has seen something wrong `cards N WRONG rank R: of Q`.
 */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;
static uint32_t size;
static bool wrong;

static size_t fill(char *card, uint32_t rank, int round)
{
    size_t n = 100 + rank * 37 % 4000;

    for (size_t i = 0; i < n; i++)
        card[i] = (char)(i * 31 + rank * 7 + (uint32_t)round);
    return n;
}

static void complain(uint32_t other, const char *what)
{
    printf("cards %u WRONG rank %u: %s of %u\n", size, me.rank, what, other);
    wrong = true;
}

static void put(const char *key, int round, bool spoil)
{
    char card[4200];
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT };

    v.data.bo.bytes = card;
    v.data.bo.size = fill(card, me.rank, round);
    if (spoil)
        card[50]++;
    if (PMIx_Put(PMIX_GLOBAL, key, &v) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS)
        complain(me.rank, "put");
}

static void compare(const char *key, int round)
{
    char card[4200];
    pmix_proc_t other;
    pmix_value_t *v;

    PMIX_LOAD_PROCID(&other, me.nspace, 0);
    for (other.rank = 0; other.rank < size; other.rank++) {
        size_t n = fill(card, other.rank, round);
        if (PMIx_Get(&other, key, NULL, 0, &v) != PMIX_SUCCESS) {
            complain(other.rank, "get");
            continue;
        }
        if (v->type != PMIX_BYTE_OBJECT || v->data.bo.size != n ||
            memcmp(v->data.bo.bytes, card, n) != 0)
            complain(other.rank, "card");
        PMIX_VALUE_RELEASE(v);
    }
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    if (PMIx_Fence(NULL, 0, &info, 1) != PMIX_SUCCESS)
        complain(me.rank, "fence");
    PMIX_INFO_DESTRUCT(&info);
}

int main(int argc, char **argv)
{
    pmix_proc_t all;
    pmix_value_t *v;
    bool spoil;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 3;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v) != PMIX_SUCCESS)
        return 3;
    size = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    spoil = argc > 1 && !strcmp(argv[1], "spoil") && me.rank == size - 1;
    put("first", 1, spoil);
    fence(true);
    compare("first", 1);
    if (argc < 2 || strcmp(argv[1], "collected") != 0) {
        put("second", 2, false);
        fence(false);
        compare("second", 2);
        fence(false);
    }
    if (!wrong && me.rank == 0)
        printf("cards %u good\n", size);
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS && !wrong ? 0 : 1;
}
