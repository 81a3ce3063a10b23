/* sim.c - see sim.h.  Reading order: types; time; the network; the program on each node; failures;
 * invariants.
 */
#include "cluster/sim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rand.h"
#include "cluster/overlay_codec.h"

enum { SETS_MAX = 8, SLOWNESS = 100, COLLECT_ROOM = 64 };

enum sim_kind {
    SIM_ARRIVE,
    SIM_MESSAGE,
    SIM_ENTER,
    SIM_KILL,
    SIM_CUT,
    SIM_DOWN,
    SIM_CONNECT,
    SIM_WORD,
    SIM_OVERDUE,
    SIM_TAKEN
};

struct sim_event {
    uint64_t at, number; /* the number keeps simultaneous events in order */
    enum sim_kind kind;
    uint32_t node, other; /* ARRIVE, MESSAGE: receiver and the neighbour it came from */
    struct overlay_msg *m;
};

/* A message that is being received. */
struct sim_intake {
    uint64_t number, left; /* ns that it still takes */
    uint32_t from;
    struct overlay_msg *m;
};

/* A link outside the tree. */
struct sim_link {
    uint32_t to;
    uint64_t up; /* up from this time on */
};

struct sim_node {
    struct overlay o;
    struct sim_link *links;
    uint32_t nlinks, links_room;
    struct sim_intake *intakes;
    uint32_t nintakes, intakes_room, intake_version;
    uint64_t intake_at;
    bool dead, slow;
    uint64_t out_free, in_free;
    uint64_t messages, bytes;
    uint32_t round[SETS_MAX]; /* the round that is entered next, or waited for */
    bool inside[SETS_MAX], stopped[SETS_MAX];
    uint32_t reported, heard; /* reports: sent; received by the top */
    uint32_t told;            /* broadcasts received */
};

struct sim {
    struct sim_config c;
    struct sim_node *nodes;
    struct rank_set sets[SETS_MAX];
    uint64_t *last; /* of each pair, the last arrival: links keep the order; NULL: no jitter */
    struct sim_event *heap;
    size_t nevents, room;
    uint64_t now, number, rand;
    struct sim_result *r;
    uint32_t words;
    bool no_memory;
};

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

