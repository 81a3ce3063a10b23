/* spawn_limit.c - see spawn_limit.h. */
#include "daemon/spawn_limit.h"

#include "base/clock.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "daemon/pending_query.h"

/* As for the launcher's own time limit. */
enum { LATE_CODE = 124 };

static uint32_t seconds_of(const struct spawn_request *rq, const char *key)
{
    uint32_t s;

    return slice_u32(spawn_info_of_all(rq->commands, rq->ncommands, key), &s) ? s : 0;
}

/* 0: none. */
static uint32_t shorter(uint32_t a, uint32_t b)
{
    return a && (!b || a < b) ? a : b;
}

/* Of jobs that tools give to a DVM. */
static uint32_t most_seconds(const struct local_job *w)
{
    const struct dvm_leases *l = w->jobs->context->config->dvm_leases;

    return l ? l->config.limits.seconds : 0;
}

static bool is_wanted(const struct spawn_request *rq, const char *key)
{
    return spawn_info_of_all(rq->commands, rq->ncommands, key).len > 0;
}

static void end(struct local_job *w, struct job *j, const char *what, uint32_t seconds)
{
    server_abort(w->jobs->context->server, j, JOB_NO_RANK, LATE_CODE,
                 "the spawned job %s did not %s within its time limit of %u s", w->job->nspace,
                 what, seconds);
}

static void start_is_late(void *arg)
{
    struct local_job *w = arg;

    w->late = true; /* the end comes when the answer has been given */
    end(w, w->job, "start", w->start_limit_s);
    w->refusal = SPAWN_LATE;
    w->answer_late(w);
    turn_end(w->jobs->context->turn);
}

static void end_late(struct local_job *w)
{
    struct node_context *c = (struct node_context *)(uintptr_t)w->jobs->context;

    w->late = true;
    if (w->job->phase == JOB_RUNNING)
        end(w, w->job, "end", w->limit_s);
    LIST_EACH(l, &c->server->core.jobs)
    {
        struct job *child = LIST_OF(l, struct job, link);
        if (child->parent == w->job->id && child->phase == JOB_RUNNING)
            end(w, child, "end", w->limit_s);
    }
    turn_end(c->turn);
}

static void on_report(void *arg, struct slice report)
{
    struct local_job *w = arg;

    while (report.len) {
        struct slice line = slice_cut(&report, '\n');
        log_error(w->jobs->context->log, SLICE_FMT, SLICE_ARG(line));
    }
    end_late(w);
}

/* The processes still run while they are asked about. */
static void job_is_late(void *arg)
{
    struct local_job *w = arg;
    struct buf words = BUF_NULL(4096);

    if (w->reports_late && w->jobs->queries && w->job->phase == JOB_RUNNING) {
        buf_printf(&words, "%s%s", w->stacks_late ? "stacks " : "", w->job->nspace);
        pending_query_begin(w->jobs->queries, buf_slice(&words), on_report, w);
        buf_free(&words);
    } else {
        end_late(w);
    }
}

uint32_t spawn_limit_seconds(const struct spawn_request *rq)
{
    return seconds_of(rq, SPAWN_LIMIT);
}

void spawn_limit_begin(struct local_job *w, const struct spawn_request *rq, uint64_t since_ns,
                       void (*late)(struct local_job *w))
{
    w->limit_s = shorter(seconds_of(rq, SPAWN_JOB_LIMIT), most_seconds(w));
    w->start_limit_s = spawn_limit_seconds(rq);
    w->stacks_late = is_wanted(rq, SPAWN_LATE_STACKS);
    w->reports_late = w->stacks_late || is_wanted(rq, SPAWN_LATE_STATE);
    w->answer_late = late;
    timer_init(&w->limit, w->jobs->context->loop, start_is_late, w);
    if (w->start_limit_s)
        timer_at(&w->limit, since_ns + w->start_limit_s * NS_PER_S);
}

void spawn_limit_started(struct local_job *w)
{
    timer_stop(&w->limit);
    timer_init(&w->limit, w->jobs->context->loop, job_is_late, w);
    if (w->limit_s)
        timer_set(&w->limit, w->limit_s * (NS_PER_S / NS_PER_MS));
}

void spawn_limit_forget(struct local_job *w)
{
    timer_stop(&w->limit);
    if (w->jobs->queries)
        pending_query_forget(w->jobs->queries, w);
}
