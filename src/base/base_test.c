/* base_test.c - the basic types: slices, buffers, maps, arenas, lists. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/number_map.h"
#include "base/rand.h"
#include "base/search.h"
#include "base/signal_name.h"
#include "base/slice.h"
#include "tests/tap.h"

static void test_slices(void)
{
    struct slice rest = SLICE("a b  c");
    uint64_t u = 7;
    int64_t i;
    char digits[SLICE_DIGITS_MAX];
    int n;

    OK(slice_is(slice_cut(&rest, ' '), "a"));
    OK(slice_is(slice_cut(&rest, ' '), "b"));
    OK(slice_is(slice_cut(&rest, ' '), ""));
    OK(slice_is(slice_cut(&rest, ' '), "c"));
    OK(rest.len == 0 && slice_cut(&rest, ' ').len == 0);
    OK(slice_is(slice_trim(SLICE(" \t x y \r")), "x y"));
    OK(slice_u64(SLICE("18446744073709551615"), &u) && u == UINT64_MAX);
    OK(!slice_u64(SLICE("18446744073709551616"), &u) && !slice_u64(SLICE(""), &u));
    OK(!slice_u64(SLICE("12x"), &u) && !slice_u64(SLICE("-1"), &u) && u == UINT64_MAX);
    OK(slice_i64(SLICE("-9223372036854775808"), &i) && i == INT64_MIN);
    OK(!slice_i64(SLICE("9223372036854775808"), &i) && !slice_i64(SLICE("-"), &i));
    OK(slice_is(slice_digits(digits, 0), "0") && slice_is(slice_digits(digits, 1024), "1024"));
    OK(slice_is(slice_digits(digits, UINT64_MAX), "18446744073709551615"));
    OK(slice_int(SLICE("-1"), &n) && n == -1 && !slice_int(SLICE("2147483648"), &n));
    OK(slice_has_item(SLICE("ab,c"), SLICE("ab")) && slice_has_item(SLICE("ab,c"), SLICE("c")));
    OK(!slice_has_item(SLICE("ab,c"), SLICE("a")) && !slice_has_item(SLICE_NULL, SLICE("a")));
    OK(slice_cmp(SLICE("ab"), SLICE("abc")) < 0 && slice_cmp(SLICE("b"), SLICE("abc")) > 0);
    OK(slice_hash(SLICE("key"), 1) != slice_hash(SLICE("key"), 2));
}

static void test_bufs(void)
{
    struct buf b = BUF_NULL(10);
    char *stolen;
    size_t len;

    buf_str(&b, "12345");
    buf_take(&b, 3);
    buf_u64(&b, 6789);
    OK(slice_is(buf_slice(&b), "456789"));
    buf_str(&b, "12345");
    OK_F(b.error == BUF_TOO_LONG && buf_len(&b) == 6, "a write over the maximum writes nothing");
    buf_str(&b, "1");
    OK_F(buf_len(&b) == 6, "a poisoned buffer takes nothing more");
    OK(!buf_cstr(&b) && !buf_steal(&b, NULL));
    buf_clear(&b);
    buf_printf(&b, "%s-%d", "x", 5);
    buf_i64(&b, INT64_MIN + 1);
    OK_F(!buf_ok(&b), "a number that does not fit poisons");
    buf_free(&b);
    buf_free(&b);
    b = BUF_NULL(1000);
    for (int i = 0; i < 900; i++) {
        buf_byte(&b, (char)('a' + i % 26));
        if (i % 3 == 2)
            buf_take(&b, 1);
    }
    OK(buf_len(&b) == 600 && buf_slice(&b).ptr[599] == 'a' + 899 % 26);
    stolen = buf_steal(&b, &len);
    OK(stolen && len == 600 && stolen[600] == '\0' && buf_len(&b) == 0);
    free(stolen);
}

static void test_escapes(void)
{
    struct buf b = BUF_NULL(64), again = BUF_NULL(64);

    buf_escaped(&b, SLICE("a \"b\" \\\n\t\x7f\xc3%"));
    OK(slice_is(buf_slice(&b), "a \\\"b\\\" \\\\\\n\\x09\\x7f\\xc3%"));
    buf_unescaped(&again, buf_slice(&b));
    OK(slice_is(buf_slice(&again), "a \"b\" \\\n\t\x7f\xc3%"));
    buf_clear(&again);
    buf_unescaped(&again, SLICE("\\t\\xC3\\x4"));
    OK_F(slice_is(buf_slice(&again), "\t\xc3x4"), "what is cut short stands for itself");
    buf_free(&b);
    buf_free(&again);
}

static void test_maps(void)
{
    enum { N = 2000 };
    static char names[N][8];
    struct map m = MAP_NULL(42);
    size_t at = 0, seen = 0;
    bool right = true;
    void *old;

    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        if (map_put(&m, slice_str(names[i]), names[i], &old) != 0 || old)
            right = false;
    }
    OK_F(right && m.count == N, "%d names go in", N);
    for (int i = 0; i < N; i += 2)
        right = right && map_del(&m, slice_str(names[i])) == names[i];
    for (int i = 0; i < N; i++)
        right = right && map_get(&m, slice_str(names[i])) == (i % 2 ? names[i] : NULL);
    OK_F(right && m.count == N / 2, "every other one goes out, and the rest is still found");
    while (map_next(&m, &at))
        seen++;
    EQ(seen, N / 2);
    OK(map_put(&m, slice_str("k1"), names[0], &old) == 0 && old == names[1]);
    OK(map_del(&m, slice_str("nobody")) == NULL);
    map_free(&m);
    map_free(&m);
    OK(map_get(&m, slice_str("k1")) == NULL && map_del(&m, slice_str("k1")) == NULL);
}

/* Against a list of all numbers: put and removed in a random order, of neighbours and of far ones.
 */
