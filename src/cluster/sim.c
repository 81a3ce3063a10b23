/* sim.c - see sim.h.  Reading order: the program on each node; the functions of the nodes for their
 * members; failures; the event loop; beginning and end; invariants.  The network is sim_net.h.
 */
#include "cluster/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "cluster/msg.h"
#include "cluster/overlay_codec.h"
#include "cluster/sim_calls.h"
#include "cluster/sim_groups.h"
#include "cluster/sim_net.h"
#include "cluster/sim_phases.h"
#include "cluster/sim_store.h"
#include "core/effect.h"

/* Of virtual time: what has not come to its end then never does. */
#define SIM_FOREVER_NS (UINT64_C(3600) * 1000000000)

void sim_defaults(struct sim_config *c)
{
    *c = (struct sim_config){ .nodes = 64,
                              .ranks = 8,
                              .width = 32,
                              .seed = 1,
                              .rounds = 1,
                              .sets = 1,
                              .card = 248,
                              .latency_ns = 20000,
                              .overhead_ns = 5000,
                              .byte_ps = 800,
                              .link_ns = 200000,
                              .notice_ns = 1000000 };
}

bool sim_only_phases(const struct sim_config *c)
{
    return c->rounds == 1 && c->sets == 1 && !c->kills && !c->cuts && !c->slow && !c->grows &&
           !c->leaves && !c->takeovers && !c->reports && !c->broadcasts && !c->requests &&
           !c->groups && !c->store && !c->jitter_ns && !c->dial_in && !c->inquiry &&
           !c->connectivity;
}

/* An error that a router or a member logs must not happen. */
static void on_log(struct log_out *out, const char *text, size_t len)
{
    struct sim *s = LIST_OF(out, struct sim, log_out);

    sim_violated(s, "%.*s", (int)len, text);
}

/* ---- the program ----------------------------------------------------------------------------- */

struct sim_block {
    uint32_t set, round, position, pad;
};

static bool leaves_values(const struct sim *s, uint32_t set)
{
    return set == 0 && s->connectivity.kind != CONNECTIVITY_ALL;
}

static struct block_set *make_block(const struct sim *s, uint32_t set, uint32_t round, uint32_t p)
{
    struct sim_block b = { set, round, p, 0 };
    uint64_t bytes = s->c.card * s->c.ranks;

    if (bytes == 0 || (s->c.barrier_first && round == 0) || leaves_values(s, set))
        return NULL;
    if (s->c.modelled)
        return block_set_model(p, bytes);
    return block_set_one(p, slice_mem(&b, sizeof b));
}

/* Broadcasts come from the top, and by way of it from about eight others. */
static uint32_t origin_step(const struct sim *s)
{
    return s->c.nodes / 8 + 1;
}

static bool is_origin(const struct sim *s, uint32_t p)
{
    return p && p < s->first && p % origin_step(s) == 0;
}

static uint32_t origin_of(const struct sim *s, uint32_t p)
{
    return p / origin_step(s);
}

static void log_broadcast(struct sim *s, uint32_t from, uint32_t number)
{
    if (s->c.grows && sim_room(s, &s->log, s->nlog, &s->log_room, sizeof *s->log))
        s->log[s->nlog++] = (struct sim_broadcast){ from, number };
}

/* Broadcasts are events, and carry their number. */
static void broadcast(struct sim_node *n, uint32_t number)
{
    struct effect e = EFFECT_WITH(event, .job = JOB_NO_RANK, .rank = n->me, .code = (int)number);

    dispatch_effect(&n->dispatch, &e, n->sim->now);
}

static uint16_t *of_pair(const struct sim *s, uint16_t *all, uint32_t from, uint32_t to)
{
    return &all[(size_t)from * s->c.nodes + to];
}

/* A message to one node: half of them go to the top.  It carries how many broadcasts its sender has
 * received. */
static void send_one(struct sim *s, struct sim_node *n)
{
    uint32_t to = rand_below(&s->rand, 2) ? (uint32_t)rand_below(&s->rand, s->c.nodes) : 0;
    struct msg m = { .kind = MSG_data, .to = to };
    char count[24];
    int rc;

    if (to == n->me)
        return;
    if (!membership_has(&n->member, to))
        return;
    snprintf(count, sizeof count, "%" PRIu64, n->member.overlay.last_broadcast);
    m.u.data.channel = *of_pair(s, s->sent, n->me, to) + UINT64_C(1);
    m.u.data.bytes = slice_str(count);
    rc = router_send(&n->router, &m);
    if (rc == 0)
        ++*of_pair(s, s->sent, n->me, to);
    else if (rc != -EPIPE || !router_is_lost(&n->router, to))
        sim_violated(s, "node %u cannot send to node %u: %s", n->me, to, err_text(rc));
}

static void report_result(struct sim *s, struct sim_node *n)
{
    if (n->reported >= s->c.reports)
        return;
    n->reported++;
    send_one(s, n);
    if (is_origin(s, n->me))
        broadcast(n, n->reported);
}

static void enter(struct sim *s, uint32_t p, uint32_t set)
{
    struct sim_node *n = &s->nodes[p];
    struct overlay_way way = { .schedule = OVERLAY_AUTO };
    char what[32];

    snprintf(what, sizeof what, "fence sim/%u", set);
    n->inside[set] = true;
    s->r->collectives++;
    if (leaves_values(s, set))
        sim_calls_send_ahead(n);
    if (membership_contribute(&n->member, way, slice_str(what), n->round[set],
                              set || s->c.grows || s->c.leaves || s->phases ? &s->sets[set] : NULL,
                              make_block(s, set, n->round[set], p), s->now) < 0)
        sim_violated(s, "node %u cannot contribute to set %u", p, set);
}

