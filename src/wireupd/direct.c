/* direct.c - see direct.h.  Reading order: the links; sending; coming up; going. */
#include "wireupd/direct.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "wireupd/cluster.h"

enum direct_state {
    DIRECT_MEETS, /* not up yet, and pieces wait for it */
    DIRECT_UP,
    DIRECT_TREE,   /* they go along the tree */
    DIRECT_LEAVES, /* we have said good-bye, and pieces wait until it has gone */
};

/* What a `meet` says. */
enum { MEET_WHERE, MEET_HERE, MEET_NOT };

struct direct {
    struct list link;
    struct cluster *cluster;
    uint32_t position;
    enum direct_state state;
    struct hop *hop; /* up, called, or leaving; or NULL */
    struct timer patience;
};

/* ---- the links ------------------------------------------------------------------------------- */

static struct direct *find(const struct cluster *c, uint32_t position)
{
    LIST_EACH(l, &c->direct.all)
    {
        struct direct *d = LIST_OF(l, struct direct, link);
        if (d->position == position)
            return d;
    }
    return NULL;
}

static struct direct *find_hop(const struct cluster *c, const struct hop *h)
{
    LIST_EACH(l, &c->direct.all)
    {
        struct direct *d = LIST_OF(l, struct direct, link);
        if (d->hop == h)
            return d;
    }
    return NULL;
}

bool direct_has(const struct cluster *c, const struct hop *h)
{
    return find_hop(c, h) != NULL;
}

bool direct_is_up(const struct cluster *c, uint32_t position)
{
    const struct direct *d = find(c, position);

    return d && d->state == DIRECT_UP;
}

static void forget(struct direct *d)
{
    timer_stop(&d->patience);
    list_unlink(&d->link);
    free(d);
}

static void used(struct direct *d)
{
    list_unlink(&d->link);
    list_append(&d->cluster->direct.all, &d->link);
}

