/* server.c - see server.h. */
#include "server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_event.h"
#include "core/request.h"
#include "server/pmi1.h"
#include "server/pmi2.h"
#include "server/pmix.h"
#include "trace/record.h"
#include "server/rights.h"
#include "server/server_priv.h"
#include "server/tcpstore.h"
#include "wire/pmix_greeting.h"

void server_init(struct server *s, uint64_t seed, const struct log *log)
{
    memset(s, 0, sizeof *s);
    core_init(&s->core, seed);
    list_init(&s->peers);
    list_init(&s->dirty);
    list_init(&s->events);
    list_init(&s->outputs);
    list_init(&s->monitors);
    map_init(&s->by_id, seed);
    s->log = log;
}

void server_free(struct server *s)
{
    server_events_free(s);
    server_outputs_free(s);
    server_monitors_free(s);
    LIST_EACH(l, &s->peers)
    server_peer_free(s, LIST_OF(l, struct peer, link));
    map_free(&s->by_id);
    core_free(&s->core);
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct slice id_key(const uint32_t *id)
{
    return slice_mem(id, sizeof *id);
}

/* The ticket of a request: the connection, and the request's own number there. */
static uint64_t ticket_of(const struct peer *p, uint32_t token)
{
    return (uint64_t)p->id << 32 | token;
}

static struct peer *new_peer(struct server *s, struct job *job, uint32_t rank, bool can_pass_fd,
                             void *host)
{
    struct peer *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->id = ++s->next_id;
    p->core = &s->core;
    p->job = job;
    p->rank = rank;
    p->uid = s->core.uid;
    p->gid = s->core.gid;
    p->host = host;
    buf_init(&p->out, LIMIT_CLIENT_QUEUE);
    p->can_pass_fd = can_pass_fd;
    p->host_commands = s->host_commands;
    list_init(&p->dirty);
    list_init(&p->link);
    if (map_put(&s->by_id, id_key(&p->id), p, NULL) < 0) {
        free(p);
        return NULL;
    }
    list_append(&s->peers, &p->link);
    return p;
}

static void record_open(const struct server *s, const struct peer *p)
{
    RECORD_OUTPUT(s, open, .connection = p->id, .job = p->job ? (int64_t)p->job->id : -1,
                  .rank = p->rank, .fds = p->can_pass_fd, .store = p->session != NULL);
}

struct peer *server_peer_new(struct server *s, struct job *job, uint32_t rank, bool can_pass_fd,
                             void *host)
{
    struct peer *p = new_peer(s, job, rank, can_pass_fd, host);

    if (p)
        record_open(s, p);
    return p;
}

struct peer *server_store_peer_new(struct server *s, struct job *job, uint32_t rank, void *host)
{
    struct peer *p = new_peer(s, job, rank, false, host);

    if (!p)
        return NULL;
    p->session = tcpstore_ops.create(p);
    record_open(s, p);
    return p->session ? p : server_peer_free(s, p);
}

struct peer *server_peer_free(struct server *s, struct peer *p)
{
    if (!p)
        return NULL;
    RECORD_OUTPUT(s, close, .connection = p->id, .unsent = buf_len(&p->out));
    map_del(&s->by_id, id_key(&p->id));
    s->latest = NULL;
    server_monitors_drop(s, p);
    pendings_drop(&s->core.waits, ticket_of(p, 0), ticket_of(p, UINT32_MAX));
    core_names_drop_lookups(&s->core, ticket_of(p, 0), ticket_of(p, UINT32_MAX));
    list_unlink(&p->link);
    list_unlink(&p->dirty);
    if (p->session && p->session->ops == &tcpstore_ops)
        core_store_leave(&s->core, p->job, p->rank, p->id);
    if (p->session)
        p->session->ops->destroy(p->session);
    buf_free(&p->out);
    free(p);
    return NULL;
}

struct peer *server_dirty(struct server *s)
{
    struct list *l = list_first(&s->dirty);

    if (!l)
        return NULL;
    list_unlink(l);
    return LIST_OF(l, struct peer, dirty);
}

void server_wrote(struct server *s, struct peer *p, size_t n)
{
    RECORD_OUTPUT(s, out, .connection = p->id, .store = n && p->pass_store,
                  .bytes = slice_head(buf_slice(&p->out), n));
    if (n)
        p->pass_store = false;
    buf_take(&p->out, n);
    if (p->holds_output && p->session && buf_len(&p->out) <= LIMIT_LISTENER_OUT)
        p->session->ops->drain(p->session);
}

/* ---- requests and answers -------------------------------------------------------------------- */

/* A process may take part through several connections: its own, and those of children that it has
 * started.  It leaves with the last of them. */
static void count_line(struct peer *p)
{
    p->attached = true;
    if (!p->counted)
        p->job->procs[p->rank].lines++;
    p->counted = true;
}

/* True when others are left. */
static bool uncount_line(struct peer *p)
{
    struct proc *proc = p->attached ? &p->job->procs[p->rank] : NULL;

    if (!proc)
        return false;
    if (p->counted)
        proc->lines -= proc->lines > 0;
    p->counted = false;
    return proc->lines > 0;
}

void server_leaves(struct server *s, struct peer *p)
{
    if (!uncount_line(p))
        server_proc_state(s, p->job, p->rank, PROC_EVENT_FINALIZE, 0, 0);
}

static void give_up(struct server *s, struct peer *p, const char *why)
{
    if (p->closing)
        return;
    if (p->job && p->job->is_tool)
        log_warn(s->log, "the tool %.100s: %s", p->job->nspace, why);
    else if (p->job)
        log_error(s->log, "rank %u: %s", p->rank, why);
    else
        log_warn(s->log, "%s", why); /* an unidentified connection affects no job */
    p->closing = true;
    if (p->job && !uncount_line(p) && !(p->session && p->session->ops->is_aside))
        job_event(p->job, p->rank, PROC_EVENT_BREAK, 0);
    server_mark_dirty(s, p);
}

/* A session's output goes to p->out, which records an overflow. */
static void check_out(struct server *s, struct peer *p)
{
    if (!buf_ok(&p->out))
        give_up(s, p,
                p->out.error == BUF_NO_MEMORY
                    ? "out of memory; its connection is closed"
                    : "does not read its answers; its connection is closed");
}

void server_spoken(struct server *s, struct peer *p)
{
    check_out(s, p);
    server_mark_dirty(s, p);
}

static void answer(struct server *s, struct peer *p, uint32_t token, const struct answer *a)
{
    if (p->session)
        p->session->ops->answer(p->session, token, a);
    if (p->fault)
        give_up(s, p, p->fault);
    if (p->wants_output)
        server_recall_output(s, p);
    p->wants_output = false;
}

void server_give_answer(struct server *s, uint64_t ticket, const struct answer *a)
{
    uint32_t id = (uint32_t)(ticket >> 32);
    struct peer *p = server_peer(s, id);

    pendings_done(&s->core.waits, ticket);
    if (ticket & TICKET_OF_HOST)
        server_reply(s, ticket, a);
    else if (ticket & TICKET_OF_MONITOR)
        server_monitor_sampled(s, ticket, a);
    if (!p) /* it has disconnected meanwhile */
        return;
    answer(s, p, (uint32_t)ticket, a);
    check_out(s, p);
    server_mark_dirty(s, p);
}

static void identify_by_name(struct server *s, struct peer *p, const struct request_identify *rq,
                             struct answer *a)
{
    struct job *j = core_job_named(&s->core, rq->nspace);

    if (j && rq->rank < j->plan.nprocs && j->procs[rq->rank].state != PROC_STATE_GONE &&
        job_rank_is_here(j, rq->rank)) {
        const struct proc *proc = &j->procs[rq->rank];
        if (!proc->lines || !s->admit || s->admit(s->arg, p, j, rq->rank)) {
            p->job = j;
            p->rank = rq->rank;
            a->status = ANSWER_OK;
            return;
        }
        log_warn(s->log,
                 "refused a connection for rank %u of " SLICE_FMT
                 ": this process (pid %d) is already connected, and the new connection is not from "
                 "it or a child of it",
                 rq->rank, SLICE_ARG(slice_head(rq->nspace, 200)), proc->pid);
        a->status = ANSWER_RESERVED;
    } else {
        log_warn(s->log, "refused a connection for rank %u of " SLICE_FMT ": no such process here",
                 rq->rank, SLICE_ARG(slice_head(rq->nspace, 200)));
    }
    p->closing = true;
}

/* The host has to make a job for it. */
static enum answer_status announce_tool(struct server *s, struct peer *p,
                                        const struct request_identify *rq, uint64_t ticket)
{
    struct effect e =
        EFFECT_WITH(tool_connect, .ticket = ticket, .rank = rq->rank, .name = rq->nspace);

    if (!s->core.takes_tools)
        log_warn(s->log, "refused a tool: this server does not accept tools");
    else if (effect_own(&e) && effects_push(&s->core.effects, e))
        return ANSWER_LATER;
    p->closing = true;
    return ANSWER_RESERVED;
}

static bool is_new_tool(const struct server *s, const struct request_identify *rq)
{
    const struct job *j = core_job_named(&s->core, rq->nspace);

    return rq->tool && (!j || j->is_tool);
}

static void identify(struct server *s, struct peer *p, const struct request_identify *rq,
                     uint64_t ticket, struct answer *a)
{
    if (p->job) { /* an inherited connection: known from the start */
        a->status = ANSWER_OK;
        return;
    }
    a->status = ANSWER_NOT_FOUND;
    if (is_new_tool(s, rq)) {
        a->status = announce_tool(s, p, rq, ticket);
    } else if (rq->nspace.len) {
        identify_by_name(s, p, rq, a);
    } else if (s->identify && s->identify(s->arg, p, rq->id, &p->job, &p->rank)) {
        a->status = ANSWER_OK;
    } else {
        log_warn(s->log, "closed a connection with an unknown PMI_ID");
        p->closing = true;
    }
}

static void record_identity(const struct server *s, const struct peer *p)
{
    RECORD_OUTPUT(s, identify, .connection = p->id, .job = p->job ? (int64_t)p->job->id : -1,
                  .rank = p->rank);
}

bool server_on_rights_lost(struct server *s, const struct op_rights_lost *o, uint64_t now_ns)
{
    (void)now_ns;
    server_peer(s, o->connection)->restricted = true;
    return true;
}

bool server_on_owner(struct server *s, const struct op_owner *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, o->connection);

    (void)now_ns;
    p->uid = o->uid;
    p->gid = o->gid;
    return true;
}

