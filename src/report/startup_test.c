/* startup_test.c - startup timing by a virtual clock: the records of a node, its summary and its
 * bytes, and the report of nodes with unrelated clocks. */
#include "core/core_effect.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_event.h"
#include "core/request.h"
#include "core/startup.h"

#include <string.h>

#include "core/core.h"
#include "report/startup_report.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 4 };

#define MS UINT64_C(1000000)

struct world {
    struct core core;
    struct seg_region region;
    struct job *job;
    struct startup startup;
};

static void open_world(struct world *w)
{
    struct job_map p;

    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    seg_memory_open(1 << 20, &w->region);
    plan_of_one_node(&p, RANKS);
    w->job = core_job_add(&w->core, "job", &p, &w->region, JOB_NO_RANK, false);
    EQ(startup_open(&w->startup, w->job), 0);
    w->core.startup = &w->startup;
}

static void close_world(struct world *w)
{
    startup_close(&w->startup);
    core_free(&w->core);
    seg_memory_close(&w->region);
}

static void ask(struct world *w, uint32_t rank, uint64_t at_ms, struct request rq)
{
    struct answer a;
    struct effect e;

    core_request(&w->core, w->job, rank, rank, &rq, at_ms * MS, &a);
    while (core_effect(&w->core, &e))
        effect_drop(&e);
}

static void start(struct world *w, uint32_t rank, uint64_t at_ms)
{
    job_event(w->job, rank, PROC_EVENT_STARTED, 0);
    startup_note(&w->startup, rank, STARTUP_STARTED, at_ms * MS);
}

/* Rank r puts its modex value at that many ms, if any, and enters; true: there is something to
 * report. */
static bool fence(struct world *w, const unsigned put[RANKS], const unsigned in[RANKS],
                  unsigned end)
{
    bool known = false;

    for (uint32_t r = 0; r < RANKS; r++) {
        char key[] = "card-0";
        key[5] = (char)('0' + r);
        if (put[r])
            ask(w, r, put[r], REQUEST_WITH(put, .key = slice_str(key), .value = SLICE("1234")));
        known = known || startup_look(&w->startup, w->job, put[r] * MS);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        ask(w, r, in[r], (struct request){ .kind = REQ_fence });
        known = startup_look(&w->startup, w->job, end * MS) || known;
    }
    return known;
}

static const unsigned nothing[RANKS];

static void begin(struct world *w)
{
    open_world(w);
    w->startup.known_ns = 1000 * MS;
    for (uint32_t r = 0; r < RANKS; r++) {
        start(w, r, 1001 + r);
        ask(w, r, r == 2 ? 1503 : 1011 + r, (struct request){ .kind = REQ_attach });
    }
}

static bool is_span(const struct startup_part *p, enum startup_span k, uint32_t count,
                    const unsigned ms[5], uint32_t shortest, uint32_t longest, uint32_t last)
{
    const struct startup_times *t = &p->spans[k];
    uint64_t got[] = { t->begun, t->ended, t->shortest, t->median, t->longest };
    bool good = t->count == count;

    for (int i = 0; i < 5; i++)
        good = good && (count == 0 || got[i] == ms[i] * MS);
    good = good && (count == 0 || (t->who_shortest == shortest && t->who_longest == longest &&
                                   t->who_last == last));
    if (!good)
        printf("# %u: %llu-%llu, %llu %llu %llu of %u %u %u\n", t->count,
               (unsigned long long)(t->begun / MS), (unsigned long long)(t->ended / MS),
               (unsigned long long)(t->shortest / MS), (unsigned long long)(t->median / MS),
               (unsigned long long)(t->longest / MS), t->who_shortest, t->who_longest, t->who_last);
    return good;
}