void direct_heard(struct cluster *c, const struct hop *h)
{
    struct direct *d = find_hop(c, h);

    if (d)
        used(d);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* By the link, if it is up; else along the tree. */
static int send_bytes(struct cluster *c, struct direct *d, uint32_t to, struct slice bytes)
{
    if (!d || d->state != DIRECT_UP)
        return cluster_pass(c, to, bytes);
    return hop_send(d->hop, &bytes, 1);
}

static int say_all(struct cluster *c, struct direct *d, uint32_t to)
{
    const struct trail_kept *k = NULL;
    int rc = 0;

    while (rc == 0 && (k = trail_next(&c->direct.trail, to, k)))
        rc = send_bytes(c, d, to, trail_bytes(k));
    return rc;
}

/* From now on along the tree, with what has waited or may not have arrived. */
static void go_by_tree(struct direct *d)
{
    d->state = DIRECT_TREE;
    timer_stop(&d->patience);
    say_all(d->cluster, d, d->position);
}

/* A link that has not taken a piece cannot take the next one.  (One that is broken says so.) */
static int judge(struct direct *d, int rc)
{
    if (rc == 0 || rc == -EPIPE)
        return 0;
    if (!d || d->state != DIRECT_UP)
        return rc;
    hop_drop(d->hop);
    d->hop = NULL;
    go_by_tree(d);
    return 0;
}

static void out_of_patience(void *arg)
{
    go_by_tree(arg);
}

static const struct buf *our_addresses(struct cluster *c)
{
    struct errmsg err;

    if (buf_len(&c->direct.here) == 0 && cluster_addresses(c, &c->direct.here, &err) < 0)
        buf_clear(&c->direct.here);
    return &c->direct.here;
}

static void say_meet(struct cluster *c, uint32_t to, uint64_t what)
{
    struct msg m = { .kind = MSG_meet, .to = to };

    m.u.meet.what = what;
    if (what == MEET_HERE)
        m.u.meet.addresses = buf_slice(our_addresses(c));
    if (what == MEET_HERE && m.u.meet.addresses.len == 0)
        m.u.meet.what = MEET_NOT;
    cluster_send(c, &m);
}

/* Who is told that all has come has nothing to send again. */
static void say_goodbye(struct direct *d)
{
    direct_note(d->cluster, d->position);
    d->state = DIRECT_LEAVES;
    hop_end(d->hop);
}

/* The link that nobody has used for the longest time goes. */
static bool make_room(struct cluster *c)
{
    struct direct *old = NULL;
    uint32_t n = 0;

    LIST_EACH(l, &c->direct.all)
    {
        struct direct *d = LIST_OF(l, struct direct, link);
        n += d->state == DIRECT_MEETS || d->state == DIRECT_UP;
        if (!old && d->state == DIRECT_UP)
            old = d;
    }
    if (n < (c->config.links ? c->config.links : LIMIT_NODE_DIRECT))
        return true;
    if (!old)
        return false;
    say_goodbye(old);
    return true;
}

/* NULL: there is no room for another one, or no memory. */
static struct direct *begin(struct cluster *c, uint32_t position)
{
    struct direct *d = !c->ending && make_room(c) ? calloc(1, sizeof *d) : NULL;

    if (!d)
        return NULL;
    list_init(&d->link);
    d->cluster = c;
    d->position = position;
    d->state = DIRECT_MEETS;
    timer_init(&d->patience, c->config.loop, out_of_patience, d);
    list_append(&c->direct.all, &d->link);
    if (timer_set(&d->patience, c->config.meet_ms ? c->config.meet_ms : LIMIT_NODE_MEET_MS) == 0)
        return d;
    forget(d);
    return NULL;
}

/* Neighbours have a link already. */
static struct direct *wanted(struct cluster *c, uint32_t to)
{
    struct direct *d = find(c, to);

    if (d || c->near[to])
        return d;
    d = begin(c, to);
    if (d)
        say_meet(c, to, to > c->config.me ? MEET_WHERE : MEET_HERE);
    return d;
}

void direct_want(struct cluster *c, uint32_t to)
{
    wanted(c, to);
}

int direct_send(struct cluster *c, struct msg *m)
{
    uint32_t to = m->to;
    struct direct *d = wanted(c, to);
    int rc = trail_number(&c->direct.trail, m) ? cluster_put(c, m) : -ENOMEM;

    if (rc == 0 && !trail_keep(&c->direct.trail, to, buf_slice(&c->scratch)))
        rc = -ENOMEM;
    if (rc < 0)
        return rc;
    if (d)
        used(d);
    if (!d || d->state == DIRECT_UP || d->state == DIRECT_TREE)
        rc = send_bytes(c, d, to, buf_slice(&c->scratch));
    return judge(d, rc);
}

void direct_note(struct cluster *c, uint32_t to)
{
    struct msg m = { .kind = MSG_noted, .to = to };

    m.u.noted.pieces = 1;
    trail_note(&c->direct.trail, &m);
    if (cluster_put(c, &m) == 0)
        send_bytes(c, find(c, to), to, buf_slice(&c->scratch));
}

void direct_say_again(struct cluster *c, uint32_t to)
{
    struct direct *d = find(c, to);

    if (!d || d->state == DIRECT_TREE)
        say_all(c, d, to);
}

/* ---- coming up ------------------------------------------------------------------------------- */

/* We cannot reach it, and it need not wait for us. */
static void call_failed(struct direct *d)
{
    d->hop = NULL;
    say_meet(d->cluster, d->position, MEET_NOT);
    if (d->state == DIRECT_MEETS)
        go_by_tree(d);
}

static void call(struct direct *d, struct slice addresses)
{
    struct errmsg err;

    d->hop = hop_connect(d->cluster->net, addresses, d->position, &err);
    if (d->hop)
        return;
    log_info(d->cluster->config.log, "no direct link to the daemon at position %u: %s", d->position,
             err.text);
    call_failed(d);
}

/* It asks where we wait: we are the one that is called. */
static void hear_where(struct cluster *c, uint32_t from)
{
    bool may = find(c, from) || begin(c, from);

    say_meet(c, from, may ? MEET_HERE : MEET_NOT);
}

static void hear_here(struct cluster *c, uint32_t from, struct slice addresses)
{
    struct direct *d = find(c, from);

    if (!d)
        d = begin(c, from);
    if (!d)
        say_meet(c, from, MEET_NOT);
    else if (!d->hop) /* else both have wanted it */
        call(d, addresses);
}

void direct_hear(struct cluster *c, const struct msg *m)
{
    struct direct *d = find(c, m->from);

    if (m->from >= c->config.count || m->from == c->config.me || c->lost[m->from])
        return;
    if (m->u.meet.what == MEET_WHERE && m->from < c->config.me)
        hear_where(c, m->from);
    else if (m->u.meet.what == MEET_HERE && m->from > c->config.me)
        hear_here(c, m->from, m->u.meet.addresses);
    else if (d && d->state == DIRECT_MEETS && !d->hop)
        go_by_tree(d);
}

void direct_up(struct cluster *c, struct hop *h)
{
    uint32_t position = hop_position(h);
    struct direct *d = find_hop(c, h);

    if (!d)
        d = find(c, position);
    if (!d && position < c->config.count && !c->lost[position])
        d = begin(c, position);
    if (!d || c->ending || c->lost[position]) {
        if (d && d->hop == h)
            d->hop = NULL;
        hop_drop(h);
        return;
    }
    if (d->hop && d->hop != h) /* it has lost that one, and calls again */
        hop_drop(d->hop);
    d->hop = h;
    d->state = DIRECT_UP;
    timer_stop(&d->patience);
    log_info(c->config.log, "there is a direct link to the daemon at position %u", position);
    judge(d, say_all(c, d, position));
}

/* ---- going ----------------------------------------------------------------------------------- */

void direct_down(struct cluster *c, struct hop *h, enum hop_down how)
{
    struct direct *d = find_hop(c, h);
    uint32_t position;

    if (!d)
        return;
    position = d->position;
    if (d->state == DIRECT_MEETS || how == HOP_DOWN_NO_WAY || how == HOP_DOWN_REFUSED) {
        call_failed(d);
    } else if (how == HOP_DOWN_BYE || c->ending) { /* there may be another one some day */
        forget(d);
        if (!c->ending)
            say_all(c, NULL, position);
    } else {
        d->hop = NULL;
        log_info(c->config.log, "the direct link to the daemon at position %u is lost", position);
        go_by_tree(d);
    }
}

void direct_lost(struct cluster *c, uint32_t position)
{
    struct direct *d = find(c, position);

    trail_forget(&c->direct.trail, position);
    if (d && d->hop)
        hop_drop(d->hop);
    if (d)
        forget(d);
}

void direct_end(struct cluster *c)
{
    LIST_EACH(l, &c->direct.all)
    {
        struct direct *d = LIST_OF(l, struct direct, link);
        timer_stop(&d->patience);
        if (d->state == DIRECT_UP) {
            say_goodbye(d);
        } else if (d->state != DIRECT_LEAVES) {
            if (d->hop)
                hop_drop(d->hop);
            forget(d);
        }
    }
}

int direct_open(struct cluster *c)
{
    list_init(&c->direct.all);
    buf_init(&c->direct.here, 1 << 16);
    return trail_open(&c->direct.trail, c->config.count);
}

void direct_close(struct cluster *c)
{
    if (!c->direct.all.next)
        return;
    LIST_EACH(l, &c->direct.all)
    forget(LIST_OF(l, struct direct, link));
    trail_close(&c->direct.trail);
    buf_free(&c->direct.here);
}