static void enter_later(struct sim *s, uint32_t p, uint32_t set)
{
    uint64_t wait = s->c.jitter_ns ? rand_below(&s->rand, 20 * s->c.jitter_ns) : 0;

    sim_push(s,
             (struct sim_event){ .at = s->now + wait, .kind = SIM_ENTER, .node = p, .other = set });
}

static void check_blocks(struct sim *s, uint32_t p, uint32_t set, uint32_t round,
                         const struct block_set *blocks)
{
    struct rank_set seen = { NULL, 0, 0, 0 };
    const struct block_set *b;
    struct block_set_walk w;
    uint32_t n = 0;

    if (s->c.card * s->c.ranks == 0 || (s->c.barrier_first && round == 0) ||
        leaves_values(s, set)) {
        if (block_set_bytes(blocks))
            sim_violated(s, "node %u got data in a barrier", p);
        return;
    }
    if (s->c.modelled) {
        if (block_set_count(blocks) != s->sets[set].count)
            sim_violated(s, "node %u got %u of %u blocks", p, block_set_count(blocks),
                         s->sets[set].count);
        return;
    }
    block_set_walk_begin(&w, blocks);
    while ((b = block_set_walk_next(&w))) {
        struct sim_block k;
        if (block_set_block(b).len != sizeof k)
            continue;
        memcpy(&k, block_set_block(b).ptr, sizeof k);
        n++;
        if (k.set != set || k.round != round || k.position != block_set_position(b))
            sim_violated(s, "node %u got a block of node %u, round %u, in round %u of set %u", p,
                         k.position, k.round, round, set);
        if (rank_set_add(&seen, k.position, 1) < 0)
            s->no_memory = true;
    }
    block_set_walk_end(&w);
    if (n != s->sets[set].count || seen.count != n || !rank_set_covers(&seen, &s->sets[set]))
        sim_violated(s, "node %u got %u blocks of %u nodes, not of %u, in round %u of set %u", p, n,
                     seen.count, s->sets[set].count, round, set);
    rank_set_free(&seen);
}

/* ---- functions of the nodes for their members ------------------------------------------------ */

static void check_failure(struct sim *s, uint32_t p, uint32_t set, const struct overlay_event *e)
{
    s->r->failed++;
    s->nodes[p].stopped[set] = true;
    if (s->nodes[0].dead)
        return;
    if (e->culprit >= s->c.nodes || !tree_is_lost(s->nodes[0].member.overlay.lost, e->culprit) ||
        !rank_set_has(&s->sets[set], e->culprit))
        sim_violated(s, "node %u: round %u of set %u failed, and none of its nodes is lost (%d)", p,
                     s->nodes[p].round[set], set, (int)e->culprit);
}

static void on_completed(void *arg, const struct overlay_event *e)
{
    struct sim_node *n = arg;
    struct sim *s = n->sim;
    unsigned set = SETS_MAX;

    if (sim_groups_completed(n, e)) {
        report_result(s, n);
        return;
    }
    sscanf(e->what, "fence sim/%u", &set);
    if (s->c.disagree && set < s->all_sets && n->stopped[set])
        return;
    if (set >= s->all_sets || !n->inside[set] || e->generation != n->round[set]) {
        sim_violated(s, "node %u hears of the end of round %u of set %u, where it is not", n->me,
                     (unsigned)e->generation, set);
        return;
    }
    n->inside[set] = false;
    if (set == 0 && e->generation == 0 && s->now - s->begin > s->r->last_ns)
        s->r->last_ns = s->now - s->begin;
    if (e->failed)
        check_failure(s, n->me, set, e);
    else
        check_blocks(s, n->me, set, n->round[set], e->blocks);
    if (leaves_values(s, set) && !e->failed)
        sim_calls_fence_over(n);
    n->round[set]++;
    report_result(s, n);
    if (s->phases)
        sim_phases_completed(n);
    else if (!n->stopped[set] && n->round[set] < s->c.rounds)
        enter_later(s, n->me, set);
}

static void on_decided(void *arg, const struct overlay_event *e)
{
    struct sim_node *n = arg;

    (void)e;
    if (n->sim->r->gathered_ns == 0)
        n->sim->r->gathered_ns = n->sim->now - n->sim->begin;
}

/* A node that has joined later: each one from the first that it gets. */
static void arrives_late(struct sim_node *n, uint32_t from, uint32_t number)
{
    const struct sim *s = n->sim;
    size_t at = n->due;

    while (!n->due && at < s->nlog && (s->log[at].from != from || s->log[at].number != number))
        at++;
    if (at >= s->nlog || s->log[at].from != from || s->log[at].number != number)
        sim_violated(n->sim, "node %u, which has joined, gets broadcast %u of node %u out of order",
                     n->me, number, from);
    else if (!n->due && n->welcomed && at > n->welcomed)
        sim_violated(n->sim, "node %u misses broadcasts that came after its welcome", n->me);
    n->due = at + 1;
}

void sim_broadcast_arrives(struct sim_node *n, uint32_t from, uint32_t number)
{
    uint32_t *count = &n->broadcasts[origin_of(n->sim, from)];

    if (n->me == 0)
        log_broadcast(n->sim, from, number);
    if (n->grown)
        arrives_late(n, from, number);
    else if (number != ++*count)
        sim_violated(n->sim, "node %u gets broadcast %u of node %u, not %u", n->me, number, from,
                     *count);
}

