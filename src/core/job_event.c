/* job_event.c - see job_event.h. */
#include "core/job_event.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "core/collective_multijob.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/group_bootstrap.h"
#include "core/job_end.h"
#include "core/job_fence.h"
#include "core/job_kvs.h"
#include "core/job_node.h"
#include "core/job_restart.h"
#include "core/key_store.h"
#include "core/modex.h"

static const char *host_of(const struct job *j, uint32_t rank)
{
    return j->plan.nodes[j->plan.procs[rank].node].name;
}

static void describe_end(struct job *j, uint32_t rank, enum proc_state before)
{
    const struct proc *p = &j->procs[rank];

    if (p->signalled) {
        const char *abbrev = sigabbrev_np(p->code);
        /* When its connection closed it may have been ended by this server: report the first
         * reason. */
        bool by_us = before == PROC_STATE_LOST && p->code == SIGTERM && j->phase != JOB_RUNNING;
        errmsg_set(&j->reason, 0, "rank %u on %s (pid %d) %swas killed by signal %d (SIG%s)", rank,
                   host_of(j, rank), p->pid,
                   by_us ? "closed its connection without calling finalize, and " : "", p->code,
                   abbrev ? abbrev : "?");
    } else if (j->is_adopted) {
        errmsg_set(&j->reason, 0,
                   "rank %u on %s (pid %d) closed its connection without calling finalize: the job "
                   "is ended",
                   rank, host_of(j, rank), p->pid);
    } else {
        errmsg_set(&j->reason, 0, "rank %u on %s (pid %d) exited with code %d%s", rank,
                   host_of(j, rank), p->pid, p->code,
                   before == PROC_STATE_LEAVING || before == PROC_STATE_RUNNING
                       ? ""
                       : " without calling finalize: the job is ended");
    }
}

/* The first failure that was not caused on purpose decides code and reason. */
static void note_failure(struct job *j, uint32_t rank, enum proc_state before)
{
    const struct proc *p = &j->procs[rank];
    bool decides = !j->failed || (j->code_pending && j->culprit == rank);

    if (j->follows || !decides || (j->phase == JOB_ENDING && !j->code_pending))
        return;
    j->failed = true;
    j->code_pending = false;
    j->culprit = rank;
    j->exit_code = p->signalled ? 128 + p->code : p->code ? p->code : 1;
    describe_end(j, rank, before);
}

static void list_the_dead(struct job *j)
{
    struct buf text = BUF_NULL(LIMIT_STORE_VALUE);

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].unreachable && !j->procs[r].left) {
            if (buf_len(&text))
                buf_byte(&text, ',');
            buf_u64(&text, r);
        }
    }
    if (buf_ok(&text))
        job_preset(j, SLICE("PMI_dead_processes"), buf_slice(&text));
    buf_free(&text);
}

/* Answers every wait for a process that will not come. */
static void give_up(struct job *j, uint32_t rank)
{
    struct collective *c;

    if (j->procs[rank].unreachable)
        return;
    j->procs[rank].unreachable = true;
    j->lost++;
    if (!j->procs[rank].left)
        list_the_dead(j);
    if (!job_rank_is_here(j, rank)) {
        if (j->keep_going || j->procs[rank].left) /* otherwise the job ends anyway */
            job_fence_ask(j, rank);
        return;
    }
    while ((c = collective_take_broken(&j->colls, rank))) {
        job_answer_round(j, c, ANSWER_FAILED);
        collective_free(&j->colls, c);
    }
}

/* The same for members of other jobs.  If it returns, its start ends what they wait for
 * (job_restart.h). */
static void break_meetings(struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    struct collective *c;

    if (!j->meetings || p->returns || (p->state != PROC_STATE_GONE && !p->unreachable))
        return;
    while ((c = collective_take_broken(j->meetings, j->base + rank))) {
        for (uint32_t i = 0; i < c->group->count; i++) {
            if (collective_is_here(c, i))
                effects_answer(j->effects, c->tickets[i], answer_status(ANSWER_FAILED));
        }
        collective_free(j->meetings, c);
    }
    if (j->core)
        collective_multijob_gone(j->core, j, rank);
    if (j->core)
        group_bootstrap_gone(j->core, j, rank);
}

