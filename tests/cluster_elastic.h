/* cluster_elastic.h - the daemons of tests/cluster.h as a DVM: nodes join, started by their parents
 * or by themselves, and leave, are lost with their processes, or lose the root; jobs begin and end
 * by the messages of the root; processes spawn, and are ended by aborts.
 *
 * What a launcher and its daemons do beside the server is done here in a few lines, in the same
 * order (daemon/job_handlers.c, job_shutdown.c, node_failure.c, signals.c, spawning.c).  When a
 * node that joins is there, and when a process that was killed ends, a seed decides. */
#ifndef WIREUP_TESTS_CLUSTER_ELASTIC_H
#define WIREUP_TESTS_CLUSTER_ELASTIC_H

#include <signal.h>

#include "core/input.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_map_pack.h"
#include "core/job_restart.h"
#include "tests/cluster_pmix.h"

enum { ELASTIC_LOST = 9 };

/* How a process has ended: `code` of the event. */
struct elastic_proc {
    bool runs, ended, lost; /* lost: with its node, which may have reported an end before */
    int doomed;             /* the signal that it has got; 0: none */
    enum proc_event event;
    int code;
};

/* What the host does wrong: controls. */
enum elastic_fault {
    ELASTIC_NO_FAULT,
    ELASTIC_MISSES,       /* a node that joins begins behind what it should be told */
    ELASTIC_NOT_REPEATED, /* ... is not told of the jobs that are there */
    ELASTIC_KEEPS_JOBS,   /* nodes do not forget jobs that are over */
    ELASTIC_OTHER_STATUS, /* they report other exit statuses than those of the processes */
    ELASTIC_TWICE,        /* of the test: processes get some answers twice */
    ELASTIC_SPAWN_UNTOLD, /* the root does not answer spawns */
    ELASTIC_ABORT_UNTOLD, /* other nodes do not hear that a job has to end */
    ELASTIC_ABORT_ALL,    /* an abort ends all jobs */
    ELASTIC_NAMES_LOST,   /* the root does not hear of what others publish */
    ELASTIC_NOT_AGAIN,    /* processes that are to be started again are not */
    ELASTIC_STAYS         /* processes of nodes that have lost the root go on */
};

struct elastic {
    struct cluster c;
    enum elastic_fault fault;
    uint32_t parents[CLUSTER_NODES]; /* of nodes that join */
    bool waits[CLUSTER_NODES];       /* its parent is about to start it */
    bool dials_in;                   /* nodes that join are started by nobody ... */
    bool comes[CLUSTER_NODES];       /* ... it has its record, and no link yet ... */
    bool late[CLUSTER_NODES];        /* ... and gets one when nobody expects it any more */
    bool leaves[CLUSTER_NODES];
    bool asked[CLUSTER_JOBS]; /* its spawn has no answer yet */
    uint64_t tickets[CLUSTER_JOBS];
    bool over[CLUSTER_JOBS]; /* at the root */
    unsigned starts[CLUSTER_JOBS][CLUSTER_RANKS];
    int codes[CLUSTER_JOBS];        /* ... then */
    uint32_t spawner[CLUSTER_JOBS]; /* the job that has spawned it; JOB_NO_RANK: none */
    bool ended_early[CLUSTER_JOBS]; /* before its spawner had an answer */
    bool not_started[CLUSTER_JOBS]; /* its spawner has been told so */
    struct elastic_proc procs[CLUSTER_JOBS][CLUSTER_RANKS];
    uint32_t sizes[CLUSTER_JOBS];
    bool top_is_lost;  /* all others have to end */
    const char *wrong; /* NULL: nothing */
};

static struct elastic *elastic_of(const struct cluster_node *n)
{
    return LIST_OF(n->cluster, struct elastic, c);
}

static uint32_t elastic_me(const struct cluster_node *n)
{
    return n->router.config.me;
}

static void elastic_wrong(struct elastic *e, const char *what)
{
    e->wrong = e->wrong ? e->wrong : what;
}

/* A node that jobs may use. */
static bool elastic_is_usable(const struct elastic *e, uint32_t p)
{
    const struct cluster_node *top = &e->c.nodes[0];

    return p < e->c.nnodes && !e->leaves[p] && membership_has(&top->member, p) &&
           !router_is_lost(&top->router, p);
}

