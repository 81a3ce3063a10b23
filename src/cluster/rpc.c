/* rpc.c - see rpc.h.  Reading order: questions; requests and answers out; requests in; answers in.
 */
#include "cluster/rpc.h"

#include <stdlib.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/spawn_pack.h"

/* ---- questions ------------------------------------------------------------------------------- */

/* A request of another node that our server (or the planner of spawns) works on. */
struct question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t position;
    bool bundled; /* its answer goes together with others */
};

/* NULL: no memory. */
static struct question *question_new(struct rpc *r, uint32_t position, uint64_t theirs)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return NULL;
    q->ours = ++r->last | RPC_TICKET;
    q->theirs = theirs;
    q->position = position;
    if (number_map_put(&r->by_ticket, q->ours, q) < 0) {
        free(q);
        return NULL;
    }
    list_append(&r->questions, &q->link);
    return q;
}

/* Our ticket; 0: no memory. */
static uint64_t keep_question(struct rpc *r, uint32_t position, uint64_t theirs)
{
    const struct question *q = question_new(r, position, theirs);

    return q ? q->ours : 0;
}

/* The same, of one whose answer goes together with others. */
static uint64_t keep_bundled(struct rpc *r, uint32_t position, uint64_t theirs)
{
    struct question *q = question_new(r, position, theirs);

    if (q)
        q->bundled = true;
    return q ? q->ours : 0;
}

static void drop_question(struct rpc *r, struct question *q)
{
    number_map_del(&r->by_ticket, q->ours);
    list_unlink(&q->link);
    free(q);
}

static struct question *find_question(const struct rpc *r, uint64_t ours)
{
    return number_map_get(&r->by_ticket, ours);
}

uint32_t rpc_questions(const struct rpc *r, uint32_t position)
{
    uint32_t n = 0;

    LIST_EACH(l, &r->questions)
    n += LIST_OF(l, struct question, link)->position == position;
    return n;
}

/* ---- our requests for modex values ----------------------------------------------------------- */

/* One that waits for the answer of another node. */
struct asked {
    struct list link;
    uint32_t position, job, rank;
    uint64_t number;
};

static bool keep_asked(struct rpc *r, uint32_t position, const struct op_modex_request *q)
{
    struct asked *a = calloc(1, sizeof *a);

    if (!a)
        return false;
    *a =
        (struct asked){ .position = position, .job = q->job, .rank = q->rank, .number = q->number };
    list_append(&r->asked, &a->link);
    return true;
}

static void drop_asked(struct asked *a)
{
    list_unlink(&a->link);
    free(a);
}

/* The answer of a node that gives none. */
static void answer_for(struct rpc *r, uint32_t job, uint32_t rank, uint64_t number,
                       enum answer_status status)
{
    const struct core_context *x = r->context;

    x->calls.deliver(
        x->arg, INPUT(modex_reply, .job = job, .rank = rank, .status = status, .number = number));
}

static void on_modex_reply(struct rpc *r, const struct msg *m, uint64_t now_ns)
{
    const struct op_modex_reply *o = &m->u.modex_reply;

    LIST_EACH(l, &r->asked)
    {
        struct asked *a = LIST_OF(l, struct asked, link);
        if (a->position == m->from && a->job == o->job && a->rank == o->rank &&
            a->number == o->number) {
            drop_asked(a);
            break;
        }
    }
    core_context_deliver(r->context, m, now_ns);
}

/* The answer can lead to new requests, also for that node. */
static void lose_asked(struct rpc *r, uint32_t position)
{
    struct list lost;

    list_init(&lost);
    LIST_EACH(l, &r->asked)
    {
        if (LIST_OF(l, struct asked, link)->position == position) {
            list_unlink(l);
            list_append(&lost, l);
        }
    }
    while (!list_empty(&lost)) {
        struct asked a = *LIST_OF(list_first(&lost), struct asked, link);
        drop_asked(LIST_OF(list_first(&lost), struct asked, link));
        answer_for(r, a.job, a.rank, a.number, ANSWER_NOT_FOUND);
    }
}

