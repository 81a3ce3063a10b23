/* who_test.c - the report on pending operations: every kind of wait, as text and as JSON, from its
 * begin to its answer. */
#include "core/core_effect.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_event.h"
#include "core/request.h"
#include "report/who.h"

#include <string.h>

#include "core/modex.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 6 };

struct world {
    struct core core;
    struct seg_region regions[2];
    struct job *jobs[2];
    struct effect last; /* not an answer */
};

static const struct proc_look held = { .pid = 105, .state = 't' };

static struct job *add_job(struct world *w, unsigned i, const char *name)
{
    struct job_map p;
    struct job *j;

    seg_memory_open(1 << 20, &w->regions[i]);
    plan_of_one_node(&p, RANKS);
    j = core_job_add(&w->core, name, &p, &w->regions[i], JOB_NO_RANK, true);
    for (uint32_t r = 0; r < RANKS; r++) {
        j->procs[r].pid = (int)(100 * (i + 1) + r);
        job_event(j, r, PROC_EVENT_STARTED, 0);
    }
    return j;
}

static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    w->jobs[0] = add_job(w, 0, "one");
    w->jobs[0]->procs[5].look = &held;
    w->jobs[1] = add_job(w, 1, "two");
}

static void close_world(struct world *w)
{
    effect_drop(&w->last);
    core_free(&w->core);
    seg_memory_close(&w->regions[0]);
    seg_memory_close(&w->regions[1]);
}

/* Like the server: an answered request is not pending any more. */
static void settle(struct world *w)
{
    struct effect e;

    while (core_effect(&w->core, &e)) {
        if (e.kind == EFFECT_answer) {
            pendings_done(&w->core.waits, e.u.answer.ticket);
            effect_drop(&e);
        } else {
            effect_drop(&w->last);
            w->last = e;
        }
    }
}

/* At second `at`; tickets are the caller's. */
static enum answer_status ask(struct world *w, unsigned job, uint32_t rank, uint64_t ticket,
                              unsigned at, struct request rq)
{
    struct answer a;

    core_request(&w->core, w->jobs[job], rank, ticket, &rq, at * UINT64_C(1000000000), &a);
    settle(w);
    return a.status;
}

/* The report on one job (NULL: on all) at second 10. */
static const char *report(struct world *w, const char *job, bool json)
{
    static char text[1 << 16];
    struct who_options o = { .job = job ? slice_str(job) : SLICE_NULL,
                             .json = json,
                             .now_ns = UINT64_C(10000000000) };
    struct buf out = BUF_NULL(sizeof text);
    int rc = who_report(&w->core, &o, &out);

    snprintf(text, sizeof text, "%d " SLICE_FMT, rc, SLICE_ARG(buf_slice(&out)));
    buf_free(&out);
    return text;
}

static void same(const char *got, const char *want)
{
    if (!OK_F(!strcmp(got, want), "%.60s", want))
        printf("# got:  %s\n# want: %s\n", got, want);
}

static void test_fence(void)
{
    static const char idle[] =
        "0 job 0 one, 6 processes: 6 running\n"
        "  rank 5 (pid 105 on here) is stopped by a debugger\n"
        "  nobody waits in the process manager: the program itself is busy or stuck\n"
        "    rank 5 on here (pid 105) running, stopped by a debugger; last request: fence, 2.0 s "
        "ago\n";
    struct world w;

    open_world(&w);
    OK(strstr(report(&w, "one", false),
              "rank 5 on here (pid 105) running, stopped by a debugger; has not said") != NULL);
    EQ(ask(&w, 0, 0, 1, 4, (struct request){ .kind = REQ_fence }), ANSWER_LATER);
    EQ(ask(&w, 0, 3, 2, 5, (struct request){ .kind = REQ_fence }), ANSWER_LATER);
    EQ(ask(&w, 0, 5, 9, 7, REQUEST_WITH(put, .key = SLICE("k"))), ANSWER_OK);
    same(report(&w, "0", false),
         "0 job 0 one, 6 processes: 6 running\n"
         "  rank 5 (pid 105 on here) is stopped by a debugger\n"
         "  fence WORLD:0, generation 0, for 6.0 s: 2 of 6 have arrived; missing: 1-2,4-5\n"
         "    rank 1 on here (pid 101) running; has not said anything yet\n"
         "    rank 2 on here (pid 102) running; has not said anything yet\n"
         "    rank 4 on here (pid 104) running; has not said anything yet\n"
         "    rank 5 on here (pid 105) running, stopped by a debugger; last request: put, 3.0 s "
         "ago\n");
    for (uint32_t r = 1; r < RANKS; r++) {
        if (r != 3)
            ask(&w, 0, r, 10 + r, 8, (struct request){ .kind = REQ_fence });
    }
    same(report(&w, "one", false), idle);
    ask(&w, 0, 2, 20, 9, (struct request){ .kind = REQ_fence });
    OK(strstr(report(&w, "one", false), "generation 1, for 1.0 s: 1 of 6") != NULL);
    same(report(&w, "three", false), "1 ");
    w.jobs[1]->plan.nprocs = 1;
    OK(strstr(report(&w, "two", false), "job 1 two, 1 process: 1 running\n") != NULL);
    w.jobs[1]->plan.nprocs = RANKS;
    close_world(&w);
}

