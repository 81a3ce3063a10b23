/* timeline_test.c - made-up jobs on nodes with unrelated clocks: the model, the critical path, the
 * rows, and the pictures.
 *
 *   test-timeline                       the tests
 *   test-timeline RANKS NODES FILE...   pictures of such a job, to be looked at */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline_picture.h"
#include "report/timeline_rows.h"
#include "tests/tap.h"

#define MS UINT64_C(1000000)

enum { SLOW_RANK_FACTOR = 7, WALL_S = 1000 };

/* The clock of each node began at another time; of three nodes, that of the last one's
 * system is wrong by 50 ms. */
static uint64_t clock_of(uint32_t node)
{
    return (5 + node * 3) * 1000 * MS;
}

static uint64_t wall_error(const struct timeline *t, uint32_t node)
{
    return t->nnodes == 3 && node == 2 ? 50 * MS : 0;
}

static void open_job(struct timeline *t, uint32_t ranks, uint32_t nodes)
{
    struct slice *names = calloc(nodes, sizeof *names);
    char text[32];

    timeline_init(t);
    for (uint32_t i = 0; i < nodes; i++) {
        snprintf(text, sizeof text, "node%u", i);
        names[i] = slice_str(strdup(text));
    }
    EQ(timeline_job(t, ranks, names, nodes), 0);
    t->title = "./program <a&b>";
    for (uint32_t i = 0; i < nodes; i++) {
        timeline_trace(t, i, clock_of(i), WALL_S * 1000 * MS + wall_error(t, i));
        free((void *)(uintptr_t)names[i].ptr);
    }
    free(names);
    for (uint32_t r = 0; r < ranks; r++)
        t->procs[r].node = (uint32_t)((uint64_t)r * nodes / ranks);
}

/* Each rank starts, loads (rank 3 slowest), is initialized, and enters two fences, of which rank 1
 * is the last to enter the second. */
static uint64_t init_ms(uint32_t rank)
{
    return rank == 3 ? 60 : 20 + rank % SLOW_RANK_FACTOR;
}

static int live(struct timeline *t, uint32_t rank)
{
    uint64_t zero = clock_of(t->procs[rank].node), at = init_ms(rank);
    int rc = 0;

    timeline_started(t, rank, zero + (1 + rank % 3) * MS);
    rc |= timeline_request(t, rank, TIMELINE_INIT, 0, zero + at * MS);
    timeline_answer(t, rank, 0, zero + (at + 1) * MS);
    rc |= timeline_request(t, rank, TIMELINE_FENCE, 4, zero + (at + 3) * MS);
    timeline_answer(t, rank, 4, zero + 64 * MS);
    for (int i = 0; i < 5; i++) {
        rc |= timeline_request(t, rank, TIMELINE_GET, 5, zero + (65 + (uint64_t)i) * MS);
        timeline_answer(t, rank, 5, zero + (66 + (uint64_t)i) * MS);
    }
    rc |= timeline_request(t, rank, TIMELINE_FENCE, 6, zero + (rank == 1 ? 90 : 72) * MS);
    timeline_answer(t, rank, 6, zero + 92 * MS);
    rc |= timeline_request(t, rank, TIMELINE_FINALIZE, 0, zero + 95 * MS);
    timeline_answer(t, rank, 0, zero + 96 * MS);
    timeline_ended(t, rank, false, zero + (rank == 2 ? 98 : 97) * MS);
    return rc;
}

/* The launcher, 40 ms before, asks each node for its daemon; its clock began at a time of its own,
 * and the links bound the others' by 1 ms. */
enum { LAUNCHER_CLOCK = 777 };

static uint64_t launcher_at(uint64_t ms)
{
    return (LAUNCHER_CLOCK * 1000 + ms) * MS;
}

static void launch(struct timeline *t)
{
    timeline_launcher(t, launcher_at(0), WALL_S * 1000 * MS - 40 * MS);
    for (uint32_t i = 0; i < t->nnodes; i++) {
        int64_t ahead = (int64_t)(clock_of(i) - launcher_at(40));
        timeline_daemon(t, slice_str(t->nodes[i].name), i % 2 ? 0 : launcher_at(1),
                        launcher_at(20 + i % 7), launcher_at(30 + i % 8));
        timeline_known(t, i, clock_of(i));
        timeline_link(t, i, ahead - (int64_t)MS / 2, ahead + (int64_t)MS / 2);
    }
}

