/* cluster.h - several servers in one process, joined by a host that has no network: the model of
 * how a host uses the doors of server/server.h.
 *
 * What one server wants of another becomes a message; messages between two nodes keep their order,
 * but which node's message comes next a seed decides.  Node 0 is the root.  Each server is
 * recorded, and each recording is played back at the end.
 */
#ifndef WIREUP_TESTS_CLUSTER_H
#define WIREUP_TESTS_CLUSTER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "core/contribution_places.h"
#include "core/effect.h"
#include "core/input.h"
#include "trace/record.h"
#include "server/replay.h"
#include "server/server.h"
#include "store/memory.h"
#include "tests/tap.h"

enum { CLUSTER_NODES = 8, CLUSTER_RANKS = 64, CLUSTER_JOBS = 2 };

struct cluster_node {
    struct server server;
    struct seg_region regions[CLUSTER_JOBS];
    struct job *jobs[CLUSTER_JOBS];
    struct record_writer writer;
    struct buf recording;
    uint64_t now;
    unsigned kills, ends, events;
};

/* An effect on its way from one node to another. */
struct cluster_mail {
    struct list link;
    uint32_t from, to;
    struct effect e;
};

/* A collective that some nodes have contributed to. */
struct cluster_round {
    struct list link;
    struct coll_id id;
    char *group; /* id.group */
    uint32_t nplaces, arrived;
    uint32_t places[CLUSTER_NODES];
    bool here[CLUSTER_NODES];
    struct slice blocks[CLUSTER_NODES];
};

struct cluster {
    struct cluster_node nodes[CLUSTER_NODES];
    uint32_t nnodes, njobs;
    struct peer *peers[CLUSTER_JOBS][CLUSTER_RANKS];
    struct list mail, rounds;
    uint64_t rand;
    unsigned contributions, fetches, bytes; /* what has travelled */
};

static struct cluster_node *cluster_of(struct cluster *c, uint32_t job, uint32_t rank)
{
    return &c->nodes[c->nodes[0].jobs[job]->plan.procs[rank].node];
}

static struct job *cluster_job_at(struct cluster *c, uint32_t node, uint32_t id)
{
    return core_job(&c->nodes[node].server.core, id);
}

static void cluster_keep_record(void *arg, struct record *r)
{
    struct cluster_node *n = arg;

    if (!r->time_ns)
        r->time_ns = ++n->now;
    record_write(&n->writer, r, &n->recording);
}

/* Ranks are dealt to the nodes in turn when cyclic, else in blocks. */
static void cluster_plan(struct job_map *p, uint32_t ranks, uint32_t nodes, bool cyclic)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    uint32_t ppn = (ranks + nodes - 1) / nodes;

    job_map_init(p);
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, nodes, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, ranks, sizeof *p->procs);
    p->napps = 1;
    p->nnodes = nodes;
    p->nprocs = ranks;
    p->apps[0].nprocs = ranks;
    for (uint32_t n = 0; n < nodes; n++)
        p->nodes[n] = (struct job_map_node){ .name = names[n], .slots = ppn };
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t node = cyclic ? r % nodes : r / ppn;
        p->procs[r] =
            (struct job_map_proc){ .rank = r, .node = node, .local_rank = p->nodes[node].nprocs++ };
    }
}

__attribute__((unused)) static void cluster_open(struct cluster *c, uint32_t nodes, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->nnodes = nodes;
    c->rand = seed;
    list_init(&c->mail);
    list_init(&c->rounds);
    for (uint32_t i = 0; i < nodes; i++) {
        struct cluster_node *n = &c->nodes[i];
        server_init(&n->server, 7 + i, NULL);
        n->server.core.has_others = nodes > 1;
        n->server.core.names_elsewhere = i > 0;
        n->server.core.position = i;
        buf_init(&n->recording, 1 << 26);
        server_record(&n->server, cluster_keep_record, n, 0, "here");
    }
}

static void cluster_settle(struct cluster *c);

/* The same job on all nodes; node i of the plan is node i. */
__attribute__((unused)) static uint32_t
cluster_job_named(struct cluster *c, const char *name, uint32_t ranks, bool cyclic, bool keep_going)
{
    uint32_t id = c->njobs++;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct cluster_node *n = &c->nodes[i];
        struct job_map plan;
        cluster_plan(&plan, ranks, c->nnodes, cyclic);
        if (seg_memory_open(1 << 22, &n->regions[id]) < 0)
            abort();
        n->jobs[id] = server_job_order(&n->server, &(struct job_order){ .nspace = name,
                                                                        .plan = &plan,
                                                                        .region = &n->regions[id],
                                                                        .parent = JOB_NO_RANK,
                                                                        .keep_going = keep_going,
                                                                        .here = i,
                                                                        .follows = i > 0,
                                                                        .numbered = true,
                                                                        .id = id,
                                                                        .base = id * 1000 });
        if (!n->jobs[id])
            abort();
    }
    for (uint32_t r = 0; r < ranks; r++) {
        struct cluster_node *n = cluster_of(c, id, r);
        n->jobs[id]->procs[r].pid = (int)(1000 + r);
        c->peers[id][r] = server_peer_new(&n->server, n->jobs[id], r, false, NULL);
        server_deliver(&n->server,
                       INPUT(proc_state, .job = n->jobs[id]->id, .rank = r,
                             .event = PROC_EVENT_STARTED, .pid = n->jobs[id]->procs[r].pid));
    }
    cluster_settle(c);
    return id;
}

