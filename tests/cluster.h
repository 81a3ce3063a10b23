/* cluster.h - several servers in one process, joined by a host that has no network.
 *
 * Each node runs what a daemon runs: a server, the dispatcher of its effects and messages
 * (cluster/dispatch.h), its membership and its router.  Only the links are ours: their messages
 * keep their order on each link, but which link's message comes next a seed decides.  Node 0 is the
 * root.  Each server is recorded, and each recording is played back at the end.
 */
#ifndef WIREUP_TESTS_CLUSTER_H
#define WIREUP_TESTS_CLUSTER_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "cluster/msg.h"
#include "cluster/collectives.h"
#include "cluster/dispatch.h"
#include "cluster/job_states.h"
#include "core/effect.h"
#include "core/input.h"
#include "trace/record.h"
#include "server/replay.h"
#include "server/server.h"
#include "store/memory.h"
#include "tests/log_capture.h"
#include "tests/tap.h"
#include "daemon/server_calls.h"

enum { CLUSTER_NODES = 12, CLUSTER_RANKS = 64, CLUSTER_JOBS = 8, CLUSTER_WIDTH = 2 };

/* Bytes of the store of each job on each node, here and when it is played back: all of them are
 * zeroed each time. */
enum { CLUSTER_STORE = 1 << 16 };

struct cluster;
struct cluster_node;

/* What a test does for the nodes, beyond what is done here; each may be NULL. */
struct cluster_host {
    bool (*message)(struct cluster_node *n, const struct msg *m); /* true: it has taken it */
    bool (*effect)(struct cluster_node *n, const struct effect *e);
    void (*spawn)(struct cluster_node *n, const struct op_spawn *e); /* the root */
    void (*ready)(struct cluster_node *n, uint32_t position);        /* the root */
    void (*end)(struct cluster_node *n);                             /* it has to */
    void (*states)(struct cluster_node *n, struct job *j);
    /* Another node takes the place of the lost one; NULL: spares do (struct cluster). */
    bool (*replaces)(struct cluster_node *n, const struct job *j, uint32_t lost);
};

struct cluster_node {
    struct cluster *cluster;
    struct server server;
    struct dispatch dispatch;
    struct membership member;
    struct router router;
    struct list links; /* open ends */
    uint64_t wake_ns;  /* of the router; 0: none */
    bool batch, overdue, gone;
    bool opened; /* it was there once */
    struct seg_region regions[CLUSTER_JOBS];
    struct job *jobs[CLUSTER_JOBS];
    struct record_writer writer;
    struct buf recording;
    uint64_t now;
    unsigned kills, ends, events;
};

/* One end of a link between two nodes. */
struct router_link {
    struct list link; /* of its node; alone: it is closed */
    struct router_link *peer;
    struct cluster_node *node;
    uint32_t other;
    bool up;
};

/* What is on its way on a link. */
struct cluster_message {
    struct list link;
    struct router_link *end; /* the receiving one */
    enum cluster_message_kind { CLUSTER_BYTES, CLUSTER_UP, CLUSTER_CLOSED, CLUSTER_BROKEN } kind;
    size_t len;
    char bytes[];
};

struct cluster {
    struct cluster_node nodes[CLUSTER_NODES];
    uint32_t nnodes, njobs;
    uint32_t places; /* positions: those of nodes that may join included (cluster_elastic.h) */
    uint32_t width;  /* of the tree */
    const struct cluster_host *host; /* NULL: none */
    enum overlay_schedule schedule;
    struct peer *peers[CLUSTER_JOBS][CLUSTER_RANKS];
    struct list messages;
    struct router_link *pairs[8 * CLUSTER_NODES]; /* all links that have been made */
    uint32_t npairs;
    uint64_t rand, now; /* of the routers */
    struct log_capture log;
    unsigned contributions, fetches, bytes; /* what the cores have asked for */
    uint32_t started;                       /* ranks from here on are not started; 0: all are */
    const char *connectivity;               /* of the next jobs */
    unsigned ahead;                         /* bytes that were sent ahead */
    uint32_t restarts;                      /* of each process of the next jobs */
    uint32_t
        spares; /* the last nodes have no process of the next jobs, and replace lost ones ... */
    bool late;  /* ... when cluster_replace_late() says so */
    uint32_t awaited;                         /* the position of the lost one; 0: there is none */
    uint32_t at[CLUSTER_JOBS][CLUSTER_RANKS]; /* the node where each peer is */
};

