/* server_deliver.c - the one entry for inputs from the host (server_deliver()): check, record,
 * decide.
 *
 * The check and the call of the function that decides are made from the rows of
 * proto/operations.def; that function is server_on_ and the id of the row, here or in the module
 * that has the duty (server_priv.h).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/collective_multijob.h"
#include "core/collective_nodes.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/exchange_data.h"
#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/core_request.h"
#include "core/input.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/job_kvs.h"
#include "core/job_node.h"
#include "core/job_restart.h"
#include "core/job_lookup.h"
#include "core/modex.h"
#include "core/ondemand.h"
#include "core/proc_connect.h"
#include "core/request.h"
#include "pmix_common.h"
#include "trace/record.h"
#include "server/pmix_info.h"
#include "server/server_priv.h"

/* ---- checks ---------------------------------------------------------------------------------- */

/* A member m of the input o. */
#define CHECK_JOB(m)                                                                               \
    j = core_job(&s->core, o->m);                                                                  \
    if (!j)                                                                                        \
        return false;
#define CHECK_RANK(m)                                                                              \
    if (j && o->m != JOB_NO_RANK && o->m >= j->plan.nprocs)                                        \
        return false;
#define CHECK_PROC(m)                                                                              \
    if (!j || o->m >= j->plan.nprocs)                                                              \
        return false;
#define CHECK_CONNECTION(m)                                                                        \
    if (!server_peer(s, o->m))                                                                     \
        return false;
#define CHECK_ID(m)
#define CHECK_TICKET(m)
#define CHECK_U64(m)
#define CHECK_U32(m)
#define CHECK_U16(m)
#define CHECK_U8(m)
#define CHECK_I64(m)
#define CHECK_INT(m)
#define CHECK_BOOL(m)
#define CHECK_STATUS(m)
#define CHECK_PROC_EVENT(m)
#define CHECK_TEXT(m)
#define CHECK_WHY(m)
#define CHECK_SECRET(m)
#define CHECK_UINTS(m)
#define CHECK_INTS(m)
#define CHECK_TEXTS(m)
#define CHECK_COLL_ID(m)
#define CHECK_SPAWN(m)
#define CHECK_QUERY(m)
#define CHECK_CONTRIBUTION(m)

/* One function per input: is_known_ and its id. */
#define KNOWN_NONE(id)
#define KNOWN_INPUT(id)                                                                            \
    case INPUT_##id:                                                                               \
        return is_known_##id(s, &in->u.id);

#define OPERATION(id, name, E, M, I)                                                               \
    static inline bool is_known_##id(struct server *s, const struct op_##id *o)                    \
    {                                                                                              \
        const struct job *j = NULL;                                                                \
        (void)j, (void)s, (void)o;
#define MEMBER(id, KIND, member, name) CHECK_##KIND(member)
#define DONE(id)                                                                                   \
    return true;                                                                                   \
    }
#include "proto/operations.def"

