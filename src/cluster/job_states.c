/* job_states.c - see job_states.h. */
#include "cluster/job_states.h"

/* ---- effects, as messages -------------------------------------------------------------------- */

static void send_tie(const struct core_context *x, const struct effect_tie *e)
{
    struct msg m = { .kind = MSG_tie };

    m.u.tie.job = e->job;
    m.u.tie.other = e->other;
    m.u.tie.on = e->on;
    send_queue_to(x->queue, &m, MSG_EVERYBODY);
}

static void send_space(const struct core_context *x, const struct effect_space *e)
{
    struct msg m = { .kind = MSG_space };

    m.u.space.job = e->job;
    m.u.space.name = e->name;
    send_queue_to(x->queue, &m, MSG_EVERYBODY);
}

static void send_bond(const struct core_context *x, const struct effect_bond *e)
{
    struct msg m = { .kind = MSG_bond };

    m.u.bond.bond = e->bond;
    m.u.bond.on = e->on;
    send_queue_to(x->queue, &m, 0);
}

void job_states_ask_end(const struct core_context *x, uint32_t job, uint32_t culprit, int code,
                        struct slice reason)
{
    struct msg m = { .kind = MSG_abort };

    m.u.abort.job = job;
    m.u.abort.culprit = culprit == JOB_NO_RANK ? -1 : (int64_t)culprit;
    m.u.abort.code = code;
    m.u.abort.reason = reason;
    send_queue_to(x->queue, &m, 0);
}

void job_states_kill(const struct core_context *x, const struct job *j)
{
    struct msg m = { .kind = MSG_kill };

    m.u.kill.job = j->id;
    m.u.kill.culprit = j->culprit == JOB_NO_RANK ? -1 : (int64_t)j->culprit;
    m.u.kill.code = j->exit_code;
    m.u.kill.reason = slice_str(j->reason.text);
    send_queue_to(x->queue, &m, MSG_EVERYBODY);
}

void job_states_effect(const struct core_context *x, const struct effect *e)
{
    const struct effect_abort *a = &e->u.abort;

    switch (e->kind) {
    case EFFECT_proc_state: send_queue_state(x->queue, &e->u.proc_state); break;
    case EFFECT_abort: job_states_ask_end(x, a->job, a->culprit, a->code, a->reason); break;
    case EFFECT_tie: send_tie(x, &e->u.tie); break;
    case EFFECT_space: send_space(x, &e->u.space); break;
    case EFFECT_bond: send_bond(x, &e->u.bond); break;
    default: break;
    }
}

/* ---- messages in ----------------------------------------------------------------------------- */

/* The launcher broadcasts state changes, also to the node where they happened. */
static bool is_old(const struct core_context *x, const struct job *j, uint32_t rank)
{
    return !send_queue_is_root(x->queue) &&
           (job_rank_is_here(j, rank) || j->procs[rank].state == PROC_STATE_GONE);
}

static struct job *hear_states(const struct core_context *x, const struct msg_proc_state *m)
{
    struct job *j = core_context_job(x, m->job);

    for (uint32_t i = 0; j && i < m->ranks.n; i++) {
        uint32_t rank = m->ranks.items[i];
        if (i >= m->events.n || i >= m->codes.n || i >= m->pids.n || rank >= j->plan.nprocs ||
            m->events.items[i] >= PROC_EVENTS)
            return NULL;
        if (is_old(x, j, rank))
            continue;
        if (m->pids.items[i])
            j->procs[rank].pid = m->pids.items[i];
        x->calls.proc_state(x->arg, j, rank, (enum proc_event)m->events.items[i],
                            m->codes.items[i]);
    }
    return j;
}

static void hear_end(const struct core_context *x, uint64_t job, int64_t culprit, int64_t code,
                     struct slice reason)
{
    struct job *j = core_context_job(x, job);
    uint32_t rank =
        j && culprit >= 0 && culprit < (int64_t)j->plan.nprocs ? (uint32_t)culprit : JOB_NO_RANK;

    if (j)
        x->calls.abort(x->arg, j, rank, (int)code, reason);
}

static void hear_tie(const struct core_context *x, const struct msg_tie *m)
{
    struct job *j = core_context_job(x, m->job);

    if (j)
        x->calls.tied(x->arg, j, (uint32_t)m->other, m->on != 0);
}

static void hear_space(const struct core_context *x, const struct msg_space *m)
{
    struct job *j = core_context_job(x, m->job);

    if (j)
        x->calls.space_gone(x->arg, j, m->name);
}

struct job *job_states_hear(const struct core_context *x, const struct msg *m)
{
    const struct msg_abort *a = &m->u.abort;
    const struct msg_kill *k = &m->u.kill;

    switch (m->kind) {
    case MSG_proc_state: return hear_states(x, &m->u.proc_state);
    case MSG_abort: hear_end(x, a->job, a->culprit, a->code, a->reason); break;
    case MSG_kill: hear_end(x, k->job, k->culprit, k->code, k->reason); break;
    case MSG_tie: hear_tie(x, &m->u.tie); break;
    case MSG_space: hear_space(x, &m->u.space); break;
    case MSG_bond: x->calls.bonded(x->arg, m->u.bond.bond, m->u.bond.on != 0); break;
    default: break;
    }
    return NULL;
}