static struct cluster_node *cluster_of(struct cluster *c, uint32_t job, uint32_t rank)
{
    return &c->nodes[node_map_rank(&c->nodes[0].dispatch.map, c->nodes[0].jobs[job], rank)];
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

static const char *const cluster_names[CLUSTER_NODES] = { "a", "b", "c", "d", "e", "f",
                                                          "g", "h", "i", "j", "k", "l" };

/* Ranks are dealt to the nodes in turn when cyclic, else in blocks. */
static void cluster_plan(struct job_map *p, uint32_t ranks, uint32_t nodes, bool cyclic)
{
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
        p->nodes[n] = (struct job_map_node){ .name = cluster_names[n], .slots = ppn };
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t node = cyclic ? r % nodes : r / ppn;
        p->procs[r] =
            (struct job_map_proc){ .rank = r, .node = node, .local_rank = p->nodes[node].nprocs++ };
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

static void cluster_queue(struct router_link *end, enum cluster_message_kind kind,
                          struct slice bytes)
{
    struct cluster_message *m = calloc(1, sizeof *m + bytes.len);

    m->end = end;
    m->kind = kind;
    m->len = bytes.len;
    if (bytes.len)
        memcpy(m->bytes, bytes.ptr, bytes.len);
    list_init(&m->link);
    list_append(&end->node->cluster->messages, &m->link);
}

/* A link whose ends are not up; that of the first node. */
static struct router_link *cluster_link(struct cluster *c, uint32_t a, uint32_t b)
{
    struct router_link *pair = calloc(2, sizeof *pair);

    for (int i = 0; i < 2; i++) {
        pair[i].peer = &pair[1 - i];
        pair[i].node = &c->nodes[i ? b : a];
        pair[i].other = i ? a : b;
        list_init(&pair[i].link);
        list_append(&pair[i].node->links, &pair[i].link);
    }
    if (c->npairs == sizeof c->pairs / sizeof *c->pairs)
        abort();
    c->pairs[c->npairs++] = pair;
    return pair;
}

static uint32_t cluster_position(const struct router_link *l)
{
    return l->other;
}

static int cluster_send(struct router_link *l, struct slice bytes)
{
    if (!l->up || list_empty(&l->link))
        return -EPIPE;
    cluster_queue(l->peer, CLUSTER_BYTES, bytes);
    return 0;
}

static size_t cluster_waiting(const struct router_link *l)
{
    (void)l;
    return 0;
}

static void cluster_end(struct router_link *l)
{
    cluster_queue(l->peer, CLUSTER_CLOSED, SLICE_NULL);
    cluster_queue(l, CLUSTER_CLOSED, SLICE_NULL);
}

static void cluster_drop(struct router_link *l)
{
    list_unlink(&l->link);
    cluster_queue(l->peer, CLUSTER_BROKEN, SLICE_NULL);
}

/* There are links of the tree only: pieces of exchanges are relayed. */
static struct router_link *cluster_connect(void *arg, uint32_t to, struct slice addresses,
                                           struct errmsg *err)
{
    (void)arg;
    (void)to;
    (void)addresses;
    (void)err;
    return NULL;
}

static int cluster_addresses(void *arg, struct buf *text, struct errmsg *err)
{
    (void)arg;
    (void)text;
    (void)err;
    return -ENOTSUP;
}

static void cluster_wake(void *arg, uint64_t at_ns)
{
    struct cluster_node *n = arg;

    n->wake_ns = at_ns;
}

/* ---- what members and dispatchers call ------------------------------------------------------- */

static void cluster_replace(struct cluster_node *n, const struct op_node_replaced *m)
{
    struct op_node_replaced o = *m;

    o.here = o.position == n->router.config.me;
    node_map_move(&n->dispatch.map, o.job, o.node, o.position);
    server_deliver(&n->server,
                   INPUT(node_replaced, .job = o.job, .node = o.node, .position = o.position,
                         .name = o.name, .ranks = o.ranks, .times = o.times, .here = o.here));
}

static void cluster_on_message(void *arg, const struct msg *m)
{
    struct cluster_node *n = arg;
    const struct cluster_host *host = n->cluster->host;

    if (host && host->message && host->message(n, m))
        ;
    else if (m->kind == MSG_node_replaced)
        cluster_replace(n, &m->u.node_replaced);
    else if (!dispatch_message(&n->dispatch, m, n->now) && m->kind != MSG_ready &&
             m->kind != MSG_ack && m->kind != MSG_peer_connect) /* the router has handled these */
        OK_F(false, "nobody takes the message `%s`", msg_name(m->kind));
}

static void cluster_on_ready(void *arg, uint32_t position, struct slice name)
{
    struct cluster_node *n = arg;
    const struct cluster_host *host = n->cluster->host;

    (void)name;
    if (host && host->ready)
        host->ready(n, position);
}

static void cluster_on_completed(void *arg, const struct overlay_event *e)
{
    struct cluster_node *n = arg;

    collectives_completed(&n->dispatch.context, e);
}

/* A daemon without a process of the job; 0: there is none. */
static uint32_t cluster_spare(const struct cluster_node *n, const struct job *j)
{
    for (uint32_t p = 1; n->router.config.me == 0 && p < n->cluster->nnodes; p++) {
        if (!router_is_lost(&n->router, p) &&
            node_map_node(&n->dispatch.map, j, p) == JOB_NONE_HERE)
            return p;
    }
    return 0;
}

/* As the launcher does: all learn of it at the same place in the order of its reports. */
static bool cluster_replaces(struct cluster_node *n, const struct job *j, uint32_t lost)
{
    uint32_t node = node_map_node(&n->dispatch.map, j, lost), spare = cluster_spare(n, j);
    uint32_t ranks[CLUSTER_RANKS], times[CLUSTER_RANKS], count = 0;
    struct msg m = { .kind = MSG_node_replaced };

    if (!n->cluster->spares || !spare || node == JOB_NONE_HERE)
        return false;
    if (n->cluster->late && !n->cluster->awaited) {
        n->cluster->awaited = lost;
        return membership_defer(&n->member, lost) == 0;
    }
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node == node && j->procs[r].state != PROC_STATE_GONE) {
            ranks[count] = r;
            times[count++] = j->procs[r].restarts + 1;
        }
    }
    m.u.node_replaced = (struct op_node_replaced){ .job = j->id,
                                                   .node = node,
                                                   .position = spare,
                                                   .name = SLICE("spare"),
                                                   .ranks = { ranks, count },
                                                   .times = { times, count } };
    send_queue_to(&n->dispatch.queue, &m, MSG_EVERYBODY);
    cluster_replace(n, &m.u.node_replaced);
    return true;
}

