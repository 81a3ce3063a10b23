/* rpc.c - see rpc.h. */
#include "wireupd/rpc.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/effect.h"
#include "core/spawn_pack.h"
#include "wireupd/node_map.h"
#include "wireupd/multinode_priv.h"
#include "wireupd/spawning.h"
#include "wireupd/send_queue.h"

/* A request of another node that our server (or the spawn planner) works on. */
struct question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t position;
};

static uint64_t keep_question(struct multinode *s, uint32_t position, uint64_t theirs)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return 0;
    q->ours = ++s->next_ticket | MULTINODE_TICKET;
    q->theirs = theirs;
    q->position = position;
    list_append(&s->asked, &q->link);
    return q->ours;
}

static struct question *find_question(const struct multinode *s, uint64_t ours)
{
    LIST_EACH(l, &s->asked)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->ours == ours)
            return q;
    }
    return NULL;
}

static void ask_cards(struct multinode *s, const struct effect_modex_request *e)
{
    const struct job *j = share_job(s, e->job);
    struct msg m = { .kind = MSG_modex_request };

    if (!j)
        return;
    m.u.modex_request.job = e->job;
    m.u.modex_request.rank = e->rank;
    m.u.modex_request.key = e->key;
    m.u.modex_request.timeout_ms = e->timeout_ns / NS_PER_MS;
    send_queue_to(s, &m, node_map_rank(s, j, e->rank));
}

/* The ticket is the position of the requester. */
static void tell_cards(struct multinode *s, const struct effect_modex_reply *e)
{
    struct msg m = { .kind = MSG_modex_reply };

    m.u.modex_reply.job = e->job;
    m.u.modex_reply.rank = e->rank;
    m.u.modex_reply.status = (uint64_t)e->status;
    m.u.modex_reply.block = e->block;
    m.u.modex_reply.pid = (uint64_t)e->pid;
    send_queue_to(s, &m, (uint32_t)e->ticket);
}

static void ask_name(struct multinode *s, const struct effect_names *e)
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
    send_queue_to(s, &m, 0);
}

static void tell_answer(struct multinode *s, uint32_t position, uint64_t ticket,
                        const struct answer *a)
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
    send_queue_to(s, &m, position);
}

/* The answer of our server to another node's request. */
static void tell_reply(struct multinode *s, const struct effect_reply *e)
{
    struct question *q = find_question(s, e->ticket);
    struct answer a = { .status = e->status,
                        .value = e->value,
                        .number = e->number,
                        .about = share_job(s, e->job),
                        .rank = e->rank,
                        .type = e->type };

    if (!q)
        return;
    tell_answer(s, q->position, q->theirs, &a);
    list_unlink(&q->link);
    free(q);
}

bool rpc_answer(struct multinode *s, uint64_t ticket, const struct answer *a)
{
    struct question *q = ticket & MULTINODE_TICKET ? find_question(s, ticket) : NULL;

    if (!q)
        return false;
    tell_answer(s, q->position, q->theirs, a);
    list_unlink(&q->link);
    free(q);
    return true;
}

static void ask_spawn(struct multinode *s, const struct effect_spawn *e)
{
    struct msg m = { .kind = MSG_spawn };

    buf_clear(&s->scratch);
    spawn_pack(e->request, &s->scratch);
    if (!buf_ok(&s->scratch)) {
        struct answer a = { .status = ANSWER_NO_MEMORY };
        server_answer(share_server(s), e->ticket, &a);
        return;
    }
    m.u.spawn.ticket = e->ticket;
    m.u.spawn.job = e->job;
    m.u.spawn.request = buf_slice(&s->scratch);
    send_queue_to(s, &m, 0);
}

static void ask_round(struct multinode *s, const struct effect_collective_query *e)
{
    const struct job *j = share_job(s, e->job);
    struct msg m = { .kind = MSG_collective_query };

    if (!j)
        return;
    m.u.collective_query.job = e->job;
    m.u.collective_query.rank = e->rank;
    m.u.collective_query.kind = (uint64_t)e->id.kind;
    m.u.collective_query.of_job = e->id.job;
    m.u.collective_query.group = e->id.group;
    m.u.collective_query.generation = e->id.generation;
    send_queue_to(s, &m, node_map_rank(s, j, e->rank));
}

void rpc_who(struct multinode *s, uint64_t ticket, struct slice job)
{
    struct msg m = { .kind = MSG_who };

    m.u.who.ticket = ticket;
    m.u.who.job = job;
    send_queue_to(s, &m, MSG_EVERYBODY);
}

static void hear_fetch(struct multinode *s, uint32_t from, const struct msg_modex_request *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);

    if (j) {
        server_fetch(share_server(s), j, (uint32_t)m->rank, m->key, m->timeout_ms * NS_PER_MS, from,
                     clock_now_ns());
    } else {
        struct effect_modex_reply e = { .status = ANSWER_NOT_FOUND,
                                        .job = (uint32_t)m->job,
                                        .rank = (uint32_t)m->rank,
                                        .ticket = from };
        tell_cards(s, &e);
    }
}

static enum answer_status read_status(uint64_t v)
{
    return v <= ANSWER_NO_MEMORY && v != ANSWER_LATER ? (enum answer_status)v : ANSWER_FAILED;
}

static void hear_cards(struct multinode *s, const struct msg_modex_reply *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);

    if (j && m->pid)
        j->procs[m->rank].pid = (int)m->pid;
    if (j)
        server_fetched(share_server(s), j, (uint32_t)m->rank, read_status(m->status), m->block);
}

