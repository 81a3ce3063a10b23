/* pmix_codec_test.c - the PMIx codec: recorded bytes, round trips, and all kinds of errors. */
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "tests/pmix_fill.h"
#include "tests/pmix_items.h"
#include "tests/tap.h"
#include "wire/pmix_handshake.h"
#include "wire/pmix_greeting.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"

static const struct golden {
    const char *encoding;
    int form, status;
    const char *item, *hex;
} golden[] = {
#define GOLDEN(encoding, form, status, item, hex) { encoding, form, status, item, hex },
#include "tests/golden/pmix-types-4.2.2.def"
#undef GOLDEN
    /* v6 has no recording: from the description of the wire */
    { "v61", 1, 0, "value string",
      "0203"
      "08616e7300" },
    { "v61", 1, -16, "net stats", "" },
    { "v61", 1, -16, "proc stats", "" },
    { "v61", 1, 0, "data array undef", "020000" },
};

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        char pair[3] = { hex[2 * i], hex[2 * i + 1], 0 };
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static const struct item *find_item(const char *name)
{
    for (size_t i = 0; i < items_count; i++)
        if (strcmp(items[i].name, name) == 0)
            return &items[i];
    return NULL;
}

static bool same(struct slice a, const uint8_t *b, size_t n)
{
    return slice_eq(a, slice_mem(b, n));
}

/* Unpacks the bytes, and packs the result again. */
static bool there_and_back(const struct golden *g, const struct item *it, struct slice bytes)
{
    const struct ptype_flavour *as = ptype_flavour(slice_str(g->encoding));
    const struct ptype *t = ptype_find(it->type);
    struct buf again = BUF_NULL(1 << 20);
    struct ppack w;
    struct punpack r;
    int32_t n = it->n + 3;
    void *out = malloc((size_t)n * t->size);
    bool good;

    memset(out, 0xee, (size_t)n * t->size);
    punpack_init(&r, bytes, as);
    r.described = g->form == 2;
    punpack(&r, out, &n, it->type);
    good = punpack_ok(&r) && n == it->n && punpack_left(&r) == 0;
    ppack_init(&w, &again, as);
    w.described = r.described;
    if (good)
        good = ppack(&w, out, n, it->type) == PTYPE_FINE && slice_eq(buf_slice(&again), bytes);
    if (punpack_ok(&r))
        pmem_free(t, out, (size_t)n, NULL);
    free(out);
    buf_free(&again);
    return good;
}

/* Every prefix of the bytes is refused, and nothing leaks. */
static bool cuts_are_refused(const struct golden *g, const struct item *it, struct slice bytes)
{
    const struct ptype *t = ptype_find(it->type);

    for (size_t cut = 0; cut < bytes.len; cut++) {
        int32_t n = it->n;
        char *copy = malloc(cut + 1); /* so that a sanitizer sees an overrun */
        void *out = calloc((size_t)n + 1, t->size);
        struct punpack r;
        bool refused;
        memcpy(copy, bytes.ptr, cut);
        punpack_init(&r, slice_mem(copy, cut), ptype_flavour(slice_str(g->encoding)));
        r.described = g->form == 2;
        refused = punpack(&r, out, &n, it->type) == PTYPE_CUT && n == 0 && punpack_left(&r) == cut;
        free(out);
        free(copy);
        if (!refused)
            return false;
    }
    return true;
}

static void test_golden(void)
{
    size_t bytes_equal = 0, refused = 0;

    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        const struct golden *g = &golden[i];
        const struct item *it = find_item(g->item);
        uint8_t want[4096];
        size_t n = from_hex(g->hex, want);
        struct buf out = BUF_NULL(1 << 20);
        struct ppack w;

        if (!it) {
            OK_F(false, "there is an item called %s", g->item);
            continue;
        }
        ppack_init(&w, &out, ptype_flavour(slice_str(g->encoding)));
        w.described = g->form == 2;
        ppack(&w, it->src, it->n, it->type);
        if (g->status) {
            OK_F(w.error == PTYPE_UNKNOWN && buf_len(&out) == 0, "%s does not know: %s",
                 g->encoding, g->item);
            refused++;
        } else {
            OK_F(ppack_ok(&w) && same(buf_slice(&out), want, n) &&
                     there_and_back(g, it, slice_mem(want, n)) &&
                     cuts_are_refused(g, it, slice_mem(want, n)),
                 "%s form %d: %s", g->encoding, g->form, g->item);
            bytes_equal++;
        }
        buf_free(&out);
    }
    OK(bytes_equal >= 500);
    OK(refused >= 100);
}