static void test_node(void)
{
    struct world w;
    struct startup_part p;

    begin(&w);
    OK(fence(&w, (const unsigned[]){ 1020, 1032, 1510, 1024 },
             (const unsigned[]){ 1021, 1040, 1512, 1025 }, 1520));
    EQ(startup_sum_up(&w.startup, w.job, 1600 * MS, &p), 0);
    EQ(p.exchange, 1);
    EQ(p.put, RANKS);
    EQ(p.exchanged, RANKS * 10);
    EQ(p.now, 1600 * MS);
    OK(is_span(&p, SPAN_SPAWN, 1, (unsigned[]){ 1000, 1004, 4, 4, 4 }, STARTUP_NODE, STARTUP_NODE,
               STARTUP_NODE));
    OK_F(is_span(&p, SPAN_PROGRAM, 4, (unsigned[]){ 1001, 1503, 10, 10, 500 }, 0, 2, 2),
         "the rank that says nothing for long");
    OK(is_span(&p, SPAN_PUT, 4, (unsigned[]){ 1011, 1510, 7, 9, 20 }, 2, 1, 2));
    OK(is_span(&p, SPAN_ENTER, 4, (unsigned[]){ 1020, 1512, 1, 1, 8 }, 0, 1, 2));
    OK_F(is_span(&p, SPAN_FENCE, 4, (unsigned[]){ 1021, 1520, 8, 480, 499 }, 2, 0, 0),
         "and who has waited for it");
    EQ(p.spans[SPAN_END].count, 0);
    close_world(&w);
}

/* As in MPICH: a fence that brings nothing, one for which one rank has put something, and the one
 * of all. */
static void test_exchange(void)
{
    struct world w;
    struct startup_part p;

    begin(&w);
    OK(fence(&w, nothing, (const unsigned[]){ 1600, 1601, 1602, 1603 }, 1604));
    startup_sum_up(&w.startup, w.job, 1700 * MS, &p);
    OK_F(p.exchange == 1 && p.put == 0, "the first fence is told, though it brings nothing");
    OK_F(!fence(&w, nothing, (const unsigned[]){ 1610, 1611, 1612, 1613 }, 1614),
         "another one that brings nothing is not");
    OK(fence(&w, (const unsigned[]){ 1620, 0, 0, 0 }, (const unsigned[]){ 1621, 1622, 1623, 1624 },
             1625));
    startup_sum_up(&w.startup, w.job, 1700 * MS, &p);
    OK(p.exchange == 3 && p.put == 1 && p.exchanged == 10);
    OK(fence(&w, (const unsigned[]){ 1630, 1631, 1632, 1640 },
             (const unsigned[]){ 1651, 1652, 1653, 1660 }, 1662));
    OK(!fence(&w, nothing, (const unsigned[]){ 1670, 1671, 1672, 1673 }, 1674));
    startup_sum_up(&w.startup, w.job, 1700 * MS, &p);
    OK_F(p.exchange == 4 && p.put == RANKS && p.fences == 5, "the last that brings something");
    OK(is_span(&p, SPAN_FIRST, 4, (unsigned[]){ 1011, 1603, 99, 589, 589 }, 2, 0, 3));
    OK(is_span(&p, SPAN_FIRST_LEFT, 4, (unsigned[]){ 1600, 1604, 1, 2, 4 }, 3, 0, 0));
    OK(is_span(&p, SPAN_PUT, 4, (unsigned[]){ 1604, 1640, 26, 27, 36 }, 0, 3, 3));
    OK(is_span(&p, SPAN_ENTER, 4, (unsigned[]){ 1630, 1660, 20, 21, 21 }, 3, 0, 3));
    OK(is_span(&p, SPAN_FENCE, 4, (unsigned[]){ 1651, 1662, 2, 9, 11 }, 3, 0, 0));
    for (uint32_t r = 0; r < RANKS; r++) {
        ask(&w, r, 1700 + r, (struct request){ .kind = REQ_finalize });
        if (r != 1)
            startup_note(&w.startup, r, STARTUP_GONE, (1710 + 2 * r) * MS);
    }
    startup_sum_up(&w.startup, w.job, 1800 * MS, &p);
    OK(is_span(&p, SPAN_END, 3, (unsigned[]){ 1700, 1716, 10, 12, 13 }, 0, 3, 3));
    close_world(&w);
}