/* The node that was awaited has come. */
static inline void cluster_replace_late(struct cluster *c)
{
    struct cluster_node *n = &c->nodes[0];

    for (uint32_t i = 0; c->awaited && i < c->njobs; i++) {
        if (n->jobs[i])
            cluster_replaces(n, n->jobs[i], c->awaited);
    }
    if (c->awaited)
        membership_settle(&n->member, c->awaited);
    c->awaited = 0;
}

/* A process that has not been started is nobody's who could die. */
static void cluster_lose_rank(struct cluster_node *n, const struct job *j, uint32_t rank)
{
    bool root = n->router.config.me == 0, planned = j->procs[rank].state == PROC_STATE_PLANNED;

    if (root && planned && j->phase == JOB_RUNNING) {
        server_proc_state(&n->server, j, rank, PROC_EVENT_STARTED, 0, j->procs[rank].pid);
        planned = false;
    }
    server_proc_state(&n->server, j, rank,
                      root && planned ? PROC_EVENT_NOT_STARTED : PROC_EVENT_DEATH, 9, 0);
}

/* A node is lost, and its processes with it. */
static void cluster_on_lost(void *arg, uint32_t lost)
{
    struct cluster_node *n = arg;

    dispatch_lost(&n->dispatch, lost);
    for (uint32_t i = 0; i < n->cluster->njobs; i++) {
        struct job *j = n->jobs[i];
        if (!j)
            continue; /* it does not know of it */
        if (n->cluster->host && n->cluster->host->replaces ? n->cluster->host->replaces(n, j, lost)
                                                           : cluster_replaces(n, j, lost))
            continue;
        if (n->router.config.me && node_map_replaces(&n->dispatch.map, j->id))
            continue; /* node 0 decides what is lost */
        if (n->router.config.me == 0 && n->cluster->restarts &&
            node_map_node(&n->dispatch.map, j, lost) != JOB_NONE_HERE)
            server_deliver(&n->server, INPUT(node_down, .job = j->id,
                                             .node = node_map_node(&n->dispatch.map, j, lost)));
        for (uint32_t r = 0; r < j->plan.nprocs; r++) {
            if (node_map_rank(&n->dispatch.map, j, r) == lost &&
                j->procs[r].state != PROC_STATE_GONE)
                cluster_lose_rank(n, j, r);
        }
        if (n->cluster->host && n->cluster->host->states)
            n->cluster->host->states(n, j);
    }
}