/* ---- processes ------------------------------------------------------------------------------- */

static void elastic_began(struct cluster_node *n, struct job *j, uint32_t rank)
{
    struct elastic *e = elastic_of(n);

    e->procs[j->id][rank] = (struct elastic_proc){ .runs = true };
    e->c.at[j->id][rank] = elastic_me(n);
    e->starts[j->id][rank]++;
}

static void elastic_start_procs(struct cluster_node *n, struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (!job_rank_is_here(j, r))
            continue;
        n->cluster->peers[j->id][r] = server_peer_new(&n->server, j, r, false, NULL);
        elastic_began(n, j, r);
        server_proc_state(&n->server, j, r, PROC_EVENT_STARTED, 0, (int)(1000 + j->id * 100 + r));
    }
}

static void elastic_hang_up(struct elastic *e, uint32_t job, uint32_t rank)
{
    struct cluster_node *n = &e->c.nodes[e->c.at[job][rank]];
    struct peer **p = &e->c.peers[job][rank];

    if (!*p)
        return;
    server_hangup(&n->server, *p);
    *p = server_peer_free(&n->server, *p);
}

/* Its connection closes before its end is known, or later. */
static void elastic_end_proc(struct elastic *e, uint32_t job, uint32_t rank, enum proc_event event,
                             int code)
{
    struct elastic_proc *p = &e->procs[job][rank];
    struct cluster_node *n = &e->c.nodes[e->c.at[job][rank]];
    bool first = rand_below(&e->c.rand, 2);

    if (!p->runs)
        return;
    *p = (struct elastic_proc){ .ended = true, .event = event, .code = code };
    if (first)
        elastic_hang_up(e, job, rank);
    code += e->fault == ELASTIC_OTHER_STATUS;
    server_proc_state(&n->server, n->jobs[job], rank, event, code, 0);
    if (!first)
        elastic_hang_up(e, job, rank);
}

static void elastic_lose_procs(struct elastic *e, uint32_t node)
{
    if (e->fault == ELASTIC_STAYS && e->top_is_lost)
        return;
    for (uint32_t j = 0; j < e->c.njobs; j++) {
        for (uint32_t r = 0; r < e->sizes[j]; r++) {
            struct elastic_proc *p = &e->procs[j][r];
            if (e->c.at[j][r] != node || (!p->runs && !p->ended))
                continue;
            p->runs = false;
            p->lost = true;
            p->doomed = 0;
        }
    }
}

static void elastic_signal(struct cluster_node *n, const struct job *j, uint32_t rank, int sig)
{
    struct elastic *e = elastic_of(n);

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        struct elastic_proc *p = &e->procs[j->id][r];
        if (job_rank_is_here(j, r) && (rank == JOB_NO_RANK || rank == r) && p->runs && !p->doomed)
            p->doomed = sig;
    }
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static struct job *elastic_add_job(struct cluster_node *n, struct job_order *o)
{
    struct seg_region *region = &n->regions[o->id];

    if (seg_memory_open(CLUSTER_STORE, region) < 0)
        abort();
    o->region = region;
    o->numbered = true;
    n->jobs[o->id] = server_job_order(&n->server, o);
    if (!n->jobs[o->id])
        abort();
    return n->jobs[o->id];
}

static void elastic_forget(struct cluster_node *n, uint32_t id)
{
    struct elastic *e = elastic_of(n);

    node_map_drop(&n->dispatch.map, id);
    if (!n->jobs[id])
        return;
    for (uint32_t r = 0; r < e->sizes[id]; r++) {
        if (e->c.at[id][r] == elastic_me(n) && job_rank_is_here(n->jobs[id], r)) {
            if (e->procs[id][r].runs)
                elastic_wrong(e, "a job is over, and has a process");
            elastic_hang_up(e, id, r);
        }
    }
    server_job_gone(&n->server, n->jobs[id]);
    membership_forget(&n->member);
    seg_memory_close(&n->regions[id]);
    n->jobs[id] = NULL;
}