/* Once, in order, and not before a broadcast that its sender knew. */
static void take_one(struct sim_node *n, const struct msg *m)
{
    uint16_t *got = of_pair(n->sim, n->sim->got, m->from, n->me);
    uint64_t count = 0;

    slice_u64(m->u.data.bytes, &count);
    if (m->u.data.channel != ++*got)
        sim_violated(n->sim, "node %u gets message %u of node %u, not %u", n->me,
                     (unsigned)m->u.data.channel, m->from, *got);
    if (n->member.overlay.last_broadcast < count)
        sim_violated(n->sim,
                     "node %u gets a message of node %u, and knows %" PRIu64
                     " broadcasts of the %" PRIu64 " that came before it",
                     n->me, m->from, n->member.overlay.last_broadcast, count);
}

/* Like a daemon: the parent starts the node, some time later. */
static void on_grow(struct sim_node *n, uint32_t position, uint32_t parent)
{
    struct sim *s = n->sim;

    if (parent == n->me)
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, 4 * s->c.notice_ns),
                                        .kind = SIM_START,
                                        .node = position,
                                        .other = n->me });
}

static void on_leave(struct sim_node *n, uint32_t position)
{
    struct msg m = { .kind = MSG_leaves, .to = 0 };

    if (position != n->me)
        return;
    n->asked_to = true;
    membership_leave(&n->member);
    if (router_send(&n->router, &m) < 0)
        sim_violated(n->sim, "node %u cannot say that it leaves", n->me);
}

static void on_message(void *arg, const struct msg *m)
{
    struct sim_node *n = arg;

    if (n->sim->phases && sim_phases_message(n, m))
        return;
    if (m->kind == MSG_data)
        take_one(n, m);
    else if (m->kind == MSG_grow)
        on_grow(n, m->u.grow.positions.items[0], m->u.grow.parents.items[0]);
    else if (m->kind == MSG_leave)
        on_leave(n, m->u.leave.position);
    else if (m->kind == MSG_leaves)
        membership_lose(&n->member, m->from);
    else
        dispatch_message(&n->dispatch, m, n->sim->now);
    dispatch_settle(&n->dispatch);
}

/* The top: a node that has joined is announced. */
static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct sim_node *n = arg;

    (void)host;
    if (n->sim->phases)
        sim_phases_ready(n->sim);
    if (position >= n->sim->first && !membership_has(&n->member, position)) {
        n->sim->nodes[position].welcomed = n->sim->nlog;
        membership_welcome(&n->member, position);
    }
}

/* The set of each node that joins: itself, and some others. */
static void on_welcome(void *arg, uint32_t position)
{
    struct sim_node *n = arg;
    uint32_t set = n->sim->c.sets + position - n->sim->first;

    if (set < n->sim->all_sets && rank_set_has(&n->sim->sets[set], n->me))
        enter_later(n->sim, n->me, set);
}

/* What no node may do. */
static void judge(struct sim_node *n, uint32_t position)
{
    for (uint32_t set = 0; set < n->sim->all_sets; set++) {
        if (!n->inside[set] || !rank_set_has(&n->sim->sets[set], position))
            continue;
        n->inside[set] = false;
        n->stopped[set] = true;
        n->round[set]++;
    }
}

static void on_lost(void *arg, uint32_t position)
{
    struct sim_node *n = arg;

    sim_calls_lost(n, position);
    sim_groups_lost(n, position);
    if (n->sim->c.disagree)
        judge(n, position);
}

/* What a lost node was told before binds nobody. */
static void note_lost(struct sim *s)
{
    for (uint32_t p = 1; p < s->c.nodes; p++)
        s->nodes[p].lost = s->nodes[p].dead || tree_is_lost(s->nodes[0].member.overlay.lost, p);
}

static void kill_node(struct sim_node *n)
{
    if (n->dead)
        return;
    if (n->me == 0)
        note_lost(n->sim);
    n->dead = true;
    sim_net_die(n);
}

static void on_end(void *arg, const char *why)
{
    struct sim_node *n = arg;

    if (n->me == 0)
        sim_violated(n->sim, "the top ends: %s", why);
    if (n->sim->c.stays)
        return;
    n->held = !n->dead && !n->asked_to;
    kill_node(n);
}

static void on_closed(void *arg)
{
    struct sim_node *n = arg;

    if (n->sim->phases)
        sim_phases_closed(n);
}

static struct router_link *join(void *arg, uint32_t to)
{
    return sim_net_connect(arg, to);
}

static void overdue(void *arg, uint32_t ms)
{
    struct sim_node *n = arg;

    (void)ms;
    sim_push(n->sim, (struct sim_event){ .at = n->sim->now + 8 * n->sim->c.notice_ns,
                                         .kind = SIM_OVERDUE,
                                         .node = n->me,
                                         .other = ++n->overdue_version });
}

/* A block that has a length but no bytes travels as the number of a reference to it. */
static bool refer(struct sim *s, const struct overlay_msg *from, struct arena *a, struct msg *m_p)
{
    struct overlay_msg bare = *from;
    uint64_t *number = arena_array(a, 1, sizeof *number);
    struct slice *text = arena_array(a, 1, sizeof *text);

    bare.data = NULL;
    if (!number || !text || !overlay_codec_out(&bare, a, m_p))
        return false;
    if (!from->data)
        return true;
    if (!sim_room(s, &s->blocks, s->nblocks, &s->blocks_room, sizeof *s->blocks))
        return false;
    *number = s->nblocks;
    *text = slice_mem(number, sizeof *number);
    s->blocks[s->nblocks++] = block_set_ref(from->data);
    m_p->u.overlay.blocks = (struct part_texts){ text, 1 };
    return true;
}

