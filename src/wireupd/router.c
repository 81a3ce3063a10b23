/* router.c - see router.h. */
#include "wireupd/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/tree.h"

/* A link to a child. */
struct branch {
    struct list link;
    struct router *router;
    struct daemon_link *hop;
    uint32_t position;
};

enum { ROUTER_ARENA = 1 << 30 };

/* A message that has no route for now. */
struct held {
    struct list link;
    uint32_t to;
    size_t len;
    char bytes[];
};

/* ---- routes ---------------------------------------------------------------------------------- */

static int send_bytes(struct daemon_link *h, struct slice bytes)
{
    return daemon_link_send(h, &bytes, 1);
}

static bool is_below(const struct router *c, uint32_t position)
{
    return position < c->config.count && tree_is_below(c->config.width, position, c->config.me);
}

/* A position that is below us and without a route is not above us either. */
static struct daemon_link *way_to(const struct router *c, uint32_t position)
{
    if (position < c->config.count && (c->route[position] || is_below(c, position)))
        return c->route[position];
    return c->parent;
}

int router_pass(struct router *c, uint32_t to, struct slice bytes)
{
    struct daemon_link *h = way_to(c, to);

    return h ? send_bytes(h, bytes) : -EPIPE;
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

    if (to >= c->config.count || c->lost[to])
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
        if (c->lost[k->to] || router_pass(c, k->to, slice_mem(k->bytes, k->len)) != -EPIPE)
            held_free(c, k);
    }
}

/* Resends what that position may not have received. */
static void say_again(struct router *c, uint32_t to)
{
    const struct reliable_kept *k = NULL;

    while ((k = reliable_next(&c->trail, to, k))) {
        if (router_pass(c, to, reliable_bytes(k)) < 0)
            break;
    }
    peer_links_say_again(c, to);
}

/* ---- sending --------------------------------------------------------------------------------- */

size_t router_waiting(const struct router *c, uint32_t position)
{
    const struct daemon_link *h = way_to(c, position);

    return h ? daemon_link_waiting(h) : 0;
}

