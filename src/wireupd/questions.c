/* questions.c - see questions.h. */
#include "wireupd/questions.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/spawn_pack.h"
#include "wireupd/places.h"
#include "wireupd/share_priv.h"
#include "wireupd/spawning.h"
#include "wireupd/tell.h"

/* A question of another node that our server (or the planner of spawns) works on. */
struct question {
    struct list link;
    uint64_t ours, theirs; /* tickets */
    uint32_t position;
};

static uint64_t keep_question(struct share *s, uint32_t position, uint64_t theirs)
{
    struct question *q = calloc(1, sizeof *q);

    if (!q)
        return 0;
    q->ours = ++s->next_ticket | SHARE_TICKET;
    q->theirs = theirs;
    q->position = position;
    list_append(&s->asked, &q->link);
    return q->ours;
}

static struct question *find_question(const struct share *s, uint64_t ours)
{
    LIST_EACH(l, &s->asked)
    {
        struct question *q = LIST_OF(l, struct question, link);
        if (q->ours == ours)
            return q;
    }
    return NULL;
}

static void ask_cards(struct share *s, const struct effect *e)
{
    const struct job *j = share_job(s, e->job);
    struct msg m = { .kind = MSG_fetch };

    if (!j)
        return;
    m.u.fetch.job = e->job;
    m.u.fetch.rank = e->rank;
    m.u.fetch.key = effect_key(e);
    m.u.fetch.timeout_ms = e->timeout_ns / NS_PER_MS;
    tell_to(s, &m, places_rank(s, j, e->rank));
}

/* The ticket is the position that asked. */
static void tell_cards(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_cards };

    m.u.cards.job = e->job;
    m.u.cards.rank = e->rank;
    m.u.cards.status = (uint64_t)e->status;
    m.u.cards.block = effect_value(e);
    m.u.cards.pid = (uint64_t)e->pid;
    tell_to(s, &m, (uint32_t)e->ticket);
}

static void ask_name(struct share *s, const struct effect *e)
{
    const struct names_query *q = e->names;
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
    tell_to(s, &m, 0);
}

static void tell_answer(struct share *s, uint32_t position, uint64_t ticket, const struct answer *a)
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
    tell_to(s, &m, position);
}