static enum answer_status refuse_rights(const struct server *s, struct peer *p,
                                        const struct request *rq)
{
    if (!p->restricted_logged)
        log_warn(s->log,
                 "rank %u runs as another user than its launcher: it may not start programs, reach "
                 "other jobs, or have files removed",
                 p->rank);
    p->restricted_logged = true;
    if (rq->kind == REQ_spawn)
        spawn_free(rq->u.spawn.request);
    return ANSWER_RESERVED;
}

/* A request of a process that is known; the server itself carries out a few. */
static void carry_out(struct server *s, struct peer *p, const struct request *rq, uint64_t ticket,
                      uint64_t now_ns, struct answer *a_p)
{
    bool ran = p->job->phase == JOB_RUNNING;

    a_p->status = ANSWER_OK;
    switch (rq->kind) {
    case REQ_notify: server_event_notify(s, p, &rq->u.notify); break;
    case REQ_recall: server_event_recall(s, p, &rq->u.recall); break;
    case REQ_forget: break;
    case REQ_iof_pull: a_p->status = server_recall_output(s, p); break;
    case REQ_define_pset:
        a_p->status = server_pset_request(s, p, &rq->u.define_pset, now_ns);
        break;
    case REQ_monitor:
        a_p->status = server_monitor_request(s, p, &rq->u.monitor, ticket, now_ns);
        break;
    case REQ_beat: a_p->status = server_monitor_beat(s, p); break;
    case REQ_abort:
        core_request(&s->core, p->job, p->rank, ticket, rq, now_ns, a_p);
        if (ran && p->job->phase != JOB_RUNNING)
            server_notify_abort(s, p->job, p->rank, rq->u.abort.code);
        break;
    case REQ_finalize:
        if (uncount_line(p)) /* others of the same process are left */
            break;
        core_request(&s->core, p->job, p->rank, ticket, rq, now_ns, a_p);
        server_notify_finalized(s, p->job, p->rank);
        break;
    default: core_request(&s->core, p->job, p->rank, ticket, rq, now_ns, a_p); break;
    }
}

