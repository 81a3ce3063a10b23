/* peer_links.c - see peer_links.h.  Reading order: the links; sending; opening; closing. */
#include "cluster/peer_links.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "cluster/router.h"

enum peer_link_state {
    PEER_LINKS_MEETS, /* not up yet, and pieces wait for it */
    PEER_LINKS_UP,
    PEER_LINKS_TREE,   /* they go along the tree */
    PEER_LINKS_LEAVES, /* we have closed it, and pieces wait until it is gone */
};

/* The kinds of a `meet`. */
enum { MEET_WHERE, MEET_HERE, MEET_NOT };

struct peer_link {
    struct list link;
    struct router *router;
    uint32_t position;
    enum peer_link_state state;
    struct router_link *l; /* up, connecting, or closing; or NULL */
    uint64_t patience_ns;  /* until when pieces wait; 0: none does */
};

/* ---- the links ------------------------------------------------------------------------------- */

static struct peer_link *find(const struct router *c, uint32_t position)
{
    return number_map_get(&c->direct.by_position, position);
}

/* A link that is up knows its other end; one that is not is searched for. */
static struct peer_link *find_up(const struct router *c, const struct router_link *l)
{
    struct peer_link *d = find(c, c->config.actions.position(l));

    return d && d->l == l ? d : NULL;
}

static struct peer_link *find_link(const struct router *c, const struct router_link *l)
{
    LIST_EACH(each, &c->direct.all)
    {
        struct peer_link *d = LIST_OF(each, struct peer_link, link);
        if (d->l == l)
            return d;
    }
    return NULL;
}

bool peer_links_has(const struct router *c, const struct router_link *l)
{
    return find_up(c, l) != NULL;
}

bool peer_links_is_up(const struct router *c, uint32_t position)
{
    const struct peer_link *d = find(c, position);

    return d && d->state == PEER_LINKS_UP;
}

static void forget(struct peer_link *d)
{
    number_map_del(&d->router->direct.by_position, d->position);
    list_unlink(&d->link);
    free(d);
}

static void used(struct peer_link *d)
{
    list_unlink(&d->link);
    list_append(&d->router->direct.all, &d->link);
}

