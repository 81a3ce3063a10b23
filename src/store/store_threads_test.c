/* store_threads_test.c - one writer, several readers, no lock: whatever a reader finds is whole.
 *
 * Each value repeats one byte, after its length, so a torn one is detected.  Run under TSan this
 * also proves that the order of loads and stores is declared, not accidental.
 *
 * With WU_STRESS_SECONDS=60 it runs for that long, each time with a new store.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/memory.h"
#include "store/store_read.h"
#include "store/store_write.h"
#include "tests/tap.h"

enum { READERS = 32, KEYS = 3000, ROUNDS = 6, REGION = 256 << 20 };

struct shared {
    struct seg_region region;
    int done; /* atomic */
};

struct reader {
    pthread_t thread;
    struct shared *shared;
    uint64_t found, torn, lost, unordered;
};

static size_t make_value(char *to, int key, int round)
{
    size_t len = 1 + (size_t)(key * 31 + round * 17) % 200;

    to[0] = (char)len;
    memset(to + 1, 'a' + (key + round) % 26, len);
    return len + 1;
}

static bool is_whole(struct slice value)
{
    if (value.len < 2 || (unsigned char)value.ptr[0] != value.len - 1)
        return false;
    for (size_t i = 2; i < value.len; i++) {
        if (value.ptr[i] != value.ptr[1])
            return false;
    }
    return true;
}

static void read_round(struct reader *r, const struct seg_view *v)
{
    uint64_t fences = seg_generation(v), cursor = 0, count = 0, promised = seg_entries(v);
    struct seg_item item;
    struct slice value;
    char key[32];

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        if (!seg_get(v, i & 1 ? SEG_ANY_RANK : (uint32_t)i % 8, slice_str(key), &value)) {
            r->lost += fences > 0; /* the first round of puts was published whole */
            continue;
        }
        r->found++;
        r->torn += !is_whole(value);
    }
    while (seg_next(v, &cursor, &item)) {
        snprintf(key, sizeof key, "key-%llu", (unsigned long long)count++);
        r->unordered += !slice_is(item.key, key);
        r->torn += !is_whole(item.value);
    }
    r->lost += count < promised;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    struct seg_view v;
    bool last;

    if (seg_open(r->shared->region.base, REGION, &v) != 0)
        return NULL;
    do {
        last = __atomic_load_n(&r->shared->done, __ATOMIC_ACQUIRE);
        read_round(r, &v);
    } while (!last);
    return r;
}

static int write_all(struct seg_writer *w)
{
    char key[32], value[256];
    int refused = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < KEYS; i++) {
            size_t len = make_value(value, i, round);
            snprintf(key, sizeof key, "key-%d", i);
            refused += seg_put(w, (uint32_t)i % 8, slice_str(key), slice_mem(value, len),
                               SEG_FLAT | SEG_REPLACE) != 0;
        }
        seg_publish(w);
    }
    return refused;
}

/* The result of one store and its readers. */
static struct reader run_once(void)
{
    struct shared shared = { .done = 0 };
    struct reader readers[READERS] = { { .found = 0 } }, all = { .found = UINT64_MAX };
    struct seg_writer w;

    if (seg_memory_open(REGION, &shared.region) < 0 || seg_create(&w, &shared.region, 7, 0) != 0)
        abort();
    for (int i = 0; i < READERS; i++) {
        readers[i].shared = &shared;
        if (pthread_create(&readers[i].thread, NULL, reader_main, &readers[i]) != 0)
            abort();
    }
    all.lost = (uint64_t)write_all(&w);
    __atomic_store_n(&shared.done, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < READERS; i++) {
        void *result = NULL;
        pthread_join(readers[i].thread, &result);
        all.lost += readers[i].lost + (result != &readers[i]);
        all.torn += readers[i].torn;
        all.unordered += readers[i].unordered;
        all.found = readers[i].found < all.found ? readers[i].found : all.found;
    }
    seg_memory_close(&shared.region);
    return all;
}

int main(void)
{
    const char *seconds = getenv("WU_STRESS_SECONDS");
    time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
    unsigned runs = 0;

    do {
        struct reader all = run_once();
        runs++;
        if (runs > 1 && !all.torn && !all.lost && !all.unordered && all.found >= KEYS)
            continue; /* the first one and the bad ones are reported */
        OK(all.found >= KEYS);
        EQ(all.torn, 0);
        EQ(all.lost, 0);
        EQ(all.unordered, 0);
    } while (time(NULL) < end);
    printf("# %u stores, %d readers each\n", runs, READERS);
    return tap_done();
}
