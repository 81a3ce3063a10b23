/* signals.c - see signals.h. */
#include "wireupd/signals.h"

#include <signal.h>

#include "wireupd/multinode.h"
#include "wireupd/process.h"

/* To the processes of this node; job NULL: of all jobs, rank < 0: all ranks. */
static void signals_send(struct node *n, const struct job *j, int64_t rank, int sig)
{
    LIST_EACH(l, &n->tasks)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if ((!j || t->job == j) && (rank < 0 || t->rank == rank))
            process_signal(t, sig);
    }
}

void signals_job(struct node *n, const struct job *job, int sig)
{
    signals_send(n, job, -1, sig);
}

void signals_meant(struct node *n, const struct job *j, int64_t rank, int sig)
{
    signals_send(n, j, rank, sig);
    if (sig == SIGTERM)
        signals_send(n, j, rank, SIGCONT);
}

void signals_all(struct node *n, int sig)
{
    signals_job(n, NULL, sig);
    if (n->multinode)
        multinode_signal(n->multinode, NULL, JOB_NO_RANK, sig, false);
}

void signals_order(struct node *n, int64_t job, int64_t rank, int sig, bool meant)
{
    struct job *j = job < 0 ? NULL : core_job(&n->server.core, (uint32_t)job);

    if ((job >= 0 && !j) || (j && rank >= (int64_t)j->plan.nprocs) || sig <= 0 || sig > SIGRTMAX)
        return;
    if (j && meant)
        server_commanded(&n->server, j, rank < 0 ? JOB_NO_RANK : (uint32_t)rank);
    if (meant)
        signals_meant(n, j, rank, sig);
    else
        signals_send(n, j, rank, sig);
}