static void decide(struct server *s, struct peer *p, const struct request *rq, uint64_t now_ns)
{
    struct answer a = { .status = ANSWER_FAILED };
    uint64_t ticket = ticket_of(p, rq->token);
    bool known = p->job != NULL;

    p->greeted = p->greeted || rq->kind == REQ_identify;
    if (p->restricted && rights_needed(rq)) {
        a.status = refuse_rights(s, p, rq);
    } else if (s->takes && s->takes(s->arg, p, rq, ticket, &a)) {
        /* the host's */
    } else if (rq->kind == REQ_identify) {
        identify(s, p, &rq->u.identify, ticket, &a);
    } else if (p->job) {
        carry_out(s, p, rq, ticket, now_ns, &a);
    }
    if (rq->kind == REQ_identify && !known)
        record_identity(s, p);
    if (p->job && rq->kind == REQ_attach)
        count_line(p);
    if (a.status != ANSWER_LATER)
        answer(s, p, rq->token, &a);
}

/* ---- protocols ------------------------------------------------------------------------------- */

static bool begin(struct peer *p, const struct session_ops *ops)
{
    p->session = ops->create(p);
    return p->session != NULL;
}

bool server_on_greet(struct server *s, const struct op_greet *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, o->connection);

    (void)now_ns;
    if (!p->job || p->session || !begin(p, &pmi1_ops))
        return false;
    pmi1_greet_singleton(p->session);
    server_mark_dirty(s, p);
    return true;
}

/* The client goes on in another version of the text protocol: the bytes that the old session has
 * not read go to the new one. */