static void test_attribute(void)
{
    struct request get = REQUEST_WITH(node_get, .key = SLICE("lo\"ck"), .wait = true);
    struct world w;

    open_world(&w);
    EQ(ask(&w, 0, 2, 1, 4, get), ANSWER_LATER);
    same(report(&w, "one", false), "0 job 0 one, 6 processes: 6 running\n"
                                   "  rank 5 (pid 105 on here) is stopped by a debugger\n"
                                   "  get node attribute \"lo\\\"ck\", for 6.0 s, by rank 2: "
                                   "no process of the node has put it\n");
    OK(strstr(report(&w, "two", false), "nobody waits") != NULL);
    OK(strstr(report(&w, "one", true),
              "\"pending\":[{\"request\":\"get node attribute\",\"name\":\"lo\\\"ck\",\"rank\":2,"
              "\"seconds\":6.000,\"job\":\"\",\"processes\":[]}]") != NULL);
    ask(&w, 0, 3, 2, 5, REQUEST_WITH(node_put, .key = SLICE("lo\"ck"), .value = SLICE("v")));
    OK(strstr(report(&w, "one", false), "nobody waits") != NULL);
    EQ(ask(&w, 0, 2, 3, 6, get), ANSWER_OK);
    OK_F(list_empty(&w.core.waits.all), "who is answered at once does not wait");
    close_world(&w);
}

static void test_card(void)
{
    struct request get = REQUEST_WITH(modex_get, .key = SLICE("ep"), .rank = 5);
    struct card card = { .type = MODEX_STRING, .scope = MODEX_GLOBAL, .key = SLICE("ep") };
    struct world w;

    open_world(&w);
    EQ(ask(&w, 0, 1, 1, 4, get), ANSWER_LATER);
    same(
        report(&w, "one", false),
        "0 job 0 one, 6 processes: 6 running\n"
        "  rank 5 (pid 105 on here) is stopped by a debugger\n"
        "  get \"ep\" of rank 5, for 6.0 s, by rank 1: missing: 5\n"
        "    rank 5 on here (pid 105) running, stopped by a debugger; has not said anything yet\n");
    get.u.modex_get.nspace = SLICE("one");
    EQ(ask(&w, 1, 0, 2, 5, get), ANSWER_LATER);
    OK(strstr(report(&w, "two", false),
              "  get \"ep\" of rank 5 of one, for 5.0 s, by rank 0: missing: 5\n    rank 5 on "
              "here (pid 105)") != NULL);
    OK(strstr(report(&w, "two", true),
              "{\"request\":\"get\",\"name\":\"ep\",\"rank\":0,\"seconds\":5.000,\"job\":\"one\","
              "\"missing\":\"5\",\"processes\":[{\"rank\":5,\"node\":\"here\",\"pid\":105,") !=
       NULL);
    get.u.modex_get.key = SLICE_NULL;
    get.u.modex_get.rank = 4;
    EQ(ask(&w, 1, 3, 3, 6, get), ANSWER_LATER);
    OK(strstr(report(&w, "two", false), "get everything of rank 4 of one, for 4.0 s") != NULL);
    pendings_drop(&w.core.waits, 3, 3); /* its connection is closed */
    OK(strstr(report(&w, "two", false), "everything") == NULL);
    ask(&w, 0, 5, 4, 7, REQUEST_WITH(commit, .cards = &card, .count = 1));
    OK(strstr(report(&w, "one", false), "nobody waits") != NULL);
    OK(strstr(report(&w, "two", false), "nobody waits") != NULL);
    close_world(&w);
}

