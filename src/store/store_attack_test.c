/* store_attack_test.c - random bytes all over the reader's mapping: it misses, it does not crash,
 * it does not hang.
 *
 * The mapping lies directly before a page that must not be touched, so that an overrun by one byte
 * is detected even without a sanitizer.  First with damage done between look-ups (then every result
 * must lie inside), then with a second thread doing damage during look-ups.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "store/memory.h"
#include "store/store_read.h"
#include "store/store_write.h"
#include "tests/tap.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { RACES_ARE_REPORTED = 1 };
#else
enum { RACES_ARE_REPORTED = 0 };
#endif

enum { KEYS = 200, STORE = 1 << 17, ROUNDS = 20000, RACE_ROUNDS = 300 };

struct arena_map {
    unsigned char *base;
    uint64_t len;
    size_t mapped;
};

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t fill(struct seg_region *region)
{
    struct seg_writer w;
    char key[32];

    if (seg_memory_open(STORE, region) < 0 || seg_create(&w, region, 3, 0) != 0)
        return 0;
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        if (seg_put(&w, (uint32_t)i, slice_str(key), SLICE("some value of some length"),
                    SEG_FLAT) != 0)
            return 0;
    }
    return region->size;
}

static bool map_guarded(struct arena_map *m, uint64_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (len + page - 1) / page * page;
    unsigned char *p =
        mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED || mprotect(p + body, page, PROT_NONE) != 0)
        return false;
    *m = (struct arena_map){ p + (body - len), len, body + page };
    return true;
}

static bool lies_in(const struct arena_map *m, struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;

    return p >= m->base && p <= m->base + m->len && s.len <= (size_t)(m->base + m->len - p);
}

static uint64_t item_outside(const struct arena_map *m, const struct seg_item *item)
{
    return lies_in(m, item->value) && lies_in(m, item->key) && lies_in(m, item->quals) ? 0 : 1;
}

/* All operations of a client on a store; returns the number of results outside of the mapping. */
static uint64_t look_everywhere(const struct arena_map *m, uint64_t *hits)
{
    uint64_t cursor = 0, outside = 0, sum = 0;
    struct seg_item item;
    struct seg_view v;
    char key[32];

    if (seg_open(m->base, m->len, &v) != 0)
        return 0;
    for (int i = 0; i < KEYS; i += 7) {
        snprintf(key, sizeof key, "key-%d", i);
        if (!seg_find(&v, i & 1 ? SEG_ANY_RANK : (uint32_t)i, slice_str(key), &item))
            continue;
        ++*hits;
        outside += item_outside(m, &item);
    }
    while (seg_next(&v, &cursor, &item)) {
        outside += item_outside(m, &item);
        sum += item.value.len ? (unsigned char)item.value.ptr[item.value.len - 1] : 0;
    }
    return outside + (sum == UINT64_MAX);
}

static void damage(struct arena_map *m, uint64_t *state)
{
    uint64_t kind = random_next(state) % 4, n = 1 + random_next(state) % 64;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = random_next(state) % m->len, v = random_next(state);
        if (kind == 0) { /* the header, where damage has most effect */
            at %= sizeof(struct seg_header);
        } else if (kind == 1) { /* a plausible offset instead of noise */
            at &= ~UINT64_C(7);
            v %= m->len;
            if (at + 8 <= m->len)
                memcpy(m->base + at, &v, 8);
            continue;
        }
        __atomic_store_n(m->base + at, (unsigned char)v, __ATOMIC_RELAXED);
    }
}

static void test_damaged(struct seg_region *good, struct arena_map *m)
{
    uint64_t state = 88172645463325252u, outside = 0, hits = 0, whole = 0;

    memcpy(m->base, good->base, m->len);
    EQ(look_everywhere(m, &whole), 0);
    EQ(whole, (KEYS + 6) / 7);
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 8 == 0)
            memcpy(m->base, good->base, m->len);
        damage(m, &state);
        outside += look_everywhere(m, &hits);
    }
    EQ(outside, 0);
    OK_F(hits > 0 && hits < (uint64_t)ROUNDS * whole, "some look-ups hit, some missed");

    /* Noise only, except for the magic and the version, which are checked first. */
    for (int round = 0; round < 200; round++) {
        for (uint64_t i = sizeof(uint64_t) * 2; i + 8 <= m->len; i += 8) {
            uint64_t v = random_next(&state);
            memcpy(m->base + i, &v, 8);
        }
        outside += look_everywhere(m, &hits);
    }
    EQ(outside, 0);
}

struct attacker {
    struct arena_map *m;
    int stop; /* atomic */
};

static void *attacker_main(void *arg)
{
    struct attacker *a = arg;
    uint64_t state = 1;

    while (!__atomic_load_n(&a->stop, __ATOMIC_RELAXED)) {
        uint64_t at = random_next(&state) % a->m->len & ~UINT64_C(7);
        uint64_t v = random_next(&state) >> (random_next(&state) % 64);
        /* Magic and version stay valid, or there would be nothing to attack. */
        if (at >= 16 && at + 8 <= a->m->len)
            __atomic_store_n((uint64_t *)(void *)(a->m->base + at), v, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void test_racing(struct seg_region *good, struct arena_map *m)
{
    struct attacker attacker = { m, 0 };
    uint64_t outside = 0, hits = 0;
    pthread_t thread;

    memcpy(m->base, good->base, m->len);
    if (pthread_create(&thread, NULL, attacker_main, &attacker) != 0)
        return;
    for (int round = 0; round < RACE_ROUNDS; round++) {
        if (round % 4 == 0)
            memcpy(m->base + 16, (char *)good->base + 16, m->len - 16);
        outside += look_everywhere(m, &hits);
    }
    __atomic_store_n(&attacker.stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    EQ(outside, 0);
}

int main(void)
{
    struct seg_region good;
    struct arena_map m;
    const char *seconds = getenv("WU_STRESS_SECONDS"); /* more of it, for that long */
    time_t end = time(NULL) + (seconds ? atoi(seconds) : 0);
    uint64_t len = fill(&good);

    if (!len || !map_guarded(&m, len))
        return 1;
    test_damaged(&good, &m);
    do {
        if (!RACES_ARE_REPORTED) /* this one is a data race, on purpose */
            test_racing(&good, &m);
    } while (time(NULL) < end);
    munmap(m.base - (m.mapped - m.len - (size_t)sysconf(_SC_PAGESIZE)), m.mapped);
    seg_memory_close(&good);
    return tap_done();
}
