/* job_row_test.c - the lines about jobs: what a core tells, written and read again; lines that are
 * none. */
#include "report/job_row.h"

#include <string.h>

#include "core/core_effect.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_event.h"
#include "core/proc_look.h"
#include "core/request.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 4 };

#define SECOND UINT64_C(1000000000)

struct world {
    struct core core;
    struct seg_region regions[2];
    struct job *jobs[2];
};

static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    for (unsigned i = 0; i < 2; i++) {
        struct job_map p;
        seg_memory_open(1 << 20, &w->regions[i]);
        plan_of_one_node(&p, RANKS);
        w->jobs[i] =
            core_job_add(&w->core, i ? "a\ttab" : "one", &p, &w->regions[i], JOB_NO_RANK, true);
        w->jobs[i]->begun_ns = SECOND;
    }
}

static void close_world(struct world *w)
{
    core_free(&w->core);
    seg_memory_close(&w->regions[0]);
    seg_memory_close(&w->regions[1]);
}

static void fence(struct world *w, uint32_t rank)
{
    struct answer a;
    struct request rq = { .kind = REQ_fence };
    struct effect e;

    core_request(&w->core, w->jobs[0], rank, 10 + rank, &rq, 5 * SECOND, &a);
    while (core_effect(&w->core, &e))
        effect_drop(&e);
}

/* The i-th line. */
static bool row(const struct world *w, const struct job_rows_options *o, unsigned i,
                struct job_row *r)
{
    static struct buf out = BUF_NULL(1 << 16);
    struct slice rest;

    buf_free(&out);
    job_rows_write(&w->core, &w->core, o, &out);
    rest = buf_slice(&out);
    while (i--)
        slice_cut(&rest, '\n');
    return job_row_get(slice_cut(&rest, '\n'), r);
}

static void test_states(struct world *w)
{
    const struct job_rows_options o = { .now_ns = 8 * SECOND, .label = "ring" };
    static const struct proc_look busy = { .pid = 1,
                                           .state = 'R',
                                           .cpu_ns = SECOND,
                                           .over_ns = 2 * SECOND,
                                           .total_ns = 3 * SECOND,
                                           .rss = 4096 };
    static const struct proc_look stopped = { .pid = 1, .state = 'T' };
    struct job_row r;

    OK(row(w, &o, 0, &r) && r.state == JOB_ROW_STARTING && r.age_s == 7 && r.ranks == RANKS);
    OK(slice_is(r.nspace, "one") && slice_is(r.label, "ring") && r.is_first);
    OK(row(w, &o, 1, &r) && !r.is_first && r.label.len == 0 && slice_is(r.nspace, "a\\x09tab"));
    for (uint32_t i = 0; i < RANKS; i++) {
        job_event(w->jobs[0], i, PROC_EVENT_STARTED, 0);
        w->jobs[0]->procs[i].look = &busy;
    }
    OK(row(w, &o, 0, &r) && r.state == JOB_ROW_RUNNING && r.looked == RANKS);
    OK(r.permille / 10 == 199 || r.permille == 2000);
    OK(r.cpu_ms == 12000 && r.memory == 16384 && r.waiting == 0 && r.waits.len == 0);
    for (uint32_t i = 0; i < RANKS; i++)
        w->jobs[0]->procs[i].look = &stopped;
    OK(row(w, &o, 0, &r) && r.state == JOB_ROW_STOPPED);
    w->jobs[0]->procs[2].look = &busy;
    OK_F(row(w, &o, 0, &r) && r.state == JOB_ROW_RUNNING, "only some are stopped");
}

static void test_waits(struct world *w)
{
    const struct job_rows_options o = { .now_ns = 8 * SECOND, .is_dvm = true };
    struct job_row r;

    fence(w, 0);
    fence(w, 3);
    OK(row(w, &o, 0, &r) && !r.is_first && r.waiting == 2);
    OK_F(slice_is(r.waits, "fence: 2 of 4, missing 1-2"), SLICE_FMT, SLICE_ARG(r.waits));
}

static void test_lines(void)
{
    static const char *const bad[] = {
        "",
        "job",
        "launcher\t3\t3\t77\t0\t\t0\t0\t0\t0\t\t\t",
        "job\t0\t1\t\t\tprog\t4\t1\t1\t7\t0\t0\t0\t0\t0\t",    /* no namespace */
        "job\t0\t2\tns\t\tprog\t4\t1\t1\t7\t0\t0\t0\t0\t0\t",  /* no truth value */
        "job\t0\t1\tns\t\tprog\t4\t1\t99\t7\t0\t0\t0\t0\t0\t", /* no state */
        "job\t0\t1\tns\t\tprog\t4\t1\t1\t7\t0\tx\t0\t0\t0\t",
        "job\t0\t1\tns\t\tprog\t4294967296\t1\t1\t7\t0\t0\t0\t0\t0\t",
    };
    struct launcher_row l;
    struct job_row r;

    OK(job_row_get(SLICE("job\t0\t1\tns\t\tprog\t4\t1\t1\t7\t0\t0\t0\t0\t0\t"), &r));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(!job_row_get(slice_str(bad[i]), &r), "no job: %s", bad[i]);
    OK(launcher_row_get(SLICE("launcher\t3\t3\t77\t1\tbig\t2\t8\t5\t1\tn3\tn4\tn1,n2"), &l) &&
       l.number == 3 && l.pid == 77 && l.is_dvm && l.nodes == 2 && slice_is(l.silent, "n1,n2"));
    OK(slice_is(l.dvm_name, "big") && l.slots == 8 && l.free == 5 && l.waiting == 1 &&
       slice_is(l.lost, "n3") && slice_is(l.draining, "n4"));
    OK_F(!launcher_row_get(SLICE("launcher\t1\t3\t77\t1\tbig\t2\t8\t5\t1\tn3\t"), &l),
         "another version");
    OK(!launcher_row_get(SLICE("error: unknown question"), &l));
}

static void test_ids(void)
{
    char id[JOB_ID_MAX];

    job_row_id(3, true, 0, id);
    OK(!strcmp(id, "3"));
    job_row_id(3, false, 2, id);
    OK(!strcmp(id, "3.2"));
}

int main(void)
{
    struct world w;

    open_world(&w);
    test_states(&w);
    test_waits(&w);
    test_lines();
    test_ids();
    close_world(&w);
    return tap_done();
}