/* To all neighbours except the sender. */
static int spread(struct router *c, struct slice bytes, const struct daemon_link *but)
{
    int rc = 0;

    if (c->parent && c->parent != but)
        rc = send_bytes(c->parent, bytes);
    LIST_EACH(l, &c->below)
    {
        const struct branch *b = LIST_OF(l, struct branch, link);
        int sent = b->hop != but ? send_bytes(b->hop, bytes) : 0;
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
    struct daemon_link *h = m->to < c->config.count ? c->near[m->to] : NULL;
    int rc = h ? router_put(c, m) : -EPIPE;

    return rc == 0 ? send_bytes(h, buf_slice(&c->scratch)) : rc;
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
    int rc = reliable_number(&c->trail, m) ? router_put(c, m) : -ENOMEM;

    if (rc == 0 && !reliable_keep(&c->trail, m->to, buf_slice(&c->scratch)))
        rc = -ENOMEM;
    if (rc == 0)
        rc = router_pass(c, m->to, buf_slice(&c->scratch));
    return rc == -EPIPE ? 0 : rc;
}

static bool is_somebody(const struct router *c, uint32_t to)
{
    return to < c->config.count && to != c->config.me && !c->lost[to];
}

int router_send_piece(struct router *c, struct msg *m)
{
    m->number = m->heard = 0;
    return is_somebody(c, m->to) ? peer_links_send(c, m) : -EPIPE;
}

void router_meet(struct router *c, uint32_t position)
{
    if (is_somebody(c, position))
        peer_links_want(c, position);
}

int router_send(struct router *c, struct msg *m)
{
    m->number = m->heard = 0;
    if (m->to == MSG_EVERYBODY) {
        int rc = router_put(c, m);
        c->leaving = c->leaving || m->kind == MSG_quit;
        return rc == 0 ? spread(c, buf_slice(&c->scratch), NULL) : rc;
    }
    if (!is_somebody(c, m->to))
        return -EPIPE;
    return m->kind == MSG_overlay ? send_bare(c, m) : send_numbered(c, m);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Those positions are reached through this link. */
static void learn(struct router *c, struct daemon_link *h, const struct msg_ready *r)
{
    for (uint32_t i = 0; i < r->positions.n; i++) {
        uint32_t p = r->positions.items[i];
        struct slice host = i < r->hosts.n ? r->hosts.items[i] : SLICE_NULL;
        if (!is_below(c, p) || p == c->config.me || c->lost[p])
            continue;
        c->route[p] = h;
        say_again(c, p);
        if (c->config.me == 0 && !c->known[p]) {
            c->known[p] = true;
            c->nready++;
            c->config.calls.on_ready(c->config.arg, p, host);
        }
    }
    release(c);
}

static void note(struct router *c, uint32_t to)
{
    struct msg m = { .kind = MSG_ack, .to = to };

    reliable_note(&c->trail, &m);
    if (router_put(c, &m) == 0)
        router_pass(c, to, buf_slice(&c->scratch));
}

/* Pieces have their own sequence. */
static struct reliable *trail_of(struct router *c, const struct msg *m)
{
    bool piece = m->kind == MSG_overlay || (m->kind == MSG_ack && m->u.ack.pieces);

    return piece ? &c->direct.trail : &c->trail;
}

static void take(struct router *c, struct daemon_link *h, const struct msg *m, struct slice bytes)
{
    if (!reliable_take(trail_of(c, m), m, bytes.len))
        return;
    if (m->kind == MSG_ready && h != c->parent)
        learn(c, h, &m->u.ready);
    if (m->kind == MSG_meet)
        peer_links_hear(c, m);
    c->leaving = c->leaving || m->kind == MSG_quit;
    if (m->to == c->config.me || m->to == MSG_EVERYBODY || m->to == MSG_NEIGHBOUR)
        c->config.calls.on_message(c->config.arg, m);
}

static void deliver(struct router *c, struct daemon_link *h, struct slice bytes)
{
    struct arena a = ARENA_NULL(ROUTER_ARENA);
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) != 0) {
        log_error(c->config.log, "invalid message from the daemon at position %u: %s",
                  daemon_link_position(h), err.text);
    } else {
        take(c, h, &m, bytes);
        if (reliable_owes(&c->trail, m.from))
            note(c, m.from);
        if (reliable_owes(&c->direct.trail, m.from))
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
static void hear_direct(struct router *c, struct daemon_link *h, uint32_t from, uint32_t to,
                        struct slice bytes)
{
    if (from == daemon_link_position(h) && to == c->config.me &&
        (is_kind(bytes, MSG_overlay) || is_kind(bytes, MSG_ack))) {
        peer_links_heard(c, h);
        deliver(c, h, bytes);
    } else {
        log_error(c->config.log,
                  "the daemon at position %u sent a message that a direct link does not carry",
                  daemon_link_position(h));
    }
}

static bool is_ready(struct slice bytes)
{
    return bytes.len && (unsigned char)bytes.ptr[0] == MSG_ready;
}

/* A `ready` without a route is not held: a new link to our parent announces all positions itself.
 */
static void forward(struct router *c, const struct daemon_link *from, uint32_t to,
                    struct slice bytes)
{
    if (way_to(c, to) != from && router_pass(c, to, bytes) == -EPIPE && !is_ready(bytes))
        hold(c, to, bytes);
}

static void on_message(void *arg, struct daemon_link *h, struct slice bytes)
{
    struct router *c = arg;
    uint32_t from, to;

    if (!msg_address(bytes, &from, &to)) {
        log_error(c->config.log, "the daemon at position %u sent a message without an address",
                  daemon_link_position(h));
        return;
    }
    if (peer_links_has(c, h)) {
        hear_direct(c, h, from, to, bytes);
        return;
    }
    if (to == MSG_EVERYBODY)
        spread(c, bytes, h);
    else if (to != c->config.me && to != MSG_NEIGHBOUR)
        forward(c, h, to, bytes);
    if (to == c->config.me || to == MSG_EVERYBODY || to == MSG_NEIGHBOUR || is_ready(bytes))
        deliver(c, h, bytes);
}

/* ---- links up and down ----------------------------------------------------------------------- */

/* Announces us and all positions that can be reached through us. */
static int say_ready(struct router *c)
{
    uint32_t *positions = calloc(c->config.count, sizeof *positions), n = 0;
    struct slice *hosts = calloc(1, sizeof *hosts);
    struct msg m = { .kind = MSG_ready, .to = 0 };
    int rc = -ENOMEM;

    if (positions && hosts) {
        positions[n++] = c->config.me;
        hosts[0] = slice_str(c->config.host);
        for (uint32_t p = 0; p < c->config.count; p++) {
            if (c->route[p])
                positions[n++] = p;
        }
        m.u.ready.positions = (struct part_uints){ positions, n };
        m.u.ready.hosts = (struct part_texts){ hosts, 1 };
        rc = router_put(c, &m);
        if (rc == 0)
            rc = send_bytes(c->parent, buf_slice(&c->scratch));
    }
    free(positions);
    free(hosts);
    return rc;
}

static struct branch *add_branch(struct router *c, struct daemon_link *h)
{
    struct branch *b = calloc(1, sizeof *b);

    if (!b) {
        log_error(c->config.log, "out of memory for another daemon");
        return NULL;
    }
    b->router = c;
    b->hop = h;
    b->position = daemon_link_position(h);
    c->near[b->position] = h;
    list_append(&c->below, &b->link);
    return b;
}

static struct branch *branch_of(struct router *c, const struct daemon_link *h)
{
    LIST_EACH(l, &c->below)
    {
        struct branch *b = LIST_OF(l, struct branch, link);
        if (b->hop == h)
            return b;
    }
    return NULL;
}

static void forget_routes(struct router *c, const struct daemon_link *h)
{
    for (uint32_t p = 0; p < c->config.count; p++) {
        if (c->route[p] == h)
            c->route[p] = NULL;
    }
}

static void drop_branch(struct router *c, struct branch *b)
{
    forget_routes(c, b->hop);
    c->near[b->position] = NULL;
    list_unlink(&b->link);
    free(b);
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

static void child_up(struct router *c, struct daemon_link *h)
{
    uint32_t position = daemon_link_position(h);
    struct branch *b = NULL;

    /* Only positions below us, once. */
    if (position && is_below(c, position) && position != c->config.me && !c->near[position])
        b = add_branch(c, h);
    if (!b || !is_wanted(c, position)) {
        if (b)
            drop_branch(c, b);
        daemon_link_drop(h);
        return;
    }
    if (c->ending)
        send_away(c, position);
}

/* The overlay goes first: broadcasts come before messages to one daemon. */
static void parent_up(struct router *c, struct daemon_link *h)
{
    uint32_t position = daemon_link_position(h);

    c->near[position] = h;
    if (!is_wanted(c, position)) {
        c->near[position] = NULL;
        c->parent = NULL;
        daemon_link_drop(h);
        c->config.calls.on_orphan(c->config.arg, "the daemon above has been lost meanwhile");
        return;
    }
    say_ready(c);
    for (uint32_t p = 0; p < c->config.count; p++) {
        if (!is_below(c, p))
            say_again(c, p);
    }
    release(c);
}

static void on_up(void *arg, struct daemon_link *h)
{
    struct router *c = arg;

    if (h == c->parent)
        parent_up(c, h);
    else if (peer_links_has(c, h) || daemon_link_position(h) < c->config.me)
        peer_links_up(c, h);
    else
        child_up(c, h);
}

/* No children any more, and we are to end. */
static void maybe_closed(struct router *c)
{
    if (!c->ending || !list_empty(&c->below))
        return;
    if (c->parent)
        daemon_link_end(c->parent); /* its on_down() ends the rest */
    else
        c->config.calls.on_closed(c->config.arg);
}

static void parent_down(struct router *c, const struct errmsg *why)
{
    c->near[daemon_link_position(c->parent)] = NULL;
    c->parent = NULL;
    if (c->ending && list_empty(&c->below))
        c->config.calls.on_closed(c->config.arg);
    else
        c->config.calls.on_orphan(c->config.arg, why->text);
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    struct router *c = arg;
    struct branch *b = branch_of(c, h);
    uint32_t position;

    if (h == c->parent) {
        parent_down(c, why);
        return;
    }
    peer_links_down(c, h, how);
    if (!b)
        return;
    position = b->position;
    drop_branch(c, b);
    if (!(c->leaving || c->ending) || how != DAEMON_LINK_DOWN_BYE)
        c->config.calls.on_lost(c->config.arg, position, why->text);
    maybe_closed(c);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* A daemon that has lost its parent joins an ancestor, so a leaf is called only by daemons that
 * have pieces for it (peer_links.h).  (If an interface or ports are configured, it reports now when
 * there are none.) */
static bool is_called(const struct router_config *config)
{
    return config->interface || config->port_low ||
           tree_children(config->width, config->count, config->me) > 0;
}

/* Harmless twice. */
static int start_listening(struct router *c, struct errmsg *err)
{
    const struct router_config *k = &c->config;

    return daemon_link_port(c->net)
               ? 0
               : daemon_link_listen(c->net, k->interface, k->port_low, k->port_high, err);
}

int router_open(struct router *c, const struct router_config *config, struct errmsg *err)
{
    struct daemon_link_config hops = { .loop = config->loop,
                                       .log = config->log,
                                       .quota = config->quota,
                                       .key = config->key,
                                       .position = config->me,
                                       .calls = { on_up, on_message, on_down, NULL },
                                       .arg = c,
                                       .alive_ms = LIMIT_NODE_ALIVE_MS,
                                       .silent_ms = LIMIT_NODE_SILENT_MS };

    memset(c, 0, sizeof *c);
    c->config = *config;
    c->nready = 1;
    list_init(&c->below);
    list_init(&c->held);
    buf_init(&c->scratch, LIMIT_DAEMON_LINK_MESSAGE);
    c->route = calloc(config->count, sizeof *c->route);
    c->near = calloc(config->count, sizeof *c->near);
    c->known = calloc(config->count, sizeof *c->known);
    c->lost = calloc(config->count, sizeof *c->lost);
    if (!c->route || !c->near || !c->known || !c->lost ||
        reliable_open(&c->trail, config->count) < 0 || peer_links_open(c) < 0) {
        router_close(c);
        return errmsg_set(err, -ENOMEM, "out of memory for %u daemons", config->count);
    }
    c->net = daemon_link_net_new(&hops, err);
    if (!c->net || (is_called(config) && start_listening(c, err) < 0)) {
        router_close(c);
        return -EIO;
    }
    return 0;
}

void router_close(struct router *c)
{
    daemon_link_net_free(c->net);
    c->net = NULL;
    c->parent = NULL;
    if (c->below.next) {
        LIST_EACH(l, &c->below)
        {
            list_unlink(l);
            free(LIST_OF(l, struct branch, link));
        }
    }
    if (c->held.next) {
        LIST_EACH(l, &c->held)
        held_free(c, LIST_OF(l, struct held, link));
    }
    reliable_close(&c->trail);
    peer_links_close(c);
    free(c->route);
    free(c->near);
    free(c->known);
    free(c->lost);
    c->route = c->near = NULL;
    c->known = c->lost = NULL;
    buf_free(&c->scratch);
}

int router_addresses(struct router *c, struct buf *text, struct errmsg *err)
{
    int rc = start_listening(c, err);

    return rc < 0 ? rc : daemon_link_addresses(c->net, c->config.interface, text, err);
}

int router_join(struct router *c, uint32_t parent, struct slice addresses, struct errmsg *err)
{
    c->parent = daemon_link_connect(c->net, addresses, parent, err);
    return c->parent ? 0 : -EINVAL;
}

/* Resends to all positions whose path to us, or ours to them, may have gone through the lost one.
 */
static void mend(struct router *c, uint32_t gone)
{
    uint32_t width = c->config.width;

    for (uint32_t p = 0; p < c->config.count; p++) {
        if (tree_is_below(width, p, gone) || tree_is_below(width, c->config.me, gone))
            say_again(c, p);
    }
}

void router_lost(struct router *c, uint32_t position)
{
    struct daemon_link *h;

    if (position >= c->config.count || c->lost[position])
        return;
    c->lost[position] = true;
    reliable_forget(&c->trail, position);
    peer_links_lost(c, position);
    h = c->near[position];
    if (h && h == c->parent) {
        c->near[position] = NULL;
        c->parent = NULL;
        daemon_link_drop(h);
    } else if (h) {
        drop_branch(c, branch_of(c, h));
        daemon_link_drop(h);
    }
    c->route[position] = NULL;
    release(c);
    mend(c, position);
    maybe_closed(c);
}

void router_leave(struct router *c)
{
    c->leaving = true;
}

void router_end(struct router *c)
{
    c->ending = true;
    peer_links_end(c);
    maybe_closed(c);
}