void rpc_lost(struct rpc *r, uint32_t position)
{
    LIST_EACH(l, &r->questions)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->position == position)
            drop_question(r, q);
    }
    lose_asked(r, position);
}

/* ---- requests and answers out ---------------------------------------------------------------- */

static void send_to(const struct rpc *r, struct msg *m, uint32_t to)
{
    send_queue_to(r->context->queue, m, to);
}

/* An effect as a message, to that position. */
static void send_effect(const struct rpc *r, const struct effect *e, uint32_t to)
{
    struct msg m;

    if (msg_effect(e, &m))
        send_to(r, &m, to);
}

/* Each process of a node has some at about the same time. */
static void send_store_query(const struct rpc *r, const struct effect *e)
{
    struct msg m;

    if (msg_effect(e, &m))
        send_queue_bundled(r->context->queue, &m, 0);
}

/* To the node of that rank. */
static void send_to_rank(const struct rpc *r, const struct effect *e, uint32_t job, uint32_t rank)
{
    const struct job *j = core_context_job(r->context, job);

    if (j)
        send_effect(r, e, node_map_rank(r->context->map, j, rank));
}

static struct msg answer_msg(uint64_t ticket, const struct answer *a)
{
    const struct answer_parts *p = &a->parts;

    return MSG_WITH(answer, .ticket = ticket, .status = a->status, .number = p->number,
                    .type = p->type, .about = p->about ? p->about->id : JOB_NO_RANK,
                    .rank = p->rank, .key = p->key, .value = p->value, .text = a->text,
                    .codes = p->codes);
}

static void send_answer(struct rpc *r, uint32_t position, uint64_t ticket, const struct answer *a)
{
    struct msg m = answer_msg(ticket, a);

    send_to(r, &m, position);
}

bool rpc_answer(struct rpc *r, uint64_t ticket, const struct answer *a)
{
    struct question *q = find_question(r, ticket);
    struct msg m;

    if (q) {
        m = answer_msg(q->theirs, a);
        if (q->bundled)
            send_queue_bundled(r->context->queue, &m, q->position);
        else
            send_to(r, &m, q->position);
        drop_question(r, q);
    }
    return ticket & RPC_TICKET;
}

/* The answer of our server to another node's request. */
static void send_reply(struct rpc *r, const struct op_reply *e)
{
    struct answer a = ANSWER_TO(lookup, e->status, .port = e->value, .type = e->type,
                                .job = core_context_job(r->context, e->job), .rank = e->rank);

    rpc_answer(r, e->ticket, &a);
}

static void send_spawn(struct rpc *r, const struct op_spawn *e)
{
    const struct core_context *x = r->context;
    struct msg m = MSG_WITH(spawn_request, .ticket = e->ticket, .job = e->job);

    buf_clear(&r->scratch);
    spawn_pack(e->request, &r->scratch);
    if (!buf_ok(&r->scratch)) {
        x->calls.deliver(x->arg, INPUT(answer, .ticket = e->ticket, .status = ANSWER_NO_MEMORY,
                                       .about = JOB_NO_RANK));
        return;
    }
    m.u.spawn_request.request = buf_slice(&r->scratch);
    send_to(r, &m, 0);
}

void rpc_query(struct rpc *r, uint64_t ticket, struct slice job, enum rpc_query_kind kind)
{
    struct msg m = MSG_WITH(who, .ticket = ticket, .job = job, .stacks = kind == RPC_QUERY_STACKS,
                            .usage = kind == RPC_QUERY_USAGE);

    send_to(r, &m, MSG_EVERYBODY);
}

void rpc_node_parts(struct rpc *r, uint64_t number, uint32_t parts)
{
    struct msg m = MSG_WITH(node_part_request, .number = number, .parts = parts);

    send_to(r, &m, MSG_EVERYBODY);
}

/* Who answers for that process: its node; the launcher, if it is another launcher's. */
static uint32_t answerer(const struct rpc *r, const struct job *j, uint32_t rank)
{
    return j->is_foreign ? 0 : node_map_rank(r->context->map, j, rank);
}