/* What our server was asked by another node. */
static void tell_reply(struct share *s, const struct effect *e)
{
    struct question *q = find_question(s, e->ticket);
    struct answer a = { .status = e->status,
                        .value = effect_value(e),
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

bool questions_answer(struct share *s, uint64_t ticket, const struct answer *a)
{
    struct question *q = ticket & SHARE_TICKET ? find_question(s, ticket) : NULL;

    if (!q)
        return false;
    tell_answer(s, q->position, q->theirs, a);
    list_unlink(&q->link);
    free(q);
    return true;
}

static void ask_spawn(struct share *s, const struct effect *e)
{
    struct msg m = { .kind = MSG_spawn };

    buf_clear(&s->scratch);
    spawn_pack(e->spawn, &s->scratch);
    if (!buf_ok(&s->scratch)) {
        struct answer a = { .status = ANSWER_NO_MEMORY };
        server_answer(share_server(s), e->ticket, &a);
        return;
    }
    m.u.spawn.ticket = e->ticket;
    m.u.spawn.job = e->job;
    m.u.spawn.request = buf_slice(&s->scratch);
    tell_to(s, &m, 0);
}

static void ask_round(struct share *s, const struct effect *e)
{
    const struct job *j = share_job(s, e->job);
    struct msg m = { .kind = MSG_round };

    if (!j)
        return;
    m.u.round.job = e->job;
    m.u.round.rank = e->rank;
    m.u.round.what = effect_key(e);
    m.u.round.generation = (uint64_t)e->number;
    tell_to(s, &m, places_rank(s, j, e->rank));
}

void questions_who(struct share *s, uint64_t ticket, struct slice job)
{
    struct msg m = { .kind = MSG_who };

    m.u.who.ticket = ticket;
    m.u.who.job = job;
    tell_to(s, &m, MSG_EVERYBODY);
}

static void hear_fetch(struct share *s, uint32_t from, const struct msg_fetch *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);

    if (j) {
        server_fetch(share_server(s), j, (uint32_t)m->rank, m->key, m->timeout_ms * NS_PER_MS, from,
                     clock_now_ns());
    } else {
        struct effect e = { .kind = EFFECT_CARDS,
                            .status = ANSWER_NOT_FOUND,
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

static void hear_cards(struct share *s, const struct msg_cards *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);

    if (j && m->pid)
        j->procs[m->rank].pid = (int)m->pid;
    if (j)
        server_fetched(share_server(s), j, (uint32_t)m->rank, read_status(m->status), m->block);
}

static void hear_name(struct share *s, uint32_t from, const struct msg_name *m)
{
    struct job *j = share_job(s, m->job);
    struct names_query *q = m->op <= NAMES_UNPUBLISH
                                ? names_query_new((enum names_op)m->op, m->service, m->port)
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

static void hear_spawn(struct share *s, uint32_t from, const struct msg_spawn *m)
{
    struct job *j = share_job(s, m->job);
    struct errmsg err = { "the launcher knows no such job" };
    struct spawn_request *rq = j ? spawn_unpack(m->request, &err) : NULL;
    uint64_t ticket = rq ? keep_question(s, from, m->ticket) : 0;

    if (ticket) {
        struct effect e = { .kind = EFFECT_SPAWN, .job = j->id, .ticket = ticket, .spawn = rq };
        spawning_begin(s->node, &e);
    } else {
        struct answer a = { .status = ANSWER_FAILED, .text = slice_str(err.text) };
        spawn_free(rq);
        tell_answer(s, from, m->ticket, &a);
    }
}

static void hear_answer(struct share *s, const struct msg_answer *m)
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

static void hear_who(struct share *s, uint32_t from, const struct msg_who *w)
{
    struct answer a = { .status = ANSWER_OK };
    struct buf part = BUF_NULL(LIMIT_HOP_MESSAGE / 2);

    tape_flush(&s->node->tape); /* whoever asks may want to read it, too */
    inquest_part(s->node, w->job, &part);
    a.value = buf_ok(&part) ? buf_slice(&part) : SLICE_NULL;
    tell_answer(s, from, w->ticket, &a);
    buf_free(&part);
}

static void hear_round(struct share *s, uint32_t from, const struct msg_round *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);
    struct msg reply = { .kind = MSG_heard };

    reply.u.heard.job = m->job;
    reply.u.heard.rank = m->rank;
    reply.u.heard.what = m->what;
    reply.u.heard.generation = m->generation;
    reply.u.heard.will =
        j && server_round(share_server(s), j, (uint32_t)m->rank, m->what, m->generation);
    tell_to(s, &reply, from);
}

static void hear_heard(struct share *s, const struct msg_heard *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);

    if (j)
        server_round_heard(share_server(s), j, (uint32_t)m->rank, m->what, m->generation,
                           m->will != 0);
}

void questions_effect(struct share *s, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_FETCH: ask_cards(s, e); break;
    case EFFECT_CARDS: tell_cards(s, e); break;
    case EFFECT_REPLY: tell_reply(s, e); break;
    case EFFECT_NAMES: ask_name(s, e); break;
    case EFFECT_ROUND: ask_round(s, e); break;
    case EFFECT_SPAWN: ask_spawn(s, e); break;
    default: break;
    }
}

void questions_hear(struct share *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_fetch: hear_fetch(s, m->from, &m->u.fetch); break;
    case MSG_cards: hear_cards(s, &m->u.cards); break;
    case MSG_name: hear_name(s, m->from, &m->u.name); break;
    case MSG_spawn: hear_spawn(s, m->from, &m->u.spawn); break;
    case MSG_answer:
        if (share_is_root(s)) /* which asks for nothing else */
            inquest_heard(&s->node->inquests, m->from, m->u.answer.ticket, m->u.answer.value);
        else
            hear_answer(s, &m->u.answer);
        break;
    case MSG_who: hear_who(s, m->from, &m->u.who); break;
    case MSG_round: hear_round(s, m->from, &m->u.round); break;
    case MSG_heard: hear_heard(s, &m->u.heard); break;
    default: break;
    }
}

void questions_free(struct share *s)
{
    LIST_EACH(q, &s->asked)
    {
        list_unlink(q);
        free(LIST_OF(q, struct question, link));
    }
}
