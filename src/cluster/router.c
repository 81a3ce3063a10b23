/* router.c - see router.h.  Reading order: links to children; routes; sending; receiving; links up
 * and down; losses and the end. */
#include "cluster/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/search.h"
#include "cluster/msg.h"
#include "cluster/route_state.h"
#include "cluster/tree.h"

enum { ROUTER_ARENA = 1 << 30 };

/* A message that has no route for now. */
struct held {
    struct list link;
    uint32_t to;
    size_t len;
    char bytes[];
};

/* ---- links to children ----------------------------------------------------------------------- */

static uint32_t position_of(const struct router *c, const struct router_link *l)
{
    return c->config.actions.position(l);
}

static int send_bytes(const struct router *c, struct router_link *l, struct slice bytes)
{
    return c->config.actions.send(l, bytes);
}

static bool branch_is_before(const void *item, const void *key)
{
    const struct router_branch *b = item;

    return b->position < *(const uint32_t *)key;
}

/* The index of the first branch at that position or after it. */
static uint32_t branch_index(const struct router *c, uint32_t position)
{
    return (uint32_t)search_first(c->below, c->nbelow, sizeof *c->below, branch_is_before,
                                  &position);
}

static struct router_branch *branch_at(const struct router *c, uint32_t position)
{
    uint32_t i = branch_index(c, position);

    return i < c->nbelow && c->below[i].position == position ? &c->below[i] : NULL;
}

static struct router_branch *branch_of(const struct router *c, const struct router_link *l)
{
    for (uint32_t i = 0; i < c->nbelow; i++) {
        if (c->below[i].link == l)
            return &c->below[i];
    }
    return NULL;
}

/* NULL: no memory. */
static struct router_branch *branch_add(struct router *c, struct router_link *l)
{
    uint32_t position = position_of(c, l), i = branch_index(c, position);

    if (c->nbelow == c->room) {
        uint32_t room = c->room ? 2 * c->room : 4;
        struct router_branch *more = realloc(c->below, room * sizeof *more);
        if (!more) {
            log_error(c->config.log, "out of memory for another daemon");
            return NULL;
        }
        c->below = more;
        c->room = room;
    }
    memmove(c->below + i + 1, c->below + i, (c->nbelow++ - i) * sizeof *c->below);
    c->below[i] = (struct router_branch){ .position = position, .link = l };
    return &c->below[i];
}

static void branch_drop(struct router *c, struct router_branch *b)
{
    size_t after = (size_t)(c->below + --c->nbelow - b);

    rank_set_free(&b->reach);
    memmove(b, b + 1, after * sizeof *b);
}

/* ---- routes ---------------------------------------------------------------------------------- */

static enum route_state route_of(const struct router *c, uint32_t position)
{
    if (rank_set_has(&c->lost, position))
        return ROUTE_STATE_LOST;
    return rank_set_has(&c->ready, position) ? ROUTE_STATE_READY : ROUTE_STATE_UNSEEN;
}

/* The step of another daemon. */
static enum route_action route_event(struct router *c, uint32_t position, enum route_event event)
{
    enum route_state state = route_of(c, position);
    enum route_action action = route_state_step(&state, event);
    int rc = 0;

    if (action == ROUTE_ACTION_welcome)
        rc = rank_set_add(&c->ready, position, 1);
    else if (action == ROUTE_ACTION_forget)
        rc = rank_set_add(&c->lost, position, 1);
    if (rc < 0)
        log_error(c->config.log, "out of memory for the state of position %u: %s", position,
                  route_state_name(state));
    return action;
}

bool router_is_lost(const struct router *c, uint32_t position)
{
    return route_of(c, position) == ROUTE_STATE_LOST;
}

static bool is_below(const struct router *c, uint32_t position)
{
    return position < c->config.count && tree_is_below(c->config.width, position, c->config.me);
}

/* The child through which that position has announced itself: one of its ancestors, or itself.  Of
 * several the deepest: a position that loses its parent joins an ancestor of that one, and what it
 * has sent by the old parent may arrive here after what it has sent by the new one. */