__attribute__((unused)) static uint32_t cluster_job(struct cluster *c, uint32_t ranks, bool cyclic,
                                                    bool keep_going)
{
    char name[16];

    snprintf(name, sizeof name, "job%u", c->njobs);
    return cluster_job_named(c, name, ranks, cyclic, keep_going);
}

/* ---- the host: effects become mail, mail enters by the doors --------------------------------- */

static struct nameservice_query *cluster_copy(const struct nameservice_query *q)
{
    struct nameservice_query *copy = nameservice_query_new(q->op, q->service, q->port);

    copy->rank = q->rank;
    copy->type = q->type;
    copy->wait = q->wait;
    copy->life = q->life;
    copy->timeout_ns = q->timeout_ns;
    return copy;
}

static struct cluster_mail *cluster_send(struct cluster *c, uint32_t from, uint32_t to,
                                         const struct effect *e)
{
    struct cluster_mail *m = calloc(1, sizeof *m);

    m->from = from;
    m->to = to;
    m->e = *e;
    m->e.bytes = NULL;
    effect_own(&m->e);
    if (e->kind == EFFECT_names)
        m->e.u.names.query = cluster_copy(e->u.names.query);
    list_init(&m->link);
    list_append(&c->mail, &m->link);
    return m;
}

static void cluster_send_others(struct cluster *c, uint32_t from, const struct effect *e)
{
    for (uint32_t i = 0; i < c->nnodes; i++) {
        if (i != from)
            cluster_send(c, from, i, e);
    }
}

#ifdef CLUSTER_OVERLAY /* collectives go another way: the includer's */
static void cluster_contribute(struct cluster *c, uint32_t node, struct contribution *k);
static bool cluster_overlays(struct cluster *c);
#else
static struct cluster_round *cluster_round(struct cluster *c, uint32_t node,
                                           const struct contribution *k)
{
    struct cluster_round *r;
    struct place *places;

    LIST_EACH(l, &c->rounds)
    {
        r = LIST_OF(l, struct cluster_round, link);
        if (coll_id_same(&r->id, &k->id))
            return r;
    }
    r = calloc(1, sizeof *r);
    r->group = strndup(k->group, k->id.group.len);
    r->id = k->id;
    r->id.group = slice_str(r->group);
    contribution_places(&c->nodes[node].server.core, k, &places, &r->nplaces);
    for (uint32_t i = 0; i < r->nplaces; i++)
        r->places[i] = places[i].node;
    free(places);
    list_init(&r->link);
    list_append(&c->rounds, &r->link);
    return r;
}

/* The completion is mail too, so that a quick node may be in the next round before a slow one has
 * heard of this one's end. */
static void cluster_complete(struct cluster *c, struct cluster_round *r)
{
    for (uint32_t i = 0; i < r->nplaces; i++) {
        struct contribution *k = contribution_new(&r->id, false, 0);
        struct effect e = EFFECT_WITH(contribute, .contribution = k);
        for (uint32_t b = 0; b < c->nnodes; b++)
            buf_slice_put(&k->block, r->blocks[b]); /* several in one piece */
        cluster_send(c, CLUSTER_NODES, r->places[i], &e);
    }
    for (uint32_t b = 0; b < c->nnodes; b++)
        free((void *)(uintptr_t)r->blocks[b].ptr);
    list_unlink(&r->link);
    free(r->group);
    free(r);
}

static void cluster_contribute(struct cluster *c, uint32_t node, struct contribution *k)
{
    struct cluster_round *r = cluster_round(c, node, k);
    size_t len;
    char *bytes;

    if (r->here[node])
        OK_F(false, "node %u contributes twice to %s", node, r->group);
    r->here[node] = true;
    c->contributions++;
    c->bytes += (unsigned)buf_len(&k->block);
    bytes = buf_steal(&k->block, &len);
    r->blocks[node] = slice_mem(bytes, len);
    if (++r->arrived == r->nplaces)
        cluster_complete(c, r);
}