/* Random items of every type, in every encoding: packed, unpacked, equal when packed again; copied,
 * and the copy equal. */
static bool random_round(struct fill *f, const struct ptype *t)
{
    struct buf first = BUF_NULL(1 << 24), second = BUF_NULL(1 << 24);
    struct ppack w;
    struct punpack r;
    int32_t n = 2;
    char *items_in = fill_take(2u * t->size), *items_out = malloc(2u * t->size);
    char *copies = fill_take(2u * t->size);
    bool good;

    fill_item(f, t, items_in);
    fill_item(f, t, items_in + t->size);
    ppack_init(&w, &first, f->as);
    ppack(&w, items_in, n, t->number);
    punpack_init(&r, buf_slice(&first), f->as);
    punpack(&r, items_out, &n, t->number);
    good = ppack_ok(&w) && punpack_ok(&r) && n == 2 && punpack_left(&r) == 0;
    ppack_init(&w, &second, f->as);
    ppack(&w, items_out, n, t->number);
    good = good && slice_eq(buf_slice(&first), buf_slice(&second));
    good = good && pmem_copy(t, copies, items_in, 2, NULL) == PTYPE_FINE &&
           pmem_equal(t, items_in, copies, NULL) &&
           pmem_equal(t, items_in + t->size, copies + t->size, NULL);
    pmem_free(t, items_in, 2, NULL);
    pmem_free(t, items_out, (size_t)n, NULL);
    pmem_free(t, copies, 2, NULL);
    free(items_in);
    free(items_out);
    free(copies);
    buf_free(&first);
    buf_free(&second);
    return good;
}

static void test_random(void)
{
    static const char *const names[] = { "v21", "v3", "v4", "v41", "v51", "v61", "own" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct ptype_flavour *as = ptype_flavour(slice_str(names[i]));
        size_t types = 0;
        struct fill f = { .state = i + 1, .depth = 3, .as = as ? as : &ptype_own };
        for (size_t number = 0; number < PTYPE_NUMBERS; number++) {
            const struct ptype *t = &ptype_table[number];
            bool good = true;
            if (!fill_allowed(&f, t, false))
                continue;
            for (int round = 0; round < 60 && good; round++)
                good = random_round(&f, t);
            types++;
            if (!good)
                OK_F(good, "%s: random %s", names[i], t->name);
        }
        OK_F(types >= 38, "%s: random items of %zu types, there and back, copied", names[i], types);
    }
}

/* A difference of one bit in any field is a difference. */
static void test_equal(void)
{
    struct fill f = { .state = 7, .depth = 2, .as = &ptype_own };
    size_t differ = 0, all = 0;

    for (size_t number = 0; number < PTYPE_NUMBERS; number++) {
        const struct ptype *t = &ptype_table[number];
        if (!fill_allowed(&f, t, false) || number == PMIX_POINTER)
            continue;
        for (int round = 0; round < 10; round++, all++) {
            void *a = fill_take(t->size), *b = fill_take(t->size);
            struct buf p = BUF_NULL(1 << 24), q = BUF_NULL(1 << 24);
            struct ppack w;
            fill_item(&f, t, a);
            fill_item(&f, t, b);
            ppack_init(&w, &p, &ptype_own);
            ppack(&w, a, 1, t->number);
            ppack_init(&w, &q, &ptype_own);
            ppack(&w, b, 1, t->number);
            if (pmem_equal(t, a, b, NULL) == slice_eq(buf_slice(&p), buf_slice(&q)))
                differ++;
            buf_free(&p);
            buf_free(&q);
            pmem_free(t, a, 1, NULL);
            pmem_free(t, b, 1, NULL);
            free(a);
            free(b);
        }
    }
    OK_F(differ == all, "items are equal when their bytes are: %zu of %zu", differ, all);
}