static void hear_name(struct multinode *s, uint32_t from, const struct msg_name *m)
{
    struct job *j = share_job(s, m->job);
    struct nameservice_query *q =
        m->op <= NAMESERVICE_UNPUBLISH
            ? nameservice_query_new((enum nameservice_op)m->op, m->service, m->port)
            : NULL;
    uint64_t ticket = q && j ? keep_question(s, from, m->ticket) : 0;
    struct answer a = { .status = ANSWER_FAILED, .text = SLICE("the launcher knows no such job") };

    if (ticket) {
        q->job = (uint32_t)m->job;
        q->rank = (uint32_t)m->rank;
        q->type = (uint16_t)m->type;
        q->wait = m->flags & NAME_FLAG_WAIT;
        q->life = m->flags & NAME_FLAG_READ_ONCE ? NAME_READ_ONCE
                  : m->flags & NAME_FLAG_STAYS   ? NAME_STAYS
                                                 : NAME_OF_JOB;
        q->timeout_ns = m->timeout_ms * NS_PER_MS;
        server_ask(share_server(s), j, q, ticket, clock_now_ns());
    } else {
        tell_answer(s, from, m->ticket, &a);
    }
    free(q);
}

static void hear_spawn(struct multinode *s, uint32_t from, const struct msg_spawn *m)
{
    struct job *j = share_job(s, m->job);
    struct errmsg err = { "the launcher knows no such job" };
    struct spawn_request *rq = j ? spawn_unpack(m->request, &err) : NULL;
    uint64_t ticket = rq ? keep_question(s, from, m->ticket) : 0;

    if (ticket) {
        struct effect_spawn e = { .job = j->id, .ticket = ticket, .request = rq };
        spawning_begin(s->node, &e);
        spawn_free(rq);
    } else {
        struct answer a = { .status = ANSWER_FAILED, .text = slice_str(err.text) };
        spawn_free(rq);
        tell_answer(s, from, m->ticket, &a);
    }
}

static void hear_answer(struct multinode *s, const struct msg_answer *m)
{
    struct answer a = { .status = read_status(m->status),
                        .number = m->number,
                        .type = (uint16_t)m->type,
                        .about = share_job(s, m->job),
                        .rank = (uint32_t)m->rank,
                        .value = m->value,
                        .text = m->text,
                        .codes = m->codes.n ? m->codes.items : NULL,
                        .ncodes = m->codes.n };

    server_answer(share_server(s), m->ticket, &a);
}

static void hear_who(struct multinode *s, uint32_t from, const struct msg_who *w)
{
    struct answer a = { .status = ANSWER_OK };
    struct buf part = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);

    trace_writer_flush(&s->node->trace_writer); /* the requester may want to read the trace, too */
    pending_query_part(s->node, w->job, &part);
    a.value = buf_ok(&part) ? buf_slice(&part) : SLICE_NULL;
    tell_answer(s, from, w->ticket, &a);
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

static void hear_round(struct multinode *s, uint32_t from, const struct msg_collective_query *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);
    struct coll_id id;
    bool known = coll_id_of(m->kind, m->of_job, m->group, m->generation, &id);
    struct msg reply = { .kind = MSG_heard };

    reply.u.heard.job = m->job;
    reply.u.heard.rank = m->rank;
    reply.u.heard.kind = m->kind;
    reply.u.heard.of_job = m->of_job;
    reply.u.heard.group = m->group;
    reply.u.heard.generation = m->generation;
    reply.u.heard.will = j && known && server_round(share_server(s), j, (uint32_t)m->rank, &id);
    send_queue_to(s, &reply, from);
}

static void hear_heard(struct multinode *s, const struct msg_heard *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);
    struct coll_id id;

    if (j && coll_id_of(m->kind, m->of_job, m->group, m->generation, &id))
        server_round_heard(share_server(s), j, (uint32_t)m->rank, &id, m->will != 0);
}

void rpc_effect(struct multinode *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_modex_request: ask_cards(s, &e->u.modex_request); break;
    case EFFECT_modex_reply: tell_cards(s, &e->u.modex_reply); break;
    case EFFECT_reply: tell_reply(s, &e->u.reply); break;
    case EFFECT_names: ask_name(s, &e->u.names); break;
    case EFFECT_collective_query: ask_round(s, &e->u.collective_query); break;
    case EFFECT_spawn: ask_spawn(s, &e->u.spawn); break;
    default: break;
    }
}

void rpc_hear(struct multinode *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_modex_request: hear_fetch(s, m->from, &m->u.modex_request); break;
    case MSG_modex_reply: hear_cards(s, &m->u.modex_reply); break;
    case MSG_name: hear_name(s, m->from, &m->u.name); break;
    case MSG_spawn: hear_spawn(s, m->from, &m->u.spawn); break;
    case MSG_answer:
        if (share_is_root(s)) /* the launcher sends no other requests */
            pending_query_heard(&s->node->pending_queries, m->from, m->u.answer.ticket,
                                m->u.answer.value);
        else
            hear_answer(s, &m->u.answer);
        break;
    case MSG_who: hear_who(s, m->from, &m->u.who); break;
    case MSG_collective_query: hear_round(s, m->from, &m->u.collective_query); break;
    case MSG_heard: hear_heard(s, &m->u.heard); break;
    default: break;
    }
}

void rpc_free(struct multinode *s)
{
    LIST_EACH(q, &s->asked)
    {
        list_unlink(q);
        free(LIST_OF(q, struct question, link));
    }
}