static bool cluster_overlays(struct cluster *c)
{
    (void)c;
    return false;
}
#endif

static void cluster_kill(struct cluster *c, uint32_t node, const struct op_kill *e)
{
    struct job *j = cluster_job_at(c, node, e->job);

    c->nodes[node].kills++;
    if (node == 0) {
        struct effect order =
            EFFECT_WITH(abort, .job = e->job, .culprit = j->culprit, .code = j->exit_code,
                        .reason = slice_str(j->reason.text));
        cluster_send_others(c, 0, &order);
    }
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (job_rank_is_here(j, r) && j->procs[r].state != PROC_STATE_GONE)
            server_deliver(&c->nodes[node].server, INPUT(proc_state, .job = j->id, .rank = r,
                                                         .event = PROC_EVENT_DEATH, .code = 15));
    }
}

static uint32_t cluster_node_of(const struct cluster *c, uint32_t job, uint32_t rank)
{
    return c->nodes[0].jobs[job]->plan.procs[rank].node;
}

/* The position of the asker is in the ticket. */
static void cluster_reply(struct cluster *c, uint32_t node, struct effect *e)
{
    uint64_t ticket = e->u.reply.ticket;

    e->u.reply.ticket = ticket & ((UINT64_C(1) << 60) - 1);
    cluster_send(c, node, (uint32_t)(ticket >> 60), e);
}

static void cluster_carry_out(struct cluster *c, uint32_t node, struct effect *e)
{
    const struct op_modex_request *m = &e->u.modex_request;
    const struct op_collective_query *q = &e->u.collective_query;

    switch (e->kind) {
    case EFFECT_contribute: cluster_contribute(c, node, e->u.contribute.contribution); break;
    case EFFECT_modex_request:
        c->fetches++;
        cluster_send(c, node, cluster_node_of(c, m->job, m->rank), e);
        break;
    case EFFECT_modex_reply: cluster_send(c, node, (uint32_t)e->u.modex_reply.asker, e); break;
    case EFFECT_collective_reply:
        cluster_send(c, node, (uint32_t)e->u.collective_reply.asker, e);
        break;
    case EFFECT_reply: cluster_reply(c, node, e); break;
    case EFFECT_proc_state:
        if (node == 0)
            cluster_send_others(c, 0, e);
        else
            cluster_send(c, node, 0, e);
        break;
    case EFFECT_proc_connect:
    case EFFECT_abort:
    case EFFECT_names: cluster_send(c, node, 0, e); break;
    case EFFECT_collective_query:
        cluster_send(c, node, cluster_node_of(c, q->job, q->rank), e);
        break;
    case EFFECT_job_connect:
    case EFFECT_kvs_delete:
    case EFFECT_event: cluster_send_others(c, node, e); break;
    case EFFECT_kill: cluster_kill(c, node, &e->u.kill); break;
    case EFFECT_subscribe_exits: break; /* everybody hears of everything */
    case EFFECT_job_ended: c->nodes[node].ends++; break;
    default: OK_F(false, "nobody carries out effect %d", (int)e->kind); break;
    }
    effect_drop(e);
}

/* The root has told the others what they have to know of its own and of others' processes. */
static bool cluster_is_old(struct cluster *c, uint32_t node, const struct op_proc_state *o)
{
    const struct job *j = cluster_job_at(c, node, o->job);

    return node != 0 &&
           (job_rank_is_here(j, o->rank) || j->procs[o->rank].state == PROC_STATE_GONE);
}

static void cluster_hear_reply(struct server *s, const struct op_reply *e, struct job *about)
{
    struct answer a = { .status = e->status,
                        .key = e->key,
                        .value = e->value,
                        .number = e->number,
                        .type = e->type,
                        .about = about,
                        .rank = e->rank };

    server_answer(s, e->ticket, &a);
}

static void cluster_completed(struct server *s, const struct contribution *k)
{
    struct slice block = buf_slice(&k->block);

    server_deliver(s, INPUT(completed, .id = k->id, .status = ANSWER_OK, .blocks = { &block, 1 }));
}

/* What one node's core asks of others is an input there, with the same members. */
static void cluster_deliver(struct cluster *c, struct cluster_mail *m)
{
    struct cluster_node *n = &c->nodes[m->to];
    struct server *s = &n->server;
    struct effect *e = &m->e;
    struct input in = { .kind = (enum input_kind)e->kind, .now_ns = n->now };

    memcpy(&in.u, &e->u, sizeof in.u < sizeof e->u ? sizeof in.u : sizeof e->u);
    switch (e->kind) {
    case EFFECT_contribute: cluster_completed(s, e->u.contribute.contribution); return;
    case EFFECT_reply:
        cluster_hear_reply(s, &e->u.reply, cluster_job_at(c, m->to, effect_job(e)));
        return;
    case EFFECT_proc_state:
        if (cluster_is_old(c, m->to, &e->u.proc_state))
            return;
        break;
    case EFFECT_modex_request: in.u.modex_request.asker = m->from; break;
    case EFFECT_collective_query: in.u.collective_query.asker = m->from; break;
    case EFFECT_names: in.u.names.ticket |= (uint64_t)m->from << 60; break;
    case EFFECT_event: n->events++; break;
    default: break;
    }
    server_deliver(s, &in);
}

