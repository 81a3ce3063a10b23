/* rpc.c - see rpc.h.  Reading order: questions; requests and answers out; requests in; answers in.
 */
#include "cluster/rpc.h"

#include <stdlib.h>

#include "base/duration.h"
#include "base/limit.h"
#include "core/spawn_pack.h"

/* ---- questions ------------------------------------------------------------------------------- */

/* A request of another node that our server (or the planner of spawns) works on. */
struct question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t position;
};

/* Our ticket; 0: no memory. */
static uint64_t keep_question(struct rpc *r, uint32_t position, uint64_t theirs)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return 0;
    q->ours = ++r->last | RPC_TICKET;
    q->theirs = theirs;
    q->position = position;
    list_append(&r->questions, &q->link);
    return q->ours;
}

static void drop_question(struct question *q)
{
    list_unlink(&q->link);
    free(q);
}

static struct question *find_question(const struct rpc *r, uint64_t ours)
{
    LIST_EACH(l, &r->questions)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->ours == ours)
            return q;
    }
    return NULL;
}

void rpc_lost(struct rpc *r, uint32_t position)
{
    LIST_EACH(l, &r->questions)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->position == position)
            drop_question(q);
    }
}

/* ---- requests and answers out ---------------------------------------------------------------- */

static void send_to(const struct rpc *r, struct msg *m, uint32_t to)
{
    send_queue_to(r->context->queue, m, to);
}

static void send_modex_request(struct rpc *r, const struct effect_modex_request *e)
{
    const struct job *j = core_context_job(r->context, e->job);
    struct msg m = { .kind = MSG_modex_request };

    if (!j)
        return;
    m.u.modex_request.job = e->job;
    m.u.modex_request.rank = e->rank;
    m.u.modex_request.key = e->key;
    m.u.modex_request.timeout_ms = e->timeout_ns / NS_PER_MS;
    send_to(r, &m, node_map_rank(r->context->map, j, e->rank));
}

/* The ticket is the position of the requester. */
static void send_modex_reply(struct rpc *r, const struct effect_modex_reply *e)
{
    struct msg m = { .kind = MSG_modex_reply };

    m.u.modex_reply.job = e->job;
    m.u.modex_reply.rank = e->rank;
    m.u.modex_reply.status = (uint64_t)e->status;
    m.u.modex_reply.block = e->block;
    m.u.modex_reply.pid = (uint64_t)e->pid;
    send_to(r, &m, (uint32_t)e->ticket);
}

static void send_name(struct rpc *r, const struct effect_names *e)
{
    const struct nameservice_query *q = e->query;
    struct msg m = { .kind = MSG_name };
    struct msg_name *n = &m.u.name;

    n->ticket = e->ticket;
    n->op = (uint64_t)q->op;
    n->job = q->job;
    n->rank = q->rank;
    n->type = q->type;
    n->flags = (q->wait ? NAME_FLAG_WAIT : 0u) | (q->life == NAME_STAYS ? NAME_FLAG_STAYS : 0u) |
               (q->life == NAME_READ_ONCE ? NAME_FLAG_READ_ONCE : 0u);
    n->timeout_ms = q->timeout_ns / NS_PER_MS;
    n->service = q->service;
    n->port = q->port;
    send_to(r, &m, 0);
}

static void send_answer(struct rpc *r, uint32_t position, uint64_t ticket, const struct answer *a)
{
    struct msg m = { .kind = MSG_answer };
    struct msg_answer *n = &m.u.answer;

    n->ticket = ticket;
    n->status = (uint64_t)a->status;
    n->number = a->number;
    n->type = a->type;
    n->job = a->about ? a->about->id : JOB_NO_RANK;
    n->rank = a->rank;
    n->value = a->value;
    n->text = a->text;
    n->codes = (struct part_ints){ a->codes, a->ncodes };
    send_to(r, &m, position);
}

bool rpc_answer(struct rpc *r, uint64_t ticket, const struct answer *a)
{
    struct question *q = find_question(r, ticket);

    if (q) {
        send_answer(r, q->position, q->theirs, a);
        drop_question(q);
    }
    return ticket & RPC_TICKET;
}

/* The answer of our server to another node's request. */
static void send_reply(struct rpc *r, const struct effect_reply *e)
{
    struct answer a = { .status = e->status,
                        .value = e->value,
                        .number = e->number,
                        .about = core_context_job(r->context, e->job),
                        .rank = e->rank,
                        .type = e->type };

    rpc_answer(r, e->ticket, &a);
}