/* A lost node has nothing. */
static void send_modex_request(struct rpc *r, const struct effect *e)
{
    const struct op_modex_request *q = &e->u.modex_request;
    const struct job *j = core_context_job(r->context, q->job);
    uint32_t to = j ? answerer(r, j, q->rank) : 0;

    if (!j)
        return;
    if (send_queue_is_lost(r->context->queue, to))
        answer_for(r, q->job, q->rank, q->number, ANSWER_NOT_FOUND);
    else if (!keep_asked(r, to, q))
        answer_for(r, q->job, q->rank, q->number, ANSWER_NO_MEMORY);
    else
        send_effect(r, e, to);
}

/* The set of a collective that fails without the lost node; NULL: it does not, or is not known. */
static const struct collective_set *set_of(const struct core_context *x, uint32_t job,
                                           const struct coll_id *id)
{
    const struct job *j = core_context_job(x, job);

    if (coll_kind_is_meeting(id->kind))
        return coll_kind_is_flexible(id->kind) ? NULL : &x->core->meetings;
    return j ? &j->colls : NULL;
}

/* A collective that this node has not contributed to is not over on any: without the lost node it
 * never will be.  One that it has contributed to the overlay ends. */
static void answer_for_lost(const struct rpc *r, const struct op_collective_query *q)
{
    const struct core_context *x = r->context;
    const struct collective_set *s = set_of(x, q->job, &q->id);
    const struct collective *c = s ? collective_find(s, q->id.group, q->id.generation) : NULL;

    if (c && !c->contributed)
        x->calls.deliver(x->arg, INPUT(collective_reply, .job = q->job, .rank = q->rank,
                                       .id = q->id, .contributes = false));
}

static void send_collective_query(const struct rpc *r, const struct effect *e)
{
    const struct op_collective_query *q = &e->u.collective_query;
    const struct job *j = core_context_job(r->context, q->job);

    if (j && send_queue_is_lost(r->context->queue, node_map_rank(r->context->map, j, q->rank)))
        answer_for_lost(r, q);
    else
        send_to_rank(r, e, q->job, q->rank);
}

/* An `asker` is the position that has asked. */
void rpc_effect(struct rpc *r, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_modex_request: send_modex_request(r, e); break;
    case EFFECT_modex_ahead: send_to_rank(r, e, e->u.modex_ahead.job, e->u.modex_ahead.rank); break;
    case EFFECT_collective_query: send_collective_query(r, e); break;
    case EFFECT_modex_reply: send_effect(r, e, (uint32_t)e->u.modex_reply.asker); break;
    case EFFECT_collective_reply: send_effect(r, e, (uint32_t)e->u.collective_reply.asker); break;
    case EFFECT_allocate:
    case EFFECT_group_bootstrap:
    case EFFECT_foreign_connect:
    case EFFECT_names: send_effect(r, e, 0); break;
    case EFFECT_store_query: send_store_query(r, e); break;
    case EFFECT_reply: send_reply(r, &e->u.reply); break;
    case EFFECT_spawn: send_spawn(r, &e->u.spawn); break;
    default: break;
    }
}

/* ---- requests in ----------------------------------------------------------------------------- */

static void on_modex_request(struct rpc *r, uint32_t from, const struct op_modex_request *m,
                             uint64_t now_ns)
{
    const struct core_context *x = r->context;
    struct input *in = INPUT_AT(now_ns, modex_request);

    in->u.modex_request = *m;
    in->u.modex_request.asker = from;
    if (!x->calls.deliver(x->arg, in)) {
        struct msg reply = MSG_WITH(modex_reply, .status = ANSWER_NOT_FOUND, .job = m->job,
                                    .rank = m->rank, .asker = from, .number = m->number);
        send_to(r, &reply, from);
    }
}

static void on_collective_query(struct rpc *r, uint32_t from, const struct op_collective_query *m)
{
    const struct core_context *x = r->context;
    struct input *in = INPUT(collective_query);

    in->u.collective_query = *m;
    in->u.collective_query.asker = from;
    if (!x->calls.deliver(x->arg, in)) {
        struct msg reply = MSG_WITH(collective_reply, .job = m->job, .rank = m->rank, .id = m->id,
                                    .contributes = false, .asker = from);
        send_to(r, &reply, from);
    }
}