bool server_input_is_known(struct server *s, const struct input *in)
{
    switch (in->kind) {
#define OPERATION(id, name, E, M, I) KNOWN_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    }
    return false;
}

/* Nothing can come of it, so traces do not have it. */
static bool is_moot(struct server *s, const struct input *in)
{
    switch (in->kind) {
    case INPUT_in: return server_peer(s, in->u.in.connection)->closing || in->u.in.bytes.len == 0;
    case INPUT_hangup: return server_peer(s, in->u.hangup.connection)->hung_up;
    case INPUT_rights_lost: return server_peer(s, in->u.rights_lost.connection)->restricted;
    case INPUT_output: return !server_output_wanted(s, &in->u.output);
    default: return false;
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static struct job *job_of(const struct server *s, uint32_t id)
{
    return core_job(&s->core, id);
}

static void announce_gone(struct server *s)
{
    LIST_EACH(l, &s->peers)
    {
        const struct peer *p = LIST_OF(l, struct peer, link);
        if (p->session && p->session->ops->job_goes)
            p->session->ops->job_goes(p->session);
    }
}

static bool server_on_job_gone(struct server *s, const struct op_job_gone *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);

    (void)now_ns;
    server_psets_job_ends(s, j);
    announce_gone(s);
    if (!j->is_foreign && !j->is_tool)
        collective_multijob_forget(&s->core, j);
    core_job_remove(&s->core, j);
    return true;
}

static bool server_on_preset(struct server *s, const struct op_preset *o, uint64_t now_ns)
{
    (void)now_ns;
    job_preset(job_of(s, o->job), o->key, o->value);
    return true;
}

static bool server_on_abort(struct server *s, const struct op_abort *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);
    bool ran = j->phase == JOB_RUNNING;
    struct errmsg reason;

    (void)now_ns;
    errmsg_set(&reason, 0, SLICE_FMT, SLICE_ARG(slice_head(o->reason, ERRMSG_MAX)));
    if (o->goes_on)
        job_fail(j, o->code, reason.text);
    else
        job_end(j, o->culprit, o->code, reason.text);
    if (o->requested && ran && o->culprit < j->plan.nprocs) {
        j->procs[o->culprit].aborted = true;
        server_notify_abort(s, j, o->culprit, o->code);
    }
    return true;
}

static bool server_on_abort_connected(struct server *s, const struct op_abort_connected *o,
                                      uint64_t now_ns)
{
    (void)now_ns;
    core_abort_connected(&s->core, job_of(s, o->job));
    return true;
}

static bool server_on_job_failed(struct server *s, const struct op_job_failed *o, uint64_t now_ns)
{
    struct errmsg reason;

    (void)now_ns;
    errmsg_set(&reason, 0, SLICE_FMT, SLICE_ARG(slice_head(o->reason, ERRMSG_MAX)));
    job_blame(job_of(s, o->job), o->code, reason.text);
    return true;
}

static void ask_to_end(struct server *s, const struct job *j)
{
    LIST_EACH(l, &s->core.jobs)
    {
        struct job *one = LIST_OF(l, struct job, link);
        one->asked_to_end = one->asked_to_end || !j || one == j;
    }
}

/* Another node has sent it, or this one: it is meant to end the processes, or the jobs. */
static bool server_on_signal(struct server *s, const struct op_signal *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);

    (void)now_ns;
    if (o->ends_jobs && (j || o->job == JOB_NO_RANK))
        ask_to_end(s, j);
    if (!j || !o->ends_procs || (o->rank != JOB_NO_RANK && o->rank >= j->plan.nprocs))
        return false;
    control_commanded(j, o->rank == JOB_NO_RANK ? REQUEST_ALL_RANKS : o->rank);
    return true;
}

static bool server_on_job_connect(struct server *s, const struct op_job_connect *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job), *other = core_job(&s->core, o->other);

    (void)now_ns;
    if (o->on)
        job_connect(j, o->other);
    else
        job_disconnect(j, o->other);
    if (!o->on)
        job_node_apart(j);
    if (!o->on && other)
        job_node_apart(other);
    return true;
}

static bool server_on_proc_connect(struct server *s, const struct op_proc_connect *o,
                                   uint64_t now_ns)
{
    bool good = proc_connect_receive(&s->core, o->procs, o->on);

    (void)now_ns;
    if (!good)
        log_error(s->log, "another node has sent an invalid list of connected jobs");
    return good;
}