static bool codec_out(void *arg, const struct overlay_msg *from, struct arena *a, struct msg *m_p)
{
    struct sim *s = arg;

    s->r->exchanged += from->kind == OVERLAY_MSG_PIECE;
    return s->c.modelled ? refer(s, from, a, m_p) : overlay_codec_out(from, a, m_p);
}

static struct overlay_msg *codec_in(void *arg, const struct msg *m, uint32_t count)
{
    struct sim *s = arg;
    struct msg bare = *m;
    struct overlay_msg *to;
    uint64_t number;

    if (s->c.modelled)
        bare.u.overlay.blocks.n = 0;
    to = overlay_codec_in(&bare, count);
    if (!to)
        sim_violated(s, "node %u cannot read a message of node %u", m->to, m->from);
    if (to && s->c.modelled && m->u.overlay.blocks.n) {
        memcpy(&number, m->u.overlay.blocks.items[0].ptr, sizeof number);
        to->data = block_set_ref(s->blocks[number]);
    }
    return to;
}

/* ---- the event loop -------------------------------------------------------------------------- */

static void free_node(struct sim_node *n)
{
    if (n->freed)
        return;
    n->freed = true;
    dispatch_close(&n->dispatch);
    membership_close(&n->member);
    router_close(&n->router);
}

static void start_broadcast(struct sim *s)
{
    s->nbroadcasts++;
    log_broadcast(s, 0, s->nbroadcasts);
    broadcast(&s->nodes[0], s->nbroadcasts);
}

static void expect(struct sim *s, uint32_t p)
{
    sim_push(s, (struct sim_event){ .at = s->now + 8 * s->c.notice_ns +
                                          rand_below(&s->rand, 40 * s->c.notice_ns),
                                    .kind = SIM_GIVE_UP,
                                    .other = p });
}

static bool start_node(struct sim *s, uint32_t p, uint32_t parent);

/* Like the launcher that a node asks for a place: it is told everything now, and calls later, or
 * too late. */
static void let_in(struct sim *s)
{
    uint32_t p = s->next++;

    if (!start_node(s, p, 0))
        return;
    sim_push(s, (struct sim_event){ .at = s->now +
                                          rand_below(&s->rand, (p % 8 ? 8 : 80) * s->c.notice_ns),
                                    .kind = SIM_DIAL,
                                    .node = p });
    expect(s, p);
}

/* The top hands out the next position, once the node that it will be linked to is a member. */
static void grow(struct sim *s)
{
    struct sim_node *top = &s->nodes[0];
    uint32_t p = s->next;
    uint32_t parent = tree_living_parent(s->c.width, p, top->member.overlay.lost);
    struct msg m = { .kind = MSG_grow };

    if (!membership_has(&top->member, parent)) {
        sim_push(s, (struct sim_event){ .at = s->now + s->c.notice_ns, .kind = SIM_GROW });
        return;
    }
    s->next++;
    m.u.grow.positions = (struct part_uints){ &p, 1 };
    m.u.grow.parents = (struct part_uints){ &parent, 1 };
    if (membership_broadcast(&top->member, &m) < 0)
        sim_violated(s, "the top cannot announce node %u", p);
    on_grow(top, p, parent);
    expect(s, p);
}

static bool make_node(struct sim *s, uint32_t p, const struct sim_node *parent);

/* It knows what its parent knows now.  False: it does not start. */
static bool start_node(struct sim *s, uint32_t p, uint32_t parent)
{
    struct sim_node *n = &s->nodes[p], *above = &s->nodes[parent];

    if (above->dead)
        return false;
    n->dead = n->freed = false;
    n->grown = true;
    s->no_memory = !make_node(s, p, above) || s->no_memory;
    return !s->no_memory;
}

static void dial(struct sim_node *n, uint32_t parent)
{
    router_join(&n->router, sim_net_connect(n, parent));
}

static void give_up(struct sim *s, uint32_t p)
{
    struct membership *top = &s->nodes[0].member;

    if (!membership_has(top, p))
        membership_lose(top, p);
}

static void ask_to_leave(struct sim *s, uint32_t p)
{
    struct membership *top = &s->nodes[0].member;
    struct msg m = { .kind = MSG_leave };

    m.u.leave.position = p;
    if (!tree_is_lost(top->overlay.lost, p) && membership_broadcast(top, &m) < 0)
        sim_violated(s, "the top cannot ask node %u to leave", p);
}

static void happen_to(struct sim *s, struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];

    if (e->kind == SIM_START && start_node(s, e->node, e->other))
        dial(n, e->other);
    if (n->dead)
        return;
    switch (e->kind) {
    case SIM_GROW:
        if (s->c.dial_in)
            let_in(s);
        else
            grow(s);
        break;
    case SIM_DIAL: dial(n, 0); break;
    case SIM_GIVE_UP: give_up(s, e->other); break;
    case SIM_LEAVE: ask_to_leave(s, e->other); break;
    case SIM_ENTER: enter(s, e->node, e->other); break;
    case SIM_KILL: kill_node(n); break;
    case SIM_CUT: sim_net_cut(n, e->other != 0); break;
    case SIM_BROADCAST: start_broadcast(s); break;
    case SIM_OVERDUE:
        if (e->other == n->overdue_version)
            membership_overdue(&n->member);
        break;
    case SIM_REQUEST:
    case SIM_REPLY:
    case SIM_INQUIRE:
    case SIM_ANSWER:
    case SIM_BATCH: sim_calls_happen(n, e); break;
    case SIM_GROUP: sim_groups_happen(n, e); break;
    case SIM_PHASE:
    case SIM_DAEMON:
    case SIM_PART:
    case SIM_OVER: sim_phases_happen(n, e); break;
    case SIM_STORE: sim_store_happen(n); break;
    default: break;
    }
}