static void fail_or_go_on(struct job *j, uint32_t rank)
{
    if ((j->keep_going || j->procs[rank].commanded) && j->phase == JOB_RUNNING)
        give_up(j, rank);
    else if (!j->follows) /* the controlling node draws the same conclusion itself */
        job_end(j, rank, j->exit_code, j->reason.text);
}

/* A finalized process, or one without PMI, has ended. */
static void end_well(struct job *j, uint32_t rank, enum proc_state before)
{
    if (j->procs[rank].code)
        note_failure(j, rank, before);
    if (j->procs[rank].code && j->plan.ways & JOB_MAP_STRICT && !j->follows)
        job_end(j, rank, j->exit_code, j->reason.text);
    job_count_end(j, rank);
}

/* A core that follows calls a job ended when its own processes have: others may run elsewhere. */
static bool may_run(const struct job *j)
{
    return j->phase == JOB_RUNNING || (j->follows && j->phase == JOB_ENDED);
}

/* It ended without harm to a program that does not need it; no collective will include it any more.
 */
static void leave(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];

    if (p->state != PROC_STATE_GONE || p->unreachable || p->returns || !may_run(j))
        return;
    p->left = p->joined || p->code == 0 || !j->keep_going;
    job_fence_forget(j, rank);
    if (job_rank_is_here(j, rank) && collective_is_awaited(&j->colls, rank))
        job_miss(j, rank);
    give_up(j, rank);
}

static void end_badly(struct job *j, uint32_t rank, enum proc_state before)
{
    note_failure(j, rank, before);
    fail_or_go_on(j, rank);
    job_count_end(j, rank);
}

/* Its exit will bring the code; until then the code is 1.  One that is started again when it has
 * ended is ended: the others wait for it. */
static void lose(struct job *j, uint32_t rank)
{
    if (job_may_restart(j, rank)) {
        if (job_rank_is_here(j, rank))
            effects_push(j->effects,
                         EFFECT_WITH(signal, .job = j->id, .rank = rank, .signal = SIGKILL));
        return;
    }
    if (!j->failed && !j->follows) {
        j->failed = true;
        j->code_pending = true;
        j->culprit = rank;
        j->exit_code = 1;
        errmsg_set(&j->reason, 0,
                   "rank %u on %s (pid %d) closed its connection without calling finalize", rank,
                   host_of(j, rank), j->procs[rank].pid);
    }
    fail_or_go_on(j, rank);
}

static void break_rules(struct job *j, uint32_t rank)
{
    if (j->keep_going && j->phase == JOB_RUNNING)
        give_up(j, rank);
    else if (!j->follows)
        job_abort(j, rank, 1, "rank %u on %s (pid %d) broke the protocol", rank, host_of(j, rank),
                  j->procs[rank].pid);
}

static bool is_end(enum proc_event event)
{
    return event == PROC_EVENT_EXIT || event == PROC_EVENT_DEATH;
}

static void note_end(struct proc *p, enum proc_event event, int code)
{
    if (event == PROC_EVENT_STARTED && code > 0)
        p->restarts = (uint32_t)code;
    if (event == PROC_EVENT_NOT_STARTED) {
        p->start_code = code;
        p->pid = 0; /* of an earlier start */
    }
    if (is_end(event)) {
        p->signalled = event == PROC_EVENT_DEATH;
        p->code = code;
    }
}

static void report_state(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    effects_push(j->effects, EFFECT_WITH(proc_state, .job = j->id, .rank = rank, .event = event,
                                         .code = code, .pid = j->procs[rank].pid));
}

/* Other nodes know the job, also one whose processes are all here: they may wait for these. */
static bool is_known_elsewhere(const struct job *j)
{
    return j->spread || (j->core && j->core->has_others);
}

/* It is GONE, and so are the groups whose members do not know each other. */
static void start_again(struct job *j, uint32_t rank, uint32_t times)
{
    if (j->core)
        group_bootstrap_gone(j->core, j, rank);
    if (is_known_elsewhere(j) && !j->follows)
        report_state(j, rank, PROC_EVENT_RESTART, (int)times);
    job_restart(j, rank, times);
    if (j->core)
        collective_multijob_restarted(j->core, j);
}

/* No other process knows of it: its node alone starts it again. */
static bool is_unknown(const struct proc *p, enum proc_state before)
{
    return before == PROC_STATE_RUNNING && !p->uses_store;
}

/* True: a failure that is followed by another start.  A core that does not control the job waits
 * for the order. */