static bool server_on_kvs_delete(struct server *s, const struct op_kvs_delete *o, uint64_t now_ns)
{
    (void)now_ns;
    job_space_delete(job_of(s, o->job), o->space);
    return true;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Its names stay. */
static void restarted(struct server *s, struct job *j, uint32_t rank)
{
    core_names_stop_lookups(&s->core, j->id, rank);
    pmix_job_info_changed(j);
    if (!j->follows)
        server_notify_restart(s, j, rank);
}

static bool server_on_proc_state(struct server *s, const struct op_proc_state *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);
    struct server_change change = server_change_begins(j, o->rank, o->event);
    uint32_t epoch = j->epoch;

    (void)now_ns;
    if (o->pid)
        j->procs[o->rank].pid = o->pid;
    job_event(j, o->rank, o->event, o->code);
    if (j->procs[o->rank].state == PROC_STATE_GONE && !j->procs[o->rank].returns)
        core_names_proc_ended(&s->core, j, o->rank);
    server_notify_change(s, j, o->rank, &change, o->code);
    if (j->epoch != epoch)
        restarted(s, j, o->rank);
    return true;
}

static bool is_replacement(const struct job *j, const struct op_node_replaced *o)
{
    bool good = o->node < j->plan.nnodes && o->ranks.n == o->times.n && j->spread;

    for (uint32_t i = 0; good && i < o->ranks.n; i++)
        good =
            o->ranks.items[i] < j->plan.nprocs && j->plan.procs[o->ranks.items[i]].node == o->node;
    return good;
}

static bool server_on_node_replaced(struct server *s, const struct op_node_replaced *o,
                                    uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);
    const struct node_replacement n = { o->node,        o->name,        o->here,
                                        o->ranks.items, o->times.items, o->ranks.n };

    (void)now_ns;
    if (!is_replacement(j, o))
        return false;
    for (uint32_t i = 0; i < n.count && !j->follows; i++) {
        uint32_t rank = n.ranks[i];
        struct server_change change = server_change_begins(j, rank, PROC_EVENT_DEATH);
        server_notify_change(s, j, rank, &change, SIGKILL);
    }
    job_node_replaced(j, &n);
    for (uint32_t i = 0; i < n.count; i++)
        restarted(s, j, n.ranks[i]);
    return true;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool server_on_answer(struct server *s, const struct op_answer *o, uint64_t now_ns)
{
    struct answer a = { .status = o->status,
                        .text = o->text,
                        .parts = { .number = o->number,
                                   .key = o->key,
                                   .value = o->value,
                                   .type = o->type,
                                   .about = job_of(s, o->about),
                                   .rank = o->rank,
                                   .codes = o->codes } };

    (void)now_ns;
    server_give_answer(s, o->ticket, &a);
    return true;
}

static struct effect make_reply(uint64_t ticket, const struct answer *a)
{
    const struct answer_parts *p = &a->parts;

    return EFFECT_WITH(reply, .ticket = ticket & ~TICKET_OF_HOST, .status = a->status,
                       .number = p->number, .type = p->type,
                       .job = p->about ? p->about->id : JOB_NO_RANK, .rank = p->rank, .key = p->key,
                       .value = p->value);
}

void server_reply(struct server *s, uint64_t ticket, const struct answer *a)
{
    effects_push(&s->core.effects, make_reply(ticket, a));
}

/* The result of a pending request. */
static struct answer result_of(struct server *s, const struct op_answer *e)
{
    struct answer a = { .status = e->status,
                        .parts = { .number = e->number, .key = e->key, .value = e->value } };

    if (e->lookup)
        core_names_lookup_now(&s->core, e->lookup, &a);
    return a;
}

void server_turn_to_reply(struct server *s, struct effect *e)
{
    struct answer a = result_of(s, &e->u.answer);
    struct effect reply = make_reply(e->u.answer.ticket, &a);

    if (!effect_own(&reply))
        reply = make_reply(e->u.answer.ticket, &(struct answer){ .status = ANSWER_NO_MEMORY });
    effect_drop(e);
    *e = reply;
}

void server_effect_answer(struct server *s, struct effect *e)
{
    struct answer a = result_of(s, &e->u.answer);

    server_give_answer(s, e->u.answer.ticket, &a);
}

/* ---- names ----------------------------------------------------------------------------------- */