/* The kinds that have `end`. */
static bool is_of_link(const struct sim_event *e)
{
    return e->kind == SIM_ARRIVE || e->kind == SIM_MESSAGE || e->kind == SIM_UP ||
           e->kind == SIM_DOWN || e->kind == SIM_OUT || e->kind == SIM_ACK ||
           e->kind == SIM_CHUNK || e->kind == SIM_GOT;
}

/* A node that has died is freed once nothing of it is being called. */
static void happen(struct sim *s, struct sim_event *e)
{
    bool link = is_of_link(e);
    struct sim_node *n = link ? e->end->of : &s->nodes[e->node];

    if (e->kind != SIM_WAKE)
        s->r->end_ns = s->now - s->begin;
    if (link || e->kind == SIM_WAKE || e->kind == SIM_TAKEN)
        sim_net_happen(s, e);
    else
        happen_to(s, e);
    if (n->dead)
        free_node(n);
    else
        s->no_memory = s->no_memory || n->member.overlay.no_memory;
}

static void run(struct sim *s)
{
    struct sim_event e;

    while (!s->no_memory && !s->r->violation[0] && sim_pop(s, &e)) {
        s->now = e.at;
        if (s->now - s->begin > SIM_FOREVER_NS)
            sim_violated(s, "things go on for ever: kind %d at node %u", (int)e.kind, e.node);
        happen(s, &e);
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* Those that leave are in no set; each that joins has one of its own, as long as there are some. */
static bool choose_sets(struct sim *s)
{
    for (uint32_t i = 0; i < s->c.leaves && s->first > 1; i++)
        s->nodes[1 + rand_below(&s->rand, s->first - 1)].leaves = true;
    for (uint32_t k = 0; k < s->all_sets; k++) {
        uint64_t density = k ? 1 + rand_below(&s->rand, 4) : 1;
        for (uint32_t p = s->c.phases ? 1 : 0; p < s->first; p++) {
            if ((k == 0 || rand_below(&s->rand, density) == 0) && !s->nodes[p].leaves &&
                rank_set_add(&s->sets[k], p, 1) < 0)
                return false;
        }
        if (k >= s->c.sets && rank_set_add(&s->sets[k], s->first + k - s->c.sets, 1) < 0)
            return false;
    }
    return true;
}

static struct overlay_config overlay_config_of(const struct sim *s, uint32_t p)
{
    struct overlay_config k;

    overlay_defaults(&k, p, s->c.nodes, s->c.width);
    k.schedule = s->c.schedule;
    if (s->c.modelled)
        k.piece_max = 0;
    else
        k.inline_max = 1024; /* so that both schedules occur */
    k.members = &s->members;
    if (s->c.phases) /* the choice is that of daemons, which do not know the network */
        return k;
    k.alpha_ns = (uint32_t)(s->c.latency_ns + 2 * s->c.overhead_ns);
    k.beta_ps = s->c.byte_ps;
    k.link_ns = s->c.link_ns;
    return k;
}

/* What a node that joins learns of its parent. */
static void learn(const struct sim *s, const struct sim_node *parent, struct overlay_config *k)
{
    const struct overlay *o = &parent->member.overlay;

    k->members = &o->members;
    k->lost = &o->losses;
    k->last_broadcast = o->last_broadcast + s->c.forgets;
}

/* parent: of a node that joins; NULL: it is there from the beginning. */
static bool make_node(struct sim *s, uint32_t p, const struct sim_node *parent)
{
    struct sim_node *n = &s->nodes[p];
    struct router_config r = { .log = &s->errors,
                               .me = p,
                               .count = s->c.nodes,
                               .width = s->c.width,
                               .host = "node",
                               .meet_ms = s->c.jitter_ns && s->c.seed % 3 == 0 ? 1 : 0,
                               .links = s->c.jitter_ns && s->c.seed % 5 == 1 ? 2 : 0,
                               .actions = sim_net_actions(n),
                               .calls = membership_router_calls(),
                               .arg = &n->member };
    struct membership_config k = { .overlay = overlay_config_of(s, p),
                                   .parent = parent ? parent->me
                                             : p    ? tree_parent(s->c.width, p)
                                                    : TREE_NONE,
                                   .codec = { codec_out, codec_in, s },
                                   .log = &s->errors,
                                   .calls = { .on_message = on_message,
                                              .on_ready = on_ready,
                                              .on_decided = on_decided,
                                              .on_completed = on_completed,
                                              .on_lost = on_lost,
                                              .on_welcome = on_welcome,
                                              .on_end = on_end,
                                              .on_closed = on_closed,
                                              .join = join,
                                              .overdue = overdue },
                                   .arg = n };

    if (parent)
        learn(s, parent, &k.overlay);
    n->sim = s;
    n->me = p;
    list_init(&n->links);
    router_open(&n->router, &r);
    return membership_open(&n->member, &n->router, &k) == 0 && sim_calls_open_node(n);
}

/* The tree is up at the beginning, and all have said so: its start-up is not simulated. */
static void join_all(struct sim *s)
{
    for (uint32_t p = 1; p < s->first && !s->no_memory; p++) {
        struct router_link *l = sim_net_link(s, p, tree_parent(s->c.width, p));
        if (!l)
            return;
        l->up = l->peer->up = true;
        router_link_up(&s->nodes[l->other].router, l->peer, 0);
        router_join(&s->nodes[p].router, l);
        router_link_up(&s->nodes[p].router, l, 0);
    }
    run(s);
}

/* Without a cost of links those of an exchange of all are up, too. */
static void meet_all(struct sim *s)
{
    uint32_t n = s->c.nodes;

    if (s->c.link_ns || s->c.through_tree || s->c.jitter_ns)
        return;
    for (uint32_t p = 0; p < n; p++) {
        for (uint64_t d = 1; d < n; d *= 2) {
            router_meet(&s->nodes[p].router, (uint32_t)((p + n - d) % n), s->now);
            router_meet(&s->nodes[p].router, (uint32_t)((p + d) % n), s->now);
        }
    }
    run(s);
}

static void begin(struct sim *s)
{
    s->begin = s->now;
    memset(s->r, 0, offsetof(struct sim_result, violation));
    for (uint32_t p = 0; p < s->first; p++) {
        struct sim_node *n = &s->nodes[p];
        n->messages = n->bytes = 0;
        for (uint32_t set = 0; set < s->c.sets; set++) {
            if (rank_set_has(&s->sets[set], p))
                enter_later(s, p, set);
        }
    }
}

static void plan_trouble(struct sim *s)
{
    uint64_t span = 60 * (s->c.jitter_ns + s->c.latency_ns) + s->c.notice_ns;

    for (uint32_t i = 0; i < s->c.kills + s->c.cuts && s->c.nodes > 1; i++)
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, span),
                                        .kind = i < s->c.kills ? SIM_KILL : SIM_CUT,
                                        .node = 1 + (uint32_t)rand_below(&s->rand, s->c.nodes - 1),
                                        .other = (uint32_t)rand_below(&s->rand, 2) });
    for (uint32_t i = 0; i < s->c.broadcasts; i++)
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, span),
                                        .kind = SIM_BROADCAST });
    for (uint32_t i = 0; i < s->c.grows; i++)
        sim_push(s,
                 (struct sim_event){ .at = s->now + rand_below(&s->rand, span), .kind = SIM_GROW });
    for (uint32_t p = 1; p < s->first && s->c.leaves; p++) {
        if (s->nodes[p].leaves)
            sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, span),
                                            .kind = SIM_LEAVE,
                                            .other = p });
    }
    for (uint32_t i = 0; i < s->c.slow; i++)
        s->nodes[rand_below(&s->rand, s->c.nodes)].slow = true;
    if (s->c.takeovers)
        sim_push(s, (struct sim_event){ .at = s->now + rand_below(&s->rand, 2 * span),
                                        .kind = SIM_KILL });
}

