/* store_test.c - the guarantees of the shared store for one writer and one reader. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "store/memory.h"
#include "store/store_read.h"
#include "store/store_write.h"
#include "tests/tap.h"

enum { REGION = 64 << 20 };

struct fixture {
    struct seg_region region;
    struct seg_writer w;
    struct seg_view v;
};

static void open_max(struct fixture *f, uint64_t max)
{
    if (seg_memory_open(max, &f->region) < 0 || seg_create(&f->w, &f->region, 42, 0) != 0 ||
        seg_open(f->region.base, max, &f->v) != 0)
        abort();
}

static void open_fixture(struct fixture *f)
{
    open_max(f, REGION);
}

static void close_fixture(struct fixture *f)
{
    seg_memory_close(&f->region);
}

static int put(struct fixture *f, uint32_t rank, const char *key, const char *value, unsigned flags)
{
    return seg_put(&f->w, rank, slice_str(key), slice_str(value), flags);
}

/* True when a look-up of (rank, key) finds value; value NULL: when it misses. */
static bool has(struct fixture *f, uint32_t rank, const char *key, const char *value)
{
    struct slice got;
    bool found = seg_get(&f->v, rank, slice_str(key), &got);

    return value ? found && slice_is(got, value) : !found;
}

static void test_flat(void)
{
    struct fixture f;

    open_fixture(&f);
    OK(has(&f, 0, "a", NULL));
    EQ(put(&f, 3, "a", "one", SEG_FLAT), 0);
    OK(has(&f, 3, "a", "one"));
    OK(has(&f, SEG_ANY_RANK, "a", "one"));
    OK(has(&f, 4, "a", NULL));
    EQ(put(&f, 3, "a", "two", SEG_FLAT), SEG_DUPLICATE);
    EQ(put(&f, 4, "a", "two", SEG_FLAT), SEG_DUPLICATE);
    OK(has(&f, SEG_ANY_RANK, "a", "one"));
    OK(has(&f, 4, "a", NULL));
    EQ(put(&f, 4, "a", "two", SEG_FLAT | SEG_REPLACE), 0);
    OK(has(&f, SEG_ANY_RANK, "a", "two"));
    OK(has(&f, 4, "a", "two"));
    OK(has(&f, 3, "a", "one"));
    close_fixture(&f);
}

static void test_by_rank(void)
{
    struct fixture f;

    open_fixture(&f);
    EQ(put(&f, 1, "k", "of one", 0), 0);
    EQ(put(&f, 2, "k", "of two", 0), 0);
    OK(has(&f, 1, "k", "of one"));
    OK(has(&f, 2, "k", "of two"));
    OK(has(&f, SEG_ANY_RANK, "k", "of one"));
    EQ(put(&f, 2, "k", "again", 0), SEG_DUPLICATE);
    EQ(put(&f, 2, "k", "two anew", SEG_REPLACE), 0);
    OK(has(&f, SEG_ANY_RANK, "k", "of one"));
    EQ(put(&f, 1, "k", "one anew", SEG_REPLACE), 0);
    OK(has(&f, SEG_ANY_RANK, "k", "one anew"));
    /* The flat entry was not taken by a flat put, so one may still take it, once. */
    EQ(put(&f, 5, "k", "flat", SEG_FLAT), 0);
    OK(has(&f, SEG_ANY_RANK, "k", "flat"));
    OK(has(&f, 1, "k", "one anew"));
    EQ(put(&f, 6, "k", "late", SEG_FLAT), SEG_DUPLICATE);
    EQ(put(&f, 7, "k", "of seven", 0), 0);
    OK(has(&f, SEG_ANY_RANK, "k", "flat"));
    /* Replacing by rank an entry that was put flat does not release the flat entry. */
    EQ(put(&f, 5, "k", "flat anew", SEG_REPLACE), 0);
    OK(has(&f, SEG_ANY_RANK, "k", "flat anew"));
    EQ(put(&f, 6, "k", "late", SEG_FLAT), SEG_DUPLICATE);
    EQ(seg_entries(&f.v), 1);
    close_fixture(&f);
}

static void test_server_puts(void)
{
    struct fixture f;

    open_fixture(&f);
    EQ(put(&f, SEG_ANY_RANK, "PMI_process_mapping", "(vector,(0,1,4))", 0), 0);
    OK(has(&f, SEG_ANY_RANK, "PMI_process_mapping", "(vector,(0,1,4))"));
    OK(has(&f, 0, "PMI_process_mapping", NULL));
    EQ(put(&f, SEG_ANY_RANK, "PMI_process_mapping", "x", 0), SEG_DUPLICATE);
    EQ(put(&f, 0, "PMI_process_mapping", "x", SEG_FLAT), SEG_DUPLICATE);
    EQ(put(&f, SEG_ANY_RANK, "PMI_process_mapping", "y", SEG_REPLACE), 0);
    OK(has(&f, SEG_ANY_RANK, "PMI_process_mapping", "y"));
    EQ(seg_entries(&f.v), 1);
    close_fixture(&f);
}