static struct request request_of(const struct nameservice_query *q)
{
    switch (q->op) {
    case NAMESERVICE_PUBLISH:
        return REQUEST_WITH(publish, .service = q->service, .port = q->port, .type = q->type,
                            .persistence = q->persistence, .scope = q->scope, .access = q->access,
                            .timeout_ns = q->timeout_ns);
    case NAMESERVICE_UNPUBLISH:
        return REQUEST_WITH(unpublish, .service = q->service, .own = q->own, .scope = q->scope,
                            .timeout_ns = q->timeout_ns);
    default:
        return REQUEST_WITH(lookup, .service = q->service, .wait = q->wait,
                            .timeout_ns = q->timeout_ns, .scope = q->scope, .uid = q->uid,
                            .gid = q->gid, .batch = q->batch, .batch_needed = q->batch_needed,
                            .batch_total = q->batch_total);
    }
}

static bool server_on_names(struct server *s, const struct op_names *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);
    struct request rq;
    struct answer a;

    if (!o->query || o->query->rank >= j->plan.nprocs)
        return false;
    rq = request_of(o->query);
    core_request(&s->core, j, o->query->rank, o->ticket | TICKET_OF_HOST, &rq, now_ns, &a);
    if (a.status != ANSWER_LATER)
        server_reply(s, o->ticket, &a);
    return true;
}

static bool server_on_store_query(struct server *s, const struct op_store_query *o, uint64_t now_ns)
{
    struct request rq =
        REQUEST_WITH(store, .query = o->query, .connection = o->connection, .args = o->args);
    struct answer a;

    core_request(&s->core, job_of(s, o->job), o->rank, o->ticket | TICKET_OF_HOST, &rq, now_ns, &a);
    if (o->ticket && a.status != ANSWER_LATER)
        server_reply(s, o->ticket, &a);
    return true;
}

static bool server_on_names_reply(struct server *s, const struct op_names_reply *o, uint64_t now_ns)
{
    const struct job *j = o->query ? job_of(s, o->query->job) : NULL;
    struct answer a;

    (void)now_ns;
    if (!o->query || (j && o->query->rank >= j->plan.nprocs))
        return false;
    core_names_receive(&s->core, o->ticket, o->query, o->found, o->value, o->type, &a);
    if (a.status != ANSWER_LATER)
        server_give_answer(s, o->ticket, &a);
    return true;
}

static bool server_on_name_published(struct server *s, const struct op_name_published *o,
                                     uint64_t now_ns)
{
    (void)now_ns;
    core_names_ask_again(&s->core, o->service);
    return true;
}

static bool server_on_unpublish(struct server *s, const struct op_unpublish *o, uint64_t now_ns)
{
    struct name_proc owner = { .job = o->owner_job, .rank = o->owner_rank };
    const struct job *j = core_job(&s->core, o->owner_job);

    (void)now_ns;
    if (o->range >= NAME_RANGES)
        return false;
    if (j)
        owner.nspace = slice_str(j->nspace);
    return core_names_withdraw(&s->core, o->service, (enum name_range)o->range, &owner) ==
           ANSWER_OK;
}

static bool server_on_group_bootstrap(struct server *s, const struct op_group_bootstrap *o,
                                      uint64_t now_ns)
{
    struct request rq = REQUEST_WITH(group_bootstrap, .group = o->group, .leaders = o->leaders,
                                     .tolerant = o->tolerant, .added = o->added, .order = o->order,
                                     .data = o->data, .timeout_ns = o->timeout_ns);
    struct answer a;

    core_request(&s->core, job_of(s, o->job), o->rank, o->ticket | TICKET_OF_HOST, &rq, now_ns, &a);
    if (a.status != ANSWER_LATER)
        server_reply(s, o->ticket, &a);
    return true;
}

/* ---- collectives and modex ------------------------------------------------------------------- */

static bool server_on_completed(struct server *s, const struct op_completed *o, uint64_t now_ns)
{
    (void)now_ns;
    collective_nodes_completed(&s->core, &o->id, o->status, o->blocks.items, o->blocks.n);
    return true;
}

