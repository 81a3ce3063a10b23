/* end_progress.c - see end_progress.h. */
#include "daemon/end_progress.h"

#include "base/log.h"
#include "core/job.h"
#include "daemon/local_job.h"
#include "daemon/node_context.h"

/* Most jobs end within the first. */
enum { FIRST_MS = 1000, NEXT_MS = 2000 };

struct end_count {
    uint32_t all, ended;
    const struct job *job; /* of a process that has not ended; NULL: all have */
    uint32_t rank;
};

static void count_job(struct end_count *n, const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        n->all++;
        if (j->procs[r].state == PROC_STATE_GONE) {
            n->ended++;
        } else if (!n->job) {
            n->job = j;
            n->rank = r;
        }
    }
}

static struct end_count count_all(const struct end_progress *e)
{
    struct end_count n = { .all = 0 };

    LIST_EACH(l, &e->jobs->all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (!j->is_tool && !j->follows && !j->is_adopted)
            count_job(&n, j);
    }
    return n;
}

static void report_ends(void *arg)
{
    struct end_progress *e = arg;
    struct end_count n = count_all(e);

    if (!n.job)
        return;
    log_warn(e->context->log, "%u of %u processes have ended; rank %u on %s has not", n.ended,
             n.all, n.rank, n.job->plan.nodes[n.job->plan.procs[n.rank].node].name);
    timer_set(&e->timer, NEXT_MS);
}

void end_progress_open(struct end_progress *e, const struct node_context *c,
                       const struct local_jobs *jobs)
{
    *e = (struct end_progress){ .context = c, .jobs = jobs };
    timer_init(&e->timer, c->loop, report_ends, e);
}

void end_progress_close(struct end_progress *e)
{
    timer_stop(&e->timer);
}

void end_progress_begin(struct end_progress *e)
{
    if (e->context->config->terminal && !e->timer.set)
        timer_set(&e->timer, FIRST_MS);
}