static void elastic_on_job(struct cluster_node *n, const struct op_job *m)
{
    struct errmsg err;
    struct job_map plan;
    char name[16];
    struct job_order o = { .nspace = name,
                           .plan = &plan,
                           .parent = (uint32_t)m->parent,
                           .parent_rank = (uint32_t)m->parent_rank,
                           .keep_going = m->keep_going,
                           .here = node_map_here(m->positions.items, m->positions.n, elastic_me(n)),
                           .follows = true,
                           .id = (uint32_t)m->job,
                           .base = (uint32_t)m->base,
                           .epoch = m->epoch };

    if (n->jobs[o.id])
        return;
    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(m->nspace));
    if (job_map_unpack(m->plan, &plan, &err) != 0) {
        OK_F(false, "the map of job %u can be read: %s", o.id, err.text);
        return;
    }
    if (!node_map_keep(&n->dispatch.map, o.id, m->positions.items, m->positions.n,
                       n->cluster->restarts > 0))
        abort();
    elastic_start_procs(n, elastic_add_job(n, &o));
}

static void elastic_announce(struct cluster_node *top, const struct job *j)
{
    struct buf plan = BUF_NULL(1 << 20);
    uint32_t positions[CLUSTER_NODES];
    struct msg m = MSG_WITH(job, .job = j->id, .base = j->base, .nspace = slice_str(j->nspace),
                            .parent = j->parent, .parent_rank = j->parent_rank,
                            .positions = { positions, j->plan.nnodes }, .keep_going = j->keep_going,
                            .epoch = j->epoch);

    for (uint32_t i = 0; i < j->plan.nnodes; i++)
        positions[i] = node_map_position(&top->dispatch.map, j->id, i);
    job_map_pack(&j->plan, &plan);
    m.u.job.plan = buf_slice(&plan);
    send_queue_to(&top->dispatch.queue, &m, MSG_EVERYBODY);
    buf_free(&plan);
}

/* Some of the nodes that are there, in any order; all of them at times. */
static uint32_t elastic_choose_nodes(struct elastic *e, uint32_t most, uint32_t *positions)
{
    uint32_t n = 0, all = 0, wanted;

    for (uint32_t p = 0; p < e->c.nnodes; p++) {
        if (elastic_is_usable(e, p))
            positions[all++] = p;
    }
    wanted = 1 + (uint32_t)rand_below(&e->c.rand, all < most ? all : most);
    for (; n < wanted; n++) {
        uint32_t k = n + (uint32_t)rand_below(&e->c.rand, all - n), p = positions[n];
        positions[n] = positions[k];
        positions[k] = p;
    }
    return n;
}

/* As a launcher's, which travels. */
static void elastic_plan(struct job_map *p, uint32_t ranks, uint32_t nodes)
{
    static char program[] = "program", *argv[] = { program, NULL }, *env[] = { NULL };

    cluster_plan(p, ranks, nodes, true);
    p->apps[0].argv = argv;
    p->apps[0].argc = 1;
    p->apps[0].env = env;
}

/* A job on some of the nodes; NULL: there are too many jobs. */
static struct job *elastic_begin_job(struct elastic *e, uint32_t ranks, const struct job *parent,
                                     uint32_t parent_rank, bool keep_going)
{
    struct cluster_node *top = &e->c.nodes[0];
    uint32_t positions[CLUSTER_NODES], n = elastic_choose_nodes(e, ranks, positions);
    char name[16];
    struct job_map plan;
    struct job_order o = { .nspace = name,
                           .plan = &plan,
                           .parent = parent ? parent->id : JOB_NO_RANK,
                           .parent_rank = parent_rank,
                           .keep_going = keep_going,
                           .here = node_map_here(positions, n, 0),
                           .id = e->c.njobs,
                           .base = e->c.njobs * 1000 };
    struct job *j;

    if (e->c.njobs == CLUSTER_JOBS)
        return NULL;
    e->spawner[e->c.njobs] = o.parent;
    e->sizes[e->c.njobs++] = ranks;
    snprintf(name, sizeof name, "job%u", o.id);
    elastic_plan(&plan, ranks, n);
    plan.apps[0].restarts = e->c.restarts;
    if (!node_map_keep(&top->dispatch.map, o.id, positions, n, e->c.restarts > 0))
        abort();
    j = elastic_add_job(top, &o);
    elastic_announce(top, j);
    elastic_start_procs(top, j);
    return j;
}