/* Nothing is recorded without a request, for another job, or for a rank of no process. */
static void test_silence(void)
{
    struct world w;
    struct startup_part p;

    open_world(&w);
    w.core.startup = NULL;
    for (uint32_t r = 0; r < RANKS; r++) {
        job_event(w.job, r, PROC_EVENT_STARTED, 0);
        ask(&w, r, 1, (struct request){ .kind = REQ_attach });
    }
    OK(!fence(&w, nothing, (const unsigned[]){ 2, 3, 4, 5 }, 6));
    w.startup.job = w.job->id + 1;
    w.core.startup = &w.startup;
    OK(!fence(&w, nothing, (const unsigned[]){ 7, 8, 9, 10 }, 11));
    startup_note(&w.startup, RANKS, STARTUP_STARTED, 5);
    startup_sum_up(&w.startup, w.job, 12 * MS, &p);
    for (int k = 0; k < STARTUP_SPANS; k++)
        EQ(p.spans[k].count, 0);
    close_world(&w);
}

static void test_bytes(void)
{
    struct startup_guest guests[] = { { 3, 10, 20, 30 }, { 4, 11, 0, 31 } };
    struct startup_part p = { .linked = 7,
                              .known = 8,
                              .now = UINT64_C(1) << 59,
                              .bytes = UINT64_MAX,
                              .exchanged = 5,
                              .fences = 2,
                              .exchange = 1,
                              .put = 4,
                              .ended = true,
                              .nguests = 2,
                              .guests = guests };
    struct arena a = ARENA_NULL(1 << 20);
    struct buf out = BUF_NULL(1 << 16);
    struct startup_part q;
    unsigned taken = 0;

    p.spans[SPAN_FENCE] = (struct startup_times){ 2, 1, 9, 3, 4, 5, STARTUP_NODE, 7, 8 };
    startup_part_write(&p, &out);
    OK(buf_ok(&out) && startup_part_read(buf_slice(&out), &a, &q));
    OK(q.linked == 7 && q.known == 8 && q.now == p.now && q.bytes == UINT64_MAX &&
       q.exchanged == 5);
    OK(q.fences == 2 && q.exchange == 1 && q.put == 4 && q.ended && q.nguests == 2);
    OK(!memcmp(q.guests, guests, sizeof guests) && !memcmp(q.spans, p.spans, sizeof p.spans));
    for (size_t n = 0; n < buf_len(&out); n++)
        taken += startup_part_read(slice_head(buf_slice(&out), n), &a, &q);
    EQ(taken, 0);
    buf_byte(&out, 0);
    OK_F(!startup_part_read(buf_slice(&out), &a, &q), "nor with more behind it");
    buf_clear(&out);
    p.now = UINT64_C(1) << 60;
    startup_part_write(&p, &out);
    OK_F(!startup_part_read(buf_slice(&out), &a, &q), "a time that none can be");
    buf_clear(&out);
    p.now = 1;
    p.nguests = 0;
    startup_part_write(&p, &out);
    out.mem[out.end - 1] = 100;
    OK_F(!startup_part_read(buf_slice(&out), &a, &q), "more daemons than there are bytes");
    buf_free(&out);
    arena_free(&a);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* One node's part, by a clock that is ahead by that many ms. */
struct known {
    uint32_t position;
    int64_t ahead;
    unsigned linked, there, now; /* by the launcher's clock */
    uint32_t rank;               /* the first of two */
    unsigned init, slow;         /* how long they took until their init, from `there` + 2 on */
    struct startup_guest guest;  /* by the launcher's clock, in ms; position 0: none */
};

static uint64_t at(const struct known *t, unsigned ms)
{
    return (uint64_t)((int64_t)ms + t->ahead) * MS;
}

static struct startup_times pair(const struct known *t, unsigned begun, unsigned first,
                                 unsigned second)
{
    return (struct startup_times){ .count = 2,
                                   .begun = at(t, begun),
                                   .ended = at(t, begun + second),
                                   .shortest = first * MS,
                                   .median = first * MS,
                                   .longest = second * MS,
                                   .who_shortest = t->rank,
                                   .who_longest = t->rank + 1,
                                   .who_last = t->rank + 1 };
}

static bool add_parts(struct startup_report *r, const struct known *t, unsigned nparts)
{
    struct startup_guest g = { t->guest.position, at(t, (unsigned)t->guest.asked),
                               at(t, (unsigned)t->guest.runs), at(t, (unsigned)t->guest.up) };
    struct startup_part p = { .linked = t->linked ? at(t, t->linked) : 0,
                              .known = at(t, t->there),
                              .now = at(t, t->now),
                              .bytes = 50,
                              .exchanged = 30,
                              .fences = 1,
                              .exchange = 1,
                              .put = 2,
                              .nguests = t->guest.position ? 1 : 0,
                              .guests = &g };
    struct buf out = BUF_NULL(1 << 16);
    bool good;

    p.spans[SPAN_SPAWN] =
        (struct startup_times){ 1,      at(t, t->there), at(t, t->there + 2), 2 * MS,      2 * MS,
                                2 * MS, STARTUP_NODE,    STARTUP_NODE,        STARTUP_NODE };
    p.spans[SPAN_PROGRAM] = pair(t, t->there + 2, t->init, t->slow);
    p.spans[SPAN_PUT] = pair(t, t->there + 2 + t->init, 1, 2);
    p.spans[SPAN_ENTER] = pair(t, t->there + 3 + t->init, 1, t->slow - t->init);
    p.spans[SPAN_FENCE] = pair(t, t->there + 4 + t->init, 1, 3);
    startup_part_write(&p, &out);
    good = startup_report_add(r, t->position, buf_slice(&out), nparts * MS);
    buf_free(&out);
    return good;
}

static const char *const names[] = { "top", "n1", "n2" };

static void open_report(struct startup_report *r)
{
    EQ(startup_report_open(r, 3), 0);
    r->names = names;
    r->nprocs = 6;
    r->nnodes = 3;
    r->own = (struct startup_own){
        .begun = 100 * MS, .planned = 101 * MS, .open = 103 * MS, .announced = 200 * MS
    };
}

/* n1's clock is three hours ahead, that of n2, which n1 has started, is nearly at 0. */
static const struct known all[] = {
    { 0, 0, 0, 200, 400, 0, 10, 20, { 1, 105, 115, 120 } },
    { 1, 10800000, 120, 202, 420, 2, 11, 150, { 2, 121, 190, 195 } },
    { 2, -50, 194, 203, 410, 4, 9, 12, { 0 } },
};

static void open_nonsense(struct startup_report *r)
{
    startup_report_open(r, 3);
    r->names = names;
    r->nprocs = 6;
    r->nnodes = 3;
    r->own.begun = r->own.announced = 4;
}

static const char *report(const struct startup_report *r, bool json)
{
    static char text[1 << 16];
    struct buf out = BUF_NULL(sizeof text);

    startup_report_start(r, json, &out);
    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(buf_slice(&out)));
    buf_free(&out);
    return text;
}