static void send_spawn(struct rpc *r, const struct effect_spawn *e)
{
    struct msg m = { .kind = MSG_spawn };

    buf_clear(&r->scratch);
    spawn_pack(e->request, &r->scratch);
    if (!buf_ok(&r->scratch)) {
        struct answer a = { .status = ANSWER_NO_MEMORY };
        r->context->calls.answer(r->context->arg, e->ticket, &a);
        return;
    }
    m.u.spawn.ticket = e->ticket;
    m.u.spawn.job = e->job;
    m.u.spawn.request = buf_slice(&r->scratch);
    send_to(r, &m, 0);
}

static void send_collective_query(struct rpc *r, const struct effect_collective_query *e)
{
    const struct job *j = core_context_job(r->context, e->job);
    struct msg m = { .kind = MSG_collective_query };

    if (!j)
        return;
    m.u.collective_query.job = e->job;
    m.u.collective_query.rank = e->rank;
    m.u.collective_query.kind = (uint64_t)e->id.kind;
    m.u.collective_query.of_job = e->id.job;
    m.u.collective_query.group = e->id.group;
    m.u.collective_query.generation = e->id.generation;
    send_to(r, &m, node_map_rank(r->context->map, j, e->rank));
}

void rpc_query(struct rpc *r, uint64_t ticket, struct slice job)
{
    struct msg m = { .kind = MSG_who };

    m.u.who.ticket = ticket;
    m.u.who.job = job;
    send_to(r, &m, MSG_EVERYBODY);
}

void rpc_effect(struct rpc *r, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_modex_request: send_modex_request(r, &e->u.modex_request); break;
    case EFFECT_modex_reply: send_modex_reply(r, &e->u.modex_reply); break;
    case EFFECT_reply: send_reply(r, &e->u.reply); break;
    case EFFECT_names: send_name(r, &e->u.names); break;
    case EFFECT_collective_query: send_collective_query(r, &e->u.collective_query); break;
    case EFFECT_spawn: send_spawn(r, &e->u.spawn); break;
    default: break;
    }
}

/* ---- requests in ----------------------------------------------------------------------------- */

static void hear_modex_request(struct rpc *r, uint32_t from, const struct msg_modex_request *m,
                               uint64_t now_ns)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job_with(x, m->job, m->rank);

    if (j) {
        x->calls.fetch(x->arg, j, (uint32_t)m->rank, m->key, m->timeout_ms * NS_PER_MS, from,
                       now_ns);
    } else {
        struct effect_modex_reply e = { .status = ANSWER_NOT_FOUND,
                                        .job = (uint32_t)m->job,
                                        .rank = (uint32_t)m->rank,
                                        .ticket = from };
        send_modex_reply(r, &e);
    }
}

static struct nameservice_query *query_of(const struct msg_name *m)
{
    struct nameservice_query *q =
        m->op <= NAMESERVICE_UNPUBLISH
            ? nameservice_query_new((enum nameservice_op)m->op, m->service, m->port)
            : NULL;

    if (!q)
        return NULL;
    q->job = (uint32_t)m->job;
    q->rank = (uint32_t)m->rank;
    q->type = (uint16_t)m->type;
    q->wait = m->flags & NAME_FLAG_WAIT;
    q->life = m->flags & NAME_FLAG_READ_ONCE ? NAME_READ_ONCE
              : m->flags & NAME_FLAG_STAYS   ? NAME_STAYS
                                             : NAME_OF_JOB;
    q->timeout_ns = m->timeout_ms * NS_PER_MS;
    return q;
}

static void hear_name(struct rpc *r, uint32_t from, const struct msg_name *m, uint64_t now_ns)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job(x, m->job);
    struct nameservice_query *q = query_of(m);
    uint64_t ticket = q && j ? keep_question(r, from, m->ticket) : 0;
    struct answer a = { .status = ANSWER_FAILED, .text = SLICE("the launcher knows no such job") };

    if (ticket)
        x->calls.ask(x->arg, j, q, ticket, now_ns);
    else
        send_answer(r, from, m->ticket, &a);
    free(q);
}

static void hear_spawn(struct rpc *r, uint32_t from, const struct msg_spawn *m)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job(x, m->job);
    struct errmsg err = { "the launcher knows no such job" };
    struct spawn_request *rq = j ? spawn_unpack(m->request, &err) : NULL;
    uint64_t ticket = rq ? keep_question(r, from, m->ticket) : 0;

    if (ticket) {
        struct effect_spawn e = { .job = j->id, .ticket = ticket, .request = rq };
        r->calls.spawn(r->arg, &e);
    } else {
        struct answer a = { .status = ANSWER_FAILED, .text = slice_str(err.text) };
        send_answer(r, from, m->ticket, &a);
    }
    spawn_free(rq);
}