static void test_bytes(void)
{
    static const char odd[] = { 0, '\n', ' ', '=', (char)0xff, 0 };
    struct fixture f;
    struct slice key = slice_mem(odd, 6), got;
    struct seg_item item = { .rank = 9, .type = 513, .scope = 3 }, back;

    open_fixture(&f);
    EQ(seg_put(&f.w, 0, key, slice_mem(odd, 5), SEG_FLAT), 0);
    EQ(seg_put(&f.w, 0, slice_mem(odd, 5), SLICE_NULL, SEG_FLAT), 0);
    EQ(seg_put(&f.w, 0, SLICE_NULL, SLICE("empty key"), SEG_FLAT), 0);
    OK(seg_get(&f.v, 0, key, &got) && slice_eq(got, slice_mem(odd, 5)));
    OK(seg_get(&f.v, 0, slice_mem(odd, 5), &got) && got.len == 0);
    OK(seg_get(&f.v, SEG_ANY_RANK, SLICE_NULL, &got) && slice_is(got, "empty key"));

    item.key = SLICE("typed");
    item.value = SLICE("\1\2\3\4\5\6\7\10");
    item.quals = SLICE("qualifiers");
    EQ(seg_put_item(&f.w, &item, 0), 0);
    OK(seg_find(&f.v, 9, SLICE("typed"), &back));
    EQ(back.rank, 9);
    EQ(back.type, 513);
    EQ(back.scope, 3);
    EQ(back.flags, 0);
    OK(slice_eq(back.value, item.value) && slice_eq(back.quals, item.quals) &&
       slice_eq(back.key, item.key));
    OK(((uintptr_t)back.value.ptr & 7) == 0);
    close_fixture(&f);
}

static void test_limits(void)
{
    struct fixture f;
    char *big = calloc(1, (size_t)LIMIT_STORE_VALUE + 1);
    struct slice got;
    uint64_t used;

    open_fixture(&f);
    if (!big)
        abort();
    memset(big, 'v', (size_t)LIMIT_STORE_VALUE + 1);
    EQ(seg_put(&f.w, 0, SLICE("big"), slice_mem(big, LIMIT_STORE_VALUE), SEG_FLAT), 0);
    OK(seg_get(&f.v, 0, SLICE("big"), &got) && slice_eq(got, slice_mem(big, LIMIT_STORE_VALUE)));
    used = seg_used(&f.w);
    EQ(seg_put(&f.w, 0, SLICE("x"), slice_mem(big, (size_t)LIMIT_STORE_VALUE + 1), SEG_FLAT),
       SEG_TOO_LONG);
    EQ(seg_put(&f.w, 0, slice_mem(big, 65536), SLICE("x"), SEG_FLAT), SEG_TOO_LONG);
    EQ(seg_used(&f.w), used);
    EQ(seg_put(&f.w, 0, slice_mem(big, 65535), SLICE("x"), SEG_FLAT), 0);
    OK(seg_get(&f.v, 0, slice_mem(big, 65535), &got));
    free(big);
    close_fixture(&f);
}

static void test_many(void)
{
    enum { N = 20000 };
    struct fixture f;
    int wrong = 0, order = 0;
    struct seg_item item;
    uint64_t cursor = 0;
    char key[32], value[32];

    open_fixture(&f);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        snprintf(value, sizeof value, "value-%d", i * 7);
        wrong += put(&f, (uint32_t)i % 64, key, value, SEG_FLAT) != 0;
    }
    EQ(wrong, 0);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        snprintf(value, sizeof value, "value-%d", i * 7);
        wrong += !has(&f, SEG_ANY_RANK, key, value);
        wrong += !has(&f, (uint32_t)i % 64, key, value);
        wrong += !has(&f, (uint32_t)(i + 1) % 64, key, NULL);
    }
    EQ(wrong, 0);
    while (seg_next(&f.v, &cursor, &item)) {
        snprintf(key, sizeof key, "key-%d", order++);
        wrong += !slice_is(item.key, key);
    }
    EQ(order, N);
    EQ(wrong, 0);
    EQ(seg_entries(&f.v), N);
    OK(f.w.dead < seg_used(&f.w) / 2);
    close_fixture(&f);
}

static void test_iteration(void)
{
    struct fixture f;
    struct seg_item item;
    uint64_t cursor = 0;

    open_fixture(&f);
    OK(!seg_next(&f.v, &cursor, &item));
    put(&f, 1, "a", "1", SEG_FLAT);
    put(&f, 2, "b", "2", SEG_FLAT);
    OK(seg_next(&f.v, &cursor, &item) && slice_is(item.key, "a"));
    put(&f, 2, "b", "two", SEG_FLAT | SEG_REPLACE);
    OK(seg_next(&f.v, &cursor, &item) && slice_is(item.key, "b") && slice_is(item.value, "two"));
    OK(!seg_next(&f.v, &cursor, &item));
    OK(!seg_next(&f.v, &cursor, &item));
    put(&f, 3, "c", "3", SEG_FLAT);
    OK(seg_next(&f.v, &cursor, &item) && slice_is(item.key, "c"));
    OK(!seg_next(&f.v, &cursor, &item));
    close_fixture(&f);
}