/* What the root knows of the end of each process is what its node has seen.  Of one whose node was
 * lost, perhaps before it could start it, that may be the loss, or that it was not started. */
static void elastic_check_exits(struct elastic *e, const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        const struct elastic_proc *p = &e->procs[j->id][r];
        const struct proc *known = &j->procs[r];
        bool same = known->signalled == (p->event == PROC_EVENT_DEATH) && known->code == p->code;
        bool loss = known->signalled && known->code == ELASTIC_LOST;
        bool lost = (p->lost || !p->ended) && (loss || proc_was_not_started(known));

        if (known->state != PROC_STATE_GONE)
            elastic_wrong(e, "a job has ended, and a process of it has not");
        else if (!lost && !(p->ended && same))
            elastic_wrong(e, "an exit status is not that of the process");
    }
}

static bool elastic_all_tried(const struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].state == PROC_STATE_PLANNED)
            return false;
    }
    return true;
}

static void elastic_answer_spawn(struct cluster_node *top, uint64_t ticket, const struct job *j,
                                 bool failed)
{
    const struct elastic *e = elastic_of(top);
    struct answer a = ANSWER_TO(spawn, failed ? ANSWER_FAILED : ANSWER_OK,
                                .nspace = j ? slice_str(j->nspace) : SLICE_NULL,
                                .failure = failed ? SPAWN_NOT_STARTED : 0);

    if (e->fault == ELASTIC_SPAWN_UNTOLD)
        return;
    if (!rpc_answer(&top->dispatch.rpc, ticket, &a))
        server_answer(&top->server, ticket, &a);
}

static bool elastic_has_failed_start(const struct job *j)
{
    bool failed = false;

    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        failed = failed || proc_was_not_started(&j->procs[r]);
    return failed;
}

static void elastic_on_states(struct cluster_node *n, struct job *j)
{
    struct elastic *e = elastic_of(n);
    bool failed;

    if (elastic_me(n) || !e->asked[j->id] || !elastic_all_tried(j))
        return;
    failed = elastic_has_failed_start(j);
    e->asked[j->id] = false;
    e->not_started[j->id] = failed;
    elastic_answer_spawn(n, e->tickets[j->id], j, failed);
    if (!failed && e->ended_early[j->id])
        server_abort_connected(&n->server, j);
}

static void elastic_on_spawn(struct cluster_node *top, const struct op_spawn *s)
{
    struct elastic *e = elastic_of(top);
    const struct job *parent = core_job(&top->server.core, s->job);
    bool keep_going =
        spawn_info_of_all(s->request->commands, s->request->ncommands, SPAWN_RECOVERABLE).len;
    struct job *j = parent ? elastic_begin_job(e, (uint32_t)spawn_nprocs(s->request), parent,
                                               s->request->requestor, keep_going)
                           : NULL;

    if (!j) {
        elastic_answer_spawn(top, s->ticket, NULL, true);
        return;
    }
    e->asked[j->id] = true;
    e->tickets[j->id] = s->ticket;
    elastic_on_states(top, j);
}

/* ---- effects --------------------------------------------------------------------------------- */

static void elastic_kill(struct cluster_node *n, struct job *j)
{
    struct elastic *e = elastic_of(n);

    n->kills++;
    if (!j->follows) {
        if (e->asked[j->id])
            e->ended_early[j->id] = true;
        else
            server_abort_connected(&n->server, j);
        if (e->fault != ELASTIC_ABORT_UNTOLD)
            job_states_kill(&n->dispatch.context, j);
    }
    for (uint32_t i = 0; e->fault == ELASTIC_ABORT_ALL && i < e->c.njobs; i++) {
        if (n->jobs[i])
            elastic_signal(n, n->jobs[i], JOB_NO_RANK, SIGTERM);
    }
    elastic_signal(n, j, JOB_NO_RANK, SIGTERM);
}

/* All nodes forget it. */
static void elastic_job_ended(struct cluster_node *n, struct job *j)
{
    struct elastic *e = elastic_of(n);
    struct msg m = MSG_WITH(job_done, .job = j->id);

    if (j->follows)
        return;
    elastic_on_states(n, j);
    elastic_check_exits(e, j);
    e->over[j->id] = true;
    e->codes[j->id] = job_exit_code(j);
    send_queue_to(&n->dispatch.queue, &m, MSG_EVERYBODY);
    elastic_forget(n, (uint32_t)m.u.job_done.job);
}