#define BYTES(...)                                                                                 \
    slice_mem(((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Unpacks one item and returns the error. */
static enum ptype_error error_of(const char *encoding, struct slice bytes, uint16_t type)
{
    static char out[16384];
    struct punpack r;
    int32_t n = 1;
    enum ptype_error error;

    punpack_init(&r, bytes, ptype_flavour(slice_str(encoding)));
    error = punpack(&r, out, &n, type);
    if (error == PTYPE_FINE)
        pmem_free(ptype_find(type), out, (size_t)n, NULL);
    return error;
}

static void test_malformed(void)
{
    EQ(error_of("v41", BYTES(2, 0xe8, 0xff), PMIX_UINT32), PTYPE_CUT);
    EQ(error_of("v41", BYTES(2, 0xff, 0xff, 0xff, 0xff, 0xff, 1), PMIX_UINT32), PTYPE_MALFORMED);
    EQ(error_of("v41", BYTES(2, 0xff, 0xff, 0xff, 0xff, 0x1f), PMIX_INT32), PTYPE_MALFORMED);
    EQ(error_of("v41", BYTES(2, 0xff, 0xff, 4), PMIX_UINT16), PTYPE_MALFORMED);
    EQ(error_of("v41", BYTES(2, 0xff, 0xff, 3), PMIX_UINT16), PTYPE_FINE);
    EQ(error_of("v41", BYTES(2, 9, 'h', 'i'), PMIX_STRING), PTYPE_MALFORMED); /* negative */
    EQ(error_of("v41", BYTES(2, 4, 'h', 'i'), PMIX_STRING), PTYPE_MALFORMED); /* no NUL */
    EQ(error_of("v41", BYTES(1, 4, 'h', 'i'), PMIX_STRING), PTYPE_MALFORMED); /* -1 items */
    EQ(error_of("v41", BYTES(4, 1, 2), PMIX_UINT32), PTYPE_NO_ROOM);
    EQ(error_of("v41", BYTES(2, 1), 99), PTYPE_UNKNOWN);
    EQ(error_of("v41", BYTES(2, 1), PMIX_KVAL), PTYPE_UNKNOWN);
    EQ(error_of("v41", BYTES(2, 99, 1), PMIX_VALUE), PTYPE_UNKNOWN);
    EQ(error_of("v41", BYTES(2, 41, 0, 0), PMIX_VALUE), PTYPE_UNKNOWN); /* queries are not values */
    EQ(error_of("v41", BYTES(2, 70, 0, 0, 0), PMIX_VALUE), PTYPE_UNKNOWN); /* v51's */
    EQ(error_of("v51", BYTES(2, 70, 0, 0, 0), PMIX_VALUE), PTYPE_FINE);
    EQ(error_of("v41", BYTES(2, 3, 5), PMIX_PID), PTYPE_MALFORMED); /* a PID that is a STRING */
    EQ(error_of("v41", BYTES(2, 15, 5), PMIX_PID), PTYPE_FINE);     /* one that is a UINT64 */
    EQ(error_of("v41", BYTES(2, 0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 1), PMIX_PID), PTYPE_MALFORMED);
    EQ(error_of("v41", BYTES(2, 4, 'x', 0), PMIX_FLOAT), PTYPE_MALFORMED);
    EQ(error_of("v41", BYTES(2, 8, 'i', 'n', 'f', 0), PMIX_FLOAT), PTYPE_FINE);
    EQ(error_of("v41", BYTES(2, 14, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1, 2), PMIX_DATA_ARRAY),
       PTYPE_CUT);
    EQ(error_of("v41", BYTES(2, 99, 1, 1), PMIX_DATA_ARRAY), PTYPE_UNKNOWN);
    EQ(error_of("v41", BYTES(2, 2), PMIX_QUERY), PTYPE_CUT);
    EQ(error_of("v41", BYTES(2, 2, 0, 0), PMIX_QUERY), PTYPE_MALFORMED); /* a key that is NULL */
    EQ(error_of("v41", BYTES(2, 'r', 'a', 'w', ':'), PMIX_REGEX), PTYPE_CUT);
    EQ(error_of("v41", BYTES(2, 0), PMIX_PROC_CPUSET), PTYPE_FINE);
    EQ(error_of("v41", BYTES(2, 4, '1', 0), PMIX_PROC_CPUSET), PTYPE_NOT_SUPPORTED);
    EQ(error_of("v41", BYTES(2, 4, '1', 0), PMIX_TOPO), PTYPE_NOT_SUPPORTED);
    /* fixed width: numbers may have another type than the expected one, when they fit */
    EQ(error_of("v3", BYTES(0, 0, 0, 1, 0, 10, 0, 0, 0, 0, 0, 0, 0, 5), PMIX_INT), PTYPE_FINE);
    EQ(error_of("v3", BYTES(0, 0, 0, 1, 0, 15, 0, 0, 0, 1, 0, 0, 0, 5), PMIX_INT), PTYPE_MALFORMED);
    EQ(error_of("v3", BYTES(0, 0, 0, 1, 0, 9, 0xff, 0xff, 0xff, 0xff), PMIX_SIZE), PTYPE_MALFORMED);
    EQ(error_of("v3", BYTES(0, 0, 0, 1, 0, 12, 7), PMIX_SIZE), PTYPE_FINE);
    EQ(error_of("v3", BYTES(0, 0, 0, 1, 0, 16, 7), PMIX_SIZE), PTYPE_MALFORMED);
}

/* The longest key fits, one more byte does not. */
static void test_texts(void)
{
    struct buf b = BUF_NULL(1 << 20);
    char big[PMIX_MAX_KEYLEN + 2], *text = big;
    struct ppack w;

    memset(big, 'k', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    ppack_init(&w, &b, ptype_flavour(SLICE("v41")));
    ppack(&w, &text, 1, PMIX_STRING);
    buf_byte(&b, 0);
    buf_byte(&b, 0);
    EQ(error_of("v41", buf_slice(&b), PMIX_INFO), PTYPE_TOO_LONG);
    text++;
    buf_clear(&b);
    ppack_init(&w, &b, ptype_flavour(SLICE("v41")));
    ppack(&w, &text, 1, PMIX_STRING);
    buf_byte(&b, 0);
    buf_byte(&b, 0);
    EQ(error_of("v41", buf_slice(&b), PMIX_INFO), PTYPE_FINE);
    buf_free(&b);
}

static void test_depth(void)
{
    struct buf b = BUF_NULL(1 << 20);
    pmix_data_array_t arrays[LIMIT_PMIX_DEPTH + 2];
    struct ppack w;
    int32_t n = 1;
    struct punpack r;
    pmix_data_array_t out;

    for (size_t i = 0; i < LIMIT_PMIX_DEPTH + 2; i++)
        arrays[i] =
            (pmix_data_array_t){ .type = PMIX_DATA_ARRAY, .size = 1, .array = &arrays[i + 1] };
    arrays[LIMIT_PMIX_DEPTH + 1] = (pmix_data_array_t){ .type = PMIX_UNDEF };
    ppack_init(&w, &b, &ptype_own);
    EQ(ppack(&w, &arrays[0], 1, PMIX_DATA_ARRAY), PTYPE_TOO_DEEP);
    EQ(pmem_copy(ptype_find(PMIX_DATA_ARRAY), &out, arrays, 1, NULL), PTYPE_TOO_DEEP);
    ppack_init(&w, &b, &ptype_own);
    EQ(ppack(&w, &arrays[1], 1, PMIX_DATA_ARRAY), PTYPE_FINE);
    punpack_init(&r, buf_slice(&b), &ptype_own);
    EQ(punpack(&r, &out, &n, PMIX_DATA_ARRAY), PTYPE_FINE);
    pmem_array_free(&out, NULL);
    buf_free(&b);
    for (size_t i = 0; i < 100000; i++) { /* "an array of one array of one array …" */
        buf_byte(&b, i ? PMIX_DATA_ARRAY : 2);
        if (i)
            buf_byte(&b, 1);
    }
    EQ(error_of("v41", buf_slice(&b), PMIX_DATA_ARRAY), PTYPE_TOO_DEEP);
    buf_free(&b);
}

/* Several units, with a failing one between them: writers and readers continue from the start. */
static void test_poison(void)
{
    struct buf b = BUF_NULL(1 << 16);
    struct ppack w;
    struct punpack r;
    uint32_t v[2] = { 1, 2 };
    int32_t n;
    size_t len;

    ppack_init(&w, &b, &ptype_own);
    ppack_size(&w, 5);
    len = buf_len(&b);
    EQ(ppack(&w, v, -1, PMIX_UINT32), PTYPE_BAD_PARAM);
    EQ(ppack(&w, v, 1, PMIX_UINT32), PTYPE_BAD_PARAM); /* poisoned */
    EQ(buf_len(&b), len);
    ppack_init(&w, &b, &ptype_own);
    EQ(ppack(&w, NULL, 1, PMIX_UINT32), PTYPE_BAD_PARAM);
    ppack_init(&w, &b, &ptype_own);
    EQ(ppack(&w, v, 2, PMIX_UINT32), PTYPE_FINE);

    punpack_init(&r, buf_slice(&b), &ptype_own);
    EQ(punpack_size(&r), 5);
    n = 1;
    EQ(punpack(&r, v, &n, PMIX_UINT32), PTYPE_NO_ROOM);
    EQ(n, 1);
    EQ(punpack_left(&r), 3); /* back before the unit */
    EQ(punpack_size(&r), 0);
    OK(!punpack_ok(&r));
    r.error = PTYPE_FINE;
    n = 2;
    EQ(punpack(&r, v, &n, PMIX_UINT32), PTYPE_FINE);
    EQ(n, 2);
    EQ(punpack(&r, v, &n, PMIX_UINT32), PTYPE_CUT);
    EQ(n, 0);
    buf_free(&b);
}

static void test_described(void)
{
    struct buf b = BUF_NULL(1 << 16);
    struct ppack w;
    struct punpack r;
    uint16_t type;
    int32_t n = 1;
    uint32_t v;

    ppack_init(&w, &b, &ptype_own);
    w.described = true;
    ppack_u32(&w, PMIX_UINT32, 7);
    punpack_init(&r, buf_slice(&b), &ptype_own);
    r.described = true;
    EQ(punpack_peek(&r, &type), 1);
    EQ(type, PMIX_UINT32);
    EQ(punpack(&r, &v, &n, PMIX_INT32), PTYPE_MISMATCH);
    r.error = PTYPE_FINE;
    EQ(punpack_u32(&r, PMIX_UINT32), 7);
    EQ(punpack_peek(&r, &type), -1);
    buf_free(&b);
}

/* The parts of messages. */
static void test_messages(void)
{
    static const char *const encodings[] = { "v3", "v41" };

    for (size_t i = 0; i < 2; i++) {
        struct buf b = BUF_NULL(1 << 16);
        struct ppack w;
        struct punpack r;
        pmix_value_t value = { .type = PMIX_STRING, .data.string = item_value }, got;
        pmix_proc_t procs[3] = { item_proc("a", 0), item_proc("b", 1), item_proc("c", 2) }, *list;
        size_t n;
        bool described;
        struct slice text;
        char *copy;

        ppack_init(&w, &b, ptype_flavour(slice_str(encodings[i])));
        ppack_byte(&w, PMIX_COMMAND, 2);
        ppack_status(&w, PMIX_ERR_NOT_FOUND);
        ppack_str(&w, "hello");
        ppack_str(&w, NULL);
        ppack_str(&w, "again");
        ppack_bytes(&w, SLICE("\1\2\3"));
        ppack_kval(&w, "key", &value);
        ppack_buffer(&w, true, SLICE("inside"));
        ppack_size(&w, 3);
        ppack(&w, procs, 3, PMIX_PROC);
        ppack_size(&w, 0);
        OK(ppack_ok(&w));

        punpack_init(&r, buf_slice(&b), ptype_flavour(slice_str(encodings[i])));
        EQ(punpack_byte(&r, PMIX_COMMAND), 2);
        EQ(punpack_status(&r), PMIX_ERR_NOT_FOUND);
        OK(slice_is(punpack_text(&r), "hello"));
        text = punpack_text(&r);
        OK(!text.ptr && punpack_ok(&r));
        copy = punpack_str(&r);
        OK(copy && strcmp(copy, "again") == 0);
        free(copy);
        OK(slice_is(punpack_bytes(&r), "\1\2\3"));
        OK(slice_is(punpack_kval(&r, &got), "key"));
        OK(got.type == PMIX_STRING && strcmp(got.data.string, "ans") == 0);
        pmem_value_free(&got, NULL);
        OK(slice_is(punpack_buffer(&r, &described), "inside") && described);
        list = punpack_list(&r, PMIX_PROC, &n);
        OK(list && n == 3 && strcmp(list[2].nspace, "c") == 0 && list[2].rank == 2);
        free(list);
        OK(!punpack_list(&r, PMIX_PROC, &n) && n == 0);
        OK(punpack_ok(&r) && punpack_left(&r) == 0);
        OK(!punpack_text(&r).ptr && r.error == PTYPE_CUT);
        buf_free(&b);
    }
}

/* A skipped value has the bytes that its decoding reads, and cuts are detected just as well. */
static bool raw_round(struct fill *f)
{
    struct buf b = BUF_NULL(1 << 24), again = BUF_NULL(1 << 24);
    pmix_value_t v, got;
    struct ppack w;
    struct punpack r, of_value;
    uint16_t type;
    struct slice bytes, key;
    bool good;

    memset(&v, 0, sizeof v);
    fill_value(f, &v);
    ppack_init(&w, &b, f->as);
    ppack_kval(&w, "key", &v);
    punpack_init(&r, buf_slice(&b), f->as);
    key = punpack_kval_raw(&r, &type, &bytes);
    good = ppack_ok(&w) && slice_is(key, "key") && type == v.type && punpack_left(&r) == 0;
    punpack_init(&of_value, bytes, f->as);
    good = good && punpack_value(&of_value, type, &got) == PTYPE_FINE;
    if (good) {
        ppack_init(&w, &again, f->as);
        ppack_kval(&w, "key", &got);
        good = slice_eq(buf_slice(&b), buf_slice(&again));
        pmem_value_free(&got, NULL);
    }
    for (size_t cut = 0; good && cut < buf_len(&b); cut++) {
        char *copy = malloc(cut + 1);
        memcpy(copy, buf_slice(&b).ptr, cut);
        punpack_init(&r, slice_mem(copy, cut), f->as);
        good = !punpack_kval_raw(&r, &type, &bytes).ptr && r.error == PTYPE_CUT &&
               punpack_left(&r) == cut && !bytes.len;
        free(copy);
    }
    pmem_value_free(&v, NULL);
    buf_free(&b);
    buf_free(&again);
    return good;
}

static void test_raw(void)
{
    static const char *const names[] = { "v3", "v41", "v61" };
    pmix_info_t infos[2] = { { .key = "a", .value = { .type = PMIX_INT, .data.integer = 3 } },
                             { .key = "b", .value = { .type = PMIX_STRING } } };
    pmix_data_array_t array = { PMIX_INFO, 2, infos };
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    for (size_t i = 0; i < 3; i++) {
        const struct ptype_flavour *as = ptype_flavour(slice_str(names[i]));
        struct fill f = { .state = i + 1, .depth = 3, .as = as };
        struct buf b = BUF_NULL(1 << 16);
        struct slice bytes;
        struct ppack w;
        struct punpack r;
        uint16_t type;
        bool good = true;

        for (int round = 0; round < 300 && good; round++)
            good = raw_round(&f);
        OK_F(good, "%s: values passed over, then read", names[i]);
        ppack_init(&w, &b, as);
        ppack_kval(&w, "k", &v);
        punpack_init(&r, buf_slice(&b), as);
        punpack_kval_raw(&r, &type, &bytes);
        punpack_init(&r, bytes, as);
        EQ(punpack_infos_head(&r), 2);
        OK(slice_is(punpack_info_raw(&r, &type, &bytes), "a") && type == PMIX_INT);
        OK(slice_is(punpack_info_raw(&r, &type, &bytes), "b") && type == PMIX_STRING);
        OK(punpack_ok(&r) && punpack_left(&r) == 0);
        EQ(punpack_value(&r, PMIX_INT, &(pmix_value_t){ 0 }), PTYPE_CUT);
        punpack_init(&r, BYTES(0, 0, 0, 0, 0, 0), as);
        EQ(punpack_value(&r, PMIX_BOOL, &(pmix_value_t){ 0 }), PTYPE_MALFORMED);
        buf_free(&b);
    }
}

/* In a value, v51 and later send nothing after the type of an empty array of undefined type. */
static void test_null_array(void)
{
    static const struct {
        const char *encoding, *bytes;
        size_t len;
    } rows[] = { { "v41", "\2\47\0\0", 4 }, { "v61", "\2\47\0", 3 } };

    for (size_t i = 0; i < 2; i++) {
        struct buf b = BUF_NULL(64);
        pmix_value_t v = { .type = PMIX_DATA_ARRAY }, out;
        struct ppack w;
        struct punpack r;
        int32_t n = 1;
        b.max = 1 << 12;
        ppack_init(&w, &b, ptype_flavour(slice_str(rows[i].encoding)));
        ppack(&w, &v, 1, PMIX_VALUE);
        OK_F(slice_eq(buf_slice(&b), slice_mem(rows[i].bytes, rows[i].len)),
             "%s: a value without its array", rows[i].encoding);
        punpack_init(&r, buf_slice(&b), ptype_flavour(slice_str(rows[i].encoding)));
        OK(punpack(&r, &out, &n, PMIX_VALUE) == PTYPE_FINE && punpack_left(&r) == 0);
        pmem_value_free(&out, NULL);
        buf_free(&b);
    }
}

static void test_bad_values(void)
{
    pmix_value_t bad[] = {
        { .type = PMIX_PROC },  { .type = PMIX_INFO },
        { .type = 999 },        { .type = PMIX_BYTE_OBJECT, .data.bo = { NULL, 5 } },
        { .type = PMIX_REGEX },
    };
    static const enum ptype_error errors[] = { PTYPE_BAD_PARAM, PTYPE_UNKNOWN, PTYPE_UNKNOWN,
                                               PTYPE_BAD_PARAM, PTYPE_BAD_PARAM };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct buf b = BUF_NULL(1 << 12);
        struct ppack w;
        ppack_init(&w, &b, &ptype_own);
        EQ(ppack(&w, &bad[i], 1, PMIX_VALUE), errors[i]);
        EQ(buf_len(&b), 0);
        buf_free(&b);
    }
}

/* One byte stands for any number of pointers: arrays of arrays of them must not make megabytes out
 * of a short message, and skipping them must not write anywhere. */
static void test_pointers(void)
{
    static void *nowhere[LIMIT_PMIX_POINTERS];
    static pmix_data_array_t arrays[9];
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = arrays };
    pmix_data_array_t all = { PMIX_DATA_ARRAY, 8, arrays }, got;
    struct buf b = BUF_NULL(1 << 12);
    uint16_t type;
    struct slice raw;
    struct ppack w;
    struct punpack r;

    for (size_t i = 0; i < 9; i++)
        arrays[i] = (pmix_data_array_t){ PMIX_POINTER, LIMIT_PMIX_POINTERS / 8, nowhere };
    for (int more = 0; more < 2; more++) {
        int32_t n = 1;
        buf_clear(&b);
        all.size = (size_t)(8 + more);
        ppack_init(&w, &b, &ptype_own);
        EQ(ppack(&w, &all, 1, PMIX_DATA_ARRAY), PTYPE_FINE);
        punpack_init(&r, buf_slice(&b), &ptype_own);
        EQ(punpack(&r, &got, &n, PMIX_DATA_ARRAY), more ? PTYPE_TOO_LONG : PTYPE_FINE);
        EQ(n, !more);
        if (n)
            pmem_free(ptype_find(PMIX_DATA_ARRAY), &got, 1, NULL);
    }
    buf_clear(&b);
    ppack_init(&w, &b, &ptype_own);
    ppack_kval(&w, "pointers", &value);
    ppack_kval(&w, "more", &(pmix_value_t){ .type = PMIX_UINT32 });
    /* Filled up, so that the count is plausible. */
    while (buf_len(&b) < LIMIT_PMIX_POINTERS / 4)
        ppack_bytes(&w, SLICE("and further"));
    punpack_init(&r, buf_slice(&b), &ptype_own);
    OK(slice_is(punpack_kval_raw(&r, &type, &raw), "pointers") && type == PMIX_DATA_ARRAY);
    OK(slice_is(punpack_kval_raw(&r, &type, &raw), "more") && type == PMIX_UINT32);
    buf_free(&b);
}

/* The persistent flag of an info is not sent, and borrowed values are not released. */
static void test_persistent(void)
{
    struct buf b = BUF_NULL(1 << 12);
    struct ppack w;
    struct punpack r;
    int32_t n = 1;
    pmix_info_t info = item_info("k", PMIX_INFO_PERSISTENT | PMIX_INFO_REQD, 0), got, copy;

    info.value = (pmix_value_t){ .type = PMIX_STRING, .data.string = item_value };
    ppack_init(&w, &b, &ptype_own);
    ppack(&w, &info, 1, PMIX_INFO);
    b.mem[b.start + 4] |= PMIX_INFO_PERSISTENT; /* count, length, "k", NUL, flags */
    punpack_init(&r, buf_slice(&b), &ptype_own);
    punpack(&r, &got, &n, PMIX_INFO);
    OK(punpack_ok(&r) && got.flags == PMIX_INFO_REQD);
    pmem_free(ptype_find(PMIX_INFO), &got, 1, NULL);
    EQ(pmem_copy(ptype_find(PMIX_INFO), &copy, &info, 1, NULL), PTYPE_FINE);
    OK(copy.value.data.string == item_value);
    pmem_free(ptype_find(PMIX_INFO), &copy, 1, NULL);
    OK(strcmp(item_value, "ans") == 0);
    buf_free(&b);
}

static void test_regex_len(void)
{
    static const char blob[] = "blob:\0component=zlib:\0size=5:\0abcde";
    static const char old[] = "blob:\0component=zlib:\0"
                              "5:\0abcde";

    EQ(ptype_regex_len(SLICE("raw:a,b\0x")), 8);
    EQ(ptype_regex_len(SLICE("raw:a,b")), 0);
    EQ(ptype_regex_len(SLICE("")), 0);
    EQ(ptype_regex_len(slice_mem(blob, sizeof blob)), sizeof blob - 1);
    EQ(ptype_regex_len(slice_mem(blob, sizeof blob - 2)), 0);
    EQ(ptype_regex_len(slice_mem(old, sizeof old - 1)), sizeof old - 1);
    EQ(ptype_regex_size(blob), sizeof blob - 1);
    EQ(ptype_regex_size("pmix[a]"), 8);
    EQ(ptype_regex_len(SLICE("blob:\0component=zlib:\0size=99999999999999999999:\0")), 0);
    EQ(ptype_regex_len(SLICE("blob:\0zlib:\0size=1:\0a")), 0);
}

static void test_releases(void)
{
    OK(pmsg_release("4.2.2rc2") == PMSG_RELEASE(4, 2, 2));
    OK(pmsg_release("v3.2.5") == PMSG_RELEASE(3, 2, 5));
    OK(pmsg_release("5.0") == PMSG_RELEASE(5, 0, 0) &&
       pmsg_release("4.1a1") == pmsg_release("4.1"));
    OK(pmsg_release("4.1.x") == pmsg_release("4.1.0"));
    OK(pmsg_release("4.1.255") > pmsg_release("4.1.9"));
    OK(!pmsg_release("") && !pmsg_release("v") && !pmsg_release("4") && !pmsg_release("4.") &&
       !pmsg_release("main") && !pmsg_release(".4.2"));
    OK(!pmsg_release("256.1") && !pmsg_release("4.256") && !pmsg_release("4.2.4294967298"));
}

/* A hello that is written is read again; every beginning of it is recognized as incomplete. */
static void hello_comes_back(uint8_t kind, const char *version, uint32_t want)
{
    const struct handshake_hello h = { .security = SLICE("native"),
                                       .credential = SLICE("12345678"),
                                       .kind = kind,
                                       .user = 1000,
                                       .group = 100,
                                       .nspace = SLICE("job"),
                                       .rank = 7,
                                       .version = slice_str(version),
                                       .encoding = SLICE("v41"),
                                       .buffers = 2,
                                       .store = SLICE("hash") };
    struct buf b = BUF_NULL(4096);
    struct handshake_hello back;
    struct handshake_read r;
    bool cut = true;

    handshake_write(HANDSHAKE_hello, 0, &h, &b);
    OK(handshake_read(HANDSHAKE_hello, 0, buf_slice(&b), &back, &r));
    EQ(r.has, want);
    EQ(r.bytes, buf_len(&b));
    OK(back.kind == kind && slice_is(back.version, version) &&
       slice_is(back.credential, "12345678"));
    OK(slice_is(back.nspace, "job") == HANDSHAKE_HAS(&r, hello, nspace));
    for (size_t n = 0; n < buf_len(&b); n++)
        cut = cut && !handshake_read(HANDSHAKE_hello, 0, slice_head(buf_slice(&b), n), &back, &r) &&
              r.bytes > n;
    OK_F(cut, "a message that is cut short is not whole");
    buf_free(&b);
}

static void test_handshake(void)
{
    const struct handshake_tool_welcome named = { .server = SLICE("launcher"), .server_rank = 1 };
    const struct handshake_welcome refused = { .status = PMIX_ERR_NOT_SUPPORTED };
    struct buf b = BUF_NULL(4096);
    struct handshake_tool_welcome back;
    struct handshake_read r;

    hello_comes_back(HELLO_CLIENT, "5.0.1", 0xfe7);
    hello_comes_back(HELLO_TOOL_UNNAMED, "5.0.1", 0xf9f);
    hello_comes_back(HELLO_TOOL_NAMED, "2.0.3", 0x8ff);
    handshake_write(HANDSHAKE_tool_welcome, HELLO_TOOL_NAMED, &named, &b);
    EQ(buf_len(&b), 4 + 256 + 4 + 4);
    OK(handshake_read(HANDSHAKE_tool_welcome, HELLO_TOOL_NAMED, buf_slice(&b), &back, &r));
    OK(slice_is(back.server, "launcher") && back.server_rank == 1);
    OK(!handshake_read(HANDSHAKE_tool_welcome, HELLO_TOOL_UNNAMED, buf_slice(&b), &back, &r));
    buf_clear(&b);
    handshake_write(HANDSHAKE_welcome, HELLO_CLIENT, &refused, &b);
    EQ(buf_len(&b), 4);
    OK(handshake_read(HANDSHAKE_tool_welcome, HELLO_TOOL_UNNAMED, buf_slice(&b), &back, &r));
    EQ(back.status, PMIX_ERR_NOT_SUPPORTED);
    buf_free(&b);
}

int main(void)
{
    items_make();
    test_golden();
    test_random();
    test_equal();
    test_malformed();
    test_texts();
    test_depth();
    test_poison();
    test_described();
    test_messages();
    test_raw();
    test_null_array();
    test_bad_values();
    test_pointers();
    test_persistent();
    test_regex_len();
    test_releases();
    test_handshake();
    return tap_done();
}