static void cluster_on_end(void *arg, const char *why)
{
    struct cluster_node *n = arg;

    if (n->cluster->host && n->cluster->host->end)
        n->cluster->host->end(n);
    OK_F(n->gone, "node %u has to end: %s", n->router.config.me, why);
}

static void cluster_on_closed(void *arg)
{
    (void)arg;
}

static struct router_link *cluster_join(void *arg, uint32_t to)
{
    struct cluster_node *n = arg;
    struct router_link *l = cluster_link(n->cluster, n->router.config.me, to);

    if (l->peer->node->gone) {
        cluster_queue(l, CLUSTER_BROKEN, SLICE_NULL);
        return l;
    }
    cluster_queue(l->peer, CLUSTER_UP, SLICE_NULL);
    cluster_queue(l, CLUSTER_UP, SLICE_NULL);
    return l;
}

static void cluster_overdue(void *arg, uint32_t ms)
{
    struct cluster_node *n = arg;

    (void)ms;
    n->overdue = true;
}

static void cluster_batch(void *arg, uint32_t ms)
{
    struct cluster_node *n = arg;

    (void)ms;
    n->batch = true;
}

static bool cluster_input(void *arg, const struct input *in)
{
    LIST_OF(arg, struct cluster_node, server)->events += in->kind == INPUT_event;
    return server_deliver(arg, in);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void cluster_on_spawn(void *arg, const struct op_spawn *e)
{
    struct cluster_node *n = arg;

    if (n->cluster->host && n->cluster->host->spawn)
        n->cluster->host->spawn(n, e);
}

static void cluster_on_states(void *arg, struct job *j)
{
    struct cluster_node *n = arg;

    if (n->cluster->host && n->cluster->host->states)
        n->cluster->host->states(n, j);
}

/* What a node knows that begins: of its parent, or that all are there. */
static void cluster_learn(struct overlay_config *k, const struct rank_set *all,
                          const struct cluster_node *parent)
{
    k->members = all;
    if (!parent)
        return;
    k->members = &parent->member.overlay.members;
    k->lost = &parent->member.overlay.losses;
    k->last_broadcast = parent->member.overlay.last_broadcast;
}

/* parent: of a node that joins (cluster_elastic.h); NULL: it is there from the beginning. */
static void cluster_open_links(struct cluster *c, uint32_t me, const struct cluster_node *parent)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct cluster_node *n = &c->nodes[me];
    struct router_config r = { .log = &c->log.log,
                               .me = me,
                               .count = c->places,
                               .width = c->width,
                               .host = "node",
                               .actions = { cluster_position, cluster_send, cluster_waiting,
                                            cluster_end, cluster_drop, cluster_connect,
                                            cluster_addresses, cluster_wake, n },
                               .calls = membership_router_calls(),
                               .arg = &n->member };
    struct membership_config k = { .parent = parent ? parent->router.config.me
                                             : me   ? tree_parent(c->width, me)
                                                    : TREE_NONE,
                                   .log = &c->log.log,
                                   .calls = { .on_message = cluster_on_message,
                                              .on_ready = cluster_on_ready,
                                              .on_completed = cluster_on_completed,
                                              .on_lost = cluster_on_lost,
                                              .on_end = cluster_on_end,
                                              .on_closed = cluster_on_closed,
                                              .join = cluster_join,
                                              .overdue = cluster_overdue },
                                   .arg = n };
    struct dispatch_config d = { .core = &n->server.core,
                                 .router = &n->router,
                                 .member = &n->member,
                                 .me = me,
                                 .log = &c->log.log,
                                 .core_calls = server_calls(),
                                 .core_arg = &n->server,
                                 .rpc_calls = { .spawn = cluster_on_spawn },
                                 .on_proc_states = cluster_on_states,
                                 .wake = cluster_batch,
                                 .arg = n };

    d.core_calls.deliver = cluster_input;
    n->cluster = c;
    list_init(&n->links);
    overlay_defaults(&k.overlay, me, c->places, c->width);
    k.overlay.schedule = c->schedule;
    k.overlay.is_over = collectives_are_over;
    k.overlay.over_arg = &n->dispatch.context;
    if (rank_set_add(&all, 0, c->nnodes) < 0)
        abort();
    cluster_learn(&k.overlay, &all, parent);
    router_open(&n->router, &r);
    dispatch_open(&n->dispatch, &d);
    if (membership_open(&n->member, &n->router, &k) < 0)
        abort();
    rank_set_free(&all);
}