static void on_names(struct rpc *r, uint32_t from, const struct op_names *m, uint64_t now_ns)
{
    const struct core_context *x = r->context;
    uint64_t ticket = keep_question(r, from, m->ticket);
    struct answer a = { .status = ANSWER_FAILED, .text = SLICE("the launcher knows no such job") };

    if (ticket && x->calls.deliver(x->arg, INPUT_AT(now_ns, names, .job = m->job, .ticket = ticket,
                                                    .query = m->query)))
        return;
    if (!ticket)
        send_answer(r, from, m->ticket, &a);
    else
        rpc_answer(r, ticket, &a);
}

static void on_group_bootstrap(struct rpc *r, uint32_t from, const struct op_group_bootstrap *m,
                               uint64_t now_ns)
{
    const struct core_context *x = r->context;
    struct input *in = INPUT_AT(now_ns, group_bootstrap);
    struct answer a = { .status = ANSWER_FAILED };

    in->u.group_bootstrap = *m;
    in->u.group_bootstrap.ticket = keep_question(r, from, m->ticket);
    if (!in->u.group_bootstrap.ticket)
        send_answer(r, from, m->ticket, &a);
    else if (!x->calls.deliver(x->arg, in))
        rpc_answer(r, in->u.group_bootstrap.ticket, &a);
}

/* Without a ticket nobody needs the answer. */
static void on_store_query(struct rpc *r, uint32_t from, const struct op_store_query *m,
                           uint64_t now_ns)
{
    const struct core_context *x = r->context;
    struct input *in = INPUT_AT(now_ns, store_query);
    uint64_t ticket = m->ticket ? keep_bundled(r, from, m->ticket) : 0;
    struct answer a = { .status = ticket ? ANSWER_NOT_FOUND : ANSWER_NO_MEMORY };

    in->u.store_query = *m;
    in->u.store_query.ticket = ticket;
    if ((ticket || !m->ticket) && x->calls.deliver(x->arg, in))
        return;
    if (ticket)
        rpc_answer(r, ticket, &a);
    else if (m->ticket)
        send_answer(r, from, m->ticket, &a);
}

static void on_spawn(struct rpc *r, uint32_t from, const struct op_spawn_request *m)
{
    const struct core_context *x = r->context;
    struct job *j = core_context_job(x, m->job);
    struct errmsg err = { "the launcher knows no such job" };
    struct spawn_request *rq = j ? spawn_unpack(m->request, &err) : NULL;
    uint64_t ticket = rq ? keep_question(r, from, m->ticket) : 0;

    if (ticket) {
        struct op_spawn e = { .job = j->id, .ticket = ticket, .request = rq };
        r->calls.spawn(r->arg, &e);
    } else {
        struct answer a = { .status = ANSWER_FAILED, .text = slice_str(err.text) };
        send_answer(r, from, m->ticket, &a);
    }
    spawn_free(rq);
}

/* Keeps a question that the host answers, or answers it itself if the host does not: then 0. */
static uint64_t keep_or_answer(struct rpc *r, bool known, uint32_t from, uint64_t theirs,
                               enum answer_status otherwise)
{
    uint64_t ticket = known ? keep_question(r, from, theirs) : 0;
    struct answer a = { .status = otherwise };

    if (!ticket)
        send_answer(r, from, theirs, &a);
    return ticket;
}

static void on_allocate(struct rpc *r, uint32_t from, const struct op_allocate *m)
{
    struct op_allocate e = *m;

    e.ticket = keep_or_answer(r, r->calls.allocate, from, m->ticket, ANSWER_FAILED);
    if (e.ticket)
        r->calls.allocate(r->arg, &e);
}

static void on_foreign_connect(struct rpc *r, uint32_t from, const struct op_foreign_connect *m)
{
    struct op_foreign_connect e = *m;

    e.ticket = keep_or_answer(r, r->calls.foreign_connect, from, m->ticket, ANSWER_NOT_FOUND);
    if (e.ticket)
        r->calls.foreign_connect(r->arg, &e);
}

void rpc_part(struct rpc *r, uint32_t to, uint64_t ticket, struct slice part)
{
    struct answer a = { .status = ANSWER_OK };

    a.parts.value = part;
    send_answer(r, to, ticket, &a);
}