static void violated(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void violated(struct sim *s, const char *format, ...)
{
    va_list args;

    if (s->r->violation[0])
        return;
    va_start(args, format);
    vsnprintf(s->r->violation, sizeof s->r->violation, format, args);
    va_end(args);
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(struct sim *s, struct sim_event e)
{
    size_t i = s->nevents;

    if (s->nevents == s->room) {
        size_t room = s->room ? s->room * 2 : 1024;
        struct sim_event *more = realloc(s->heap, room * sizeof *more);
        if (!more) {
            s->no_memory = true;
            overlay_msg_free(e.m);
            return;
        }
        s->heap = more;
        s->room = room;
    }
    e.number = ++s->number;
    for (s->nevents++; i && earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static bool pop(struct sim *s, struct sim_event *e_p)
{
    struct sim_event last;
    size_t i = 0;

    if (s->nevents == 0)
        return false;
    *e_p = s->heap[0];
    last = s->heap[--s->nevents];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->nevents)
            break;
        if (child + 1 < s->nevents && earlier(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!earlier(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return true;
}

/* ---- the network ----------------------------------------------------------------------------- */

static uint64_t bytes_ns(const struct sim *s, uint64_t bytes)
{
    return bytes * s->c.byte_ps / 1000;
}

static uint64_t overhead(const struct sim *s, const struct sim_node *n)
{
    return s->c.overhead_ns * (n->slow ? SLOWNESS : 1);
}

static struct sim_link *link_to(const struct sim_node *n, uint32_t to)
{
    for (uint32_t i = 0; i < n->nlinks; i++) {
        if (n->links[i].to == to)
            return &n->links[i];
    }
    return NULL;
}

static void add_link(struct sim *s, struct sim_node *n, struct sim_link k)
{
    if (n->nlinks == n->links_room) {
        uint32_t room = n->links_room ? n->links_room * 2 : 8;
        struct sim_link *more = realloc(n->links, room * sizeof *more);
        if (!more) {
            s->no_memory = true;
            return;
        }
        n->links = more;
        n->links_room = room;
    }
    n->links[n->nlinks++] = k;
}

/* The arrival time of a message that is sent now: its link may have to come up first. */
static uint64_t arrival(const struct sim *s, const struct sim_node *n, uint32_t to, uint64_t start)
{
    const struct sim_link *k = link_to(n, to);
    uint64_t there = start + overhead(s, n) + s->c.latency_ns;

    return k && k->up + s->c.latency_ns > there ? k->up + s->c.latency_ns : there;
}

static void transmit(struct sim *s, uint32_t from, uint32_t to, struct overlay_msg *m)
{
    struct sim_node *a = &s->nodes[from];
    uint64_t size = overlay_codec_size(m), start = a->out_free > s->now ? a->out_free : s->now;
    bool vanishes = s->c.swallow && s->r->messages % s->c.swallow == s->c.swallow - 1;
    uint64_t jitter = s->c.jitter_ns ? rand_below(&s->rand, s->c.jitter_ns) : 0;
    uint64_t there = arrival(s, a, to, start) + jitter;

    a->out_free = start + overhead(s, a) + bytes_ns(s, size);
    a->messages++;
    a->bytes += size;
    s->r->messages++;
    s->r->bytes += size;
    s->r->exchanged += m->kind == OVERLAY_MSG_PIECE && m->from == from;
    if (vanishes) {
        overlay_msg_free(m);
        return;
    }
    if (s->last) {
        uint64_t *last = &s->last[(size_t)from * s->c.nodes + to];
        there = there > *last ? there : *last;
        *last = there;
    }
    push(s,
         (struct sim_event){ .at = there, .kind = SIM_ARRIVE, .node = to, .other = from, .m = m });
}

/* Its first byte has arrived.  Links keep their order if random delays occur: then messages are
 * received in order of arrival. */
static void arrive_in_order(struct sim *s, const struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];
    struct sim_event whole = *e;

    n->in_free = (n->in_free > s->now ? n->in_free : s->now) +
                 bytes_ns(s, overlay_codec_size(e->m)) + overhead(s, n);
    whole.kind = SIM_MESSAGE;
    whole.at = n->in_free;
    push(s, whole);
}

/* Otherwise a node reads the most useful messages first: short ones, then the earliest step of an
 * exchange; unread messages wait on their links. */
static uint64_t urgency(const struct overlay_msg *m)
{
    return m->kind == OVERLAY_MSG_PIECE ? m->generation * COLLECT_ROOM + m->step + 1 : 0;
}

static struct sim_intake *most_urgent(struct sim_node *n)
{
    struct sim_intake *best = NULL;

    for (uint32_t i = 0; i < n->nintakes; i++) {
        struct sim_intake *k = &n->intakes[i];
        if (!best || urgency(k->m) < urgency(best->m) ||
            (urgency(k->m) == urgency(best->m) && k->number < best->number))
            best = k;
    }
    return best;
}

/* Accounts for the bytes received until now. */
static void take_in(struct sim *s, struct sim_node *n)
{
    struct sim_intake *k = most_urgent(n);
    uint64_t passed = s->now - n->intake_at;

    if (k)
        k->left -= passed < k->left ? passed : k->left;
    n->intake_at = s->now;
}

static void plan_intake(struct sim *s, uint32_t node)
{
    struct sim_node *n = &s->nodes[node];
    const struct sim_intake *k = most_urgent(n);

    n->intake_version++;
    if (k)
        push(s, (struct sim_event){ .at = s->now + k->left,
                                    .kind = SIM_TAKEN,
                                    .node = node,
                                    .other = n->intake_version });
}

static void arrive(struct sim *s, const struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];

    if (s->last || s->c.through_tree) {
        arrive_in_order(s, e);
        return;
    }
    take_in(s, n);
    if (n->nintakes == n->intakes_room) {
        uint32_t room = n->intakes_room ? n->intakes_room * 2 : 4;
        struct sim_intake *more = realloc(n->intakes, room * sizeof *more);
        if (!more) {
            s->no_memory = true;
            overlay_msg_free(e->m);
            return;
        }
        n->intakes = more;
        n->intakes_room = room;
    }
    n->intakes[n->nintakes++] = (struct sim_intake){
        .number = e->number,
        .from = e->other,
        .left = bytes_ns(s, overlay_codec_size(e->m)) + overhead(s, n),
        .m = e->m,
    };
    plan_intake(s, e->node);
}

static bool taken(struct sim *s, const struct sim_event *e, struct sim_event *message_p)
{
    struct sim_node *n = &s->nodes[e->node];
    struct sim_intake *k;

    if (e->other != n->intake_version)
        return false;
    take_in(s, n);
    k = most_urgent(n);
    *message_p = (struct sim_event){
        .at = s->now, .kind = SIM_MESSAGE, .node = e->node, .other = k->from, .m = k->m
    };
    *k = n->intakes[--n->nintakes];
    plan_intake(s, e->node);
    return true;
}

static bool is_linked(const struct sim *s, uint32_t node, uint32_t other)
{
    const struct overlay *o = &s->nodes[node].o;

    return o->parent == other || rank_set_has(&o->below, other);
}

/* Their addresses are requested along the tree, and then the handshake takes two round trips. */
static void links_come_up(struct sim *s, uint32_t p, const struct rank_set *peers)
{
    struct sim_node *n = &s->nodes[p];
    uint64_t up = s->now + 8 * s->c.latency_ns;

    for (uint32_t i = 0; s->c.link_ns && i < peers->count && !s->c.through_tree; i++) {
        uint32_t to = rank_set_nth(peers, i);
        if (is_linked(s, p, to) || link_to(n, to))
            continue;
        up += s->c.link_ns;
        add_link(s, n, (struct sim_link){ to, up });
    }
}

/* A message to a distant node has a link of its own, or is relayed. */
static void route(struct sim *s, uint32_t at, struct overlay_msg *m)
{
    bool direct =
        (m->kind == OVERLAY_MSG_PIECE || m->kind == OVERLAY_MSG_AGAIN) && !s->c.through_tree;
    uint32_t next = direct ? m->to : overlay_route(&s->nodes[at].o, m->to);

    if (next == TREE_NONE || next >= s->c.nodes)
        overlay_hold(&s->nodes[at].o, m);
    else if (!direct && !is_linked(s, at, next))
        overlay_msg_free(m);
    else
        transmit(s, at, next, m);
}

/* ---- the program ----------------------------------------------------------------------------- */

struct sim_block {
    uint32_t set, round, position, pad;
};

static struct block_set *make_block(const struct sim *s, uint32_t set, uint32_t round, uint32_t p)
{
    struct sim_block b = { set, round, p, 0 };
    uint64_t bytes = s->c.card * s->c.ranks;

    if (bytes == 0 || (s->c.barrier_first && round == 0))
        return NULL;
    if (s->c.modelled)
        return block_set_model(p, bytes);
    return block_set_one(p, slice_mem(&b, sizeof b));
}

static void say_result(struct sim *s, uint32_t p)
{
    struct sim_node *n = &s->nodes[p];
    uint32_t number = n->reported;

    if (n->reported >= s->c.reports)
        return;
    n->reported++;
    if (overlay_report(&n->o, slice_mem(&number, sizeof number)) < 0)
        s->no_memory = true;
}

static void enter(struct sim *s, uint32_t p, uint32_t set)
{
    struct sim_node *n = &s->nodes[p];
    char what[32];

    snprintf(what, sizeof what, "fence sim/%u", set);
    n->inside[set] = true;
    s->r->collectives++;
    if (overlay_contribute(&n->o, slice_str(what), n->round[set], set ? &s->sets[set] : NULL,
                           make_block(s, set, n->round[set], p)) < 0)
        violated(s, "node %u cannot contribute to set %u", p, set);
}

static void enter_later(struct sim *s, uint32_t p, uint32_t set)
{
    uint64_t wait = s->c.jitter_ns ? rand_below(&s->rand, 20 * s->c.jitter_ns) : 0;

    push(s, (struct sim_event){ .at = s->now + wait, .kind = SIM_ENTER, .node = p, .other = set });
}

static void check_blocks(struct sim *s, uint32_t p, uint32_t set, uint32_t round,
                         const struct block_set *blocks)
{
    struct rank_set seen = { NULL, 0, 0, 0 };
    const struct block_set *b;
    struct block_set_walk w;
    uint32_t n = 0;

    if (s->c.card * s->c.ranks == 0 || (s->c.barrier_first && round == 0)) {
        if (block_set_bytes(blocks))
            violated(s, "node %u got data in a barrier", p);
        return;
    }
    if (s->c.modelled) {
        if (block_set_count(blocks) != s->sets[set].count)
            violated(s, "node %u got %u of %u blocks", p, block_set_count(blocks),
                     s->sets[set].count);
        return;
    }
    block_set_walk_begin(&w, blocks);
    while ((b = block_set_walk_next(&w))) {
        struct sim_block k;
        if (b->block.len != sizeof k)
            continue;
        memcpy(&k, b->block.ptr, sizeof k);
        n++;
        if (k.set != set || k.round != round || k.position != b->position)
            violated(s, "node %u got a block of node %u, round %u, in round %u of set %u", p,
                     k.position, k.round, round, set);
        if (rank_set_add(&seen, k.position, 1) < 0)
            s->no_memory = true;
    }
    block_set_walk_end(&w);
    if (n != s->sets[set].count || seen.count != n || !rank_set_covers(&seen, &s->sets[set]))
        violated(s, "node %u got %u blocks of %u nodes, not of %u, in round %u of set %u", p, n,
                 seen.count, s->sets[set].count, round, set);
    rank_set_free(&seen);
}

static void completed(struct sim *s, uint32_t p, const struct overlay_event *e)
{
    struct sim_node *n = &s->nodes[p];
    unsigned set = SETS_MAX;

    sscanf(e->what, "fence sim/%u", &set);
    if (set >= s->c.sets || !n->inside[set] || e->generation != n->round[set]) {
        violated(s, "node %u hears of the end of round %u of set %u, where it is not", p,
                 (unsigned)e->generation, set);
        return;
    }
    n->inside[set] = false;
    if (set == 0 && e->generation == 0 && s->now > s->r->last_ns)
        s->r->last_ns = s->now;
    if (e->failed) {
        s->r->failed++;
        n->stopped[set] = true;
        if (e->culprit >= s->c.nodes || !tree_is_lost(s->nodes[0].o.lost, e->culprit) ||
            !rank_set_has(&s->sets[set], e->culprit))
            violated(s, "node %u: round %u of set %u failed, and none of its nodes is lost (%d)", p,
                     n->round[set], set, (int)e->culprit);
    } else {
        check_blocks(s, p, set, n->round[set], e->blocks);
    }
    n->round[set]++;
    say_result(s, p);
    if (!n->stopped[set] && n->round[set] < s->c.rounds)
        enter_later(s, p, set);
}

static void reported(struct sim *s, const struct overlay_event *e)
{
    struct sim_node *n = &s->nodes[e->from];
    uint32_t number = UINT32_MAX;

    if (e->blocks && e->blocks->block.len == sizeof number)
        memcpy(&number, e->blocks->block.ptr, sizeof number);
    if (number != n->heard)
        violated(s, "the top hears report %u of node %u, not %u", number, e->from, n->heard);
    n->heard = number + 1;
}

static void told(struct sim *s, uint32_t p, const struct overlay_event *e)
{
    struct sim_node *n = &s->nodes[p];
    uint32_t number = UINT32_MAX;

    if (e->blocks && e->blocks->block.len == sizeof number)
        memcpy(&number, e->blocks->block.ptr, sizeof number);
    if (number != n->told)
        violated(s, "node %u is told word %u, not %u", p, number, n->told);
    n->told = number + 1;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void down_later(struct sim *s, uint32_t at, uint32_t other)
{
    uint64_t wait = s->c.notice_ns + (s->c.jitter_ns ? rand_below(&s->rand, s->c.notice_ns) : 0);

    push(s,
         (struct sim_event){ .at = s->now + wait, .kind = SIM_DOWN, .node = at, .other = other });
}

static void kill_node(struct sim *s, uint32_t p)
{
    struct sim_node *n = &s->nodes[p];

    if (n->dead)
        return;
    n->dead = true;
    if (n->o.parent != TREE_NONE)
        down_later(s, n->o.parent, p);
    for (uint32_t i = 0; i < n->o.below.nruns; i++) {
        for (uint32_t k = 0; k < n->o.below.runs[i].count; k++)
            down_later(s, n->o.below.runs[i].first + k, p);
    }
    overlay_free(&n->o);
}

static void connect_later(struct sim *s, uint32_t p)
{
    push(s,
         (struct sim_event){ .at = s->now + 3 * s->c.latency_ns, .kind = SIM_CONNECT, .node = p });
}

static void link_down(struct sim *s, uint32_t p, uint32_t other)
{
    struct overlay *o = &s->nodes[p].o;

    if (s->nodes[p].dead || !is_linked(s, p, other))
        return;
    overlay_link_down(o, other);
    if (o->parent == TREE_NONE && p)
        connect_later(s, p);
}

/* A node without a parent looks for another one; if it finds none, or is considered lost, it ends.
 */
static void connect_node(struct sim *s, uint32_t p)
{
    struct overlay *o = &s->nodes[p].o;
    uint32_t to = o->parent == TREE_NONE ? overlay_wanted_parent(o) : TREE_NONE;

    if (s->nodes[p].dead || o->parent != TREE_NONE)
        return;
    if (to == TREE_NONE) {
        kill_node(s, p);
    } else if (s->nodes[to].dead) {
        overlay_shun(o, to);
        connect_later(s, p);
    } else if (overlay_link_up(&s->nodes[to].o, p)) {
        if (!overlay_link_up(o, to))
            violated(s, "node %u does not take the parent %u that it wanted", p, to);
    } else {
        kill_node(s, p);
    }
}

static void cut_link(struct sim *s, uint32_t p)
{
    uint32_t parent = s->nodes[p].dead ? TREE_NONE : s->nodes[p].o.parent;

    if (parent == TREE_NONE)
        return;
    down_later(s, p, parent);
    down_later(s, parent, p);
}

/* The top announced a lost node: a link to it is closed, and if it lives it ends. */
static void lost(struct sim *s, uint32_t p, uint32_t gone)
{
    if (p == gone) {
        kill_node(s, p);
        return;
    }
    push(s,
         (struct sim_event){ .at = s->now + 4 * s->c.notice_ns, .kind = SIM_OVERDUE, .node = p });
    if (is_linked(s, p, gone)) {
        link_down(s, p, gone);
        if (!s->nodes[gone].dead)
            down_later(s, gone, p);
    }
}

/* ---- the event loop -------------------------------------------------------------------------- */

static void carry_out_events(struct sim *s, uint32_t p)
{
    struct overlay_event *e;

    while (!s->nodes[p].dead && (e = overlay_event(&s->nodes[p].o))) {
        switch (e->kind) {
        case OVERLAY_COMPLETED: completed(s, p, e); break;
        case OVERLAY_DECIDED: break;
        case OVERLAY_EXCHANGING: links_come_up(s, p, &e->peers); break;
        case OVERLAY_REPORTED: reported(s, e); break;
        case OVERLAY_TOLD: told(s, p, e); break;
        case OVERLAY_LOST: lost(s, p, e->from); break;
        case OVERLAY_BEHIND: violated(s, "node %u is behind", p); break;
        }
        overlay_event_free(e);
    }
}

static void turn(struct sim *s, uint32_t p)
{
    struct sim_node *n = &s->nodes[p];
    struct overlay_msg *m;

    if (n->dead)
        return;
    carry_out_events(s, p);
    while (!n->dead && (m = overlay_next(&n->o))) {
        if (p == 0 && m->kind == OVERLAY_MSG_RESULT && s->r->gathered_ns == 0)
            s->r->gathered_ns = s->now;
        route(s, p, m);
    }
    s->no_memory = s->no_memory || (!n->dead && n->o.no_memory);
}

/* Encodes and decodes the message. */
static struct overlay_msg *recode(struct sim *s, struct overlay_msg *m)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct buf bytes = BUF_NULL((size_t)1 << 30);
    struct overlay_msg *back = NULL;
    struct errmsg err = { "no memory" };
    struct msg out, in;

    if (overlay_codec_out(m, &a, &out))
        msg_write(&out, &bytes);
    if (buf_ok(&bytes) && msg_read(buf_slice(&bytes), &a, &in, &err) == 0)
        back = overlay_codec_in(&in, s->c.nodes);
    if (!back)
        violated(s, "a message of kind %d does not survive its bytes: %s", (int)m->kind, err.text);
    overlay_msg_free(m);
    arena_free(&a);
    buf_free(&bytes);
    return back;
}

static void deliver(struct sim *s, struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];
    bool direct = e->m->from == e->other &&
                  (e->m->kind == OVERLAY_MSG_PIECE || e->m->kind == OVERLAY_MSG_AGAIN);

    if (n->dead || (!direct && !is_linked(s, e->node, e->other))) {
        overlay_msg_free(e->m); /* the link is gone meanwhile */
    } else if (e->m->to != e->node) {
        route(s, e->node, e->m);
    } else {
        if (s->c.encode)
            e->m = recode(s, e->m);
        int kind = e->m ? (int)e->m->kind : -1;
        if (e->m && overlay_hear(&n->o, e->m) != 0)
            violated(s, "node %u cannot make sense of a message (%d) of node %u", e->node, kind,
                     e->other);
        turn(s, e->node);
    }
}

static void say_word(struct sim *s)
{
    uint32_t number = s->words++;

    if (overlay_tell(&s->nodes[0].o, slice_mem(&number, sizeof number)) < 0)
        s->no_memory = true;
    turn(s, 0);
}

static void happen(struct sim *s, struct sim_event *e)
{
    switch (e->kind) {
    case SIM_ARRIVE: arrive(s, e); return;
    case SIM_TAKEN: {
        struct sim_event whole;
        if (taken(s, e, &whole))
            deliver(s, &whole);
        return;
    }
    case SIM_MESSAGE: deliver(s, e); return;
    case SIM_ENTER:
        if (!s->nodes[e->node].dead)
            enter(s, e->node, e->other);
        break;
    case SIM_KILL: kill_node(s, e->node); break;
    case SIM_CUT: cut_link(s, e->node); break;
    case SIM_DOWN: link_down(s, e->node, e->other); break;
    case SIM_CONNECT: {
        uint32_t to;
        connect_node(s, e->node);
        to = s->nodes[e->node].dead ? TREE_NONE : s->nodes[e->node].o.parent;
        if (to != TREE_NONE)
            turn(s, to);
        break;
    }
    case SIM_WORD: say_word(s); return;
    case SIM_OVERDUE:
        if (!s->nodes[e->node].dead)
            overlay_overdue(&s->nodes[e->node].o);
        break;
    }
    turn(s, e->node);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool choose_sets(struct sim *s)
{
    for (uint32_t k = 0; k < s->c.sets; k++) {
        uint64_t density = k ? 1 + rand_below(&s->rand, 4) : 1;
        for (uint32_t p = 0; p < s->c.nodes; p++) {
            if ((k == 0 || rand_below(&s->rand, density) == 0) &&
                rank_set_add(&s->sets[k], p, 1) < 0)
                return false;
        }
    }
    return true;
}

static bool make_node(struct sim *s, uint32_t p)
{
    struct sim_node *n = &s->nodes[p];
    struct overlay_config k;

    overlay_defaults(&k, p, s->c.nodes, s->c.width);
    k.schedule = s->c.schedule;
    if (s->c.modelled)
        k.piece_max = 0;
    else
        k.inline_max = 1024; /* so that both schedules occur */
    k.alpha_ns = (uint32_t)(s->c.latency_ns + 2 * s->c.overhead_ns);
    k.beta_ps = s->c.byte_ps;
    k.link_ns = s->c.link_ns;
    if (overlay_init(&n->o, &k) < 0)
        return false;
    for (uint32_t set = 0; set < s->c.sets; set++) {
        if (rank_set_has(&s->sets[set], p))
            enter_later(s, p, set);
    }
    return true;
}

/* The tree is up at the beginning: its start-up is not simulated. */
static bool join_all(struct sim *s)
{
    for (uint32_t p = 1; p < s->c.nodes; p++) {
        uint32_t parent = tree_parent(s->c.width, p);
        if (!overlay_link_up(&s->nodes[parent].o, p) || !overlay_link_up(&s->nodes[p].o, parent))
            return false;
    }
    return true;
}

static void plan_trouble(struct sim *s)
{
    uint64_t span = 60 * (s->c.jitter_ns + s->c.latency_ns) + s->c.notice_ns;

    for (uint32_t i = 0; i < s->c.kills + s->c.cuts && s->c.nodes > 1; i++)
        push(s, (struct sim_event){ .at = rand_below(&s->rand, span),
                                    .kind = i < s->c.kills ? SIM_KILL : SIM_CUT,
                                    .node = 1 + (uint32_t)rand_below(&s->rand, s->c.nodes - 1) });
    for (uint32_t i = 0; i < s->c.words; i++)
        push(s, (struct sim_event){ .at = rand_below(&s->rand, span), .kind = SIM_WORD });
    for (uint32_t i = 0; i < s->c.slow; i++)
        s->nodes[rand_below(&s->rand, s->c.nodes)].slow = true;
}

static void check_node(struct sim *s, uint32_t p)
{
    struct sim_node *n = &s->nodes[p];

    if (n->dead)
        return;
    s->r->survivors++;
    if (tree_is_lost(s->nodes[0].o.lost, p))
        violated(s, "node %u is lost, and lives", p);
    for (uint32_t set = 0; set < s->c.sets; set++) {
        if (n->inside[set])
            violated(s, "node %u waits for ever in round %u of set %u", p, n->round[set], set);
        else if (rank_set_has(&s->sets[set], p) && !n->stopped[set] && n->round[set] < s->c.rounds)
            violated(s, "node %u has not been through all rounds of set %u", p, set);
    }
    if (n->heard != n->reported && p)
        violated(s, "the top has heard %u of %u reports of node %u", n->heard, n->reported, p);
    if (n->told != s->words && p)
        violated(s, "node %u has been told %u of %u words", p, n->told, s->words);
    if (!list_empty(&n->o.unacked) || !list_empty(&n->o.pendings))
        violated(s, "node %u keeps what is over: %u reports, %zu collectives", p,
                 list_empty(&n->o.unacked) ? 0 : 1, n->o.pending.count);
}

static void count_node(struct sim *s, const struct sim_node *n)
{
    struct sim_result *r = s->r;

    r->node_messages = n->messages > r->node_messages ? n->messages : r->node_messages;
    r->node_bytes = n->bytes > r->node_bytes ? n->bytes : r->node_bytes;
    if (!n->dead && n->o.stats.held_max > r->node_held)
        r->node_held = n->o.stats.held_max;
}

/* Every node needs the data of every other: log2(n) messages after each other, and all bytes of the
 * others received by each node. */
static uint64_t lower_bound(const struct sim *s)
{
    uint32_t n = s->c.nodes, steps = 0;
    uint64_t each = s->c.barrier_first ? 0 : s->c.card * s->c.ranks;

    while ((UINT64_C(1) << steps) < n)
        steps++;
    return steps * (s->c.latency_ns + 2 * s->c.overhead_ns) + bytes_ns(s, each * (n - 1));
}

static void finish(struct sim *s)
{
    struct sim_event e;

    for (uint32_t p = 0; p < s->c.nodes; p++) {
        check_node(s, p);
        count_node(s, &s->nodes[p]);
    }
    s->r->end_ns = s->now;
    s->r->bound_ns = lower_bound(s);
    while (pop(s, &e))
        overlay_msg_free(e.m);
}

static void free_all(struct sim *s)
{
    for (uint32_t p = 0; s->nodes && p < s->c.nodes; p++) {
        for (uint32_t i = 0; i < s->nodes[p].nintakes; i++)
            overlay_msg_free(s->nodes[p].intakes[i].m);
        free(s->nodes[p].intakes);
        free(s->nodes[p].links);
        overlay_free(&s->nodes[p].o);
    }
    for (uint32_t k = 0; k < SETS_MAX; k++)
        rank_set_free(&s->sets[k]);
    free(s->nodes);
    free(s->last);
    free(s->heap);
}

int sim_run(const struct sim_config *c, struct sim_result *r_p)
{
    struct sim s = { .c = *c, .rand = c->seed, .r = r_p };
    struct sim_event e;
    bool good;

    memset(r_p, 0, sizeof *r_p);
    s.c.sets = c->sets < SETS_MAX ? c->sets : SETS_MAX;
    s.nodes = calloc(c->nodes ? c->nodes : 1, sizeof *s.nodes);
    if (c->jitter_ns)
        s.last = calloc((size_t)c->nodes * c->nodes, sizeof *s.last);
    good = s.nodes && (s.last || !c->jitter_ns) && choose_sets(&s);
    for (uint32_t p = 0; good && p < c->nodes; p++)
        good = make_node(&s, p);
    good = good && join_all(&s);
    for (uint32_t p = 0; good && p < c->nodes; p++)
        turn(&s, p);
    if (good)
        plan_trouble(&s);
    while (good && !s.no_memory && !r_p->violation[0] && pop(&s, &e)) {
        s.now = e.at;
        happen(&s, &e);
    }
    if (good)
        finish(&s);
    free_all(&s);
    return good && !s.no_memory ? 0 : -ENOMEM;
}

void sim_command(const struct sim_config *c, struct buf *out)
{
    static const char *const schedules[] = { "auto", "tree", "exchange" };

    buf_printf(out,
               "wireup sim --nodes %u --ranks %u --width %u --seed %" PRIu64
               " --schedule %s --rounds %u --sets %u --bytes-per-rank %" PRIu64
               " --node-failures %u --link-failures %u --slow %u --reports %u"
               " --broadcasts %u --jitter %" PRIu64 " --latency %" PRIu64 " --overhead %" PRIu64
               " --ps-per-byte %u --link %u --flags %s%s%s%s",
               c->nodes, c->ranks, c->width, c->seed, schedules[c->schedule], c->rounds, c->sets,
               c->card, c->kills, c->cuts, c->slow, c->reports, c->words, c->jitter_ns,
               c->latency_ns, c->overhead_ns, c->byte_ps, c->link_ns,
               c->barrier_first ? "barrier," : "", c->through_tree ? "relayed," : "",
               c->encode ? "encoded," : "", c->modelled ? "" : "real");
}