static void elastic_signal_all(struct cluster_node *n, const struct job *j,
                               const struct op_signal *s)
{
    struct msg m = MSG_WITH(signal, .job = s->job, .rank = s->rank, .signal = s->signal,
                            .ends_procs = s->ends_procs);

    elastic_signal(n, j, s->rank, s->signal);
    send_queue_to(&n->dispatch.queue, &m, MSG_EVERYBODY);
}

static void elastic_on_signal(struct cluster_node *n, const struct op_signal *m)
{
    const struct job *j = core_job(&n->server.core, m->job);

    if (!j)
        return;
    if (m->ends_procs)
        server_deliver(&n->server, INPUT(signal, .job = m->job, .rank = m->rank,
                                         .signal = m->signal, .ends_procs = true));
    elastic_signal(n, j, m->rank, m->signal);
}

/* The rank has a new process. */
static void elastic_restart(struct cluster_node *n, struct job *j, uint32_t rank)
{
    struct elastic *e = elastic_of(n);
    struct peer **p = &e->c.peers[j->id][rank];

    if (e->fault == ELASTIC_NOT_AGAIN)
        return;
    if (*p)
        server_peer_free(&e->c.nodes[e->c.at[j->id][rank]].server, *p);
    *p = server_peer_new(&n->server, j, rank, false, NULL);
    elastic_began(n, j, rank);
    server_proc_state(&n->server, j, rank, PROC_EVENT_STARTED, (int)j->procs[rank].restarts,
                      (int)(1000 + j->id * 100 + rank));
}

/* ---- a node takes the place of a lost one ---------------------------------------------------- */

static uint32_t elastic_spare(const struct elastic *e, const struct job *j)
{
    for (uint32_t p = 1; p < e->c.nnodes; p++) {
        if (elastic_is_usable(e, p) &&
            node_map_node(&e->c.nodes[0].dispatch.map, j, p) == JOB_NONE_HERE)
            return p;
    }
    return 0;
}

static bool elastic_replaces(struct cluster_node *n, const struct job *j, uint32_t lost)
{
    const struct elastic *e = elastic_of(n);
    uint32_t node = node_map_node(&n->dispatch.map, j, lost), ranks[CLUSTER_RANKS];
    uint32_t times[CLUSTER_RANKS], count, spare;
    struct msg m = { .kind = MSG_node_replaced };

    if (elastic_me(n) || !e->c.restarts || node == JOB_NONE_HERE || j->phase != JOB_RUNNING)
        return false;
    spare = elastic_spare(e, j);
    if (!spare || !job_list_moving(j, node, ranks, times, &count) || !count)
        return false;
    server_node_down(&n->server, j, node);
    m.u.node_replaced = (struct op_node_replaced){ .job = j->id,
                                                   .node = node,
                                                   .position = spare,
                                                   .name = slice_str(cluster_names[spare]),
                                                   .ranks = { ranks, count },
                                                   .times = { times, count } };
    send_queue_to(&n->dispatch.queue, &m, MSG_EVERYBODY);
    cluster_replace(n, &m.u.node_replaced);
    return true;
}

static bool elastic_effect(struct cluster_node *n, const struct effect *e)
{
    struct job *j = core_job(&n->server.core, effect_job(e));

    switch (e->kind) {
    case EFFECT_kill: elastic_kill(n, j); return true;
    case EFFECT_job_ended: elastic_job_ended(n, j); return true;
    case EFFECT_signal:
        if (j)
            elastic_signal_all(n, j, &e->u.signal);
        return true;
    case EFFECT_restart:
        if (j)
            elastic_restart(n, j, e->u.restart.rank);
        return true;
    case EFFECT_spawn:
        if (elastic_me(n))
            return false;
        elastic_on_spawn(n, &e->u.spawn);
        return true;
    default: return false;
    }
}

/* ---- nodes that join and leave --------------------------------------------------------------- */

static void elastic_on_grow(struct cluster_node *n, uint32_t position, uint32_t parent)
{
    struct elastic *e = elastic_of(n);

    if (parent == elastic_me(n))
        e->waits[position] = true;
}