static void test_spawn(void)
{
    static char program[] = "/bin/a", other[] = "/bin/b";
    struct spawn_request *rq = spawn_new();
    struct world w;

    open_world(&w);
    rq->commands = arena_array(&rq->arena, 2, sizeof *rq->commands);
    rq->ncommands = 2;
    rq->commands[0] = (struct spawn_command){ .program = program, .nprocs = 2 };
    rq->commands[1] = (struct spawn_command){ .program = other, .nprocs = 3 };
    EQ(ask(&w, 0, 1, 7, 4, REQUEST_WITH(spawn, .request = rq)), ANSWER_LATER);
    same(report(&w, "one", false),
         "0 job 0 one, 6 processes: 6 running\n"
         "  rank 5 (pid 105 on here) is stopped by a debugger\n"
         "  spawn \"/bin/a\", 5 processes, for 6.0 s, by rank 1: it is being started\n");
    OK(strstr(report(&w, "one", true), "{\"request\":\"spawn\",\"name\":\"/bin/a\",\"rank\":1,"
                                       "\"seconds\":6.000,\"count\":5,") != NULL);
    pendings_done(&w.core.waits, 7);
    OK(strstr(report(&w, "one", false), "nobody waits") != NULL);
    close_world(&w);
}

static void test_lookup(void)
{
    struct world w;

    open_world(&w);
    EQ(ask(&w, 1, 2, 1, 4, REQUEST_WITH(lookup, .service = SLICE("svc"), .wait = true)),
       ANSWER_LATER);
    OK(strstr(report(&w, "two", false),
              "  lookup \"svc\", for 6.0 s, by rank 2: no process is known to have "
              "published it") != NULL);
    ask(&w, 0, 0, 2, 5, REQUEST_WITH(publish, .service = SLICE("svc")));
    OK(strstr(report(&w, "two", false), "nobody waits") != NULL);
    close_world(&w);
}

static void test_meeting(void)
{
    struct member members[] = { { SLICE("two"), REQUEST_ALL_RANKS }, { SLICE("one"), 4 } };
    struct request meet =
        REQUEST_WITH(collective, .purpose = SLICE("connect"), .members = members, .count = 2);
    struct world w;

    open_world(&w);
    EQ(ask(&w, 1, 1, 1, 4, meet), ANSWER_LATER);
    EQ(ask(&w, 1, 2, 2, 5, meet), ANSWER_LATER);
    OK(strstr(
           report(&w, "one", false),
           "  meeting connect one.4 two.*, generation 0, for 6.0 s: 2 of 7 have arrived; missing: "
           "4 of one, 0 of two, 3-5 of two\n    rank 4 on here (pid 104)") != NULL);
    OK(strstr(report(&w, "two", false), "(pid 205)") != NULL);
    OK(strstr(report(&w, "two", true), "{\"meeting\":\"connect one.4 two.*\",\"generation\":0,"
                                       "\"seconds\":6.000,\"members\":7,\"arrived\":2,") != NULL);
    for (uint32_t r = 0; r < RANKS; r++) {
        if (r != 1 && r != 2)
            ask(&w, 1, r, 10 + r, 6, meet);
    }
    OK(strstr(report(&w, "two", false), "6 of 7 have arrived; missing: 4 of one\n") != NULL);
    EQ(ask(&w, 0, 4, 20, 7, meet), ANSWER_OK);
    OK(strstr(report(&w, "two", false), "nobody waits") != NULL);
    close_world(&w);
}

/* Of very many only the first are described. */
static void test_many(void)
{
    struct world w;

    open_world(&w);
    for (unsigned i = 0; i < 100; i++)
        ask(&w, 0, i % RANKS, i + 1, 4, REQUEST_WITH(node_get, .key = SLICE("k"), .wait = true));
    OK(strstr(report(&w, "one", false), "\n  and 36 requests more\n") != NULL);
    close_world(&w);
}

int main(void)
{
    test_fence();
    test_attribute();
    test_card();
    test_spawn();
    test_lookup();
    test_meeting();
    test_many();
    return tap_done();
}