static void run_job(struct timeline *t, uint32_t ranks, uint32_t nodes)
{
    int rc = 0;

    open_job(t, ranks, nodes);
    for (uint32_t r = 0; r < ranks; r++)
        rc |= live(t, r);
    EQ(rc, 0);
    EQ(timeline_settle(t), 0);
}

static void test_model(void)
{
    struct timeline t;
    const struct timeline_proc *p;

    run_job(&t, 6, 2);
    p = &t.procs[5];
    EQ(p->nspans, 5); /* the gets are one */
    EQ(p->spans[2].kind, TIMELINE_GET);
    EQ(p->spans[2].count, 5);
    EQ(p->fences, 2);
    EQ(p->first_ns - t.begin_ns, init_ms(5) * MS); /* on the first node's clock */
    EQ(t.end_ns - t.begin_ns, 98 * MS);
    timeline_free(&t);
    timeline_free(&t);
}

static void test_clocks(void)
{
    struct timeline t;

    run_job(&t, 6, 3);
    EQ(t.nodes[0].ahead_ns, 0);
    EQ(t.nodes[1].ahead_ns, (int64_t)(3000 * MS)); /* as its system says */
    OK(t.nodes[1].slack_ns < 100 * MS);
    /* Its wall time is wrong; the fences bound it. */
    OK(llabs(t.nodes[2].ahead_ns - (int64_t)(6000 * MS)) <= (int64_t)t.nodes[2].slack_ns);
    OK(t.nodes[2].ahead_ns != (int64_t)(5950 * MS));
    timeline_free(&t);
}

/* Daemons by the launcher's clock, and clocks by the links. */
static void test_launch(void)
{
    double seconds[TIMELINE_KINDS];
    struct timeline_rows r;
    struct timeline t;

    open_job(&t, 3, 3);
    for (uint32_t i = 0; i < 3; i++)
        EQ(live(&t, i), 0);
    launch(&t);
    EQ(timeline_settle(&t), 0);
    EQ(t.end_ns - t.begin_ns, (40 + 98) * MS);
    EQ(t.nodes[2].asked_ns - t.begin_ns, MS);
    EQ(t.nodes[2].up_ns - t.nodes[2].runs_ns, 10 * MS);
    EQ(t.nodes[1].asked_ns, t.begin_ns); /* another daemon has started it */
    OK(t.nodes[2].slack_ns <= 2 * MS);
    OK(llabs(t.nodes[2].ahead_ns - (int64_t)(6000 * MS)) <= (int64_t)(2 * MS));
    EQ(timeline_rows_open(&r, &t, 200, 128, 96), 0);
    timeline_rows_sum(&r, &r.rows[2], seconds);
    OK(seconds[TIMELINE_CONTACT] > 0.0209 && seconds[TIMELINE_CONTACT] < 0.0211);
    OK(seconds[TIMELINE_DAEMON] > 0.0099 && seconds[TIMELINE_DAEMON] < 0.0101);
    OK(seconds[TIMELINE_SPAWN] > 0.0029 && seconds[TIMELINE_SPAWN] < 0.0031);
    timeline_rows_close(&r);
    timeline_free(&t);
}

static void test_path(void)
{
    struct timeline t;

    run_job(&t, 4, 1);
    EQ(t.npath, 3);
    EQ(t.path[0].rank, 3);
    EQ(t.path[0].fence, 1);
    EQ(t.path[0].end_ns - t.begin_ns, 63 * MS);
    EQ(t.path[1].rank, 1);
    EQ(t.path[1].fence, 2);
    EQ(t.path[2].rank, 2);
    EQ(t.path[2].fence, 0);
    timeline_free(&t);
}

/* A rank hangs in the second fence, and one has never come. */
static void test_hang(void)
{
    struct timeline t;

    open_job(&t, 3, 1);
    EQ(live(&t, 0), 0);
    timeline_started(&t, 1, clock_of(0) + MS);
    EQ(timeline_request(&t, 1, TIMELINE_FENCE, 1, clock_of(0) + 9 * MS), 0);
    EQ(timeline_request(&t, 7, TIMELINE_FENCE, 1, clock_of(0) + 9 * MS), 0); /* no such rank */
    EQ(timeline_job(&t, 1, NULL, 0), -EINVAL);
    EQ(timeline_settle(&t), 0);
    EQ(t.procs[1].spans[0].end_ns, t.end_ns);
    EQ(t.npath, 1); /* no fence of all */
    timeline_free(&t);
}