static bool comes_again(struct job *j, uint32_t rank, enum proc_state before)
{
    struct proc *p = &j->procs[rank];
    bool well =
        (before == PROC_STATE_LEAVING || before == PROC_STATE_RUNNING) && !p->signalled && !p->code;

    if (well || is_unknown(p, before) || !job_may_restart(j, rank))
        return false;
    if (j->follows) {
        p->returns = true;
        j->nreturn++;
    } else {
        start_again(j, rank, p->restarts + 1);
    }
    return true;
}

/* The order; or the controlling node has decided otherwise. */
static void end_return(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    struct proc *p = &j->procs[rank];

    j->nreturn -= p->returns;
    p->returns = false;
    if (event == PROC_EVENT_RESTART) {
        p->state = PROC_STATE_GONE;
        start_again(j, rank, (uint32_t)code);
        return;
    }
    give_up(j, rank);
    break_meetings(j, rank);
    job_count_end(j, rank);
}

/* The controlling node reports exits to the other nodes: they may wait for that process.  Of one
 * that is lost and started again they hear when it is. */
static void emit_end(struct job *j, uint32_t rank, enum proc_state before, enum proc_event event,
                     int code)
{
    const struct proc *p = &j->procs[rank];

    if (j->follows || !is_known_elsewhere(j) || j->phase != JOB_RUNNING ||
        before == PROC_STATE_GONE ||
        !(p->state == PROC_STATE_GONE ||
          (p->state == PROC_STATE_LOST && before != PROC_STATE_LOST)))
        return;
    if (p->state == PROC_STATE_LOST && job_may_restart(j, rank))
        return;
    if (before == PROC_STATE_ATTACHED || before == PROC_STATE_LOST)
        report_state(j, rank, PROC_EVENT_ATTACH, 0); /* it took part, which they did not know */
    report_state(j, rank, event, code);
}

static void act(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    struct proc *p = &j->procs[rank];
    enum proc_state before = p->state;

    switch (proc_state_step(&p->state, event)) {
    case PROC_ACTION_count_start: j->started += !p->restarts; break;
    case PROC_ACTION_fail_start:
        if (!j->follows)
            job_abort(j, rank, code & 0xff ? code & 0xff : 1, "rank %u on %s could not be started",
                      rank, host_of(j, rank));
        job_count_end(j, rank);
        break;
    case PROC_ACTION_count_end:
        if (!comes_again(j, rank, before))
            end_well(j, rank, before);
        break;
    case PROC_ACTION_end_badly:
        if (!comes_again(j, rank, before))
            end_badly(j, rank, before);
        break;
    case PROC_ACTION_lose: lose(j, rank); break;
    case PROC_ACTION_break_rules: break_rules(j, rank); break;
    case PROC_ACTION_nothing: break;
    case PROC_ACTION_impossible:
        job_abort(j, rank, 1, "internal error: event '%s' for rank %u in state '%s'",
                  proc_event_name(event), rank, proc_state_name(before));
        break;
    }
}

/* Reports from the controlling node about a process elsewhere: not every change is reported, so
 * that a state may be reached from any other. */
static void follow(struct job *j, uint32_t rank, enum proc_event event)
{
    struct proc *p = &j->procs[rank];
    bool took_part = p->state == PROC_STATE_ATTACHED || p->state == PROC_STATE_LOST;

    switch (event) {
    case PROC_EVENT_STARTED: p->state = PROC_STATE_RUNNING; break;
    case PROC_EVENT_ATTACH: p->state = PROC_STATE_ATTACHED; break;
    case PROC_EVENT_FINALIZE: p->state = PROC_STATE_LEAVING; break;
    case PROC_EVENT_HANGUP:
    case PROC_EVENT_BREAK:
        if (p->state == PROC_STATE_ATTACHED)
            p->state = PROC_STATE_LOST;
        break;
    case PROC_EVENT_NOT_STARTED:
    case PROC_EVENT_EXIT:
    case PROC_EVENT_DEATH: p->state = PROC_STATE_GONE; break;
    case PROC_EVENT_READY:
    case PROC_EVENT_RESTART:
    case PROC_EVENTS: break;
    }
    if (p->state == PROC_STATE_LOST ||
        (p->state == PROC_STATE_GONE && (took_part || event != PROC_EVENT_EXIT)))
        give_up(j, rank);
}