/* A put that finds no room leaves the store as it was, however small the room. */
static void test_full(void)
{
    struct fixture f;
    char key[16];
    int puts = 0, rc;
    uint64_t entries;

    open_max(&f, 8192);
    do {
        snprintf(key, sizeof key, "k%d", puts);
        rc = put(&f, 0, key, "0123456789", SEG_FLAT);
        puts += rc == 0;
    } while (rc == 0);
    EQ(rc, SEG_FULL);
    OK(puts > 30);
    OK(has(&f, 0, "k0", "0123456789"));
    OK(has(&f, 0, key, NULL));
    entries = seg_entries(&f.v);
    EQ(entries, puts);
    EQ(seg_create(&f.w, &f.region, 1, 1u << 20), SEG_FULL);
    close_fixture(&f);
}

static int failing_grow(struct seg_region *r, uint64_t want, void *arg)
{
    int *left = arg;

    if ((*left)-- <= 0)
        return -ENOMEM;
    r->size = want;
    return 0;
}

static void test_grow_fails(void)
{
    struct fixture f;
    static char value[40000];
    int left = 2;

    if (seg_memory_open(REGION, &f.region) < 0)
        abort();
    f.region.grow = failing_grow;
    f.region.arg = &left;
    EQ(seg_create(&f.w, &f.region, 42, 0), 0);
    EQ(seg_open(f.region.base, REGION, &f.v), 0);
    EQ(seg_put(&f.w, 0, SLICE("a"), slice_mem(value, sizeof value), SEG_FLAT), 0);
    EQ(seg_put(&f.w, 0, SLICE("b"), slice_mem(value, sizeof value), SEG_FLAT), -ENOMEM);
    OK(has(&f, 0, "b", NULL));
    left = 1;
    EQ(seg_put(&f.w, 0, SLICE("b"), slice_mem(value, sizeof value), SEG_FLAT), 0);
    EQ(seg_entries(&f.v), 2);
    left = 0;
    seg_memory_close(&f.region);
    if (seg_memory_open(REGION, &f.region) < 0)
        abort();
    f.region.grow = failing_grow;
    f.region.arg = &left;
    EQ(seg_create(&f.w, &f.region, 42, 0), -ENOMEM);
    close_fixture(&f);
}

static void test_open(void)
{
    struct fixture f;
    struct seg_header *h;
    struct seg_view v;
    struct seg_item item;
    uint64_t cursor = 0;

    open_fixture(&f);
    h = f.region.base;
    EQ(seg_open(NULL, REGION, &v), SEG_FOREIGN);
    EQ(seg_open(h, sizeof *h - 1, &v), SEG_FOREIGN);
    h->version = SEG_VERSION + 1;
    EQ(seg_open(h, REGION, &v), SEG_FOREIGN);
    h->version = SEG_VERSION;
    h->magic ^= 1;
    EQ(seg_open(h, REGION, &v), SEG_FOREIGN);
    h->magic ^= 1;
    h->header_bytes += 64; /* a later writer has more fields: the first ones are the same */
    EQ(seg_open(h, REGION, &v), 0);
    v = SEG_VIEW_NULL;
    OK(!seg_find(&v, 0, SLICE("a"), &item));
    OK(!seg_next(&v, &cursor, &item));
    EQ(seg_entries(&v), 0);
    EQ(seg_generation(&v), 0);
    close_fixture(&f);
}

static void test_generation(void)
{
    struct fixture f;

    open_fixture(&f);
    EQ(seg_generation(&f.v), 0);
    seg_publish(&f.w);
    seg_publish(&f.w);
    EQ(seg_generation(&f.v), 2);
    close_fixture(&f);
}

/* A reader whose mapping is shorter than the store finds the values inside, and misses the rest. */
static void test_short_mapping(void)
{
    struct fixture f;
    struct seg_view v;
    struct slice got;
    static char value[100000];

    open_fixture(&f);
    put(&f, 0, "first", "1", SEG_FLAT);
    seg_put(&f.w, 0, SLICE("far"), slice_mem(value, sizeof value), SEG_FLAT);
    EQ(seg_open(f.region.base, 4096, &v), 0);
    OK(seg_get(&v, 0, SLICE("first"), &got));
    OK(!seg_get(&v, 0, SLICE("far"), &got));
    close_fixture(&f);
}

int main(void)
{
    test_flat();
    test_by_rank();
    test_server_puts();
    test_bytes();
    test_limits();
    test_many();
    test_iteration();
    test_full();
    test_grow_fails();
    test_open();
    test_generation();
    test_short_mapping();
    return tap_done();
}