/* ---- invariants at the end ------------------------------------------------------------------- */

static void check_sets(struct sim *s, const struct sim_node *n)
{
    for (uint32_t set = 0; set < s->all_sets; set++) {
        uint32_t p = set < s->c.sets ? 0 : s->first + set - s->c.sets;
        if (!membership_has(&s->nodes[0].member, p)) /* it has not come to its sets */
            continue;
        if (n->inside[set])
            sim_violated(s, "node %u waits for ever in round %u of set %u", n->me, n->round[set],
                         set);
        else if (rank_set_has(&s->sets[set], n->me) && !n->stopped[set] &&
                 n->round[set] < s->c.rounds)
            sim_violated(s, "node %u has not been through all rounds of set %u", n->me, set);
    }
}

/* All that live have been through the same rounds of a set, and the last one has failed for all or
 * for none. */
static void check_agreement(struct sim *s, uint32_t set)
{
    const struct sim_node *first = NULL;

    for (uint32_t p = 0; p < s->c.nodes; p++) {
        const struct sim_node *n = &s->nodes[p];
        if (n->dead || !rank_set_has(&s->sets[set], p))
            continue;
        first = first ? first : n;
        if (n->round[set] != first->round[set] || n->stopped[set] != first->stopped[set])
            sim_violated(s, "node %u is told another outcome of set %u than node %u", p, set,
                         first->me);
    }
}

/* Everybody has received all broadcasts of the top and of living nodes; of lost ones, those of the
 * top. */
static void check_broadcasts(struct sim *s, const struct sim_node *n)
{
    if (n->grown) {
        if (n->due ? n->due != s->nlog : n->welcomed != s->nlog)
            sim_violated(s, "node %u, which has joined, has not received all broadcasts since",
                         n->me);
        return;
    }
    if (n->me && n->broadcasts[0] != s->nbroadcasts)
        sim_violated(s, "node %u has received %u of %u broadcasts", n->me, n->broadcasts[0],
                     s->nbroadcasts);
    for (uint32_t p = origin_step(s); p < s->first; p += origin_step(s)) {
        const struct sim_node *origin = &s->nodes[p];
        uint32_t of = origin_of(s, p);
        uint32_t all = origin->dead ? s->nodes[0].broadcasts[of] : origin->reported;
        if (p != n->me && n->broadcasts[of] != all)
            sim_violated(s, "node %u has received %u of %u broadcasts of node %u", n->me,
                         n->broadcasts[of], all, p);
    }
}