static void cluster_open_node(struct cluster *c, uint32_t me, const struct cluster_node *parent)
{
    struct cluster_node *n = &c->nodes[me];

    n->gone = false;
    n->opened = true;
    server_init(&n->server, 7 + me, NULL);
    n->server.core.has_others = c->places > 1;
    n->server.core.names_elsewhere = me > 0;
    n->server.core.position = me;
    buf_init(&n->recording, 1 << 26);
    server_record(&n->server, cluster_keep_record, n, 0, cluster_names[me]);
    cluster_open_links(c, me, parent);
}

static void cluster_settle(struct cluster *c);

/* places: at most so many nodes are there later; width: of their tree. */
__attribute__((unused)) static void cluster_open_places(struct cluster *c, uint32_t nodes,
                                                        uint32_t places, uint32_t width,
                                                        uint64_t seed,
                                                        enum overlay_schedule schedule)
{
    memset(c, 0, sizeof *c);
    c->nnodes = nodes;
    c->places = places;
    c->width = width;
    c->schedule = schedule;
    c->rand = seed;
    c->now = 1;
    list_init(&c->messages);
    log_capture_open(&c->log);
    for (uint32_t i = 0; i < nodes; i++)
        cluster_open_node(c, i, NULL);
    for (uint32_t i = 1; i < nodes; i++)
        router_join(&c->nodes[i].router, cluster_join(&c->nodes[i], tree_parent(width, i)));
    cluster_settle(c);
}

__attribute__((unused)) static void cluster_open_by(struct cluster *c, uint32_t nodes,
                                                    uint64_t seed, enum overlay_schedule schedule)
{
    cluster_open_places(c, nodes, nodes, CLUSTER_WIDTH, seed, schedule);
}

__attribute__((unused)) static void cluster_open(struct cluster *c, uint32_t nodes, uint64_t seed)
{
    cluster_open_by(c, nodes, seed, OVERLAY_AUTO);
}

