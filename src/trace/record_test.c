/* record_test.c - every kind of record written and read again, cut and corrupted everywhere. */
#include <limits.h>
#include <stdlib.h>

#include "base/limit.h"
#include "trace/record.h"
#include "tests/tap.h"

static const uint32_t some_uints[] = { 0, 1, 127, 128, 16384, UINT32_MAX };
static const int some_ints[] = { 0, -1, 63, -64, 64, INT_MIN, INT_MAX };
static const struct slice some_texts[] = { { "", 0 }, { "a", 1 }, { "\0\xff\n", 3 } };

static const uint64_t edge_uints[] = { 0, 1, 127, 128, UINT32_MAX, UINT64_MAX };
static const int64_t edge_ints[] = { 0, -1, 1, INT64_MIN, INT64_MAX };

/* Fills every part; `seed` chooses among the edges. */
static void fill(struct record *r, int kind, unsigned seed)
{
    memset(r, 0, sizeof *r);
    r->kind = (enum record_kind)kind;
    for (uint32_t i = 0; i < record_row(r->kind)->nparts; i++) {
        const struct part *p = &record_row(r->kind)->parts[i];
        void *at = (char *)&r->u + p->offset;
        unsigned n = seed + i;
        switch (p->kind) {
        case PART_UINT: *(uint64_t *)at = edge_uints[n % 6]; break;
        case PART_INT: *(int64_t *)at = edge_ints[n % 5]; break;
        case PART_BYTES: *(struct slice *)at = some_texts[n % 3]; break;
        case PART_UINTS: *(struct part_uints *)at = (struct part_uints){ some_uints, n % 7 }; break;
        case PART_INTS: *(struct part_ints *)at = (struct part_ints){ some_ints, n % 8 }; break;
        case PART_TEXTS: *(struct part_texts *)at = (struct part_texts){ some_texts, n % 4 }; break;
        }
    }
}

static bool same(const struct record *a, const struct record *b)
{
    return record_same(a, b) && a->time_ns == b->time_ns;
}

enum { SEEDS = 7, RECORDS = SEEDS * RECORD_KINDS };

static struct record all[RECORDS];
static uint32_t nall;
static size_t ends[RECORDS]; /* where each ends */

/* All kinds with all edges; `begin` only first. */
static void write_all(struct buf *out)
{
    struct record_writer w = { .begun = false };

    nall = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        for (int kind = 0; kind < RECORD_KINDS; kind++) {
            if (!record_row((enum record_kind)kind)->name || (kind == RECORD_begin && nall))
                continue;
            fill(&all[nall], kind, seed);
            all[nall].time_ns = UINT64_C(1) << 40 | (uint64_t)nall * (seed + 1) * 1000;
            record_write(&w, &all[nall], out);
            ends[nall++] = buf_len(out);
        }
    }
}

/* How many records the reader gives for these bytes, fed in pieces of `step`; -1: a wrong one. */
static int read_all(struct slice bytes, size_t step, int *rc_p)
{
    struct record_reader r;
    struct record d;
    int n = 0;

    record_reader_init(&r);
    *rc_p = RECORD_MORE;
    while (*rc_p == RECORD_MORE && bytes.len) {
        record_reader_feed(&r, slice_head(bytes, step));
        bytes = slice_skip(bytes, step);
        while ((*rc_p = record_reader_next(&r, &d, NULL)) == RECORD_WHOLE) {
            if (n < 0 || (uint32_t)n >= nall || !same(&d, &all[n]))
                n = -1;
            else
                n++;
        }
    }
    record_reader_free(&r);
    return n;
}

static void test_round_trip(void)
{
    struct buf out = BUF_NULL(1 << 20);
    uint64_t last = 0;
    int rc;

    write_all(&out);
    for (uint32_t i = 0; i < nall; i++) { /* the clock does not run backwards */
        all[i].time_ns = all[i].time_ns > last ? all[i].time_ns : last;
        last = all[i].time_ns;
    }
    OK_F(buf_ok(&out) && nall > 100, "%u records are written in %zu bytes", nall, buf_len(&out));
    EQ(read_all(buf_slice(&out), SIZE_MAX, &rc), nall);
    EQ(rc, RECORD_MORE);
    EQ(read_all(buf_slice(&out), 1, &rc), nall);
    EQ(read_all(buf_slice(&out), 17, &rc), nall);
    buf_free(&out);
}

static void test_cut_everywhere(void)
{
    struct buf out = BUF_NULL(1 << 20);
    bool good = true;

    write_all(&out);
    for (size_t cut = 0; cut < buf_len(&out); cut++) {
        int rc, whole = 0, n = read_all(slice_head(buf_slice(&out), cut), SIZE_MAX, &rc);
        while ((uint32_t)whole < nall && ends[whole] <= cut)
            whole++;
        good = good && n == whole && rc == RECORD_MORE;
    }
    OK_F(good, "cut at every byte: whole records are read, the rest is waited for");
    buf_free(&out);
}