static void check_messages(struct sim *s, const struct sim_node *n)
{
    for (uint32_t p = 0; s->sent && p < s->c.nodes; p++) {
        uint32_t sent = *of_pair(s, s->sent, p, n->me), got = *of_pair(s, s->got, p, n->me);
        if (!s->nodes[p].dead && sent != got)
            sim_violated(s, "node %u has received %u of %u messages of node %u", n->me, got, sent,
                         p);
    }
    if (n->router.held_bytes)
        sim_violated(s, "node %u keeps %zu bytes that have no route", n->me, n->router.held_bytes);
}

static void check_node(struct sim *s, const struct sim_node *n)
{
    const struct overlay *o = &n->member.overlay;
    char why[SIM_TEXT];

    if (n->dead)
        return;
    s->r->survivors++;
    if (tree_is_lost(s->nodes[0].member.overlay.lost, n->me))
        sim_violated(s, "node %u is lost, and lives", n->me);
    if (sim_store_wrong(n))
        sim_violated(s, "node %u %s", n->me, sim_store_wrong(n));
    check_sets(s, n);
    check_broadcasts(s, n);
    check_messages(s, n);
    if (sim_calls_wrong(n, why, sizeof why))
        sim_violated(s, "%s", why);
    if (sim_groups_wrong(n))
        sim_violated(s, "node %u %s", n->me, sim_groups_wrong(n));
    if (!list_empty(&o->unacked) || !list_empty(&o->pendings))
        sim_violated(s, "node %u keeps finished operations: %u reports, %zu collectives", n->me,
                     list_empty(&o->unacked) ? 0 : 1, o->pending.count);
}

static void count_node(struct sim *s, const struct sim_node *n)
{
    struct sim_result *r = s->r;

    r->node_messages = n->messages > r->node_messages ? n->messages : r->node_messages;
    r->node_bytes = n->bytes > r->node_bytes ? n->bytes : r->node_bytes;
    if (!n->dead && n->member.overlay.stats.held_max > r->node_held)
        r->node_held = n->member.overlay.stats.held_max;
}

/* Every node needs the data of every other: log2(n) messages after each other, and all bytes of the
 * others received by each node. */
static uint64_t lower_bound(const struct sim *s)
{
    uint32_t n = s->c.nodes, steps = 0;
    uint64_t each = s->c.barrier_first ? 0 : s->c.card * s->c.ranks;

    while ((UINT64_C(1) << steps) < n)
        steps++;
    return steps * (s->c.latency_ns + 2 * s->c.overhead_ns) + each * (n - 1) * s->c.byte_ps / 1000;
}

static void finish(struct sim *s)
{
    for (uint32_t p = 0; p < s->c.nodes; p++) {
        s->r->joined += s->nodes[p].grown && membership_has(&s->nodes[0].member, p);
        s->r->left += s->nodes[p].asked_to && s->nodes[p].dead;
        if (s->nodes[p].leaves && !s->nodes[p].dead)
            sim_violated(s, "node %u has been asked to leave, and stays", p);
        check_node(s, &s->nodes[p]);
        count_node(s, &s->nodes[p]);
    }
    for (uint32_t set = 0; set < s->all_sets; set++)
        check_agreement(s, set);
    s->r->bound_ns = lower_bound(s);
}

/* ---- the top is lost ------------------------------------------------------------------------- */

/* One has the end of a round as a failure, which the other has as a success. */
static bool differ(const struct sim_node *a, const struct sim_node *b, uint32_t set)
{
    return !a->lost && !b->lost && a->stopped[set] && b->round[set] >= a->round[set] &&
           !(b->stopped[set] && b->round[set] == a->round[set]);
}

static void check_outcomes(struct sim *s, uint32_t set)
{
    for (uint32_t p = 0; p < s->c.nodes; p++) {
        for (uint32_t q = 0; s->nodes[p].stopped[set] && q < s->c.nodes; q++) {
            if (rank_set_has(&s->sets[set], q) && differ(&s->nodes[p], &s->nodes[q], set))
                sim_violated(s,
                             "before the top was lost, node %u was told another outcome of "
                             "round %u of set %u than node %u",
                             p, s->nodes[p].round[set], set, q);
        }
    }
}

/* Nobody can do anything any more: all have ended, and what they were told agrees. */
static void finish_without_top(struct sim *s)
{
    for (uint32_t p = 0; p < s->c.nodes; p++) {
        if (!s->nodes[p].dead)
            sim_violated(s, "node %u has lost the top, and stays", p);
        s->r->held += s->nodes[p].held;
        count_node(s, &s->nodes[p]);
    }
    for (uint32_t set = 0; set < s->all_sets; set++)
        check_outcomes(s, set);
}

static void free_all(struct sim *s)
{
    for (uint32_t p = 0; s->nodes && p < s->c.nodes; p++) {
        struct sim_node *n = &s->nodes[p];
        for (uint32_t i = 0; i < n->nintakes; i++)
            free(n->intakes[i].m);
        free(n->intakes);
        free_node(n);
    }
    sim_net_free(s);
    sim_store_close(s);
    sim_calls_close(s);
    sim_groups_close(s);
    sim_phases_close(s);
    for (uint32_t k = 0; k < SETS_MAX; k++)
        rank_set_free(&s->sets[k]);
    rank_set_free(&s->members);
    free(s->log);
    free(s->sent);
    free(s->got);
    free(s->nodes);
}

