/* foreign_connect_test.c - connects over several launchers: the table of the one that decides; gets
 * of values that come later. */
#include "core/foreign_connect.h"

#include <string.h>

#include "core/effect.h"
#include "core/core_request.h"
#include "core/job_event.h"
#include "core/modex.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 2, TICKETS = 8 };

/* A job of this launcher, "a", and one of another, "b". */
struct world {
    struct core core;
    struct seg_region regions[2];
    struct job *jobs[2];
    struct foreign_connects table;
    int status[TICKETS]; /* of the answer to the call with that ticket; -1: none yet */
    unsigned complete, ncalls;
    bool answered_before; /* an answer came before `complete` */
};

static void on_complete(void *arg, const struct foreign_meeting *m)
{
    struct world *w = arg;

    w->complete++;
    for (int i = 0; i < TICKETS; i++)
        w->answered_before = w->answered_before || w->status[i] == ANSWER_OK;
    w->ncalls = m->ncalls;
}

static void on_answer(void *arg, const struct foreign_call *k, enum answer_status status)
{
    struct world *w = arg;

    EQ(w->status[k->ticket], -1);
    w->status[k->ticket] = (int)status;
}

static struct job *add_job(struct world *w, unsigned i)
{
    struct job_order o = { .nspace = i ? "b" : "a",
                           .parent = JOB_NO_RANK,
                           .here = i ? JOB_NONE_HERE : JOB_ALL_HERE,
                           .follows = i != 0,
                           .is_foreign = i != 0 };
    struct job_map p;
    struct job *j;

    seg_memory_open(1 << 20, &w->regions[i]);
    plan_of_one_node(&p, RANKS);
    o.plan = &p;
    o.region = &w->regions[i];
    j = core_job_order(&w->core, &o);
    for (uint32_t r = 0; !i && r < RANKS; r++) {
        job_event(j, r, PROC_EVENT_STARTED, 0);
        job_event(j, r, PROC_EVENT_ATTACH, 0);
    }
    return j;
}

static void open_world(struct world *w)
{
    static const struct foreign_connects_calls calls = { on_complete, on_answer };

    memset(w, 0, sizeof *w);
    core_init(&w->core, 5);
    w->core.is_manager = true;
    for (unsigned i = 0; i < 2; i++)
        w->jobs[i] = add_job(w, i);
    foreign_connects_open(&w->table, &w->core, &calls, w);
    for (int i = 0; i < TICKETS; i++)
        w->status[i] = -1;
}

static void close_world(struct world *w)
{
    foreign_connects_close(&w->table);
    core_free(&w->core);
    for (unsigned i = 0; i < 2; i++)
        seg_memory_close(&w->regions[i]);
}

#define GROUP SLICE("connect 0: 1:a.* 1:b.*")

/* Ticket: the rank, and 2 more for those of b. */
static void call(struct world *w, const char *nspace, uint32_t rank, uint64_t deadline_ns)
{
    bool b = nspace[0] == 'b';
    struct foreign_call k = { .ticket = rank + (b ? RANKS : 0),
                              .deadline_ns = deadline_ns,
                              .from = b ? 7 : 0,
                              .rank = rank,
                              .nspace = slice_str(nspace),
                              .block = SLICE("values") };

    foreign_connects_enter(&w->table, GROUP, &k);
}

static void all_but_last(struct world *w)
{
    call(w, "a", 0, UINT64_MAX);
    call(w, "b", 1, UINT64_MAX);
    call(w, "a", 1, UINT64_MAX);
}

static void same_for(const struct world *w, int n, int status)
{
    for (int i = 0; i < n; i++)
        EQ(w->status[i], status);
}

static void test_complete(void)
{
    struct world w;

    open_world(&w);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < TICKETS; i++)
            w.status[i] = -1;
        all_but_last(&w);
        same_for(&w, 4, -1);
        call(&w, "b", 0, UINT64_MAX);
        same_for(&w, 4, ANSWER_OK);
    }
    EQ(w.complete, 2);
    EQ(w.ncalls, 2 * RANKS);
    OK_F(!w.answered_before, "values come before answers");
    OK_F(list_empty(&w.table.all), "nothing stays");
    close_world(&w);
}

static void test_ends(void)
{
    struct world w;

    open_world(&w);
    all_but_last(&w);
    foreign_connects_gone(&w.table, SLICE("b"), 0);
    same_for(&w, 4, -1); /* it has not ended */
    job_event(w.jobs[1], 0, PROC_EVENT_EXIT, 0);
    foreign_connects_gone(&w.table, SLICE("b"), 0);
    EQ(w.status[0], ANSWER_FAILED);
    EQ(w.status[1], ANSWER_FAILED);
    EQ(w.status[3], ANSWER_FAILED);
    w.status[0] = -1;
    call(&w, "a", 0, UINT64_MAX); /* too late */
    EQ(w.status[0], ANSWER_FAILED);
    close_world(&w);
}