static struct router_branch *branch_to(const struct router *c, uint32_t position)
{
    for (uint32_t p = position; c->nbelow && p != TREE_NONE && p > c->config.me;
         p = tree_parent(c->config.width, p)) {
        struct router_branch *b = branch_at(c, p);
        if (b && rank_set_has(&b->reach, position))
            return b;
    }
    return NULL;
}

/* A position that is below us and without a route is not above us either. */
static struct router_link *way_to(const struct router *c, uint32_t position)
{
    const struct router_branch *b;

    if (!is_below(c, position))
        return c->parent;
    b = branch_to(c, position);
    return b ? b->link : NULL;
}

bool router_reaches(const struct router *c, uint32_t position)
{
    return position < c->config.count && branch_to(c, position) != NULL;
}

uint32_t router_parent(const struct router *c)
{
    return c->parent_up ? position_of(c, c->parent) : TREE_NONE;
}

bool router_is_near(const struct router *c, uint32_t position)
{
    return branch_at(c, position) || (c->parent_up && position_of(c, c->parent) == position);
}

static struct router_link *link_to(const struct router *c, uint32_t position)
{
    const struct router_branch *b = branch_at(c, position);

    if (b)
        return b->link;
    return c->parent_up && position_of(c, c->parent) == position ? c->parent : NULL;
}

int router_pass(struct router *c, uint32_t to, struct slice bytes)
{
    struct router_link *l = way_to(c, to);

    return l ? send_bytes(c, l, bytes) : -EPIPE;
}

static void held_free(struct router *c, struct held *k)
{
    list_unlink(&k->link);
    c->held_bytes -= k->len;
    free(k);
}

static void hold(struct router *c, uint32_t to, struct slice bytes)
{
    struct held *k = NULL;

    if (to >= c->config.count || router_is_lost(c, to))
        return;
    if (c->held_bytes <= LIMIT_NODE_HELD && bytes.len <= LIMIT_NODE_HELD - c->held_bytes)
        k = malloc(sizeof *k + bytes.len);
    if (!k) {
        log_error(c->config.log,
                  "too many messages are waiting for the daemon at position %u, which cannot be "
                  "reached now",
                  to);
        return;
    }
    k->to = to;
    k->len = bytes.len;
    memcpy(k->bytes, bytes.ptr, bytes.len);
    list_init(&k->link);
    list_append(&c->held, &k->link);
    c->held_bytes += k->len;
}

static void release(struct router *c)
{
    LIST_EACH(l, &c->held)
    {
        struct held *k = LIST_OF(l, struct held, link);
        if (router_is_lost(c, k->to) ||
            router_pass(c, k->to, slice_mem(k->bytes, k->len)) != -EPIPE)
            held_free(c, k);
    }
}