static bool make(struct sim *s)
{
    uint32_t n = s->c.nodes;

    s->nodes = calloc(n ? n : 1, sizeof *s->nodes);
    if (s->c.reports) {
        s->sent = calloc((size_t)n * n, sizeof *s->sent);
        s->got = calloc((size_t)n * n, sizeof *s->got);
    }
    if (!s->nodes || rank_set_add(&s->members, 0, s->first) < 0 ||
        (s->c.reports && (!s->sent || !s->got)) || !choose_sets(s) || !sim_calls_open(s) ||
        !sim_store_open(s) || !sim_groups_open(s) || !sim_phases_open(s))
        return false;
    for (uint32_t p = s->first; p < n; p++)
        s->nodes[p].dead = s->nodes[p].freed = true; /* until they start */
    for (uint32_t p = 0; p < s->first; p++) {
        if (!make_node(s, p, NULL))
            return false;
    }
    return true;
}

/* One node at least is there from the beginning. */
static uint32_t grows_of(const struct sim_config *c)
{
    uint32_t most = c->nodes ? c->nodes - 1 : 0;

    return c->grows < most ? c->grows : most;
}

/* One life of the top. */
static int run_once(const struct sim_config *c, struct sim_result *r_p)
{
    struct sim s = { .c = *c, .rand = c->seed, .r = r_p };

    memset(r_p, 0, sizeof *r_p);
    connectivity_parse(slice_str(c->connectivity ? c->connectivity : "all"), &s.connectivity, NULL);
    s.log_out.put = on_log;
    s.errors = (struct log){ 2, LOG_ERROR, "sim", &s.log_out };
    s.c.sets = c->sets < SETS_MAX ? c->sets : SETS_MAX;
    s.c.grows = grows_of(&s.c);
    s.first = s.next = c->nodes - s.c.grows;
    s.all_sets = s.c.sets + s.c.grows;
    if (s.all_sets > SETS_MAX)
        s.all_sets = SETS_MAX;
    if (c->dial_in && c->nodes > 1)
        s.c.width = c->nodes - 1;
    s.no_memory = !make(&s);
    if (!s.no_memory && c->phases) {
        sim_phases_begin(&s);
        run(&s);
    } else if (!s.no_memory) {
        join_all(&s);
        meet_all(&s);
        begin(&s);
        plan_trouble(&s);
        sim_calls_begin(&s);
        sim_groups_begin(&s);
        sim_store_begin(&s);
        run(&s);
    }
    if (!s.no_memory && c->takeovers)
        finish_without_top(&s);
    else if (!s.no_memory)
        finish(&s);
    free_all(&s);
    return s.no_memory ? -ENOMEM : 0;
}

/* The daemons that have held begin anew: nothing that they knew counts any more. */
static struct sim_config next_life(const struct sim_config *c, uint64_t held)
{
    struct sim_config next = *c;

    next.takeovers--;
    next.nodes = (uint32_t)held + 1;
    next.grows = (uint32_t)held;
    next.dial_in = true;
    next.leaves = next.groups = next.store = 0;
    next.schedule = OVERLAY_TREE;
    next.seed = c->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return next;
}

static void add_life(struct sim_result *r, const struct sim_result *before)
{
    r->messages += before->messages;
    r->bytes += before->bytes;
    r->collectives += before->collectives;
    r->failed += before->failed;
    r->requests += before->requests;
    r->exchanged += before->exchanged;
    r->left += before->left;
    r->held += before->held;
}

int sim_run(const struct sim_config *c, struct sim_result *r_p)
{
    struct sim_config life = *c;
    struct sim_result before;
    uint64_t held = 0; /* in the lives before */
    int rc;

    if (life.takeovers)
        life.groups = life.store = 0; /* their checks ask the top */
    rc = run_once(&life, r_p);
    while (rc == 0 && life.takeovers && !r_p->violation[0]) {
        before = *r_p;
        life = next_life(&life, r_p->held - held);
        held = r_p->held;
        rc = run_once(&life, r_p);
        add_life(r_p, &before);
    }
    return rc;
}

void sim_command(const struct sim_config *c, struct buf *out)
{
    static const char *const schedules[] = { "auto", "tree", "exchange" };

    buf_printf(out,
               "wireup sim --nodes %u --ranks %u --width %u --seed %" PRIu64
               " --schedule %s --rounds %u --sets %u --bytes-per-rank %" PRIu64
               " --node-failures %u --link-failures %u --slow %u --joins %u --leaves %u "
               "--takeovers %u --reports %u"
               " --broadcasts %u --requests %u --groups %u --store %u --jitter %" PRIu64
               " --latency %" PRIu64 " --overhead %" PRIu64
               " --ps-per-byte %u --link %u --window %u%s --connectivity %s --flags %s%s%s%s",
               c->nodes, c->ranks, c->width, c->seed, schedules[c->schedule], c->rounds, c->sets,
               c->card, c->kills, c->cuts, c->slow, c->grows, c->leaves, c->takeovers, c->reports,
               c->broadcasts, c->requests, c->groups, c->store, c->jitter_ns, c->latency_ns,
               c->overhead_ns, c->byte_ps, c->link_ns, c->window, c->inquiry ? " --stacks" : "",
               c->connectivity ? c->connectivity : "all", c->barrier_first ? "barrier," : "",
               c->through_tree ? "relayed," : "", c->dial_in ? "dial-in," : "",
               c->modelled ? "" : "real");
}
