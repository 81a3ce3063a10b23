/* job_test.c - the data that a job keeps for its processes, and its limits. */
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/job_end.h"
#include "core/job_kvs.h"
#include "core/request.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

struct world {
    struct core core;
    struct seg_region region;
    struct job *job;
};

static void open_world(struct world *w, size_t store)
{
    struct job_map p;

    core_init(&w->core, 3);
    seg_memory_open(store, &w->region);
    plan_of_one_node(&p, 2);
    w->job = core_job_add(&w->core, "job", &p, &w->region, JOB_NO_RANK, false);
    OK(w->job != NULL);
}

static void close_world(struct world *w)
{
    core_free(&w->core);
    seg_memory_close(&w->region);
}

static void test_quota(void)
{
    static char big[1 << 20];
    struct world w;
    enum answer_status st = ANSWER_OK;
    char key[32];
    unsigned n = 0;

    open_world(&w, 256u << 20);
    for (; st == ANSWER_OK && n < 1000; n++) {
        snprintf(key, sizeof key, "k%u", n);
        st = job_put(w.job, 0, SLICE_NULL, slice_str(key), slice_mem(big, sizeof big));
    }
    EQ(st, ANSWER_OVER_QUOTA);
    OK_F(n > 50 && n <= 64, "a client keeps 64 MiB, and no more: %u values of 1 MiB", n);
    EQ(job_put(w.job, 1, SLICE_NULL, SLICE("other"), SLICE("1")), ANSWER_OK);
    OK_F(w.job->phase == JOB_RUNNING, "a refusal is no failure of the job");
    close_world(&w);
}

/* Empty values count too. */
static void test_small_entries(void)
{
    struct world w;
    enum answer_status st = ANSWER_OK;
    char key[32];
    unsigned n = 0;

    open_world(&w, 1u << 30);
    for (; st == ANSWER_OK && n < 5000000; n++) {
        snprintf(key, sizeof key, "%x", n);
        st = job_put(w.job, 0, SLICE_NULL, slice_str(key), SLICE_NULL);
    }
    EQ(st, ANSWER_OVER_QUOTA);
    OK_F(seg_used(&w.job->store) < 4ull * LIMIT_CLIENT_STORE,
         "%u empty values take %llu MiB, not much more than is charged", n,
         (unsigned long long)(seg_used(&w.job->store) >> 20));
    close_world(&w);
}

static void test_full_store(void)
{
    static char value[4096];
    struct world w;
    enum answer_status st = ANSWER_OK;
    struct slice v;
    char key[32];
    unsigned n = 0;

    open_world(&w, 1 << 20);
    for (; st == ANSWER_OK && n < 1000; n++) {
        snprintf(key, sizeof key, "k%u", n);
        st = job_put(w.job, n % 2, SLICE_NULL, slice_str(key), slice_mem(value, sizeof value));
    }
    EQ(st, ANSWER_NO_MEMORY);
    OK(n > 100 && job_get(w.job, SLICE_NULL, SLICE("k0"), &v) == ANSWER_OK && v.len == 4096);
    EQ(job_get(w.job, SLICE_NULL, slice_str(key), &v), ANSWER_NOT_FOUND);
    close_world(&w);
}

static void test_names(void)
{
    static char port[LIMIT_NAME_PORT + 1];
    struct world w;
    struct request rq = { .kind = REQ_publish };
    struct answer a = { .status = ANSWER_OK };
    char name[32];
    unsigned n = 0;

    memset(port, 'p', sizeof port);
    open_world(&w, 1 << 20);
    rq.u.publish.service = SLICE("long");
    rq.u.publish.port = slice_mem(port, sizeof port);
    core_request(&w.core, w.job, 0, 1, &rq, 0, &a);
    EQ(a.status, ANSWER_BAD_VALUE);
    for (a.status = ANSWER_OK; a.status == ANSWER_OK && n <= LIMIT_CLIENT_NAMES; n++) {
        snprintf(name, sizeof name, "n%u", n);
        rq.u.publish.service = slice_str(name);
        rq.u.publish.port = slice_mem(port, LIMIT_NAME_PORT);
        core_request(&w.core, w.job, 0, 1, &rq, 0, &a);
    }
    EQ(a.status, ANSWER_OVER_QUOTA);
    OK_F(n <= LIMIT_CLIENT_STORE / LIMIT_NAME_PORT + 1, "%u names of the longest kind", n);
    rq = REQUEST_WITH(unpublish, .service = SLICE("n0"));
    core_request(&w.core, w.job, 1, 1, &rq, 0, &a);
    EQ(a.status, ANSWER_OK);
    rq = REQUEST_WITH(publish, .service = SLICE("n0"), .port = slice_mem(port, LIMIT_NAME_PORT));
    core_request(&w.core, w.job, 0, 1, &rq, 0, &a);
    OK_F(a.status == ANSWER_OK, "values that are taken back make room");
    core_job_remove(&w.core, w.job);
    OK_F(list_empty(&w.core.names.all), "names go with their job");
    close_world(&w);
}

/* In order, however many; and their data is freed with the queue.  (That the end of a job can be
 * reported without memory is tested in tests/conversation.) */
static void test_effects(void)
{
    struct effects q = { .ring = NULL };
    struct effect e;
    unsigned n = 0;

    for (uint32_t i = 0; i < 1000; i++)
        effects_push(&q, EFFECT_WITH(answer, .ticket = i));
    while (effects_pop(&q, &e))
        n += e.u.answer.ticket == n;
    EQ(n, 1000);
    for (uint32_t i = 0; i < 3; i++)
        effects_push(&q, EFFECT_WITH(spawn, .request = spawn_new()));
    effects_free(&q);
    OK(!effects_pop(&q, &e) && q.count == 0);
}

/* The exit codes of aborts for a shell. */
static void test_abort_codes(void)
{
    static const struct {
        int reported, seen;
    } codes[] = {
        { 0, 0 }, { 1, 1 }, { 255, 255 }, { 256, 1 }, { 512, 1 }, { -1, 255 }, { 300, 44 }
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct request rq = REQUEST_WITH(abort, .code = codes[i].reported);
        struct answer a;
        struct world w;

        open_world(&w, 1 << 20);
        core_request(&w.core, w.job, 1, 1, &rq, 0, &a);
        OK_F(job_exit_code(w.job) == codes[i].seen, "an abort with %d ends with %d, not %d",
             codes[i].reported, codes[i].seen, job_exit_code(w.job));
        OK(w.job->phase == JOB_ENDING && w.job->failed);
        close_world(&w);
    }
}

int main(void)
{
    test_abort_codes();
    test_quota();
    test_small_entries();
    test_full_store();
    test_names();
    test_effects();
    return tap_done();
}