/* Resends the messages that the position may not have received. */
static void resend(struct router *c, uint32_t to)
{
    const struct reliable_kept *k = NULL;

    while ((k = reliable_next(&c->reliable, to, k))) {
        if (router_pass(c, to, reliable_bytes(k)) < 0)
            break;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

size_t router_waiting(const struct router *c, uint32_t position)
{
    const struct router_link *l = way_to(c, position);

    return l ? c->config.actions.waiting(l) : 0;
}

/* To all neighbours except the sender. */
static int spread(struct router *c, struct slice bytes, const struct router_link *but)
{
    int rc = 0;

    if (c->parent && c->parent != but)
        rc = send_bytes(c, c->parent, bytes);
    for (uint32_t i = 0; i < c->nbelow; i++) {
        int sent = c->below[i].link != but ? send_bytes(c, c->below[i].link, bytes) : 0;
        rc = rc ? rc : sent;
    }
    return rc;
}

int router_put(struct router *c, struct msg *m)
{
    m->from = c->config.me;
    buf_clear(&c->scratch);
    msg_write(m, &c->scratch);
    if (buf_ok(&c->scratch))
        return 0;
    return c->scratch.error == BUF_TOO_LONG ? -EMSGSIZE : -ENOMEM;
}

int router_send_near(struct router *c, struct msg *m)
{
    struct router_link *l = link_to(c, m->to);
    int rc = l ? router_put(c, m) : -EPIPE;

    return rc == 0 ? send_bytes(c, l, buf_slice(&c->scratch)) : rc;
}

/* The overlay is responsible for its own messages. */
static int send_bare(struct router *c, struct msg *m)
{
    int rc = router_put(c, m);

    if (rc == 0)
        rc = router_pass(c, m->to, buf_slice(&c->scratch));
    if (rc == -EPIPE) {
        hold(c, m->to, buf_slice(&c->scratch));
        rc = 0;
    }
    return rc;
}

/* Kept until acknowledged; without a route it is sent as soon as there is one. */
static int send_numbered(struct router *c, struct msg *m)
{
    int rc = reliable_number(&c->reliable, m) ? router_put(c, m) : -ENOMEM;

    if (rc == 0 && !reliable_keep(&c->reliable, m->to, buf_slice(&c->scratch)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = router_pass(c, m->to, buf_slice(&c->scratch));
    return rc == -EPIPE ? 0 : rc;
}

static bool is_somebody(const struct router *c, uint32_t to)
{
    return to < c->config.count && to != c->config.me && !router_is_lost(c, to);
}

int router_send_piece(struct router *c, struct msg *m, uint64_t now_ns)
{
    c->now_ns = now_ns;
    m->number = m->acked = 0;
    return is_somebody(c, m->to) ? peer_links_send(c, m) : -EPIPE;
}

void router_meet(struct router *c, uint32_t position, uint64_t now_ns)
{
    c->now_ns = now_ns;
    if (is_somebody(c, position))
        peer_links_expect(c, position);
}

int router_send(struct router *c, struct msg *m)
{
    m->number = m->acked = 0;
    if (m->to == MSG_EVERYBODY) {
        int rc = router_put(c, m);
        if (m->kind == MSG_quit)
            router_leave(c);
        return rc == 0 ? spread(c, buf_slice(&c->scratch), NULL) : rc;
    }
    if (!is_somebody(c, m->to))
        return -EPIPE;
    return m->kind == MSG_overlay ? send_bare(c, m) : send_numbered(c, m);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* That position can be reached through this child.  False: it cannot be, or there is no memory. */
static bool learn_one(struct router *c, struct router_branch *b, uint32_t position)
{
    if (!is_below(c, position) || !tree_is_below(c->config.width, position, b->position) ||
        router_is_lost(c, position))
        return false;
    if (rank_set_add(&b->reach, position, 1) < 0) {
        log_error(c->config.log, "out of memory for the route to position %u", position);
        return false;
    }
    return true;
}

/* Those positions are reached through this link.  (A callback may change the branches.) */
static void learn(struct router *c, uint32_t child, const struct op_ready *r)
{
    for (uint32_t i = 0; i < r->positions.n; i++) {
        uint32_t p = r->positions.items[i];
        struct router_branch *b = branch_at(c, child);
        if (!b || !learn_one(c, b, p))
            continue;
        resend(c, p);
        peer_links_resend(c, p);
        if (route_event(c, p, ROUTE_EVENT_ANNOUNCE) == ROUTE_ACTION_welcome && !c->config.me)
            c->config.calls.on_ready(c->config.arg, p,
                                     i < r->hosts.n ? r->hosts.items[i] : SLICE_NULL);
    }
    release(c);
}

static void note(struct router *c, uint32_t to)
{
    struct msg m = { .kind = MSG_ack, .to = to };

    reliable_note(&c->reliable, &m);
    if (router_put(c, &m) == 0)
        router_pass(c, to, buf_slice(&c->scratch));
}

/* Pieces have their own sequence. */
static struct reliable *reliable_of(struct router *c, const struct msg *m)
{
    bool piece = m->kind == MSG_overlay || (m->kind == MSG_ack && m->u.ack.pieces);

    return piece ? &c->direct.reliable : &c->reliable;
}

static void take(struct router *c, struct router_link *l, const struct msg *m, struct slice bytes)
{
    if (!reliable_take(reliable_of(c, m), m, bytes.len))
        return;
    if (m->kind == MSG_ready && l != c->parent)
        learn(c, position_of(c, l), &m->u.ready);
    if (m->kind == MSG_peer_connect)
        peer_links_on_meet(c, m);
    if (m->kind == MSG_quit)
        router_leave(c);
    if (m->to == c->config.me || m->to == MSG_EVERYBODY || m->to == MSG_NEIGHBOUR)
        c->config.calls.on_message(c->config.arg, m);
}

static void deliver(struct router *c, struct router_link *l, struct slice bytes)
{
    struct arena a = ARENA_NULL(ROUTER_ARENA);
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) != 0) {
        log_error(c->config.log, "invalid message from the daemon at position %u: %s",
                  position_of(c, l), err.text);
    } else {
        take(c, l, &m, bytes);
        if (reliable_owes(&c->reliable, m.from))
            note(c, m.from);
        if (reliable_owes(&c->direct.reliable, m.from))
            peer_links_note(c, m.from);
    }
    arena_free(&a);
}

/* The first byte of a message is its kind. */
static bool is_kind(struct slice bytes, enum msg_kind kind)
{
    return bytes.len && ((unsigned char)bytes.ptr[0] & 127) == kind;
}

/* A peer link carries only pieces between its ends. */
static void on_piece(struct router *c, struct router_link *l, uint32_t from, uint32_t to,
                     struct slice bytes)
{
    if (from == position_of(c, l) && to == c->config.me &&
        (is_kind(bytes, MSG_overlay) || is_kind(bytes, MSG_ack))) {
        deliver(c, l, bytes);
    } else {
        log_error(c->config.log,
                  "the daemon at position %u sent a message that a direct link does not carry",
                  position_of(c, l));
    }
}

static bool is_ready(struct slice bytes)
{
    return bytes.len && (unsigned char)bytes.ptr[0] == MSG_ready;
}

/* A `ready` without a route is not held: a new link to our parent announces all positions itself.
 */
static void forward(struct router *c, const struct router_link *from, uint32_t to,
                    struct slice bytes)
{
    if (way_to(c, to) != from && router_pass(c, to, bytes) == -EPIPE && !is_ready(bytes))
        hold(c, to, bytes);
}

/* Most messages come by the tree, and there may be many peers. */
static bool is_of_tree(const struct router *c, const struct router_link *l)
{
    const struct router_branch *b = l == c->parent ? NULL : branch_at(c, position_of(c, l));

    return l == c->parent || (b && b->link == l);
}

void router_bytes(struct router *c, struct router_link *l, struct slice bytes, uint64_t now_ns)
{
    uint32_t from, to;

    c->now_ns = now_ns;
    if (!msg_address(bytes, &from, &to)) {
        log_error(c->config.log, "the daemon at position %u sent a message without an address",
                  position_of(c, l));
        return;
    }
    if (!is_of_tree(c, l) && peer_links_received(c, l)) {
        on_piece(c, l, from, to, bytes);
        return;
    }
    if (to == MSG_EVERYBODY)
        spread(c, bytes, l);
    else if (to != c->config.me && to != MSG_NEIGHBOUR)
        forward(c, l, to, bytes);
    if (to == c->config.me || to == MSG_EVERYBODY || to == MSG_NEIGHBOUR || is_ready(bytes))
        deliver(c, l, bytes);
}

/* ---- links up and down ----------------------------------------------------------------------- */

static enum router_action step(struct router *c, enum router_event event)
{
    return router_state_event(&c->state, event, c->config.log);
}

/* There is no link towards the launcher any more. */
static void parent_down(struct router *c, const char *why)
{
    c->parent = NULL;
    c->parent_up = false;
    switch (step(c, ROUTER_EVENT_PARENT_DOWN)) {
    case ROUTER_ACTION_report_orphan: c->config.calls.on_orphan(c->config.arg, why); break;
    case ROUTER_ACTION_report_closed: c->config.calls.on_closed(c->config.arg); break;
    default: break;
    }
}

/* Us, and all positions that can be reached through us; some more than once, which does not matter.
 * 0 or -ENOMEM. */
static int list_reach(const struct router *c, struct part_uints *list)
{
    uint32_t n = 1, *all;

    for (uint32_t i = 0; i < c->nbelow; i++)
        n += c->below[i].reach.count;
    all = malloc(n * sizeof *all);
    if (!all)
        return -ENOMEM;
    *list = (struct part_uints){ all, n };
    *all++ = c->config.me;
    for (uint32_t i = 0; i < c->nbelow; i++) {
        const struct rank_set *r = &c->below[i].reach;
        for (uint32_t k = 0; k < r->nruns; k++) {
            for (uint32_t p = 0; p < r->runs[k].count; p++)
                *all++ = r->runs[k].first + p;
        }
    }
    return 0;
}

static int send_ready(struct router *c)
{
    struct slice host = slice_str(c->config.host);
    struct msg m = { .kind = MSG_ready, .to = 0 };
    int rc = list_reach(c, &m.u.ready.positions);

    m.u.ready.hosts = (struct part_texts){ &host, 1 };
    if (rc == 0)
        rc = router_put(c, &m);
    if (rc == 0)
        rc = send_bytes(c, c->parent, buf_slice(&c->scratch));
    free((void *)(uintptr_t)m.u.ready.positions.items);
    return rc;
}

/* A daemon that joins when all are leaving has missed the order to exit. */
static void send_away(struct router *c, uint32_t position)
{
    struct msg m = { .kind = MSG_quit, .to = position };

    router_send_near(c, &m);
}

static bool is_wanted(struct router *c, uint32_t position)
{
    return !c->config.calls.on_near || c->config.calls.on_near(c->config.arg, position);
}

static void child_up(struct router *c, struct router_link *l)
{
    uint32_t position = position_of(c, l);
    bool good = position && is_below(c, position) && position != c->config.me &&
                !branch_at(c, position); /* only positions below us, once */
    enum router_action action = step(c, ROUTER_EVENT_CHILD);

    if (!good || action == ROUTER_ACTION_refuse || !branch_add(c, l)) {
        c->config.actions.drop(l);
        return;
    }
    if (!is_wanted(c, position)) { /* lost, so it is told nothing */
        branch_drop(c, branch_at(c, position));
        c->config.actions.drop(l);
        return;
    }
    if (action == ROUTER_ACTION_send_away)
        send_away(c, position);
}

/* Resends those of our messages to positions above us and beside us that may not have arrived. */
static void resend_above(struct router *c)
{
    uint32_t p;

    for (size_t at = 0; (p = reliable_each(&c->reliable, &at)) != TREE_NONE;) {
        if (!is_below(c, p))
            resend(c, p);
    }
    for (size_t at = 0; (p = reliable_each(&c->direct.reliable, &at)) != TREE_NONE;) {
        if (!is_below(c, p))
            peer_links_resend(c, p);
    }
}

/* The overlay goes first: broadcasts come before messages to one daemon. */
static void parent_up(struct router *c)
{
    c->parent_up = true;
    if (!is_wanted(c, position_of(c, c->parent))) {
        struct router_link *l = c->parent;
        c->parent_up = false;
        c->parent = NULL;
        c->config.actions.drop(l);
        parent_down(c, "the daemon above has been lost meanwhile");
        return;
    }
    send_ready(c);
    resend_above(c);
    release(c);
}

void router_join(struct router *c, struct router_link *parent)
{
    c->parent = parent;
    c->parent_up = false;
}

void router_link_up(struct router *c, struct router_link *l, uint64_t now_ns)
{
    c->now_ns = now_ns;
    if (l == c->parent)
        parent_up(c);
    else if (peer_links_has(c, l) || position_of(c, l) < c->config.me)
        peer_links_up(c, l);
    else
        child_up(c, l);
}

/* No daemon below is connected any more: if we are to end, the link towards the launcher is closed
 * (then router_link_down() ends the rest). */
static void empty(struct router *c)
{
    if (step(c, ROUTER_EVENT_EMPTY) != ROUTER_ACTION_close_parent)
        return;
    if (c->parent)
        c->config.actions.end(c->parent);
    else
        parent_down(c, "");
}

void router_link_down(struct router *c, struct router_link *l, enum router_down how,
                      const char *why)
{
    struct router_branch *b = branch_of(c, l);
    uint32_t position;

    if (l == c->parent) {
        parent_down(c, why);
        return;
    }
    peer_links_down(c, l, how);
    if (!b)
        return;
    position = b->position;
    branch_drop(c, b);
    if (step(c, how == ROUTER_DOWN_CLOSED ? ROUTER_EVENT_CHILD_CLOSED
                                          : ROUTER_EVENT_CHILD_BROKEN) == ROUTER_ACTION_report_loss)
        c->config.calls.on_lost(c->config.arg, position, why);
    if (c->nbelow == 0)
        empty(c);
}

void router_tick(struct router *c, uint64_t now_ns)
{
    c->now_ns = now_ns;
    peer_links_tick(c);
}

/* ---- losses and the end ---------------------------------------------------------------------- */

static void forget_route(struct router *c, uint32_t position)
{
    struct router_branch *b;

    while ((b = branch_to(c, position)) && rank_set_remove(&b->reach, position) == 0)
        continue;
    if (b)
        log_error(c->config.log, "out of memory for the loss of position %u", position);
}

/* The route between us and that position may have gone through the lost one. */
static bool led_through(const struct router *c, uint32_t position, uint32_t gone)
{
    uint32_t width = c->config.width;

    return tree_is_below(width, position, gone) || tree_is_below(width, c->config.me, gone);
}

static void mend(struct router *c, uint32_t gone)
{
    uint32_t p;

    for (size_t at = 0; (p = reliable_each(&c->reliable, &at)) != TREE_NONE;) {
        if (led_through(c, p, gone))
            resend(c, p);
    }
    for (size_t at = 0; (p = reliable_each(&c->direct.reliable, &at)) != TREE_NONE;) {
        if (led_through(c, p, gone))
            peer_links_resend(c, p);
    }
}

void router_lost(struct router *c, uint32_t position)
{
    struct router_link *l;
    bool child;

    if (position >= c->config.count ||
        route_event(c, position, ROUTE_EVENT_LOSE) != ROUTE_ACTION_forget)
        return;
    reliable_forget(&c->reliable, position);
    peer_links_lost(c, position);
    l = link_to(c, position);
    child = l && l != c->parent;
    if (child) {
        branch_drop(c, branch_at(c, position));
    } else if (l) {
        c->parent = NULL;
        c->parent_up = false;
    }
    if (l)
        c->config.actions.drop(l);
    forget_route(c, position);
    release(c);
    mend(c, position);
    if (child && c->nbelow == 0)
        empty(c);
    else if (l && !child && c->state == ROUTER_STATE_CLOSING)
        parent_down(c, "");
}

void router_leave(struct router *c)
{
    step(c, ROUTER_EVENT_LEAVE);
}

void router_end(struct router *c)
{
    if (step(c, ROUTER_EVENT_END) != ROUTER_ACTION_look_below)
        return;
    peer_links_end(c);
    if (c->nbelow == 0)
        empty(c);
}

/* ---- opening and closing --------------------------------------------------------------------- */

void router_open(struct router *c, const struct router_config *config)
{
    memset(c, 0, sizeof *c);
    c->config = *config;
    list_init(&c->held);
    buf_init(&c->scratch, LIMIT_DAEMON_LINK_MESSAGE);
    reliable_open(&c->reliable, config->count);
    peer_links_open(c);
}

void router_close(struct router *c)
{
    if (!c->held.next)
        return;
    LIST_EACH(l, &c->held)
    held_free(c, LIST_OF(l, struct held, link));
    reliable_close(&c->reliable);
    peer_links_close(c);
    while (c->nbelow)
        rank_set_free(&c->below[--c->nbelow].reach);
    free(c->below);
    rank_set_free(&c->ready);
    rank_set_free(&c->lost);
    buf_free(&c->scratch);
    memset(c, 0, sizeof *c);
}