/* A tool comes and goes as it likes: nothing fails with it. */
static void act_of_tool(struct job *j, uint32_t rank, enum proc_event event)
{
    struct proc *p = &j->procs[rank];

    switch (event) {
    case PROC_EVENT_STARTED: p->state = PROC_STATE_RUNNING; break;
    case PROC_EVENT_ATTACH: p->state = PROC_STATE_ATTACHED; break;
    case PROC_EVENT_FINALIZE: p->state = PROC_STATE_LEAVING; break;
    default: p->state = PROC_STATE_GONE; break;
    }
    if (p->state != PROC_STATE_GONE || j->phase == JOB_ENDED)
        return;
    p->unreachable = true;
    j->ended = j->plan.nprocs;
    j->phase = JOB_ENDED;
    j->owes_end = true;
    job_settle(j);
}

/* Other launchers whose jobs are known here know this one, too. */
static void notify_launchers(const struct job *j, uint32_t rank, enum proc_event event, int code)
{
    if (!j->core || list_empty(&j->core->foreign) || j->follows || j->is_tool)
        return;
    effects_push(j->effects, EFFECT_WITH(foreign_state, .job = j->id, .rank = rank, .event = event,
                                         .code = code, .nspace = slice_str(j->nspace)));
}

/* It stays in its state: others do not notice. */
static void come_to_stop(struct job *j, uint32_t rank, int stop)
{
    struct proc *p = &j->procs[rank];
    uint8_t bit = stop >= 0 && stop < JOB_MAP_STOPS ? job_map_stop_bit((enum job_map_stop)stop) : 0;

    if (!(j->plan.procs[rank].stops & bit) || p->ready & bit || p->state == PROC_STATE_GONE)
        return;
    p->ready |= bit;
    p->held |= bit;
    j->ready[stop]++;
    if (j->follows && job_rank_is_here(j, rank))
        report_state(j, rank, PROC_EVENT_READY, stop);
}

void job_event(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    struct proc *p = &j->procs[rank];
    bool here = job_rank_is_here(j, rank), had_ended = j->phase == JOB_ENDED;
    enum proc_state before = p->state;

    if (event == PROC_EVENT_READY) {
        come_to_stop(j, rank, code);
        return;
    }
    if (j->follows && (event == PROC_EVENT_RESTART || (p->returns && is_end(event)))) {
        end_return(j, rank, event, code);
        return;
    }
    note_end(p, event, code);
    p->joined = p->joined || (event == PROC_EVENT_ATTACH && before != PROC_STATE_GONE);
    if (here && !list_empty(&j->waits) && event != PROC_EVENT_ATTACH &&
        event != PROC_EVENT_STARTED && !job_may_restart(j, rank))
        modex_owner_gone(j, rank);
    if (here && !list_empty(&j->waits) && event == PROC_EVENT_STARTED)
        modex_wake(j, rank);                                 /* its pid is known */
    if (here && event == PROC_EVENT_STARTED && p->commanded) /* while it was started again */
        effects_push(j->effects,
                     EFFECT_WITH(signal, .job = j->id, .rank = rank, .signal = SIGKILL));
    if (j->follows && here)
        report_state(j, rank, event, code);
    if (j->is_tool)
        act_of_tool(j, rank, event);
    else if (j->follows && !here)
        follow(j, rank, event);
    else
        act(j, rank, event, code);
    emit_end(j, rank, before, event, code);
    leave(j, rank);
    break_meetings(j, rank);
    notify_launchers(j, rank, event, code);
    job_node_ended(j, rank);
    if (!list_empty(&j->waits))
        modex_any_gone(j);
    if (p->state == PROC_STATE_GONE && before != PROC_STATE_GONE) {
        control_ended(j, rank);
        key_store_ended(j, rank);
    }
    if (j->phase == JOB_ENDED && !had_ended)
        control_ended(j, JOB_NO_RANK);
}

void job_node_replaced(struct job *j, const struct node_replacement *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct proc *p = &j->procs[n->ranks[i]];
        p->state = PROC_STATE_GONE;
        p->signalled = true;
        p->code = SIGKILL;
        if (j->core)
            group_bootstrap_gone(j->core, j, n->ranks[i]);
        job_node_ended(j, n->ranks[i]);
        control_ended(j, n->ranks[i]);
    }
    if (!list_empty(&j->waits))
        modex_any_gone(j);
    job_restart_node(j, n);
    if (j->core)
        collective_multijob_restarted(j->core, j);
}
