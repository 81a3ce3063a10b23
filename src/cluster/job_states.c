/* job_states.c - see job_states.h. */
#include "cluster/job_states.h"

#include "cluster/msg.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/job_restart.h"

/* ---- effects, as messages -------------------------------------------------------------------- */

static void send_effect(const struct core_context *x, const struct effect *e, uint32_t to)
{
    struct msg m;

    if (msg_effect(e, &m))
        send_queue_to(x->queue, &m, to);
}

void job_states_ask_end(const struct core_context *x, uint32_t job, uint32_t culprit, int code,
                        struct slice reason)
{
    struct msg m = MSG_WITH(abort, .job = job, .culprit = culprit, .code = code, .reason = reason);

    send_queue_to(x->queue, &m, 0);
}

void job_states_kill(const struct core_context *x, const struct job *j)
{
    struct msg m = MSG_WITH(abort, .job = j->id, .culprit = j->culprit, .code = j->exit_code,
                            .reason = slice_str(j->reason.text));

    send_queue_to(x->queue, &m, MSG_EVERYBODY);
}

static void repeat(const struct core_context *x, const struct job *j, uint32_t rank,
                   enum proc_event event)
{
    const struct proc *p = &j->procs[rank];

    send_queue_state(x->queue, &(struct op_proc_state){
                                   .job = j->id, .rank = rank, .event = event, .code = p->code });
}

/* Of one that is lost and started again they hear when it is. */
void job_states_repeat(const struct core_context *x, const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        const struct proc *p = &j->procs[r];
        if (p->state == PROC_STATE_LOST && !job_may_restart(j, r)) {
            repeat(x, j, r, PROC_EVENT_ATTACH); /* without it the other is no loss */
            repeat(x, j, r, PROC_EVENT_HANGUP);
        } else if (p->state == PROC_STATE_GONE) {
            repeat(x, j, r, p->signalled ? PROC_EVENT_DEATH : PROC_EVENT_EXIT);
        }
    }
}

void job_states_effect(const struct core_context *x, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_proc_state: send_queue_state(x->queue, &e->u.proc_state); break;
    case EFFECT_abort:
    case EFFECT_proc_connect: send_effect(x, e, 0); break;
    case EFFECT_job_connect:
    case EFFECT_pset_define:
    case EFFECT_kvs_delete: send_effect(x, e, MSG_EVERYBODY); break;
    default: break;
    }
}

/* ---- messages in ----------------------------------------------------------------------------- */

/* The launcher broadcasts state changes, also to the node where they happened: news for that are
 * only its decisions. */
static bool is_old(const struct core_context *x, const struct job *j, uint32_t rank, uint32_t event)
{
    bool ends = event == PROC_EVENT_EXIT || event == PROC_EVENT_DEATH;

    if (send_queue_is_root(x->queue) || event == PROC_EVENT_RESTART)
        return false;
    if (job_rank_is_here(j, rank))
        return !(ends && j->nreturn && j->procs[rank].returns);
    return j->procs[rank].state == PROC_STATE_GONE;
}

struct job *job_states_receive(const struct core_context *x, const struct op_proc_states *m)
{
    struct job *j = core_context_job(x, m->job);

    for (uint32_t i = 0; j && i < m->ranks.n; i++) {
        uint32_t rank = m->ranks.items[i];
        if (i >= m->events.n || i >= m->codes.n || i >= m->pids.n || rank >= j->plan.nprocs ||
            m->events.items[i] >= PROC_EVENTS)
            return NULL;
        if (is_old(x, j, rank, m->events.items[i]))
            continue;
        x->calls.deliver(x->arg, INPUT(proc_state, .job = j->id, .rank = rank,
                                       .event = (enum proc_event)m->events.items[i],
                                       .code = m->codes.items[i], .pid = m->pids.items[i]));
    }
    return j;
}
