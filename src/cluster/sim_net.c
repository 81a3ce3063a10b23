/* sim_net.c - see sim_net.h.  Reading order: violations; time; work; links; sending; receiving; up
 * and down. */
#include "cluster/sim_net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rand.h"
#include "cluster/msg.h"
#include "cluster/sim_tcp.h"

enum { SLOWNESS = 100, STEPS_ROOM = 64, EVENTS_ROOM = 4096 };

/* ---- violations ------------------------------------------------------------------------------ */

void sim_violated(struct sim *s, const char *format, ...)
{
    va_list args;

    if (s->r->violation[0])
        return;
    va_start(args, format);
    vsnprintf(s->r->violation, sizeof s->r->violation, format, args);
    va_end(args);
}

/* ---- time ------------------------------------------------------------------------------------ */

bool sim_room(struct sim *s, void *array_p, size_t used, size_t *room_p, size_t each)
{
    size_t room = *room_p ? *room_p * 2 : 8;
    void **array = array_p, *more;

    if (used < *room_p)
        return true;
    more = realloc(*array, room * each);
    if (!more) {
        s->no_memory = true;
        return false;
    }
    *array = more;
    *room_p = room;
    return true;
}

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

void sim_messages_free(struct sim_message *m)
{
    struct sim_message *next;

    for (; m; m = next) {
        next = m->next;
        free(m);
    }
}