static bool server_on_collective_query(struct server *s, const struct op_collective_query *o,
                                       uint64_t now_ns)
{
    bool will = collective_nodes_will_complete(&s->core, job_of(s, o->job), o->rank, &o->id);

    (void)now_ns;
    return effects_push(&s->core.effects,
                        EFFECT_WITH(collective_reply, .asker = o->asker, .job = o->job,
                                    .rank = o->rank, .id = o->id, .contributes = will));
}

static bool server_on_collective_reply(struct server *s, const struct op_collective_reply *o,
                                       uint64_t now_ns)
{
    (void)now_ns;
    collective_nodes_receive(&s->core, job_of(s, o->job), o->rank, &o->id, o->contributes);
    return true;
}

static bool server_on_modex_request(struct server *s, const struct op_modex_request *o,
                                    uint64_t now_ns)
{
    struct modex_get g = { .rank = o->rank,
                           .key = o->key,
                           .timeout_ns = o->timeout_ns,
                           .ticket = o->asker,
                           .now_ns = now_ns };

    if (o->number && o->extent < ONDEMAND_EXTENTS)
        ondemand_serve(job_of(s, o->job), o->rank, (enum ondemand_extent)o->extent, o->number,
                       o->asker);
    else
        modex_serve(job_of(s, o->job), &g);
    return true;
}

/* An answer that comes after the next fence is not wanted any more. */
static void take_answer(struct job *j, const struct op_modex_reply *o)
{
    enum answer_status status = o->status;

    if (!j->ondemand || !ondemand_is_asked(j, o->number))
        return;
    if (status == ANSWER_OK)
        status = exchange_data_store(j, o->block);
    ondemand_answered(j, o->number, status);
    modex_answered(j);
    job_lookup_go_on(j);
}

static bool server_on_modex_ahead(struct server *s, const struct op_modex_ahead *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);

    (void)now_ns;
    if (j->is_foreign)
        exchange_data_store(j, o->block);
    else
        exchange_data_add(j, o->block);
    job_lookup_go_on(j);
    return true;
}

static bool server_on_modex_reply(struct server *s, const struct op_modex_reply *o, uint64_t now_ns)
{
    struct job *j = job_of(s, o->job);
    enum answer_status status = o->status;

    (void)now_ns;
    if (o->number) {
        take_answer(j, o);
        return true;
    }
    if (o->pid)
        j->procs[o->rank].pid = o->pid;
    if (status == ANSWER_OK)
        status = exchange_data_store(j, o->block);
    modex_fetched(j, o->rank, status);
    return true;
}

/* ---- delivery -------------------------------------------------------------------------------- */

static bool decide(struct server *s, const struct input *in)
{
#define DECIDE_NONE(id)
#define DECIDE_INPUT(id)                                                                           \
    case INPUT_##id: return server_on_##id(s, &in->u.id, in->now_ns);
    switch (in->kind) {
#define OPERATION(id, name, E, M, I) DECIDE_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    }
    return false;
}

static int pid_of(const struct server *s, const struct op_proc_state *o)
{
    return o->pid ? o->pid : job_of(s, o->job)->procs[o->rank].pid;
}

static uint64_t time_of(const struct server *s, const struct input *in)
{
    return in->now_ns || !s->clock ? in->now_ns : s->clock();
}

bool server_deliver(struct server *s, const struct input *in)
{
    struct record r;
    bool known;

    if (!server_input_is_known(s, in) || is_moot(s, in))
        return false;
    s->now_ns = time_of(s, in);
    if (s->recorder) {
        record_input(in, &r);
        r.time_ns = s->now_ns;
        if (in->kind == INPUT_proc_state)
            r.u.of.proc_state.pid = pid_of(s, &in->u.proc_state);
        server_notify(s, &r);
    }
    known = decide(s, in);
    server_run_owing(s, in->now_ns);
    return known;
}

bool server_deliver_from(struct server *s, struct peer *p, const struct input *in)
{
    s->latest = p;
    return server_deliver(s, in);
}