/* The reader's verdict on one record made by hand, after a good beginning. */
static int verdict(struct slice record, struct record *d_p)
{
    struct record_writer w = { .begun = false };
    struct record_reader r;
    struct buf out = BUF_NULL(1 << 20);
    static struct record d;
    int rc;

    record_write(&w, &(struct record){ .kind = RECORD_begin }, &out);
    buf_slice_put(&out, record);
    record_reader_init(&r);
    record_reader_feed(&r, buf_slice(&out));
    rc = record_reader_next(&r, &d, NULL);
    if (rc == RECORD_WHOLE)
        rc = record_reader_next(&r, &d, NULL);
    if (rc == RECORD_BAD && record_reader_next(&r, &d, NULL) != RECORD_BAD)
        rc = -1; /* a broken trace stays broken */
    record_reader_free(&r);
    buf_free(&out);
    if (d_p)
        *d_p = d;
    return rc;
}

#define RAW(text) slice_mem("" text, sizeof(text) - 1)

static void test_spoiled(void)
{
    static char kind[] = { 2, 0, 0, 0, RECORDS_OWN, 0 }; /* operations are numbered higher */
    static char effect[] = { 2, 0, 0, 0, (char)(RECORD_KINDS), 0 };
    static char twice[] = { 2, 0, 0, 0, RECORD_begin, 0 };
    static char tail[] = { 5, 0, 0, 0, RECORD_job_gone, 0, 14, 8, 9 };
    static char less[] = { 2, 0, 0, 0, RECORD_job_gone, 0 };
    static char half[] = { 3, 0, 0, 0, RECORD_job_gone, 0, (char)0x80 };
    static char bytes[] = { 5, 0, 0, 0, RECORD_in, 0, 1, 9, 'x' };
    static char big[] = { 14, 0, 0, 0, RECORD_job_gone, 0, -1, -1, -1, -1, -1, -1, -1, -1,
                          -1, 2, 0, 0 };
    static char list[] = { 15, 0, 0, 0, RECORD_effect_answer - 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0,
                           0,  0, 9, 1 };
    static char early[] = { 12, 0, 0, 0, RECORD_end, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 0 };
    struct record d;
    int rc;

    EQ(verdict(slice_mem(kind, sizeof kind), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(effect, sizeof effect), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(twice, sizeof twice), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(tail, sizeof tail), &d), RECORD_WHOLE);
    EQ(d.u.of.job_gone.job, 7);
    EQ(verdict(slice_mem(less, sizeof less), &d), RECORD_WHOLE);
    EQ(d.u.of.job_gone.job, 0);
    EQ(verdict(slice_mem(half, sizeof half), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(bytes, sizeof bytes), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(big, sizeof big), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(list, sizeof list), NULL), RECORD_BAD);
    EQ(verdict(slice_mem(early, sizeof early), NULL), RECORD_WHOLE);
    EQ(verdict(RAW("\1\0\0\0\0"), NULL), RECORD_BAD);
    EQ(verdict(RAW("\377\377\377\377"), NULL), RECORD_BAD);
    EQ(verdict(RAW("\0\0\0\7"), NULL), RECORD_MORE);
    nall = 0;
    read_all(RAW("WIREUP-RECORD 1\n\0\0\0\0"), 1, &rc);
    EQ(rc, RECORD_BAD);
    read_all(RAW("WIREUP-RECORD 2\n\0\0\0\0"), 1, &rc);
    EQ(rc, RECORD_BAD);
    read_all(RAW("#!"), 1, &rc);
    EQ(rc, RECORD_BAD);
    read_all(RAW("WIREUP-REC"), 1, &rc);
    EQ(rc, RECORD_MORE);
}

static void test_limits(void)
{
    struct record_writer w = { .begun = false };
    struct buf out = BUF_NULL((size_t)LIMIT_TRACE_RECORD * 2);
    struct record r = { .kind = RECORD_in };
    char *mem = malloc(LIMIT_TRACE_RECORD);

    r.u.of.in.bytes = slice_mem(mem, LIMIT_TRACE_RECORD);
    if (mem)
        memset(mem, 'x', LIMIT_TRACE_RECORD);
    record_write(&w, &r, &out);
    OK_F(mem && !buf_ok(&out), "a record that nobody would read is not written");
    buf_free(&out);
    free(mem);
}

int main(void)
{
    test_round_trip();
    test_cut_everywhere();
    test_spoiled();
    test_limits();
    return tap_done();
}