/* It begins with what that one knows now. */
static void elastic_open_node(struct elastic *e, uint32_t p, struct cluster_node *above)
{
    uint64_t missed = e->fault == ELASTIC_MISSES ? 6 : 0;

    above->member.overlay.last_broadcast += missed;
    cluster_open_node(&e->c, p, above);
    above->member.overlay.last_broadcast -= missed;
}

/* A node has asked the root, as those of `wireupd --join` do (launch/joins.h): it gets the next
 * position and a record, and links to the root at some time after that. */
static void elastic_dial_in(struct elastic *e)
{
    uint32_t p = e->c.nnodes++;

    elastic_open_node(e, p, &e->c.nodes[0]);
    e->comes[p] = true;
    e->late[p] = rand_below(&e->c.rand, 8) == 0;
}

/* The next position gets a node, once its parent is a member.  False: not now. */
static bool elastic_grow(struct elastic *e)
{
    struct cluster_node *top = &e->c.nodes[0];
    uint32_t p = e->c.nnodes;
    uint32_t parent = tree_living_parent(e->c.width, p, top->member.overlay.lost);
    struct msg m = { .kind = MSG_grow };

    if (e->top_is_lost || p == e->c.places || !membership_has(&top->member, parent))
        return false;
    if (e->dials_in) {
        elastic_dial_in(e);
        return true;
    }
    e->c.nnodes++;
    e->c.nodes[p].gone = true; /* until it starts */
    e->parents[p] = parent;
    m.u.grow.positions = (struct part_uints){ &p, 1 };
    m.u.grow.parents = (struct part_uints){ &parent, 1 };
    if (membership_broadcast(&top->member, &m) < 0)
        abort();
    elastic_on_grow(top, p, parent);
    return true;
}

static void elastic_start_node(struct elastic *e, uint32_t p)
{
    struct cluster_node *n = &e->c.nodes[p], *above = &e->c.nodes[e->parents[p]];

    e->waits[p] = false;
    if (above->gone)
        return;
    elastic_open_node(e, p, above);
    router_join(&n->router, cluster_join(n, elastic_me(above)));
}

static bool elastic_may_come(const struct elastic *e, uint32_t p)
{
    const struct cluster_node *top = &e->c.nodes[0];

    return e->comes[p] && (!e->late[p] || top->gone || router_is_lost(&top->router, p));
}

/* One of those that have asked gets its link, in any order.  False: there is none. */
static bool elastic_come(struct elastic *e)
{
    uint32_t chosen = 0, n = 0;

    for (uint32_t p = 1; p < e->c.nnodes; p++) {
        if (elastic_may_come(e, p) && rand_below(&e->c.rand, ++n) == 0)
            chosen = p;
    }
    if (!n)
        return false;
    e->comes[chosen] = false;
    if (!e->c.nodes[chosen].gone)
        router_join(&e->c.nodes[chosen].router, cluster_join(&e->c.nodes[chosen], 0));
    return true;
}

static void elastic_on_ready(struct cluster_node *top, uint32_t position)
{
    if (membership_has(&top->member, position))
        return;
    membership_welcome(&top->member, position);
    for (uint32_t i = 0; i < top->cluster->njobs; i++) {
        if (elastic_of(top)->fault == ELASTIC_NOT_REPEATED || !top->jobs[i] ||
            top->jobs[i]->phase == JOB_ENDED)
            continue;
        elastic_announce(top, top->jobs[i]);
        job_states_repeat(&top->dispatch.context, top->jobs[i]);
    }
}

/* A node without processes is asked to leave.  False: it is not. */
static bool elastic_leave(struct elastic *e, uint32_t p)
{
    struct msg m = MSG_WITH(leave, .position = p);

    if (!p || !elastic_is_usable(e, p))
        return false;
    for (uint32_t j = 0; j < e->c.njobs; j++) {
        const struct job *of = e->c.nodes[0].jobs[j];
        if (of && node_map_node(&e->c.nodes[0].dispatch.map, of, p) != JOB_NONE_HERE)
            return false;
    }
    e->leaves[p] = true;
    if (membership_broadcast(&e->c.nodes[0].member, &m) < 0)
        abort();
    return true;
}

