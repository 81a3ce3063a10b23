/* cluster.c - see cluster.h. */
#include "wireupd/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "overlay/tree.h"

/* A link to a daemon below us. */
struct branch {
    struct list link;
    struct cluster *cluster;
    struct hop *hop;
    uint32_t position;
};

enum { CLUSTER_ARENA = 1 << 30 };

/* ---- sending -----------------------------------------------------------------------------------
 */

static int send_bytes(struct hop *h, struct slice bytes)
{
    return hop_send(h, &bytes, 1);
}

/* Who is below us and not to be found is not above us either. */
static struct hop *way_to(const struct cluster *c, uint32_t position)
{
    if (position < c->config.count &&
        (c->route[position] || tree_is_below(c->config.width, position, c->config.me)))
        return c->route[position];
    return c->parent;
}

/* To all neighbours but the one it came from. */
static int spread(struct cluster *c, struct slice bytes, const struct hop *but)
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

int cluster_send(struct cluster *c, struct msg *m)
{
    struct hop *h;

    m->from = c->config.me;
    c->leaving = c->leaving || (m->kind == MSG_quit && m->to == MSG_EVERYBODY);
    buf_clear(&c->scratch);
    msg_write(m, &c->scratch);
    if (!buf_ok(&c->scratch))
        return c->scratch.error == BUF_TOO_LONG ? -EMSGSIZE : -ENOMEM;
    if (m->to == MSG_EVERYBODY)
        return spread(c, buf_slice(&c->scratch), NULL);
    h = way_to(c, m->to);
    return h ? send_bytes(h, buf_slice(&c->scratch)) : -EPIPE;
}

/* ---- receiving ---------------------------------------------------------------------------------
 */

/* Those positions are to be found behind this link. */
static void learn(struct cluster *c, struct hop *h, const struct msg_ready *r)
{
    for (uint32_t i = 0; i < r->positions.n; i++) {
        uint32_t p = r->positions.items[i];
        struct slice host = i < r->hosts.n ? r->hosts.items[i] : SLICE_NULL;
        if (p >= c->config.count || p == c->config.me)
            continue;
        c->route[p] = h;
        if (c->config.me == 0 && !c->known[p]) {
            c->known[p] = true;
            c->nready++;
            c->config.calls.on_ready(c->config.arg, p, host);
        }
    }
}

static void deliver(struct cluster *c, struct hop *h, struct slice bytes, uint32_t to)
{
    struct arena a = ARENA_NULL(CLUSTER_ARENA);
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) != 0) {
        log_error(c->config.log, "from the daemon at position %u: %s", hop_position(h), err.text);
    } else {
        if (m.kind == MSG_ready && h != c->parent)
            learn(c, h, &m.u.ready);
        c->leaving = c->leaving || m.kind == MSG_quit;
        if (to == c->config.me || to == MSG_EVERYBODY || to == MSG_NEIGHBOUR)
            c->config.calls.on_message(c->config.arg, &m);
    }
    arena_free(&a);
}

static bool is_ready(struct slice bytes)
{
    return bytes.len && (unsigned char)bytes.ptr[0] == MSG_ready;
}

static void on_message(void *arg, struct hop *h, struct slice bytes)
{
    struct cluster *c = arg;
    uint32_t from, to;

    if (!msg_address(bytes, &from, &to)) {
        log_error(c->config.log, "a message without an address from the daemon at position %u",
                  hop_position(h));
        return;
    }
    if (to == MSG_EVERYBODY)
        spread(c, bytes, h);
    else if (to != c->config.me && to != MSG_NEIGHBOUR && way_to(c, to) && way_to(c, to) != h)
        send_bytes(way_to(c, to), bytes);
    if (to == c->config.me || to == MSG_EVERYBODY || to == MSG_NEIGHBOUR || is_ready(bytes))
        deliver(c, h, bytes, to);
}

/* ---- links up and down -------------------------------------------------------------------------
 */

/* I am here, and so is everybody who can be reached through me. */
static int say_ready(struct cluster *c)
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
        rc = cluster_send(c, &m);
    }
    free(positions);
    free(hosts);
    return rc;
}

static void add_branch(struct cluster *c, struct hop *h)
{
    struct branch *b = calloc(1, sizeof *b);

    if (!b) {
        log_error(c->config.log, "out of memory for another daemon");
        hop_drop(h);
        return;
    }
    b->cluster = c;
    b->hop = h;
    b->position = hop_position(h);
    list_append(&c->below, &b->link);
    if (b->position < c->config.count)
        c->route[b->position] = h;
}

