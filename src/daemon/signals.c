/* signals.c - see signals.h. */
#include "daemon/signals.h"

#include <signal.h>

#include "cluster/msg.h"
#include "core/input.h"
#include "core/operations.h"
#include "daemon/cluster_io.h"
#include "daemon/node_context.h"
#include "daemon/process.h"

/* To the processes of this node; job NULL: of all jobs, rank < 0: all ranks. */
static void signals_send(struct processes *p, const struct job *j, int64_t rank, int sig)
{
    LIST_EACH(l, &p->all)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if ((!j || t->job == j) && (rank < 0 || t->rank == rank))
            process_signal(t, sig);
    }
}

void signals_job(struct processes *p, const struct job *job, int sig)
{
    signals_send(p, job, -1, sig);
}

void signals_meant(struct processes *p, const struct job *j, int64_t rank, int sig)
{
    signals_send(p, j, rank, sig);
    if (sig == SIGTERM)
        signals_send(p, j, rank, SIGCONT);
}

/* To a rank or (JOB_NO_RANK) all of the job, or all jobs (NULL).  All daemons learn of a signal
 * that is meant to end processes: the process's own node and the launcher judge its end. */
static void signals_elsewhere(struct processes *p, const struct job *j, uint32_t rank, int sig,
                              bool meant)
{
    struct cluster_io *s = p->config.context->cluster;
    struct msg m = MSG_WITH(signal, .job = j ? j->id : JOB_NO_RANK, .rank = rank, .signal = sig,
                            .ends_procs = meant);
    uint32_t to;

    if (!s)
        return;
    to = !j || rank == JOB_NO_RANK || meant ? MSG_EVERYBODY
                                            : node_map_rank(&s->dispatch.map, j, rank);
    if (to != s->router.config.me)
        cluster_io_send(s, &m, to);
}

void signals_all(struct processes *p, int sig)
{
    signals_job(p, NULL, sig);
    signals_elsewhere(p, NULL, JOB_NO_RANK, sig, false);
}

void signals_everywhere(struct processes *p, const struct job *j, int sig)
{
    signals_meant(p, j, -1, sig);
    signals_elsewhere(p, j, JOB_NO_RANK, sig, false);
}

void signals_end(struct processes *p, const struct job *j, int sig)
{
    struct op_signal end = {
        .job = j ? j->id : JOB_NO_RANK, .rank = JOB_NO_RANK, .signal = sig, .ends_jobs = true
    };
    struct msg m = { .kind = MSG_signal, .u.signal = end };

    signals_receive(p, &end);
    if (p->config.context->cluster)
        cluster_io_send(p->config.context->cluster, &m, MSG_EVERYBODY);
}

void signals_effect(struct processes *p, const struct op_signal *e)
{
    struct job *job = core_job(&p->config.context->server->core, e->job);

    if (!job)
        return;
    signals_meant(p, job, e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank, e->signal);
    signals_elsewhere(p, job, e->rank, e->signal, e->ends_procs);
}

void signals_receive(struct processes *p, const struct op_signal *m)
{
    const struct job *j = core_job(&p->config.context->server->core, m->job);
    int64_t rank = m->rank == JOB_NO_RANK ? -1 : (int64_t)m->rank;

    if ((m->job != JOB_NO_RANK && !j) || (j && rank >= (int64_t)j->plan.nprocs) || m->signal <= 0 ||
        m->signal > SIGRTMAX)
        return;
    if (m->ends_jobs || (j && m->ends_procs))
        server_deliver(p->config.context->server,
                       INPUT(signal, .job = m->job, .rank = m->rank, .signal = m->signal,
                             .ends_procs = m->ends_procs, .ends_jobs = m->ends_jobs));
    if (m->ends_procs || m->ends_jobs)
        signals_meant(p, j, rank, m->signal);
    else
        signals_send(p, j, rank, m->signal);
}