bool peer_links_received(struct router *c, const struct router_link *l)
{
    struct peer_link *d = find_up(c, l);

    if (d)
        used(d);
    return d != NULL;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* By the link if it is up; else along the tree. */
static int send_bytes(struct router *c, struct peer_link *d, uint32_t to, struct slice bytes)
{
    if (!d || d->state != PEER_LINKS_UP)
        return router_pass(c, to, bytes);
    return c->config.actions.send(d->l, bytes);
}

static int send_kept(struct router *c, struct peer_link *d, uint32_t to)
{
    const struct reliable_kept *k = NULL;
    int rc = 0;

    while (rc == 0 && (k = reliable_next(&c->direct.reliable, to, k)))
        rc = send_bytes(c, d, to, reliable_bytes(k));
    return rc;
}

/* From now on along the tree, including messages that have waited or may not have arrived. */
static void go_by_tree(struct peer_link *d)
{
    d->state = PEER_LINKS_TREE;
    d->patience_ns = 0;
    send_kept(d->router, d, d->position);
}

/* A link that has not accepted a piece cannot accept the next one.  (A broken one reports it.) */
static int judge(struct peer_link *d, int rc)
{
    if (rc == 0 || rc == -EPIPE)
        return 0;
    if (!d || d->state != PEER_LINKS_UP)
        return rc;
    d->router->config.actions.drop(d->l);
    d->l = NULL;
    go_by_tree(d);
    return 0;
}

/* The host wakes us when the first one has waited long enough: all wait equally long. */
static void wake(struct router *c, uint64_t at_ns)
{
    if (c->direct.wake_ns && c->direct.wake_ns <= at_ns)
        return;
    c->direct.wake_ns = at_ns;
    c->config.actions.wake(c->config.actions.arg, at_ns);
}

void peer_links_tick(struct router *c)
{
    c->direct.wake_ns = 0;
    LIST_EACH(l, &c->direct.all)
    {
        struct peer_link *d = LIST_OF(l, struct peer_link, link);
        if (d->patience_ns && d->patience_ns <= c->now_ns)
            go_by_tree(d);
        else if (d->patience_ns)
            wake(c, d->patience_ns);
    }
}

static const struct buf *our_addresses(struct router *c)
{
    struct errmsg err;

    if (buf_len(&c->direct.here) == 0 &&
        c->config.actions.addresses(c->config.actions.arg, &c->direct.here, &err) < 0)
        buf_clear(&c->direct.here);
    return &c->direct.here;
}

static void send_meet(struct router *c, uint32_t to, uint8_t what)
{
    struct msg m = { .kind = MSG_peer_connect, .to = to };

    m.u.peer_connect.what = what;
    if (what == MEET_HERE)
        m.u.peer_connect.addresses = buf_slice(our_addresses(c));
    if (what == MEET_HERE && m.u.peer_connect.addresses.len == 0)
        m.u.peer_connect.what = MEET_NOT;
    router_send(c, &m);
}

/* A peer whose pieces are all acknowledged has nothing to resend. */
static void send_goodbye(struct peer_link *d)
{
    peer_links_note(d->router, d->position);
    d->state = PEER_LINKS_LEAVES;
    d->router->config.actions.end(d->l);
}

/* The least recently used link is closed. */
static bool make_room(struct router *c)
{
    struct peer_link *old = NULL;
    uint32_t n = 0;

    LIST_EACH(l, &c->direct.all)
    {
        struct peer_link *d = LIST_OF(l, struct peer_link, link);
        n += d->state == PEER_LINKS_MEETS || d->state == PEER_LINKS_UP;
        if (!old && d->state == PEER_LINKS_UP)
            old = d;
    }
    if (n < (c->config.links ? c->config.links : LIMIT_NODE_DIRECT))
        return true;
    if (!old)
        return false;
    send_goodbye(old);
    return true;
}

static uint64_t patience_ms(const struct router *c)
{
    return c->config.meet_ms
               ? c->config.meet_ms
               : LIMIT_NODE_DIRECT_MS + (uint64_t)c->config.count * LIMIT_NODE_DIRECT_EACH_MS;
}

/* NULL: there is no room for another one, or no memory. */
static struct peer_link *begin(struct router *c, uint32_t position)
{
    struct peer_link *d =
        !router_state_is_ending(c->state) && make_room(c) ? calloc(1, sizeof *d) : NULL;

    if (!d)
        return NULL;
    list_init(&d->link);
    d->router = c;
    d->position = position;
    d->state = PEER_LINKS_MEETS;
    d->patience_ns = c->now_ns + patience_ms(c) * UINT64_C(1000000);
    if (number_map_put(&c->direct.by_position, position, d) < 0) {
        free(d);
        return NULL;
    }
    list_append(&c->direct.all, &d->link);
    wake(c, d->patience_ns);
    return d;
}

/* Neighbours already have a link. */
static struct peer_link *wanted(struct router *c, uint32_t to)
{
    struct peer_link *d = find(c, to);

    if (d || router_is_near(c, to))
        return d;
    d = begin(c, to);
    if (d)
        send_meet(c, to, to > c->config.me ? MEET_WHERE : MEET_HERE);
    return d;
}

/* An end that has closed a link may have one again while the other still takes the old one for up.
 */
void peer_links_expect(struct router *c, uint32_t to)
{
    bool called = to < c->config.me;

    if (c->direct.has_closed)
        wanted(c, to);
    else if (find(c, to) || router_is_near(c, to))
        return;
    else if (!begin(c, to) && called)
        send_meet(c, to, MEET_NOT);
    else if (called)
        send_meet(c, to, MEET_HERE);
}

int peer_links_send(struct router *c, struct msg *m)
{
    uint32_t to = m->to;
    struct peer_link *d = wanted(c, to);
    int rc = reliable_number(&c->direct.reliable, m) ? router_put(c, m) : -ENOMEM;

    if (rc == 0 && !reliable_keep(&c->direct.reliable, to, buf_slice(&c->scratch)))
        rc = -ENOMEM;
    if (rc < 0)
        return rc;
    if (d)
        used(d);
    if (!d || d->state == PEER_LINKS_UP || d->state == PEER_LINKS_TREE)
        rc = send_bytes(c, d, to, buf_slice(&c->scratch));
    return judge(d, rc);
}

void peer_links_note(struct router *c, uint32_t to)
{
    struct msg m = { .kind = MSG_ack, .to = to };

    m.u.ack.pieces = 1;
    reliable_note(&c->direct.reliable, &m);
    if (router_put(c, &m) == 0)
        send_bytes(c, find(c, to), to, buf_slice(&c->scratch));
}

void peer_links_resend(struct router *c, uint32_t to)
{
    struct peer_link *d = find(c, to);

    if (!d || d->state == PEER_LINKS_TREE)
        send_kept(c, d, to);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* We cannot reach that daemon, and it need not wait for us. */
static void call_failed(struct peer_link *d)
{
    d->l = NULL;
    send_meet(d->router, d->position, MEET_NOT);
    if (d->state == PEER_LINKS_MEETS)
        go_by_tree(d);
}

static void call(struct peer_link *d, struct slice addresses)
{
    struct errmsg err;
    const struct router_config *k = &d->router->config;

    d->l = k->actions.connect(k->actions.arg, d->position, addresses, &err);
    if (d->l)
        return;
    log_info(k->log, "no direct link to the daemon at position %u: %s", d->position, err.text);
    call_failed(d);
}

/* It asks where we listen: we are the called end. */
static void on_meet_where(struct router *c, uint32_t from)
{
    bool may = find(c, from) || begin(c, from);

    send_meet(c, from, may ? MEET_HERE : MEET_NOT);
}

static void on_meet_here(struct router *c, uint32_t from, struct slice addresses)
{
    struct peer_link *d = find(c, from);

    if (!d)
        d = begin(c, from);
    if (!d)
        send_meet(c, from, MEET_NOT);
    else if (!d->l) /* else both have wanted it */
        call(d, addresses);
}

void peer_links_on_meet(struct router *c, const struct msg *m)
{
    struct peer_link *d = find(c, m->from);

    if (m->from >= c->config.count || m->from == c->config.me || router_is_lost(c, m->from))
        return;
    if (m->u.peer_connect.what == MEET_WHERE && m->from < c->config.me)
        on_meet_where(c, m->from);
    else if (m->u.peer_connect.what == MEET_HERE && m->from > c->config.me)
        on_meet_here(c, m->from, m->u.peer_connect.addresses);
    else if (d && d->state == PEER_LINKS_MEETS && !d->l)
        go_by_tree(d);
}

void peer_links_up(struct router *c, struct router_link *l)
{
    uint32_t position = c->config.actions.position(l);
    struct peer_link *d = find(c, position);

    if (!d && position < c->config.count && !router_is_lost(c, position))
        d = begin(c, position);
    if (!d || router_state_is_ending(c->state) || router_is_lost(c, position)) {
        if (d && d->l == l)
            d->l = NULL;
        c->config.actions.drop(l);
        return;
    }
    if (d->l && d->l != l) /* it has lost that link, and connects again */
        c->config.actions.drop(d->l);
    d->l = l;
    d->state = PEER_LINKS_UP;
    d->patience_ns = 0;
    log_info(c->config.log, "there is a direct link to the daemon at position %u", position);
    judge(d, send_kept(c, d, position));
}

/* ---- closing --------------------------------------------------------------------------------- */

void peer_links_down(struct router *c, struct router_link *l, enum router_down how)
{
    struct peer_link *d = find_link(c, l);
    uint32_t position;

    if (!d)
        return;
    position = d->position;
    if (d->state == PEER_LINKS_MEETS || how == ROUTER_DOWN_UNREACHABLE) {
        call_failed(d);
    } else if (how == ROUTER_DOWN_CLOSED ||
               router_state_is_ending(c->state)) { /* there may be another link later */
        forget(d);
        c->direct.has_closed = true;
        if (!router_state_is_ending(c->state))
            send_kept(c, NULL, position);
    } else {
        d->l = NULL;
        log_info(c->config.log, "the direct link to the daemon at position %u is lost", position);
        go_by_tree(d);
    }
}

void peer_links_lost(struct router *c, uint32_t position)
{
    struct peer_link *d = find(c, position);

    reliable_forget(&c->direct.reliable, position);
    if (d && d->l)
        c->config.actions.drop(d->l);
    if (d)
        forget(d);
}

void peer_links_end(struct router *c)
{
    LIST_EACH(l, &c->direct.all)
    {
        struct peer_link *d = LIST_OF(l, struct peer_link, link);
        d->patience_ns = 0;
        if (d->state == PEER_LINKS_UP) {
            send_goodbye(d);
        } else if (d->state != PEER_LINKS_LEAVES) {
            if (d->l)
                c->config.actions.drop(d->l);
            forget(d);
        }
    }
}

void peer_links_open(struct router *c)
{
    list_init(&c->direct.all);
    c->direct.by_position = (struct number_map){ 0 };
    buf_init(&c->direct.here, 1 << 16);
    reliable_open(&c->direct.reliable, c->config.count);
}

void peer_links_close(struct router *c)
{
    if (!c->direct.all.next)
        return;
    LIST_EACH(l, &c->direct.all)
    forget(LIST_OF(l, struct peer_link, link));
    number_map_free(&c->direct.by_position);
    reliable_close(&c->direct.reliable);
    buf_free(&c->direct.here);
}
