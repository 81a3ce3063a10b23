/* server_debug.c - processes that wait for a debugger, and their release (PMIx's events
 * PMIX_READY_FOR_DEBUG and PMIX_DEBUGGER_RELEASE).
 *
 * A process that waits in PMIx_Init, or in the program, is released by its own library.  One that
 * was stopped at its first instruction knows no library: it is continued by a signal.
 */
#include <string.h>

#include "core/control.h"
#include "core/job_event.h"
#include "pmix_common.h"
#include "server/server_priv.h"

/* Where it stops that has come nowhere of late: in PMIx_Init first. */
static int next_stop(const struct job *j, uint32_t rank)
{
    uint8_t stops = j->plan.procs[rank].stops & (uint8_t)~j->procs[rank].ready;

    for (int stop = JOB_MAP_STOP_IN_INIT; stop <= JOB_MAP_STOP_IN_APP; stop++) {
        if (stops & job_map_stop_bit((enum job_map_stop)stop))
            return stop;
    }
    return -1;
}

void server_debug_ready(struct server *s, struct job *j, uint32_t rank)
{
    struct server_change change = server_change_begins(j, rank, PROC_EVENT_READY);
    int stop = next_stop(j, rank);

    if (stop < 0)
        return;
    job_event(j, rank, PROC_EVENT_READY, stop);
    server_notify_change(s, j, rank, &change, stop);
}

static bool is_for(const struct notice *n, const struct event_targets *t, const struct job *j,
                   uint32_t rank)
{
    if (t->named || n->range == PMIX_RANGE_CUSTOM)
        return server_event_is_for(t, j->nspace, rank);
    return n->range != PMIX_RANGE_NAMESPACE || !strcmp(n->nspace, j->nspace);
}

static void release(struct job *j, const struct notice *n, const struct event_targets *t)
{
    const uint8_t bit = job_map_stop_bit(JOB_MAP_STOP_ON_EXEC);

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        struct proc *p = &j->procs[r];
        if (!(p->held & bit) || !job_rank_is_here(j, r) || !is_for(n, t, j, r))
            continue;
        p->held &= (uint8_t)~bit;
        control_continue(j, r);
    }
}

void server_debug_release(struct server *s, const struct notice *n, const struct event_targets *t)
{
    LIST_EACH(l, &s->core.jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (j->ready[JOB_MAP_STOP_ON_EXEC])
            release(j, n, t);
    }
}
