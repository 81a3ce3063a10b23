/* nameservice_test.c - how long published names stay, which the ends of processes, applications and
 * jobs decide.  (Who reads them and who withdraws them: tests/e2e/publish.c.) */
#include <string.h>

#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_event.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { RANKS = 4, READER = 3 };

/* Ranks 0 and 1 run one application, 2 and 3 another; a second job publishes too. */
struct world {
    struct core core;
    struct seg_region regions[2];
    struct job *job, *other;
};

static struct job *add_job(struct world *w, unsigned i, const char *name)
{
    struct job_map p;
    struct job *j;

    seg_memory_open(1 << 20, &w->regions[i]);
    plan_of_one_node(&p, RANKS);
    p.apps = arena_array(&p.arena, 2, sizeof *p.apps);
    p.napps = 2;
    for (uint32_t r = 0; r < RANKS; r++) {
        p.procs[r].app = r / 2;
        p.apps[r / 2].nprocs++;
    }
    j = core_job_add(&w->core, name, &p, &w->regions[i], JOB_NO_RANK, true);
    for (uint32_t r = 0; r < RANKS; r++)
        job_event(j, r, PROC_EVENT_STARTED, 0);
    return j;
}

static void settle(struct world *w)
{
    struct effect e;

    while (core_effect(&w->core, &e))
        effect_drop(&e);
}

static void world_open(struct world *w)
{
    memset(w, 0, sizeof *w);
    core_init(&w->core, 3);
    w->job = add_job(w, 0, "one");
    w->other = add_job(w, 1, "two");
}

static void world_close(struct world *w)
{
    settle(w);
    core_free(&w->core);
    seg_memory_close(&w->regions[0]);
    seg_memory_close(&w->regions[1]);
}

static enum answer_status asks(struct world *w, struct job *j, uint32_t rank, struct request rq)
{
    struct answer a;

    core_request(&w->core, j, rank, 1, &rq, 1, &a);
    return a.status;
}

static bool is_there(struct world *w, const char *service)
{
    return asks(w, w->job, READER, REQUEST_WITH(lookup, .service = slice_str(service))) ==
           ANSWER_OK;
}

static void ends(struct world *w, struct job *j, uint32_t rank)
{
    job_event(j, rank, PROC_EVENT_EXIT, 0);
    core_names_proc_ended(&w->core, j, rank);
    settle(w);
}

static void publish_all(struct world *w, struct job *j, uint32_t rank)
{
    static const char *const services[NAME_PERSISTENCES] = { [NAME_OF_JOB] = "job",
                                                             [NAME_STAYS] = "stays",
                                                             [NAME_READ_ONCE] = "once",
                                                             [NAME_OF_PROC] = "proc",
                                                             [NAME_OF_APP] = "app" };

    for (int p = 0; p < NAME_PERSISTENCES; p++)
        EQ(asks(w, j, rank,
                REQUEST_WITH(publish, .service = slice_str(services[p]), .port = SLICE("port"),
                             .persistence = (enum name_persistence)p)),
           ANSWER_OK);
    EQ(j->procs[rank].names, NAME_PERSISTENCES);
}

static void test_persistence(void)
{
    struct world w;

    world_open(&w);
    publish_all(&w, w.job, 0);
    OK(is_there(&w, "once"));
    OK_F(!is_there(&w, "once"), "a name to be read once is gone");
    ends(&w, w.job, 1);
    OK_F(is_there(&w, "proc") && is_there(&w, "app"),
         "another process of the application has ended");
    ends(&w, w.job, 0);
    OK_F(!is_there(&w, "proc"), "its publisher has ended");
    OK_F(!is_there(&w, "app"), "the last process of its application has ended");
    EQ(w.job->procs[0].names, 2);
    OK(is_there(&w, "job") && is_there(&w, "stays"));
    world_close(&w);
}

static void test_app_outlives_publisher(void)
{
    struct world w;

    world_open(&w);
    publish_all(&w, w.job, 0);
    ends(&w, w.job, 0);
    OK(!is_there(&w, "proc") && is_there(&w, "app"));
    ends(&w, w.job, 2);
    OK_F(is_there(&w, "app"), "a process of another application has ended");
    ends(&w, w.job, 1);
    OK(!is_there(&w, "app"));
    world_close(&w);
}