/* The next message: the first of a pair of nodes that the seed picks. */
static struct cluster_mail *cluster_next(struct cluster *c)
{
    struct cluster_mail *first = LIST_OF(list_first(&c->mail), struct cluster_mail, link);
    struct cluster_mail *chosen = first;
    uint32_t n = 0;

    LIST_EACH(l, &c->mail)
    {
        struct cluster_mail *m = LIST_OF(l, struct cluster_mail, link);
        if (rand_below(&c->rand, ++n) == 0)
            chosen = m;
    }
    LIST_EACH(k, &c->mail)
    {
        struct cluster_mail *m = LIST_OF(k, struct cluster_mail, link);
        if (m->from == chosen->from && m->to == chosen->to)
            return m;
    }
    return chosen;
}

static void cluster_effects(struct cluster *c)
{
    struct effect e;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        while (server_effect(&c->nodes[i].server, &e))
            cluster_carry_out(c, i, &e);
    }
}

static void cluster_deliver_all(struct cluster *c)
{
    while (!list_empty(&c->mail)) {
        struct cluster_mail *m = cluster_next(c);
        list_unlink(&m->link);
        cluster_deliver(c, m);
        effect_drop(&m->e);
        free(m);
        cluster_effects(c);
    }
}

static void cluster_settle(struct cluster *c)
{
    do {
        cluster_effects(c);
        cluster_deliver_all(c);
    } while (cluster_overlays(c));
}

/* ---- processes ------------------------------------------------------------------------------- */

__attribute__((unused)) static void cluster_say(struct cluster *c, uint32_t job, uint32_t rank,
                                                struct slice bytes)
{
    struct cluster_node *n = cluster_of(c, job, rank);

    server_deliver(&n->server,
                   INPUT_AT(++n->now, in, .connection = c->peers[job][rank]->id, .bytes = bytes));
    cluster_settle(c);
}

__attribute__((unused)) static const char *cluster_heard(struct cluster *c, uint32_t job,
                                                         uint32_t rank)
{
    static char text[1 << 14];
    struct peer *p = c->peers[job][rank];
    struct slice s = buf_slice(&p->out);

    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(s));
    server_wrote(&cluster_of(c, job, rank)->server, p, s.len);
    return text;
}

__attribute__((unused)) static void cluster_event(struct cluster *c, uint32_t job, uint32_t rank,
                                                  enum proc_event event, int code)
{
    struct cluster_node *n = cluster_of(c, job, rank);

    server_deliver(&n->server, INPUT(proc_state, .job = n->jobs[job]->id, .rank = rank,
                                     .event = event, .code = code));
    cluster_settle(c);
}

__attribute__((unused)) static void cluster_tick(struct cluster *c, uint64_t ns)
{
    for (uint32_t i = 0; i < c->nnodes; i++) {
        c->nodes[i].now += ns;
        server_tick(&c->nodes[i].server, c->nodes[i].now);
    }
    cluster_settle(c);
}

static void cluster_play_back(struct cluster_node *n, uint32_t number)
{
    struct replay *r = replay_new(1 << 24);
    struct replay_count count = { 0 };
    struct errmsg err = { "" };
    int rc = replay_feed(r, buf_slice(&n->recording), &err);

    if (rc == REPLAY_SAME)
        rc = replay_end(r, &count, &err);
    if (rc != REPLAY_SAME || !count.ended || !buf_ok(&n->recording))
        OK_F(false, "the recording of node %u plays back: %s", number, err.text);
    replay_free(r);
}

__attribute__((unused)) static void cluster_close(struct cluster *c)
{
    cluster_settle(c);
    LIST_EACH(l, &c->rounds)
    {
        struct cluster_round *r = LIST_OF(l, struct cluster_round, link);
        for (uint32_t b = 0; b < c->nnodes; b++)
            free((void *)(uintptr_t)r->blocks[b].ptr);
        free(r->group);
        free(r);
    }
    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct cluster_node *n = &c->nodes[i];
        server_record_end(&n->server);
        cluster_play_back(n, i);
        buf_free(&n->recording);
        server_free(&n->server);
        for (uint32_t k = 0; k < c->njobs; k++)
            seg_memory_close(&n->regions[k]);
    }
}

#endif
