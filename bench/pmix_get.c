/* pmix_get.c - what a PMIx_Get of known data costs beside a bare look-up in such a store.
 *
 *   wireup -n 2 bench-pmix-get
 *
 * Both stores hold the same cards: one is the job's, looked up through PMIx_Get (the value handed
 * out in place, and in new memory); one is made here, looked up without a library around.  Prints
 * ns: the best of many batches of each, in turn, since all else only adds to them.
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/memory.h"
#include "store/store_read.h"
#include "store/store_write.h"

enum { BATCHES = 200, TIMES = 5000, CARDS = 16 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    printf("bench-pmix-get: %s\n", what);
    exit(1);
}

static char keys[CARDS][16];
static pmix_proc_t peer;
static struct seg_view view;

static void look_up(void)
{
    struct seg_item item;

    for (int i = 0; i < TIMES; i++)
        must(seg_find(&view, peer.rank, slice_str(keys[i % CARDS]), &item), "look-up");
}

static void get_placed(void)
{
    pmix_info_t in_place = { .value = { .type = PMIX_BOOL, .data.flag = true } };
    pmix_value_t room, *v;

    strcpy(in_place.key, PMIX_GET_STATIC_VALUES);
    for (int i = 0; i < TIMES; i++) {
        v = &room;
        must(PMIx_Get(&peer, keys[i % CARDS], &in_place, 1, &v) == PMIX_SUCCESS, "get in place");
    }
}

static void get_new(void)
{
    pmix_value_t *v;

    for (int i = 0; i < TIMES; i++) {
        must(PMIx_Get(&peer, keys[i % CARDS], NULL, 0, &v) == PMIX_SUCCESS, "get");
        free(v);
    }
}

static void time_one(void (*what)(void), double *best_p)
{
    double from = now_ns(), each;

    what();
    each = (now_ns() - from) / TIMES;
    if (*best_p == 0 || each < *best_p)
        *best_p = each;
}

int main(void)
{
    pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 12345 };
    double bare = 0, placed = 0, fresh = 0;
    struct seg_region region;
    struct seg_writer w;
    pmix_proc_t me;

    must(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS, "init");
    for (int i = 0; i < CARDS; i++) {
        snprintf(keys[i], sizeof keys[i], "card.%d", i);
        must(PMIx_Put(PMIX_GLOBAL, keys[i], &number) == PMIX_SUCCESS, "put");
    }
    must(PMIx_Commit() == PMIX_SUCCESS && PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS, "fence");
    peer = me;
    peer.rank = !me.rank;

    must(seg_memory_open(1 << 20, &region) == 0 && seg_create(&w, &region, 7, CARDS) == 0,
         "a store");
    for (int i = 0; i < CARDS; i++) {
        struct seg_item card = { .rank = peer.rank, .type = PMIX_UINT32, .scope = PMIX_GLOBAL };
        card.key = slice_str(keys[i]);
        card.value = SLICE("\xb9\x60");
        must(seg_put_item(&w, &card, SEG_UNLISTED) == 0, "a card");
    }
    must(seg_open(region.base, region.size, &view) == 0, "a view");

    for (int i = 0; i < BATCHES; i++) {
        time_one(look_up, &bare);
        time_one(get_placed, &placed);
        time_one(get_new, &fresh);
    }
    PMIx_Fence(NULL, 0, NULL, 0);
    if (me.rank == 0)
        printf("bare=%.1f in_place=%.1f new=%.1f\n", bare, placed, fresh);
    seg_memory_close(&region);
    return PMIx_Finalize(NULL, 0);
}
