/* proc_connect_test.c - connected processes, the effects of that, and the report to the node that
 * controls the jobs of other nodes. */
#include "core/core_effect.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/proc_connect.h"

#include <string.h>

#include "core/job.h"
#include "core/request.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { JOBS = 3, RANKS = 2 };

struct world {
    struct core core;
    struct seg_region regions[JOBS];
    struct job *jobs[JOBS];
    struct buf emitted; /* the last EFFECT_proc_connect */
    int on;             /* its code; -1: there was none */
};

static struct job *add_job(struct world *w, unsigned i, bool follows)
{
    static const char *const names[JOBS] = { "one", "two", "three" };
    struct job_order o = {
        .nspace = names[i], .parent = JOB_NO_RANK, .here = JOB_ALL_HERE, .follows = follows
    };
    struct job_map p;
    struct job *j;

    seg_memory_open(1 << 20, &w->regions[i]);
    plan_of_one_node(&p, RANKS);
    o.plan = &p;
    o.region = &w->regions[i];
    j = core_job_order(&w->core, &o);
    for (uint32_t r = 0; r < RANKS; r++)
        job_event(j, r, PROC_EVENT_STARTED, 0);
    return j;
}

static void open_world(struct world *w, bool follows)
{
    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    buf_init(&w->emitted, 1 << 16);
    w->core.is_manager = true;
    for (unsigned i = 0; i < JOBS; i++)
        w->jobs[i] = add_job(w, i, follows);
}

static void close_world(struct world *w)
{
    buf_free(&w->emitted);
    core_free(&w->core);
    for (unsigned i = 0; i < JOBS; i++)
        seg_memory_close(&w->regions[i]);
}

static void settle(struct world *w)
{
    struct effect e;

    w->on = -1;
    while (core_effect(&w->core, &e)) {
        if (e.kind == EFFECT_proc_connect) {
            w->on = e.u.proc_connect.on;
            buf_clear(&w->emitted);
            buf_slice_put(&w->emitted, e.u.proc_connect.procs);
        }
        effect_drop(&e);
    }
}

/* Both of "one" and rank 1 of "two". */
static void meet(struct world *w, struct slice purpose)
{
    struct member members[] = { { SLICE("one"), REQUEST_ALL_RANKS }, { SLICE("two"), 1 } };
    struct request rq =
        REQUEST_WITH(collective, .purpose = purpose, .members = members, .count = 2);
    struct answer a;

    core_request(&w->core, w->jobs[0], 0, 1, &rq, 0, &a);
    core_request(&w->core, w->jobs[0], 1, 2, &rq, 0, &a);
    core_request(&w->core, w->jobs[1], 1, 3, &rq, 0, &a);
    OK(a.status == ANSWER_OK);
    settle(w);
}

static bool connections_are(const struct world *w, uint32_t members)
{
    return w->jobs[0]->procs[0].connections == members &&
           w->jobs[0]->procs[1].connections == members &&
           w->jobs[1]->procs[1].connections == members && w->jobs[1]->procs[0].connections == 0 &&
           w->jobs[2]->procs[0].connections == 0;
}

static bool are_connected(const struct world *w, unsigned a, unsigned b)
{
    return job_is_connected(w->jobs[a], w->jobs[b]->id) &&
           job_is_connected(w->jobs[b], w->jobs[a]->id);
}

static void test_members(void)
{
    struct world w;

    open_world(&w, false);
    meet(&w, SLICE("fence"));
    OK_F(connections_are(&w, 0) && !are_connected(&w, 0, 1),
         "who meets for something else is not bound");
    meet(&w, SLICE("connect"));
    OK_F(connections_are(&w, 1) && are_connected(&w, 0, 1), "who connects is");
    OK(!job_is_connected(w.jobs[0], w.jobs[2]->id) && w.on == -1);
    meet(&w, SLICE("connect"));
    meet(&w, SLICE("disconnect"));
    OK_F(connections_are(&w, 1) && are_connected(&w, 0, 1), "as often as it has not disconnected");
    job_abort(w.jobs[1], 0, 7, "a process of it failed");
    core_abort_connected(&w.core, w.jobs[1]);
    OK_F(w.jobs[0]->failed && w.jobs[0]->exit_code == 7, "and fails with the others");
    OK(!w.jobs[2]->failed);
    close_world(&w);
}

static void test_end(void)
{
    struct world w;

    open_world(&w, false);
    meet(&w, SLICE("connect"));
    meet(&w, SLICE("disconnect"));
    OK(connections_are(&w, 0) && !job_is_connected(w.jobs[0], w.jobs[1]->id));
    job_abort(w.jobs[1], 0, 7, "a process of it failed");
    core_abort_connected(&w.core, w.jobs[1]);
    OK_F(!w.jobs[0]->failed, "who has disconnected goes on");
    close_world(&w);
}

/* Where jobs are controlled elsewhere, the controlling node is notified. */
static void test_emitted(void)
{
    struct world here, root;
    struct buf cut = BUF_NULL(1 << 16);
    size_t refused = 0;

    open_world(&here, true);
    open_world(&root, false);
    meet(&here, SLICE("connect"));
    EQ(here.on, 1);
    for (size_t n = 0; n < buf_len(&here.emitted); n++) {
        struct world other;
        open_world(&other, false);
        buf_clear(&cut);
        buf_slice_put(&cut, slice_head(buf_slice(&here.emitted), n));
        refused += !proc_connect_receive(&other.core, buf_slice(&cut), true);
        close_world(&other);
    }
    OK_F(refused > buf_len(&here.emitted) / 2, "most messages that are cut are refused");
    OK(proc_connect_receive(&root.core, buf_slice(&here.emitted), true));
    OK_F(connections_are(&root, 1) && are_connected(&root, 0, 1),
         "it learns of the same connections");
    meet(&here, SLICE("disconnect"));
    EQ(here.on, 0);
    OK(proc_connect_receive(&root.core, buf_slice(&here.emitted), false) &&
       connections_are(&root, 0));
    buf_free(&cut);
    close_world(&root);
    close_world(&here);
}

int main(void)
{
    test_members();
    test_end();
    test_emitted();
    return tap_done();
}