static void test_job(void)
{
    struct world w;

    world_open(&w);
    publish_all(&w, w.other, 1);
    for (uint32_t r = 0; r < RANKS; r++)
        ends(&w, w.other, r);
    OK(is_there(&w, "job"));
    core_job_remove(&w.core, w.other);
    OK_F(!is_there(&w, "job") && !is_there(&w, "once"), "they go with the job");
    OK_F(is_there(&w, "stays"), "this one does not");
    EQ(asks(&w, w.job, 0, REQUEST_WITH(unpublish, .service = SLICE("stays"), .own = true)),
       ANSWER_NOT_FOUND);
    EQ(asks(&w, w.job, 0, REQUEST_WITH(unpublish, .service = SLICE("stays"))), ANSWER_OK);
    world_close(&w);
}

/* A look-up of a process that has ended takes nothing away. */
static void test_reader_ends(void)
{
    struct world w;

    world_open(&w);
    EQ(asks(&w, w.other, 2, REQUEST_WITH(lookup, .service = SLICE("once"), .wait = true)),
       ANSWER_LATER);
    ends(&w, w.other, 2);
    publish_all(&w, w.job, 0);
    OK(is_there(&w, "once"));
    world_close(&w);
}

/* One of four look-ups of another job, which waits for two of them. */
static enum answer_status asks_some(struct world *w, uint64_t ticket, const char *service)
{
    struct request rq = REQUEST_WITH(lookup, .service = slice_str(service), .wait = true,
                                     .batch = 5, .batch_needed = 2, .batch_total = 4);
    struct answer a;

    core_request(&w->core, w->other, 2, ticket, &rq, 1, &a);
    return a.status;
}

static void publishes(struct world *w, const char *service, enum name_persistence persistence)
{
    EQ(asks(w, w->job, 0,
            REQUEST_WITH(publish, .service = slice_str(service), .port = SLICE("port"),
                         .persistence = persistence)),
       ANSWER_OK);
}

/* Takes the effects: how many answers with this status, and for which tickets (bits). */
static unsigned answered(struct world *w, enum answer_status status)
{
    unsigned tickets = 0;
    struct effect e;

    while (core_effect(&w->core, &e)) {
        if (e.kind == EFFECT_answer && e.u.answer.status == status)
            tickets |= 1U << e.u.answer.ticket;
        effect_drop(&e);
    }
    return tickets;
}

/* Two of four are enough; the others wait no more, and take nothing away. */
static void test_some_of_several(void)
{
    struct world w;

    world_open(&w);
    settle(&w);
    publishes(&w, "c", NAME_OF_JOB);
    EQ(asks_some(&w, 1, "a"), ANSWER_LATER);
    EQ(asks_some(&w, 2, "b"), ANSWER_LATER);
    EQ(asks_some(&w, 3, "c"), ANSWER_OK);
    EQ(asks_some(&w, 4, "d"), ANSWER_LATER);
    EQ(answered(&w, ANSWER_NOT_FOUND), 0);
    publishes(&w, "x", NAME_OF_JOB);
    EQ(answered(&w, ANSWER_NOT_FOUND), 0);
    publishes(&w, "b", NAME_READ_ONCE);
    OK_F(answered(&w, ANSWER_NOT_FOUND) == (1U << 1 | 1U << 4), "enough is found");
    publishes(&w, "d", NAME_READ_ONCE);
    OK_F(is_there(&w, "d"), "nobody has read it meanwhile");
    OK(list_empty(&w.core.name_batches) && list_empty(&w.core.lookups));
    world_close(&w);
}

/* Enough is found before the last key is asked for. */
static void test_enough_at_once(void)
{
    struct world w;

    world_open(&w);
    publishes(&w, "a", NAME_OF_JOB);
    publishes(&w, "b", NAME_OF_JOB);
    EQ(asks_some(&w, 1, "a"), ANSWER_OK);
    EQ(asks_some(&w, 2, "b"), ANSWER_OK);
    EQ(asks_some(&w, 3, "c"), ANSWER_NOT_FOUND);
    EQ(asks_some(&w, 4, "a"), ANSWER_OK);
    OK(list_empty(&w.core.name_batches));
    EQ(asks_some(&w, 1, "c"), ANSWER_LATER);
    ends(&w, w.other, 2);
    OK(list_empty(&w.core.name_batches) && list_empty(&w.core.lookups));
    world_close(&w);
}

int main(void)
{
    test_some_of_several();
    test_enough_at_once();
    test_persistence();
    test_app_outlives_publisher();
    test_job();
    test_reader_ends();
    return tap_done();
}