static void hear_who(struct rpc *r, uint32_t from, const struct msg_who *w)
{
    struct answer a = { .status = ANSWER_OK };
    struct buf part = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);

    r->calls.pending(r->arg, w->job, &part);
    a.value = buf_ok(&part) ? buf_slice(&part) : SLICE_NULL;
    send_answer(r, from, w->ticket, &a);
    buf_free(&part);
}

/* False: no collective is known by that. */
static bool coll_id_of(uint64_t kind, uint64_t job, struct slice group, uint64_t generation,
                       struct coll_id *id_p)
{
    *id_p = (struct coll_id){
        .kind = (enum coll_kind)kind, .job = (uint32_t)job, .group = group, .generation = generation
    };
    return kind < COLL_KINDS && job <= UINT32_MAX;
}

static void hear_collective_query(struct rpc *r, uint32_t from,
                                  const struct msg_collective_query *m)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job_with(x, m->job, m->rank);
    struct coll_id id;
    bool known = coll_id_of(m->kind, m->of_job, m->group, m->generation, &id);
    struct msg reply = { .kind = MSG_heard };

    reply.u.heard.job = m->job;
    reply.u.heard.rank = m->rank;
    reply.u.heard.kind = m->kind;
    reply.u.heard.of_job = m->of_job;
    reply.u.heard.group = m->group;
    reply.u.heard.generation = m->generation;
    reply.u.heard.will = j && known && x->calls.round(x->arg, j, (uint32_t)m->rank, &id);
    send_to(r, &reply, from);
}

/* ---- answers in ------------------------------------------------------------------------------ */

static enum answer_status read_status(uint64_t v)
{
    return v <= ANSWER_NO_MEMORY && v != ANSWER_LATER ? (enum answer_status)v : ANSWER_FAILED;
}

static void hear_modex_reply(struct rpc *r, const struct msg_modex_reply *m)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job_with(x, m->job, m->rank);

    if (j && m->pid)
        j->procs[m->rank].pid = (int)m->pid;
    if (j)
        x->calls.fetched(x->arg, j, (uint32_t)m->rank, read_status(m->status), m->block);
}

/* The launcher sends no other requests than queries of pending operations. */
static void hear_answer(struct rpc *r, uint32_t from, const struct msg_answer *m)
{
    const struct core_context *x = r->context;
    struct answer a = { .status = read_status(m->status),
                        .number = m->number,
                        .type = (uint16_t)m->type,
                        .about = core_context_job(x, m->job),
                        .rank = (uint32_t)m->rank,
                        .value = m->value,
                        .text = m->text,
                        .codes = m->codes.n ? m->codes.items : NULL,
                        .ncodes = m->codes.n };

    if (send_queue_is_root(x->queue))
        r->calls.part(r->arg, from, m->ticket, m->value);
    else
        x->calls.answer(x->arg, m->ticket, &a);
}

static void hear_heard(struct rpc *r, const struct msg_heard *m)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job_with(x, m->job, m->rank);
    struct coll_id id;

    if (j && coll_id_of(m->kind, m->of_job, m->group, m->generation, &id))
        x->calls.round_heard(x->arg, j, (uint32_t)m->rank, &id, m->will != 0);
}

void rpc_hear(struct rpc *r, const struct msg *m, uint64_t now_ns)
{
    switch (m->kind) {
    case MSG_modex_request: hear_modex_request(r, m->from, &m->u.modex_request, now_ns); break;
    case MSG_modex_reply: hear_modex_reply(r, &m->u.modex_reply); break;
    case MSG_name: hear_name(r, m->from, &m->u.name, now_ns); break;
    case MSG_spawn: hear_spawn(r, m->from, &m->u.spawn); break;
    case MSG_answer: hear_answer(r, m->from, &m->u.answer); break;
    case MSG_who: hear_who(r, m->from, &m->u.who); break;
    case MSG_collective_query: hear_collective_query(r, m->from, &m->u.collective_query); break;
    case MSG_heard: hear_heard(r, &m->u.heard); break;
    default: break;
    }
}

void rpc_open(struct rpc *r, const struct core_context *x, struct rpc_calls calls, void *arg)
{
    *r = (struct rpc){ .context = x, .calls = calls, .arg = arg };
    list_init(&r->questions);
    buf_init(&r->scratch, LIMIT_DAEMON_LINK_MESSAGE);
}

void rpc_close(struct rpc *r)
{
    if (!r->questions.next)
        return;
    LIST_EACH(l, &r->questions)
    drop_question(LIST_OF(l, struct question, link));
    buf_free(&r->scratch);
}