static void has(const char *text, const char *line)
{
    if (!OK_F(strstr(text, line) != NULL, "%s", line))
        printf("# %s\n", text);
}

static void test_report(void)
{
    struct startup_report r;
    const char *text;

    open_report(&r);
    startup_report_ready(&r, 1, 122 * MS);
    startup_report_ready(&r, 2, 196 * MS);
    for (int i = 0; i < 3; i++) {
        OK(!startup_report_is_over(&r));
        OK(add_parts(&r, &all[i], all[i].now + 2));
    }
    OK(startup_report_is_over(&r));
    text = report(&r, false);
    has(text, "start-up of 6 processes on 3 nodes: 0.1200 s until 90 bytes of addresses were "
              "exchanged, by fence 1\n");
    has(text, "arguments and placement               0.0000     0.0010\n");
    has(text, "daemon asked for .. runs              0.0050     0.0900     0.0100     0.0100     "
              "0.0690  n2\n");
    has(text, "  .. linked                           0.0150     0.0950     0.0050     0.0050     "
              "0.0050  n1\n");
    /* n1's clock: at least -2 (its message came 2 late), at most +2 (the job 2 late). */
    has(text, "all linked .. job sent                0.0960     0.1000\n");
    has(text, "  .. there, at most                   0.1000     0.1050     0.0040     0.0040     "
              "0.0050  n2\n");
    has(text, "process started .. its init           0.1020     0.2540     0.0090     0.0100     "
              "0.1500  rank 3 on n1\n");
    has(text, "last into that fence: rank 3 on n1, at 0.2550; longest in it: rank 1 on top, "
              "0.0030 s\n");
    has(text, "other nodes' set to it within 0.0025 s (n2)");
    OK(!strstr(text, "no word"));
    text = report(&r, true);
    has(text, "{\"schema\":\"wireup-startup-1\",\"startup\":{\"processes\":6,\"nodes\":3,"
              "\"seconds\":0.120000,\"fence\":1,"
              "\"bytes\":90,\"phases\":[{\"phase\":\"arguments\",\"begun\":0.000000,"
              "\"ended\":0.001000},");
    has(text, "{\"phase\":\"init\",\"begun\":0.102000,\"ended\":0.254000,\"count\":6,\"shortest\":"
              "0.009000,\"median\":0.010000,\"longest\":0.150000,\"who_shortest\":{\"rank\":4,"
              "\"node\":\"n2\"},\"who_longest\":{\"rank\":3,\"node\":\"n1\"},\"who_last\":{\"rank\""
              ":3,\"node\":\"n1\"}}");
    has(text, "\"clock_error\":0.002500}}\n");
    startup_report_close(&r);
}