static int switch_session(struct peer *p, const struct request_switch_version *rq)
{
    struct session *old = p->session;
    int rc = begin(p, rq->version == 2 ? &pmi2_ops : &pmi1_ops) ? 0 : -ENOMEM;

    if (rc == 0)
        rc = p->session->ops->input(p->session, rq->unread);
    else
        p->session = NULL;
    old->ops->destroy(old);
    return rc;
}

static void run_session(struct server *s, struct peer *p, uint64_t now_ns)
{
    struct errmsg err = { "" };
    struct request rq;
    int rc;

    while (!p->closing && buf_ok(&p->out) &&
           (rc = p->session->ops->next(p->session, &rq, &err)) != SESSION_IDLE) {
        if (rc == SESSION_REQUEST)
            decide(s, p, &rq, now_ns);
        else if (rc != SESSION_SWITCH || (rc = switch_session(p, &rq.u.switch_version)) < 0)
            give_up(s, p, rc < 0 ? "out of memory; its connection is closed" : err.text);
    }
    check_out(s, p);
    if (p->closing || buf_len(&p->out))
        server_mark_dirty(s, p);
}

void server_run_owing(struct server *s, uint64_t now_ns)
{
    while (s->owing) {
        s->owing = false;
        LIST_EACH(l, &s->peers)
        {
            struct peer *p = LIST_OF(l, struct peer, link);
            if (p->owes && p->session && !p->closing) {
                p->owes = false;
                run_session(s, p, now_ns);
            }
        }
    }
}

bool server_on_in(struct server *s, const struct op_in *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, o->connection);

    /* All text protocols begin as PMI-1. */
    if ((!p->session && !begin(p, hello_begins(o->bytes.ptr[0]) ? &pmix_ops : &pmi1_ops)) ||
        p->session->ops->input(p->session, o->bytes) < 0)
        give_up(s, p, "out of memory; its connection is closed");
    else
        run_session(s, p, now_ns);
    return true;
}

bool server_on_tool_reply(struct server *s, const struct op_tool_reply *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, (uint32_t)(o->ticket >> 32));
    struct job *j = core_job(&s->core, o->job);

    if (!p || p->job || !p->session || p->closing)
        return false;
    if (j) {
        p->job = j;
        p->rank = j->plan.nprocs - 1;
    } else {
        p->closing = true;
    }
    server_give_answer(s, o->ticket, &(struct answer){ .status = j ? ANSWER_OK : o->status });
    run_session(s, p, now_ns); /* its later bytes */
    return true;
}

bool server_on_hangup(struct server *s, const struct op_hangup *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, o->connection);

    (void)now_ns;
    p->hung_up = true;
    p->closing = true;
    /* A connection that sent nothing is not missed, nor is a child's while the process itself is
     * connected. */
    if (!uncount_line(p) && p->attached) {
        bool is_lost = p->job->procs[p->rank].state == PROC_STATE_ATTACHED;
        job_event(p->job, p->rank, PROC_EVENT_HANGUP, 0);
        if (is_lost && !p->job->is_tool)
            server_notify_lost(s, p->job, p->rank);
    }
    server_mark_dirty(s, p);
    return true;
}

uint64_t server_tick(struct server *s, uint64_t now_ns)
{
    struct effects *q = &s->core.effects;
    size_t before = q->count;
    bool recorded = false;

    if (now_ns < q->tick_ns)
        return q->tick_ns;
    s->now_ns = now_ns;
    q->tick_ns = UINT64_MAX;
    effects_tick_by(q, core_tick(&s->core, now_ns));
    effects_tick_by(q, server_monitors_tick(s, now_ns, &recorded));
    effects_tick_by(q, server_outputs_tick(s, now_ns, &recorded));
    /* Some find nothing to do: whoever waited has been answered. */
    if (s->recorder && (recorded || q->count != before))
        server_notify(s, &(struct record){ .kind = RECORD_tick, .time_ns = now_ns });
    return q->tick_ns;
}

bool server_effect_next(struct server *s, struct effect *e_p)
{
    bool there = core_effect(&s->core, e_p);
    struct record r;

    if (!there)
        return false;
    if (e_p->kind == EFFECT_answer) {
        pendings_done(&s->core.waits, e_p->u.answer.ticket);
        if (e_p->u.answer.ticket & TICKET_OF_HOST)
            server_turn_to_reply(s, e_p);
    }
    if (s->recorder) {
        record_effect(e_p, &r);
        server_notify(s, &r);
    }
    if (e_p->kind == EFFECT_job_ended)
        server_notify_job_end(s, core_job(&s->core, e_p->u.job_ended.job));
    return true;
}

bool server_effect(struct server *s, struct effect *e_p)
{
    while (server_effect_next(s, e_p)) {
        if (e_p->kind != EFFECT_answer)
            return true;
        server_effect_answer(s, e_p);
        effect_drop(e_p);
    }
    return false;
}