static void test_lost(void)
{
    struct world w;

    open_world(&w);
    all_but_last(&w);
    core_job_remove(&w.core, w.jobs[1]);
    foreign_connects_lost(&w.table, 7);
    EQ(w.status[0], ANSWER_LOST);
    EQ(w.status[1], ANSWER_LOST);
    EQ(w.status[3], -1); /* its launcher is not there any more */
    OK_F(list_empty(&w.table.all), "nothing stays");
    close_world(&w);
}

static void test_late(void)
{
    struct world w;

    open_world(&w);
    call(&w, "a", 0, 100);
    call(&w, "a", 1, 200);
    EQ(foreign_connects_tick(&w.table, 50), 100);
    EQ(foreign_connects_tick(&w.table, 100), 200);
    EQ(w.status[0], ANSWER_TIMEOUT);
    w.status[0] = -1;
    call(&w, "a", 0, UINT64_MAX);
    call(&w, "b", 0, UINT64_MAX);
    call(&w, "b", 1, UINT64_MAX);
    same_for(&w, 4, ANSWER_OK);
    close_world(&w);
}

static void test_wrong(void)
{
    struct world w;
    struct foreign_call k = { .ticket = 5, .nspace = SLICE("c"), .deadline_ns = UINT64_MAX };

    open_world(&w);
    call(&w, "a", 0, UINT64_MAX);
    foreign_connects_enter(&w.table, GROUP, &k); /* no member */
    EQ(w.status[5], ANSWER_BAD_KEY);
    k.ticket = 6;
    k.nspace = SLICE("a");
    foreign_connects_enter(&w.table, GROUP, &k); /* twice */
    EQ(w.status[6], ANSWER_BAD_KEY);
    k.ticket = 7;
    foreign_connects_enter(&w.table, SLICE("nonsense"), &k);
    EQ(w.status[7], ANSWER_NO_MEMORY);
    EQ(w.status[0], -1);
    close_world(&w);
}

/* A process may name itself besides its job. */
static void test_repeated(void)
{
    struct world w;
    struct foreign_call k = { .deadline_ns = UINT64_MAX };

    open_world(&w);
    for (uint32_t i = 0; i < 3; i++) {
        k.ticket = i;
        k.nspace = i < 2 ? SLICE("a") : SLICE("b");
        k.rank = i % 2;
        foreign_connects_enter(&w.table, SLICE("disconnect 0: 1:a.1 1:a.* 1:b.0"), &k);
    }
    EQ(w.complete, 1);
    EQ(w.ncalls, 3);
    close_world(&w);
}

static void test_request(void)
{
    const struct member members[] = { { SLICE("b"), REQUEST_ALL_RANKS },
                                      { SLICE("a"), REQUEST_ALL_RANKS } };
    struct request rq =
        REQUEST_WITH(collective, .purpose = SLICE("connect"), .members = members, .count = 2);
    const struct card card = {
        .type = 3, .scope = 3, .key = SLICE("key"), .value = SLICE("value")
    };
    struct request commit = REQUEST_WITH(commit, .cards = &card, .count = 1);
    struct foreign_members m;
    struct answer a;
    struct effect e;
    struct world w;

    open_world(&w);
    while (effects_pop(&w.core.effects, &e))
        effect_drop(&e);
    core_request(&w.core, w.jobs[0], 1, 9, &commit, 1, &a);
    core_request(&w.core, w.jobs[0], 1, 9, &rq, 1, &a);
    EQ(a.status, ANSWER_LATER);
    OK_F(effects_pop(&w.core.effects, &e) && e.kind == EFFECT_foreign_connect, "the host is asked");
    OK_F(slice_eq(e.u.foreign_connect.group, GROUP), "by the sorted members");
    OK_F(memmem(e.u.foreign_connect.block.ptr, e.u.foreign_connect.block.len, "value", 5) != NULL,
         "with the caller's values");
    OK_F(foreign_members_read(e.u.foreign_connect.group, &m) && m.n == 2, "the members are read");
    foreign_members_free(&m);
    effect_drop(&e);
    rq.u.collective.purpose = SLICE("group g"); /* no group of several launchers */
    core_request(&w.core, w.jobs[0], 1, 9, &rq, 1, &a);
    EQ(a.status, ANSWER_NOT_FOUND);
    OK_F(!core_job_named(&w.core, SLICE("b")) && core_known_job(&w.core, SLICE("b")),
         "a job of another launcher is none of this one's");
    close_world(&w);
}