/* Who comes when all are leaving has missed the word. */
static void send_away(struct cluster *c, uint32_t position)
{
    struct msg m = { .kind = MSG_quit, .to = position };

    cluster_send(c, &m);
}

static void on_up(void *arg, struct hop *h)
{
    struct cluster *c = arg;
    uint32_t position = hop_position(h);

    if (h != c->parent &&
        (position == 0 || position >= c->config.count || position == c->config.me)) {
        hop_drop(h); /* no position below us */
        return;
    }
    if (h == c->parent)
        say_ready(c);
    else
        add_branch(c, h);
    if (c->config.calls.on_near)
        c->config.calls.on_near(c->config.arg, position);
    if (c->ending && h != c->parent)
        send_away(c, position);
}

static struct branch *branch_of(struct cluster *c, const struct hop *h)
{
    LIST_EACH(l, &c->below)
    {
        struct branch *b = LIST_OF(l, struct branch, link);
        if (b->hop == h)
            return b;
    }
    return NULL;
}

static void forget_routes(struct cluster *c, const struct hop *h)
{
    for (uint32_t p = 0; p < c->config.count; p++) {
        if (c->route[p] == h)
            c->route[p] = NULL;
    }
}

/* Nobody below us any more, and we are to end. */
static void maybe_closed(struct cluster *c)
{
    if (!c->ending || !list_empty(&c->below))
        return;
    if (c->parent)
        hop_end(c->parent); /* its on_down() is the end */
    else
        c->config.calls.on_closed(c->config.arg);
}

static void parent_down(struct cluster *c, const struct errmsg *why)
{
    c->parent = NULL;
    if (c->ending && list_empty(&c->below))
        c->config.calls.on_closed(c->config.arg);
    else
        c->config.calls.on_orphan(c->config.arg, why->text);
}

static void on_down(void *arg, struct hop *h, enum hop_down how, const struct errmsg *why)
{
    struct cluster *c = arg;
    struct branch *b = branch_of(c, h);
    uint32_t position;

    if (h == c->parent) {
        parent_down(c, why);
        return;
    }
    if (!b)
        return;
    position = b->position;
    forget_routes(c, h);
    list_unlink(&b->link);
    free(b);
    if (!(c->leaving || c->ending) || how != HOP_DOWN_BYE)
        c->config.calls.on_lost(c->config.arg, position, why->text);
    maybe_closed(c);
}

/* ---- opening and closing -----------------------------------------------------------------------
 */

int cluster_open(struct cluster *c, const struct cluster_config *config, struct errmsg *err)
{
    struct hop_config hops = { .loop = config->loop,
                               .log = config->log,
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
    buf_init(&c->scratch, LIMIT_HOP_MESSAGE);
    c->route = calloc(config->count, sizeof *c->route);
    c->known = calloc(config->count, sizeof *c->known);
    if (!c->route || !c->known) {
        cluster_close(c);
        return errmsg_set(err, -ENOMEM, "out of memory for %u daemons", config->count);
    }
    c->net = hop_net_new(&hops, err);
    if (!c->net ||
        hop_listen(c->net, config->interface, config->port_low, config->port_high, err) < 0) {
        cluster_close(c);
        return -EIO;
    }
    return 0;
}

void cluster_close(struct cluster *c)
{
    hop_net_free(c->net);
    c->net = NULL;
    c->parent = NULL;
    if (c->below.next) {
        LIST_EACH(l, &c->below)
        {
            list_unlink(l);
            free(LIST_OF(l, struct branch, link));
        }
    }
    free(c->route);
    free(c->known);
    c->route = NULL;
    c->known = NULL;
    buf_free(&c->scratch);
}

int cluster_addresses(const struct cluster *c, struct buf *text, struct errmsg *err)
{
    return hop_addresses(c->net, c->config.interface, text, err);
}

int cluster_join(struct cluster *c, uint32_t parent, struct slice addresses, struct errmsg *err)
{
    c->parent = hop_connect(c->net, addresses, parent, err);
    return c->parent ? 0 : -EINVAL;
}

void cluster_end(struct cluster *c)
{
    c->ending = true;
    maybe_closed(c);
}