void sim_push(struct sim *s, struct sim_event e)
{
    size_t i = s->nevents;

    if (!sim_room(s, &s->heap, s->nevents, &s->room, sizeof *s->heap)) {
        sim_messages_free(e.m);
        return;
    }
    e.number = ++s->number;
    for (s->nevents++; i && earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

/* There are most events at the beginning, when all links come up. */
static void give_room_back(struct sim *s)
{
    struct sim_event *less = NULL;

    if (s->room > EVENTS_ROOM && s->nevents < s->room / 4)
        less = realloc(s->heap, s->room / 2 * sizeof *less);
    if (less) {
        s->heap = less;
        s->room /= 2;
    }
}

bool sim_pop(struct sim *s, struct sim_event *e_p)
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
    give_room_back(s);
    return true;
}

static uint64_t jitter(struct sim *s, uint64_t most)
{
    return s->c.jitter_ns ? rand_below(&s->rand, most) : 0;
}

/* ---- work ------------------------------------------------------------------------------------ */

static uint64_t *free_processor(const struct sim *s)
{
    uint64_t *first = s->processors;

    for (uint32_t i = 1; i < s->c.processors; i++) {
        if (s->processors[i] < *first)
            first = &s->processors[i];
    }
    return first;
}

uint64_t sim_work_begins(const struct sim *s, const struct sim_node *n)
{
    uint64_t start = n->work_free > s->now ? n->work_free : s->now;
    uint64_t free_at = s->c.processors ? *free_processor(s) : 0;

    return free_at > start ? free_at : start;
}

uint64_t sim_work(struct sim *s, struct sim_node *n, uint64_t ns)
{
    n->work_free = sim_work_begins(s, n) + ns * (n->slow ? SLOWNESS : 1);
    if (s->c.processors)
        *free_processor(s) = n->work_free;
    return n->work_free;
}

/* ---- links ----------------------------------------------------------------------------------- */

struct router_link *sim_net_link(struct sim *s, uint32_t a, uint32_t b)
{
    struct router_link *pair = calloc(2, sizeof *pair);

    if (!pair || !sim_room(s, &s->pairs, s->npairs, &s->pairs_room, sizeof *s->pairs)) {
        s->no_memory = true;
        free(pair);
        return NULL;
    }
    s->pairs[s->npairs++] = pair;
    pair[0] = (struct router_link){ .of = &s->nodes[a], .other = b, .peer = &pair[1] };
    pair[1] = (struct router_link){ .of = &s->nodes[b], .other = a, .peer = &pair[0] };
    for (int i = 0; i < 2; i++) {
        list_init(&pair[i].link);
        list_append(&pair[i].of->links, &pair[i].link);
    }
    return pair;
}

static void close_end(struct router_link *l)
{
    l->closed = true;
    list_unlink(&l->link);
}

/* The end notices that the link is down. */
static void down_later(struct sim *s, struct router_link *l, enum router_down how)
{
    uint64_t wait =
        how == ROUTER_DOWN_CLOSED ? s->c.latency_ns : s->c.notice_ns + jitter(s, s->c.notice_ns);

    if (!l->closed)
        sim_push(s,
                 (struct sim_event){ .at = s->now + wait, .kind = SIM_DOWN, .how = how, .end = l });
}

static void up_later(struct sim *s, struct router_link *l, uint64_t at)
{
    sim_push(s, (struct sim_event){ .at = at, .kind = SIM_UP, .end = l });
}

/* The handshakes of TCP and of the link take two round trips, and the called end knows half a round
 * trip later that the caller has the key; a daemon makes one connection after the other. */
struct router_link *sim_net_connect(struct sim_node *n, uint32_t to)
{
    struct sim *s = n->sim;
    struct router_link *l = sim_net_link(s, n->me, to);
    uint64_t up = s->now + 4 * s->c.latency_ns;

    if (!l)
        return NULL;
    n->link_free = (n->link_free > up ? n->link_free : up) + s->c.link_ns;
    if (s->nodes[to].dead) {
        close_end(l->peer);
        down_later(s, l, ROUTER_DOWN_UNREACHABLE);
        return l;
    }
    up = n->link_free + jitter(s, s->c.latency_ns);
    up_later(s, l, up);
    up_later(s, l->peer, up + s->c.latency_ns); /* before what comes from us then */
    return l;
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint64_t bytes_ns(const struct sim *s, uint64_t bytes)
{
    return bytes * s->c.byte_ps / 1000;
}

static uint64_t overhead(const struct sim *s, const struct sim_node *n)
{
    return s->c.overhead_ns * (n->slow ? SLOWNESS : 1);
}

/* Random delays keep the order of links, and a relay reads its links one after the other. */
static bool is_in_order(const struct sim *s)
{
    return s->c.jitter_ns || s->c.through_tree || s->c.window;
}

/* A node reads the most useful messages first if nothing else is wanted: short ones, then the
 * earliest step of an exchange; unread messages wait on their links.  Blocks that have no bytes
 * cost their length all the same. */
static void look_into(const struct sim *s, struct slice bytes, struct sim_message *m)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct errmsg err;
    struct msg in;
    uint64_t number;

    if (msg_read(bytes, &a, &in, &err) == 0 && in.kind == MSG_overlay) {
        const struct op_overlay *o = &in.u.overlay;
        if (o->what_kind == OVERLAY_MSG_PIECE)
            m->urgency = o->generation * STEPS_ROOM + o->step + 1;
        if (s->c.modelled && o->blocks.n) {
            memcpy(&number, o->blocks.items[0].ptr, sizeof number);
            m->cost += block_set_bytes(s->blocks[number]) +
                       6 * (uint64_t)block_set_count(s->blocks[number]);
        }
    }
    arena_free(&a);
}

static bool is_overlay(struct slice bytes)
{
    return bytes.len && ((unsigned char)bytes.ptr[0] & 127) == MSG_overlay;
}

static struct sim_message *message_of(struct sim *s, struct slice bytes)
{
    struct sim_message *m = malloc(sizeof *m + bytes.len);

    if (!m) {
        s->no_memory = true;
        return NULL;
    }
    *m = (struct sim_message){ .cost = bytes.len + 20, .len = bytes.len };
    if (bytes.len)
        memcpy(m->bytes, bytes.ptr, bytes.len);
    if (is_overlay(bytes) && (s->c.modelled || !is_in_order(s)))
        look_into(s, bytes, m);
    return m;
}

static void transmit_whole(struct sim *s, struct router_link *l, struct sim_message *m)
{
    struct sim_node *a = l->of;
    uint64_t start = a->out_free > s->now ? a->out_free : s->now;
    uint64_t there = start + overhead(s, a) + s->c.latency_ns + jitter(s, s->c.jitter_ns);

    a->out_free = start + overhead(s, a) + bytes_ns(s, m->cost);
    l->last = there = there > l->last ? there : l->last;
    sim_push(s, (struct sim_event){ .at = there, .kind = SIM_ARRIVE, .end = l->peer, .m = m });
}

static bool is_beside_tree(const struct router_link *l)
{
    uint32_t width = l->of->sim->c.width;

    return tree_parent(width, l->other) != l->of->me && tree_parent(width, l->of->me) != l->other;
}

/* By then such a link carries only the last acknowledgement, and the good-bye. */
static bool is_of_its_end(const struct router_link *l)
{
    return router_state_is_ending(l->of->router.state) && is_beside_tree(l);
}

static void transmit(struct sim *s, struct router_link *l, struct sim_message *m)
{
    bool vanishes = s->c.swallow && s->r->messages % s->c.swallow == s->c.swallow - 1;

    l->of->messages++;
    l->of->bytes += m->cost;
    s->r->messages++;
    s->r->bytes += m->cost;
    m->closes = s->c.costs.close && is_of_its_end(l);
    if (vanishes || l->cut)
        free(m);
    else if (s->c.window)
        sim_tcp_send(s, l, m);
    else
        transmit_whole(s, l, m);
}

/* The addresses of a peer are asked for along the tree.  Where only the cost of the exchange itself
 * is to be measured, they come at once: otherwise the top, through which they go, would determine
 * the time of the first exchange of many thousand nodes.  Between the same two nodes there are no
 * other messages then, which would be overtaken: a daemon drops what comes ahead. */
static bool has_only_exchanges(const struct sim_config *c)
{
    return !c->requests && !c->store && !c->reports && !c->groups;
}

static bool comes_at_once(struct sim *s, struct router_link *l, struct sim_message *m)
{
    uint32_t from, to;

    if (is_in_order(s) || !has_only_exchanges(&s->c) || m->bye || !m->len ||
        ((unsigned char)m->bytes[0] & 127) != MSG_peer_connect ||
        !msg_address(slice_mem(m->bytes, m->len), &from, &to) || from != l->of->me ||
        list_empty(&s->nodes[to].links))
        return false;
    sim_push(s, (struct sim_event){
                    .at = s->now + 2 * s->c.latency_ns,
                    .kind = SIM_MESSAGE,
                    .end = LIST_OF(list_first(&s->nodes[to].links), struct router_link, link),
                    .m = m });
    return true;
}

static int send_on(struct router_link *l, struct slice bytes)
{
    struct sim *s = l->of->sim;
    struct sim_message *m;

    if (!l->up || l->closed || l->ending || l->of->dead)
        return -EPIPE;
    m = message_of(s, bytes);
    if (!m)
        return -ENOMEM;
    if (!comes_at_once(s, l, m))
        transmit(s, l, m);
    return 0;
}

static uint32_t position(const struct router_link *l)
{
    return l->other;
}

static size_t waiting(const struct router_link *l)
{
    (void)l;
    return 0;
}

/* The last message is that there are no more. */
static void end(struct router_link *l)
{
    struct sim_message *m = l->closed || l->ending ? NULL : message_of(l->of->sim, SLICE_NULL);

    l->ending = true;
    if (!m)
        return;
    m->bye = true;
    transmit(l->of->sim, l, m);
}

static void drop(struct router_link *l)
{
    if (l->closed)
        return;
    close_end(l);
    down_later(l->of->sim, l->peer, ROUTER_DOWN_BROKEN);
}

static struct router_link *connect_to(void *arg, uint32_t to, struct slice addresses,
                                      struct errmsg *err)
{
    struct sim_node *n = arg;

    (void)addresses;
    (void)err;
    return n->sim->c.through_tree ? NULL : sim_net_connect(n, to);
}

static int addresses_of(void *arg, struct buf *text, struct errmsg *err)
{
    struct sim_node *n = arg;

    (void)err;
    if (n->sim->c.through_tree)
        return -EADDRNOTAVAIL;
    buf_printf(text, "node %u", n->me);
    return 0;
}

static void wake(void *arg, uint64_t at_ns)
{
    struct sim_node *n = arg;

    sim_push(n->sim,
             (struct sim_event){
                 .at = at_ns, .kind = SIM_WAKE, .node = n->me, .other = ++n->wake_version });
}

struct router_actions sim_net_actions(struct sim_node *n)
{
    return (struct router_actions){ position,   send_on,      waiting, end, drop,
                                    connect_to, addresses_of, wake,    n };
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void arrive_in_order(struct sim *s, const struct sim_event *e)
{
    struct sim_node *n = e->end->of;
    struct sim_event whole = *e;

    n->in_free =
        (n->in_free > s->now ? n->in_free : s->now) + bytes_ns(s, e->m->cost) + overhead(s, n);
    whole.kind = SIM_MESSAGE;
    whole.at = n->in_free;
    sim_push(s, whole);
}

/* Messages that are being received are a heap: the most urgent one is the first. */
static bool is_before(const struct sim_intake *a, const struct sim_intake *b)
{
    return a->urgency < b->urgency || (a->urgency == b->urgency && a->number < b->number);
}

static struct sim_intake *most_urgent(struct sim_node *n)
{
    return n->nintakes ? n->intakes : NULL;
}

/* There is room. */
static void put_intake(struct sim_node *n, struct sim_intake k)
{
    uint32_t i = n->nintakes++;

    for (; i && is_before(&k, &n->intakes[(i - 1) / 2]); i = (i - 1) / 2)
        n->intakes[i] = n->intakes[(i - 1) / 2];
    n->intakes[i] = k;
}

/* There is one. */
static struct sim_intake take_most_urgent(struct sim_node *n)
{
    struct sim_intake first = n->intakes[0], last = n->intakes[--n->nintakes];
    uint32_t i = 0, child;

    while ((child = 2 * i + 1) < n->nintakes) {
        child += child + 1 < n->nintakes && is_before(&n->intakes[child + 1], &n->intakes[child]);
        if (!is_before(&n->intakes[child], &last))
            break;
        n->intakes[i] = n->intakes[child];
        i = child;
    }
    n->intakes[i] = last;
    return first;
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

static void plan_intake(struct sim *s, struct sim_node *n)
{
    const struct sim_intake *k = most_urgent(n);

    n->intake_version++;
    if (k)
        sim_push(s, (struct sim_event){ .at = s->now + k->left,
                                        .kind = SIM_TAKEN,
                                        .node = n->me,
                                        .other = n->intake_version });
}

static void arrive(struct sim *s, const struct sim_event *e)
{
    struct sim_node *n = e->end->of;
    size_t room = n->intakes_room;

    if (is_in_order(s)) {
        arrive_in_order(s, e);
        return;
    }
    take_in(s, n);
    e->end->urgency = e->m->urgency = /* the order of a link is kept */
        e->m->urgency > e->end->urgency ? e->m->urgency : e->end->urgency;
    if (!sim_room(s, &n->intakes, n->nintakes, &room, sizeof *n->intakes)) {
        free(e->m);
        return;
    }
    n->intakes_room = (uint32_t)room;
    put_intake(n, (struct sim_intake){
                      .number = e->number,
                      .urgency = e->m->urgency,
                      .end = e->end,
                      .left = bytes_ns(s, e->m->cost) + overhead(s, n),
                      .m = e->m,
                  });
    plan_intake(s, n);
}

/* The other end has closed the link after its last message. */
static void on_bye(struct sim *s, struct router_link *l)
{
    close_end(l);
    down_later(s, l->peer, ROUTER_DOWN_CLOSED);
    router_link_down(&l->of->router, l, ROUTER_DOWN_CLOSED, "the link was closed");
}

static void receive(struct sim *s, struct router_link *l, struct sim_message *m)
{
    struct sim_node *n = l->of;

    if (n->dead || l->closed || l->cut)
        return;
    s->reading = l;
    if (m->bye)
        on_bye(s, l);
    else
        router_bytes(&n->router, l, slice_mem(m->bytes, m->len), s->now);
    sim_tcp_flush(s);
    s->reading = NULL;
}

static void taken(struct sim *s, const struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];
    struct sim_intake whole;

    if (e->other != n->intake_version)
        return;
    take_in(s, n);
    whole = take_most_urgent(n);
    plan_intake(s, n);
    receive(s, whole.end, whole.m);
    free(whole.m);
}

/* ---- up and down ----------------------------------------------------------------------------- */

void sim_net_die(struct sim_node *n)
{
    LIST_EACH(l, &n->links)
    {
        struct router_link *k = LIST_OF(l, struct router_link, link);
        close_end(k);
        down_later(n->sim, k->peer, ROUTER_DOWN_BROKEN);
    }
}

void sim_net_cut(struct sim_node *n, bool any)
{
    struct router_link *chosen = NULL;
    uint32_t k = 0;

    LIST_EACH(l, &n->links)
    {
        struct router_link *e = LIST_OF(l, struct router_link, link);
        bool fits = any ? rand_below(&n->sim->rand, ++k) == 0 : e == n->router.parent;
        if (fits && e->up && e->peer->up && !e->peer->closed)
            chosen = e;
    }
    if (!chosen)
        return;
    chosen->cut = chosen->peer->cut = true;
    down_later(n->sim, chosen, ROUTER_DOWN_BROKEN);
    down_later(n->sim, chosen->peer, ROUTER_DOWN_BROKEN);
}

static void go_up(struct sim *s, struct router_link *l)
{
    if (l->closed || l->of->dead)
        return;
    l->up = true;
    router_link_up(&l->of->router, l, s->now);
}

static void go_down(struct router_link *l, enum router_down how)
{
    if (l->closed || l->of->dead)
        return;
    close_end(l);
    router_link_down(&l->of->router, l, l->up ? how : ROUTER_DOWN_UNREACHABLE, "the link is down");
}

void sim_net_happen(struct sim *s, struct sim_event *e)
{
    struct sim_node *n = &s->nodes[e->node];

    switch (e->kind) {
    case SIM_ARRIVE: arrive(s, e); return;
    case SIM_OUT:
    case SIM_ACK:
    case SIM_CHUNK:
    case SIM_GOT: sim_tcp_happen(s, e); return;
    case SIM_TAKEN: taken(s, e); return;
    case SIM_MESSAGE:
        receive(s, e->end, e->m);
        free(e->m);
        return;
    case SIM_UP: go_up(s, e->end); return;
    case SIM_DOWN: go_down(e->end, e->how); return;
    case SIM_WAKE:
        if (!n->dead && e->other == n->wake_version)
            router_tick(&n->router, s->now);
        return;
    default: return;
    }
}

void sim_net_free(struct sim *s)
{
    struct sim_event e;

    while (sim_pop(s, &e))
        sim_messages_free(e.m);
    for (size_t i = 0; i < s->npairs; i++) {
        sim_tcp_free(&s->pairs[i][0]);
        sim_tcp_free(&s->pairs[i][1]);
        free(s->pairs[i]);
    }
    for (size_t i = 0; i < s->nblocks; i++)
        block_set_drop(s->blocks[i]);
    free(s->pairs);
    free(s->blocks);
    free(s->heap);
}