static void test_lost(void)
{
    struct startup_report r;
    struct buf out = BUF_NULL(1 << 16);

    open_report(&r);
    OK(add_parts(&r, &all[0], 401));
    OK(!startup_report_add(&r, 1, SLICE("\377\377"), 5));
    OK(!add_parts(&r, &(struct known){ .position = 3 }, 5));
    has(report(&r, false), "rank 1 on top (2 of 6)\n");
    has(report(&r, false), "no word of it from n1, n2\n");
    has(report(&r, true), ",\"silent\":[\"n1\",\"n2\"]}}\n");
    r.own.ended = 500 * MS;
    r.own.daemons_ended = 510 * MS;
    r.own.gone = 511 * MS;
    startup_report_end(&r, false, &out);
    has(buf_cstr(&out), "end: 0.4110 s after the start of the launcher\n");
    has(buf_cstr(&out), "processes gone .. daemons gone        0.4000     0.4100\n");
    has(buf_cstr(&out), "fences of all: 1; put: 50 bytes\n");
    buf_free(&out);
    startup_report_close(&r);
    startup_report_close(&r);
}

/* Bytes of a daemon that sends impossible values, or only false ones: refused or reported. */
static void test_nonsense(void)
{
    struct buf good = BUF_NULL(1 << 16), out = BUF_NULL(1 << 20);
    struct startup_guest g = { 2, 3, 4, 5 };
    struct startup_part p = {
        .linked = 1, .known = 2, .now = 3, .exchange = 1, .nguests = 1, .guests = &g
    };
    uint32_t x = 1, taken = 0;

    for (int k = 0; k < STARTUP_SPANS; k++)
        p.spans[k] = (struct startup_times){ 1, 300, 400, 100, 100, 100, 7, 8, 9 };
    startup_part_write(&p, &good);
    for (int i = 0; i < 2000; i++) {
        struct startup_report r;
        char bytes[1024];
        size_t n = buf_len(&good);

        memcpy(bytes, buf_slice(&good).ptr, n);
        for (int k = 0; k < 3; k++) {
            x = x * 1664525 + 1013904223;
            bytes[(x >> 16) % n] = (char)(x >> 8);
        }
        open_nonsense(&r);
        taken += startup_report_add(&r, (uint32_t)i % 3, slice_mem(bytes, n), 5);
        buf_clear(&out);
        startup_report_start(&r, i & 1, &out);
        startup_report_end(&r, i & 1, &out);
        startup_report_close(&r);
    }
    OK_F(taken > 20 && taken < 1900, "%u of 2000 parts are nonsense that can be told", taken);
    buf_free(&good);
    buf_free(&out);
}

int main(void)
{
    test_nonsense();
    test_node();
    test_exchange();
    test_silence();
    test_bytes();
    test_report();
    test_lost();
    return tap_done();
}