static void on_who(struct rpc *r, uint32_t from, const struct op_who *w)
{
    struct buf part = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);

    if (w->stacks && r->calls.stacks) {
        r->calls.stacks(r->arg, from, w->ticket, w->job);
        return;
    }
    r->calls.pending(r->arg, w->job, w->usage, &part);
    rpc_part(r, from, w->ticket, buf_ok(&part) ? buf_slice(&part) : SLICE_NULL);
    buf_free(&part);
}

static void on_node_part_request(struct rpc *r, uint32_t from, const struct op_node_part_request *q)
{
    struct buf part = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);
    struct msg m = MSG_WITH(node_part, .number = q->number);

    r->calls.node_part(r->arg, q->parts, &part);
    m.u.node_part.part = buf_ok(&part) ? buf_slice(&part) : SLICE_NULL;
    send_to(r, &m, from);
    buf_free(&part);
}

/* ---- answers in ------------------------------------------------------------------------------ */

/* The launcher sends no other requests than queries of pending operations. */
static void on_answer(struct rpc *r, const struct msg *m)
{
    const struct op_answer *o = &m->u.answer;

    if (send_queue_is_root(r->context->queue))
        r->calls.part(r->arg, m->from, o->ticket, o->value);
    else
        core_context_deliver(r->context, m, 0);
}

/* While a bundle is read. */
struct opened {
    struct rpc *r;
    uint64_t now_ns;
};

static void on_bundled(void *arg, const struct msg *m)
{
    const struct opened *o = arg;

    rpc_receive(o->r, m, o->now_ns);
}

static void on_bundle(struct rpc *r, const struct msg *m, uint64_t now_ns)
{
    struct opened o = { r, now_ns };

    if (!bundles_read(m, on_bundled, &o))
        log_error(r->context->queue->config.log,
                  "the daemon at position %u sent an invalid bundle of messages", m->from);
}

void rpc_receive(struct rpc *r, const struct msg *m, uint64_t now_ns)
{
    switch (m->kind) {
    case MSG_modex_request: on_modex_request(r, m->from, &m->u.modex_request, now_ns); break;
    case MSG_modex_reply: on_modex_reply(r, m, now_ns); break;
    case MSG_collective_query: on_collective_query(r, m->from, &m->u.collective_query); break;
    case MSG_names: on_names(r, m->from, &m->u.names, now_ns); break;
    case MSG_group_bootstrap: on_group_bootstrap(r, m->from, &m->u.group_bootstrap, now_ns); break;
    case MSG_store_query: on_store_query(r, m->from, &m->u.store_query, now_ns); break;
    case MSG_bundle: on_bundle(r, m, now_ns); break;
    case MSG_spawn_request: on_spawn(r, m->from, &m->u.spawn_request); break;
    case MSG_allocate: on_allocate(r, m->from, &m->u.allocate); break;
    case MSG_foreign_connect: on_foreign_connect(r, m->from, &m->u.foreign_connect); break;
    case MSG_answer: on_answer(r, m); break;
    case MSG_who: on_who(r, m->from, &m->u.who); break;
    case MSG_node_part_request: on_node_part_request(r, m->from, &m->u.node_part_request); break;
    case MSG_node_part:
        r->calls.node_part_here(r->arg, m->from, m->u.node_part.number, m->u.node_part.part);
        break;
    default: break;
    }
}

void rpc_open(struct rpc *r, const struct core_context *x, struct rpc_calls calls, void *arg)
{
    *r = (struct rpc){ .context = x, .calls = calls, .arg = arg };
    list_init(&r->questions);
    list_init(&r->asked);
    buf_init(&r->scratch, LIMIT_DAEMON_LINK_MESSAGE);
}

void rpc_close(struct rpc *r)
{
    if (!r->questions.next)
        return;
    LIST_EACH(l, &r->questions)
    drop_question(r, LIST_OF(l, struct question, link));
    number_map_free(&r->by_ticket);
    LIST_EACH(a, &r->asked)
    drop_asked(LIST_OF(a, struct asked, link));
    buf_free(&r->scratch);
}