/* The same job on all nodes; node i of the plan is node i. */
__attribute__((unused)) static uint32_t
cluster_job_named(struct cluster *c, const char *name, uint32_t ranks, bool cyclic, bool keep_going)
{
    static const uint32_t positions[CLUSTER_NODES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    uint32_t id = c->njobs++, used = c->nnodes - c->spares;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct cluster_node *n = &c->nodes[i];
        struct job_map plan;
        cluster_plan(&plan, ranks, used, cyclic);
        plan.words[JOB_CONNECTIVITY] = c->connectivity;
        plan.apps[0].restarts = c->restarts;
        if (seg_memory_open(CLUSTER_STORE, &n->regions[id]) < 0)
            abort();
        n->jobs[id] =
            server_job_order(&n->server, &(struct job_order){ .nspace = name,
                                                              .plan = &plan,
                                                              .region = &n->regions[id],
                                                              .parent = JOB_NO_RANK,
                                                              .keep_going = keep_going,
                                                              .here = i < used ? i : JOB_NONE_HERE,
                                                              .follows = i > 0,
                                                              .numbered = true,
                                                              .id = id,
                                                              .base = id * 1000 });
        if (!n->jobs[id] || !node_map_keep(&n->dispatch.map, id, positions, used, c->spares > 0))
            abort();
    }
    for (uint32_t r = 0; r < ranks; r++) {
        struct cluster_node *n = cluster_of(c, id, r);
        n->jobs[id]->procs[r].pid = (int)(1000 + r);
        c->at[id][r] = n->router.config.me;
        c->peers[id][r] = server_peer_new(&n->server, n->jobs[id], r, false, NULL);
        if (c->started && r >= c->started)
            continue;
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

/* ---- the host -------------------------------------------------------------------------------- */

static void cluster_kill(struct cluster *c, uint32_t node, const struct op_kill *e)
{
    struct cluster_node *n = &c->nodes[node];
    struct job *j = cluster_job_at(c, node, e->job);

    n->kills++;
    if (node == 0)
        job_states_kill(&n->dispatch.context, j);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (job_rank_is_here(j, r) && j->procs[r].state != PROC_STATE_GONE)
            server_deliver(&n->server, INPUT(proc_state, .job = j->id, .rank = r,
                                             .event = PROC_EVENT_DEATH, .code = 15));
    }
}

/* The rank has a new process, whose connection is a new one. */
static void cluster_restart(struct cluster *c, uint32_t node, const struct op_restart *e)
{
    struct cluster_node *n = &c->nodes[node];
    struct job *j = cluster_job_at(c, node, e->job);
    struct peer **p = &c->peers[e->job][e->rank];

    server_peer_free(&c->nodes[c->at[e->job][e->rank]].server, *p);
    c->at[e->job][e->rank] = node;
    *p = server_peer_new(&n->server, j, e->rank, false, NULL);
    server_deliver(&n->server,
                   INPUT(proc_state, .job = j->id, .rank = e->rank, .event = PROC_EVENT_STARTED,
                         .code = (int)j->procs[e->rank].restarts, .pid = 1));
}

static void cluster_carry_out(struct cluster *c, uint32_t node, struct effect *e)
{
    struct cluster_node *n = &c->nodes[node];

    if (e->kind == EFFECT_contribute) {
        c->contributions++;
        c->bytes += (unsigned)buf_len(&e->u.contribute.contribution->block);
    }
    c->fetches += e->kind == EFFECT_modex_request;
    if (c->host && c->host->effect && c->host->effect(n, e)) {
        effect_drop(e);
        return;
    }
    if (e->kind == EFFECT_modex_ahead)
        c->ahead += (unsigned)e->u.modex_ahead.block.len;
    if (e->kind == EFFECT_kill)
        cluster_kill(c, node, &e->u.kill);
    else if (e->kind == EFFECT_job_ended)
        n->ends++;
    else if (e->kind == EFFECT_restart)
        cluster_restart(c, node, &e->u.restart);
    else if (e->kind == EFFECT_signal)
        ; /* the test lets the process die */
    else if (!dispatch_effect(&n->dispatch, e, n->now))
        OK_F(false, "nobody carries out effect %d", (int)e->kind);
    effect_drop(e);
}

static void cluster_effects(struct cluster *c)
{
    struct effect e;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        if (c->nodes[i].gone)
            continue;
        while (server_effect(&c->nodes[i].server, &e))
            cluster_carry_out(c, i, &e);
        dispatch_settle(&c->nodes[i].dispatch);
    }
}

/* The next message: the first one on a link that the seed picks. */
static struct cluster_message *cluster_next(struct cluster *c)
{
    struct cluster_message *chosen = NULL;
    uint32_t n = 0;

    LIST_EACH(l, &c->messages)
    {
        struct cluster_message *m = LIST_OF(l, struct cluster_message, link);
        if (rand_below(&c->rand, ++n) == 0)
            chosen = m;
    }
    LIST_EACH(k, &c->messages)
    {
        struct cluster_message *m = LIST_OF(k, struct cluster_message, link);
        if (m->end == chosen->end)
            return m;
    }
    return chosen;
}

static void cluster_deliver(struct cluster *c, struct cluster_message *m)
{
    struct router_link *l = m->end;
    struct router *r = &l->node->router;

    if (l->node->gone || list_empty(&l->link))
        return;
    switch (m->kind) {
    case CLUSTER_UP:
        l->up = true;
        router_link_up(r, l, c->now);
        break;
    case CLUSTER_BYTES: router_bytes(r, l, slice_mem(m->bytes, m->len), c->now); break;
    case CLUSTER_CLOSED:
        list_unlink(&l->link);
        router_link_down(r, l, ROUTER_DOWN_CLOSED, "closed");
        break;
    case CLUSTER_BROKEN:
        list_unlink(&l->link);
        router_link_down(r, l, ROUTER_DOWN_BROKEN, "broken");
        break;
    }
}