static void elastic_on_leave(struct cluster_node *n, uint32_t position)
{
    struct msg m = { .kind = MSG_leaves, .to = 0 };

    if (position != elastic_me(n))
        return;
    membership_leave(&n->member);
    if (router_send(&n->router, &m) < 0)
        elastic_wrong(elastic_of(n), "a node cannot say that it leaves");
}

static void elastic_die(struct elastic *e, uint32_t node)
{
    if (e->c.nodes[node].gone)
        return;
    elastic_lose_procs(e, node);
    cluster_die(&e->c, node);
}

static void elastic_on_end(struct cluster_node *n)
{
    struct elastic *e = elastic_of(n);

    if (!e->leaves[elastic_me(n)] && !e->late[elastic_me(n)] && !e->top_is_lost)
        elastic_wrong(e, "a node ends by itself");
    elastic_die(e, elastic_me(n));
}

/* Nodes that have not come, and never will. */
static bool elastic_give_up(struct elastic *e)
{
    struct membership *top = &e->c.nodes[0].member;
    bool some = false;

    for (uint32_t p = 1; p < e->c.nnodes && !e->c.nodes[0].gone; p++) {
        if (membership_has(top, p) || tree_is_lost(top->overlay.lost, p))
            continue;
        membership_lose(top, p);
        some = true;
    }
    return some;
}

static bool elastic_message(struct cluster_node *n, const struct msg *m)
{
    switch (m->kind) {
    case MSG_grow:
        elastic_on_grow(n, m->u.grow.positions.items[0], m->u.grow.parents.items[0]);
        return true;
    case MSG_leave: elastic_on_leave(n, m->u.leave.position); return true;
    case MSG_leaves: membership_lose(&n->member, m->from); return true;
    case MSG_job: elastic_on_job(n, &m->u.job); return true;
    case MSG_job_done:
        if (elastic_of(n)->fault == ELASTIC_KEEPS_JOBS)
            return true;
        elastic_forget(n, (uint32_t)m->u.job_done.job);
        return true;
    case MSG_signal: elastic_on_signal(n, &m->u.signal); return true;
    case MSG_names: return elastic_of(n)->fault == ELASTIC_NAMES_LOST;
    default: return false;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* One of the nodes that are to start, or processes that are to end.  False: there is none. */
static bool elastic_happen(struct elastic *e)
{
    for (uint32_t p = 0; p < e->c.nnodes; p++) {
        if (e->waits[p]) {
            elastic_start_node(e, p);
            return true;
        }
    }
    if (elastic_come(e))
        return true;
    for (uint32_t j = 0; j < e->c.njobs; j++) {
        for (uint32_t r = 0; r < e->sizes[j]; r++) {
            int sig = e->procs[j][r].doomed;
            if (sig) {
                elastic_end_proc(e, j, r, PROC_EVENT_DEATH, sig);
                return true;
            }
        }
    }
    return false;
}

/* False: nothing is on its way. */
static bool elastic_step(struct elastic *e)
{
    cluster_effects(&e->c);
    return (rand_below(&e->c.rand, 6) == 0 && elastic_happen(e)) || cluster_step(&e->c) ||
           elastic_happen(e);
}

static void elastic_settle(struct elastic *e)
{
    do {
        do {
            cluster_settle(&e->c);
        } while (elastic_happen(e));
    } while (elastic_give_up(e));
}

/* ---- beginning ------------------------------------------------------------------------------- */

static const struct cluster_host elastic_host = { .message = elastic_message,
                                                  .effect = elastic_effect,
                                                  .spawn = elastic_on_spawn,
                                                  .ready = elastic_on_ready,
                                                  .end = elastic_on_end,
                                                  .states = elastic_on_states,
                                                  .replaces = elastic_replaces };

/* dials_in: nodes that join come by themselves; then all are children of the root, and fences take
 * the tree, as of a DVM with a token. */
static void elastic_open(struct elastic *e, uint32_t nodes, uint32_t places, uint64_t seed,
                         bool dials_in)
{
    cluster_open_places(&e->c, nodes, places, dials_in ? places : CLUSTER_WIDTH, seed,
                        dials_in ? OVERLAY_TREE : (enum overlay_schedule)(seed % 3));
    e->dials_in = dials_in;
    e->c.host = &elastic_host;
}

#endif