static void test_number_maps(void)
{
    enum { N = 300, TURNS = 20000 };
    static char here[N];
    struct number_map m = { 0 };
    uint64_t random = 7;
    size_t seen = 0, left = 0, at = 0;
    bool right = true;

    for (int i = 0; i < TURNS; i++) {
        size_t k = (size_t)rand_below(&random, N);
        uint64_t number = k % 2 ? k : (uint64_t)k << 40;
        right = right && number_map_get(&m, number) == (here[k] ? &here[k] : NULL);
        if (here[k])
            right = right && number_map_del(&m, number) == &here[k];
        else
            right = right && number_map_put(&m, number, &here[k]) == 0;
        here[k] = !here[k];
        right = right && number_map_get(&m, number) == (here[k] ? &here[k] : NULL);
    }
    OK_F(right, "%d numbers are put and removed in any order", N);
    for (int i = 0; i < N; i++)
        left += (size_t)here[i];
    while (number_map_next(&m, &at))
        seen++;
    OK(left > 0 && m.count == left && seen == left);
    OK(!number_map_get(&m, 3 * N + 1) && !number_map_del(&m, 3 * N + 1));
    number_map_free(&m);
    number_map_free(&m);
    OK(!number_map_get(&m, 1) && !number_map_del(&m, 1));
}

static void test_arenas(void)
{
    struct arena a = ARENA_NULL(100000);
    char *first = arena_str(&a, SLICE("first"));
    char *text;

    OK(first && !strcmp(first, "first"));
    for (int i = 0; i < 500; i++)
        arena_alloc(&a, 100);
    OK(arena_ok(&a) && !strcmp(first, "first"));
    text = arena_printf(&a, "%d-%s", 7, "x");
    OK(text && !strcmp(text, "7-x"));
    OK(!arena_alloc(&a, 90000) && !arena_ok(&a));
    OK_F(!arena_alloc(&a, 1), "an arena that failed stays failed");
    arena_free(&a);
    OK(!arena_array(&a, SIZE_MAX / 2, 4) && !arena_ok(&a));
    arena_free(&a);
}

static void test_lists(void)
{
    struct item {
        int n;
        struct list link;
    } items[3] = { { .n = 1 }, { .n = 2 }, { .n = 3 } };
    struct list head;
    int sum = 0;

    list_init(&head);
    for (int i = 0; i < 3; i++)
        list_append(&head, &items[i].link);
    LIST_EACH(l, &head)
    {
        struct item *it = LIST_OF(l, struct item, link);
        sum = sum * 10 + it->n;
        list_unlink(l);
    }
    OK(sum == 123 && list_empty(&head) && !list_first(&head));
    list_unlink(&items[0].link);
    list_prepend(&head, &items[1].link);
    list_prepend(&head, &items[0].link);
    OK(list_first(&head) == &items[0].link && head.prev == &items[1].link);
}

static void test_errors(void)
{
    struct errmsg e;

    OK(errmsg_set(&e, -ENOENT, "no %s", "file") == -ENOENT && !strcmp(e.text, "no file"));
    OK(errmsg_set(NULL, 3, "x") == 3);
    OK(!strcmp(err_text(-ENOENT), err_text(ENOENT)));
    OK(strstr(err_text(-EMFILE), "(ulimit -n)"));
    OK(strstr(err_text_of_start(-EAGAIN), "ulimit -u") &&
       strstr(err_text_of_start(EAGAIN), "pids.max"));
    OK(!strcmp(err_text_of_start(-ENOENT), err_text(ENOENT)));
}

static bool is_lower(const void *item, const void *key)
{
    return *(const int *)item < *(const int *)key;
}

static size_t first_of(size_t n, int key)
{
    static const int items[] = { 1, 3, 3, 3, 7 };

    return search_first(items, n, sizeof *items, is_lower, &key);
}

static void test_searches(void)
{
    OK(first_of(0, 1) == 0);
    OK(first_of(5, 0) == 0 && first_of(5, 1) == 0 && first_of(5, 2) == 1);
    OK(first_of(5, 3) == 1 && first_of(5, 4) == 4 && first_of(5, 7) == 4 && first_of(5, 8) == 5);
    OK(first_of(4, 3) == 1 && first_of(4, 7) == 4);
}

static void test_signals(void)
{
    OK(signal_asks_end(SIGINT) && signal_asks_end(SIGQUIT) && signal_asks_end(SIGTERM) &&
       signal_asks_end(SIGKILL));
    OK(!signal_asks_end(SIGHUP) && !signal_asks_end(SIGUSR1) && !signal_asks_end(SIGCONT) &&
       !signal_asks_end(SIGSTOP) && !signal_asks_end(0));
    OK(signal_number(SLICE("SIGquit")) == SIGQUIT && signal_number(SLICE("SIGNONE")) == 0);
}

int main(void)
{
    test_signals();
    test_searches();
    test_slices();
    test_bufs();
    test_escapes();
    test_maps();
    test_number_maps();
    test_arenas();
    test_lists();
    test_errors();
    return tap_done();
}