/* Delivers one message, and carries out what it causes.  False: there is none. */
static bool cluster_step(struct cluster *c)
{
    struct cluster_message *m;

    if (list_empty(&c->messages))
        return false;
    m = cluster_next(c);
    list_unlink(&m->link);
    cluster_deliver(c, m);
    free(m);
    cluster_effects(c);
    return true;
}

/* Nothing is on its way: the time passes that somebody waits for.  False: nobody does. */
static bool cluster_wait(struct cluster *c)
{
    bool some = false;

    for (uint32_t i = 0; i < c->nnodes; i++) {
        struct cluster_node *n = &c->nodes[i];
        bool batch = n->batch, overdue = n->overdue;
        uint64_t wake_ns = n->wake_ns;
        n->batch = n->overdue = false;
        n->wake_ns = 0;
        if (n->gone)
            continue;
        some = some || batch || overdue || wake_ns;
        c->now = c->now < wake_ns ? wake_ns : c->now;
        if (batch)
            dispatch_tick(&n->dispatch);
        if (overdue)
            membership_overdue(&n->member);
        if (wake_ns)
            router_tick(&n->router, c->now);
    }
    return some;
}

static void cluster_settle(struct cluster *c)
{
    do {
        cluster_effects(c);
        while (cluster_step(c))
            continue;
    } while (cluster_wait(c));
}

/* The node is gone: all its links break. */
__attribute__((unused)) static void cluster_die(struct cluster *c, uint32_t node)
{
    c->nodes[node].gone = true;
    LIST_EACH(l, &c->nodes[node].links)
    cluster_drop(LIST_OF(l, struct router_link, link));
}

/* ---- processes ------------------------------------------------------------------------------- */

__attribute__((unused)) static void cluster_write(struct cluster *c, uint32_t job, uint32_t rank,
                                                  struct slice bytes)
{
    struct cluster_node *n = cluster_of(c, job, rank);

    server_deliver(&n->server,
                   INPUT_AT(++n->now, in, .connection = c->peers[job][rank]->id, .bytes = bytes));
    cluster_settle(c);
}

__attribute__((unused)) static const char *cluster_received(struct cluster *c, uint32_t job,
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
    struct replay *r = replay_new(CLUSTER_STORE);
    struct replay_count count = { 0 };
    struct errmsg err = { "" };
    int rc = replay_feed(r, buf_slice(&n->recording), &err);

    if (rc == REPLAY_SAME)
        rc = replay_end(r, &count, &err);
    if (rc != REPLAY_SAME || !count.ended || !buf_ok(&n->recording))
        OK_F(false, "the recording of node %u plays back: %s", number, err.text);
    replay_free(r);
}

/* For who judges recordings by the rules alone (tests/e2e/audit.py): as those of a launcher and its
 * daemons are, in the folder that WU_RECORDINGS names. */
static void cluster_save(const struct cluster_node *n, uint32_t number, unsigned run)
{
    const char *folder = getenv("WU_RECORDINGS");
    struct slice all = buf_slice(&n->recording);
    char path[600];
    FILE *f;

    if (!folder)
        return;
    snprintf(path, sizeof path, number ? "%s/%u.%s" : "%s/%u", folder, run, cluster_names[number]);
    f = fopen(path, "wb");
    if (!f || fwrite(all.ptr, 1, all.len, f) != all.len)
        OK_F(false, "cannot write %s", path);
    if (f)
        fclose(f);
}

static void cluster_close_node(struct cluster *c, uint32_t i, unsigned run)
{
    struct cluster_node *n = &c->nodes[i];

    server_record_end(&n->server);
    cluster_play_back(n, i);
    cluster_save(n, i, run);
    buf_free(&n->recording);
    dispatch_close(&n->dispatch);
    membership_close(&n->member);
    router_close(&n->router);
    server_free(&n->server);
    for (uint32_t k = 0; k < c->njobs; k++)
        seg_memory_close(&n->regions[k]);
}

__attribute__((unused)) static void cluster_close(struct cluster *c)
{
    static unsigned run;

    cluster_settle(c);
    OK_F(c->log.count == 0, "no router and no member has logged an error");
    for (uint32_t i = 0; i < c->nnodes; i++) {
        if (c->nodes[i].opened)
            cluster_close_node(c, i, run);
    }
    run++;
    for (uint32_t i = 0; i < c->npairs; i++)
        free(c->pairs[i]);
}

#endif