static void test_names(void)
{
    enum timeline_kind k;

    OK(timeline_kind_of(SLICE("barrier_in"), &k) && k == TIMELINE_FENCE);
    OK(timeline_kind_of(SLICE("kvs-get"), &k) && k == TIMELINE_GET);
    OK(timeline_kind_of(SLICE("hello"), &k) && k == TIMELINE_INIT);
    OK(!timeline_kind_of(SLICE("kvs"), &k));
    OK(!timeline_kind_of(SLICE(""), &k));
}

static uint32_t ranks_in(const struct timeline_rows *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->nrows; i++)
        n += r->rows[i].count;
    return n;
}

static void test_rows(void)
{
    struct timeline_rows r;
    struct timeline t;

    run_job(&t, 1000, 250);
    EQ(timeline_rows_open(&r, &t, 200, 128, 96), 0);
    OK(r.folded);
    OK(r.nrows <= 96);
    EQ(ranks_in(&r), 1000);
    EQ(r.rows[0].node, 0); /* the node of the slowest rank */
    EQ(r.rows[0].nnodes, 1);
    OK(r.rows[r.nrows - 1].nnodes > 1);
    timeline_rows_paint(&r, &r.rows[0]);
    OK(r.nruns > 3);
    EQ(r.runs[0].kind, TIMELINE_START);
    EQ(timeline_rows_of(&r, 3), 0);
    timeline_rows_close(&r);
    timeline_rows_close(&r);
    EQ(timeline_rows_open(&r, &t, 200, 1000, 96), 0);
    EQ(r.nrows, 1000);
    EQ(r.rows[999].nnodes, 0);
    timeline_rows_close(&r);
    timeline_free(&t);
}

static void draw(void (*fn)(const struct timeline *, struct buf *), const struct timeline *t,
                 struct buf *b)
{
    buf_init(b, (size_t)1 << 30);
    fn(t, b);
    OK(buf_ok(b));
}

static void test_pictures(void)
{
    struct timeline t;
    struct buf b;

    run_job(&t, 4, 2);
    draw(timeline_svg, &t, &b);
    OK(strstr(buf_cstr(&b), "./program &lt;a&amp;b&gt;: 4 processes on 2 nodes, 0.0980 s"));
    OK(strstr(buf_cstr(&b), ">3 on node1</text>"));
    OK(!strstr(buf_cstr(&b), "<a&b>"));
    buf_free(&b);
    draw(timeline_html, &t, &b);
    OK(strstr(buf_cstr(&b), "rank 3 on node1, until it enters fence 1"));
    OK(!strstr(buf_cstr(&b), "http://") || strstr(buf_cstr(&b), "http://www.w3.org/2000/svg"));
    OK(!strstr(buf_cstr(&b), "src="));
    buf_free(&b);
    draw(timeline_text, &t, &b);
    OK(strstr(buf_cstr(&b), "3 on node1            |"));
    OK(strstr(buf_cstr(&b), "0.0000 .. 0.0630  rank 3 on node1, until it enters fence 1\n"));
    buf_free(&b);
    draw(timeline_json, &t, &b);
    OK(strstr(buf_cstr(&b),
              "{\"ph\":\"X\",\"name\":\"fence of all\",\"pid\":1,\"tid\":3,\"ts\":63000"));
    buf_free(&b);
    timeline_free(&t);
}

/* A job of nothing. */
static void test_empty(void)
{
    struct timeline t;
    struct buf b;

    timeline_init(&t);
    EQ(timeline_job(&t, 0, NULL, 0), 0);
    EQ(timeline_settle(&t), 0);
    draw(timeline_html, &t, &b);
    buf_free(&b);
    timeline_free(&t);
}

static int write_pictures(char **argv)
{
    struct timeline t;

    open_job(&t, (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]));
    for (uint32_t i = 0; i < t.nprocs; i++)
        EQ(live(&t, i), 0);
    launch(&t);
    EQ(timeline_settle(&t), 0);
    for (int i = 3; argv[i]; i++) {
        struct buf b;
        FILE *f = fopen(argv[i], "w");
        draw(strstr(argv[i], ".svg") ? timeline_svg : timeline_html, &t, &b);
        if (f) {
            fwrite(buf_slice(&b).ptr, 1, buf_slice(&b).len, f);
            fclose(f);
        }
        buf_free(&b);
    }
    timeline_free(&t);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        return write_pictures(argv);
    test_model();
    test_clocks();
    test_launch();
    test_path();
    test_hang();
    test_names();
    test_rows();
    test_pictures();
    test_empty();
    return tap_done();
}