/* Other launchers learn of ends, as long as one is known. */
static unsigned count_states(struct world *w)
{
    struct effect e;
    unsigned n = 0;

    while (effects_pop(&w->core.effects, &e)) {
        n += e.kind == EFFECT_foreign_state;
        effect_drop(&e);
    }
    return n;
}

static void test_states(void)
{
    struct world w;

    open_world(&w);
    count_states(&w);
    job_event(w.jobs[0], 0, PROC_EVENT_FINALIZE, 0);
    job_event(w.jobs[1], 0, PROC_EVENT_EXIT, 0); /* which is no news of ours */
    EQ(count_states(&w), 1);
    EQ(w.jobs[0]->phase, JOB_RUNNING);
    core_job_remove(&w.core, w.jobs[1]);
    job_event(w.jobs[0], 1, PROC_EVENT_FINALIZE, 0);
    EQ(count_states(&w), 0);
    close_world(&w);
}

/* ---- gets of values of the other launcher's processes ---------------------------------------- */

/* What has been asked for and answered since the last look. */
struct seen {
    unsigned requests, answers, replies;
    enum answer_status status; /* of the last answer or reply */
    uint64_t ticket;           /* of that one */
};

static struct seen look(struct world *w)
{
    struct seen s = { 0 };
    struct effect e;

    while (effects_pop(&w->core.effects, &e)) {
        s.requests += e.kind == EFFECT_modex_request;
        s.answers += e.kind == EFFECT_answer;
        s.replies += e.kind == EFFECT_modex_reply;
        if (e.kind == EFFECT_answer) {
            s.status = e.u.answer.status;
            s.ticket = e.u.answer.ticket;
        } else if (e.kind == EFFECT_modex_reply) {
            s.status = e.u.modex_reply.status;
            s.ticket = e.u.modex_reply.asker;
        }
        effect_drop(&e);
    }
    return s;
}

/* A process of "a" gets a key of rank 1 of "b". */
static enum answer_status get(struct world *w, uint32_t rank, const char *key, bool immediate)
{
    struct request rq =
        REQUEST_WITH(modex_get, .nspace = SLICE("b"), .rank = 1, .key = slice_str(key),
                     .timeout_ns = 10, .immediate = immediate);
    struct answer a;

    core_request(&w->core, w->jobs[0], rank, 20 + rank, &rq, 100, &a);
    return a.status;
}

static void test_gets(void)
{
    struct world w;
    struct seen s;

    open_world(&w);
    look(&w);
    EQ(get(&w, 0, "key", true), ANSWER_NOT_FOUND);
    EQ(look(&w).requests, 0);
    EQ(get(&w, 0, "key", false), ANSWER_LATER);
    EQ(get(&w, 1, "key", false), ANSWER_LATER);
    EQ(look(&w).requests, 1); /* one for both */
    modex_fetched(w.jobs[1], 1, ANSWER_NOT_FOUND);
    s = look(&w);
    EQ(s.answers, 2);
    EQ(s.status, ANSWER_NOT_FOUND);
    close_world(&w);
}

static void test_late_get(void)
{
    struct world w;
    struct seen s;

    open_world(&w);
    get(&w, 0, "key", false);
    look(&w);
    EQ(core_tick(&w.core, 109), 110);
    EQ(look(&w).answers, 0);
    core_tick(&w.core, 110);
    s = look(&w);
    EQ(s.answers, 1);
    EQ(s.status, ANSWER_TIMEOUT);
    close_world(&w);
}

/* Its launcher is lost. */
static void test_lost_get(void)
{
    struct world w;
    struct seen s;

    open_world(&w);
    get(&w, 1, "key", false);
    look(&w);
    core_job_remove(&w.core, w.jobs[1]);
    s = look(&w);
    EQ(s.answers, 1);
    EQ(s.status, ANSWER_NOT_FOUND);
    EQ(s.ticket, 21);
    close_world(&w);
}

/* A daemon has asked this launcher, which asks the other. */
static void test_asks_on(void)
{
    struct modex_get g = { .rank = 1, .key = SLICE("key"), .ticket = 3 };
    struct world w;
    struct seen s;

    open_world(&w);
    look(&w);
    modex_serve(w.jobs[1], &g);
    s = look(&w);
    EQ(s.requests, 1);
    EQ(s.replies, 0);
    modex_fetched(w.jobs[1], 1, ANSWER_NOT_FOUND);
    s = look(&w);
    EQ(s.replies, 1);
    EQ(s.ticket, 3);
    close_world(&w);
}

int main(void)
{
    test_complete();
    test_ends();
    test_lost();
    test_late();
    test_wrong();
    test_repeated();
    test_request();
    test_states();
    test_gets();
    test_late_get();
    test_lost_get();
    test_asks_on();
    return tap_done();
}
