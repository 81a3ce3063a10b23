/* spawn_limit.c - see spawn_limit.h. */
#include "daemon/spawn_limit.h"

#include "base/clock.h"
#include "daemon/cluster_io.h"

/* As for the launcher's own time limit. */
enum { LATE_CODE = 124 };

static uint32_t seconds_of(const struct spawn_request *rq, const char *key)
{
    uint32_t s;

    return slice_u32(spawn_info_of_all(rq->commands, rq->ncommands, key), &s) ? s : 0;
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

static void job_is_late(void *arg)
{
    struct local_job *w = arg;
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

void spawn_limit_begin(struct local_job *w, const struct spawn_request *rq,
                       void (*late)(struct local_job *w))
{
    w->limit_s = seconds_of(rq, SPAWN_JOB_LIMIT);
    w->start_limit_s = seconds_of(rq, SPAWN_LIMIT);
    w->answer_late = late;
    timer_init(&w->limit, w->jobs->context->loop, start_is_late, w);
    if (w->start_limit_s)
        timer_set(&w->limit, w->start_limit_s * (NS_PER_S / NS_PER_MS));
}

void spawn_limit_started(struct local_job *w)
{
    timer_stop(&w->limit);
    timer_init(&w->limit, w->jobs->context->loop, job_is_late, w);
    if (w->limit_s)
        timer_set(&w->limit, w->limit_s * (NS_PER_S / NS_PER_MS));
}
