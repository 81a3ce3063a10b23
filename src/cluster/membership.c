/* membership.c - see membership.h.  Reading order: sending; joining an ancestor; events of the
 * overlay; calls of the router; entry points. */
#include "cluster/membership.h"

#include <errno.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "cluster/overlay_codec.h"
#include "cluster/recovery.h"

enum { MEMBERSHIP_ARENA = 1 << 30 };

/* ---- sending --------------------------------------------------------------------------------- */

/* These go from neighbour to neighbour only; a daemon with a new neighbour requests them again. */
static bool is_near(enum overlay_kind kind)
{
    return kind == OVERLAY_MSG_GATHER || kind == OVERLAY_MSG_RESULT ||
           kind == OVERLAY_MSG_BROADCAST || kind == OVERLAY_MSG_HELLO;
}

/* Large, and between any two daemons. */
static bool is_piece(enum overlay_kind kind)
{
    return kind == OVERLAY_MSG_PIECE || kind == OVERLAY_MSG_AGAIN;
}

static int send_by_kind(struct router *c, enum overlay_kind kind, struct msg *m)
{
    if (is_near(kind))
        return router_send_near(c, m);
    return is_piece(kind) ? router_send_piece(c, m, c->now_ns) : router_send(c, m);
}

static bool encode(const struct membership *m, const struct overlay_msg *from, struct arena *a,
                   struct msg *out)
{
    const struct membership_codec *k = &m->config.codec;

    return k->out ? k->out(k->arg, from, a, out) : overlay_codec_out(from, a, out);
}

static struct overlay_msg *decode(const struct membership *m, const struct msg *in)
{
    const struct membership_codec *k = &m->config.codec;
    uint32_t count = m->overlay.config.count;

    return k->in ? k->in(k->arg, in, count) : overlay_codec_in(in, count);
}

static void send_out(struct membership *m, struct overlay_msg *o)
{
    struct arena a = ARENA_NULL(MEMBERSHIP_ARENA);
    struct msg out;
    int rc = encode(m, o, &a, &out) ? send_by_kind(m->router, o->kind, &out) : -ENOMEM;

    if (rc < 0 && rc != -EPIPE)
        log_error(m->config.log,
                  "cannot send a collective message to the daemon at position %u: %s", o->to,
                  err_text(rc));
    arena_free(&a);
    overlay_msg_free(o);
}

static void send_all(struct membership *m)
{
    struct overlay_msg *o;

    while ((o = overlay_next(&m->overlay)))
        send_out(m, o);
}

/* ---- joining an ancestor --------------------------------------------------------------------- */

/* There is no link towards the launcher any more: tries the next ancestor.  False: none is left. */
static bool seek(struct membership *m)
{
    struct overlay *o = &m->overlay;
    struct router_link *l;

    if (o->parent != TREE_NONE)
        overlay_link_down(o, o->parent);
    else
        overlay_shun(o, m->tried);
    while ((m->tried = overlay_wanted_parent(o)) != TREE_NONE) {
        l = m->config.calls.join(m->config.arg, m->tried);
        router_join(m->router, l);
        if (l)
            return true;
        overlay_shun(o, m->tried);
    }
    return false;
}

/* why: one sentence, for the case that this daemon must end. */
static void step(struct membership *m, enum membership_event event, const char *why)
{
    enum membership_action action = membership_state_event(&m->state, event, m->config.log);

    if (action == MEMBERSHIP_ACTION_seek && !seek(m))
        action = membership_state_event(&m->state, MEMBERSHIP_EVENT_NO_WAY, m->config.log);
    if (action == MEMBERSHIP_ACTION_end)
        m->config.calls.on_end(m->config.arg, why);
}

/* ---- events of the overlay ------------------------------------------------------------------- */

/* A broadcast, as the bytes of a message. */
static void take_broadcast(struct membership *m, const struct overlay_event *e)
{
    struct arena a = ARENA_NULL(MEMBERSHIP_ARENA);
    struct slice bytes = e->blocks ? block_set_block(e->blocks) : SLICE_NULL;
    struct errmsg err;
    struct msg in;

    if (msg_read(bytes, &a, &in, &err) != 0)
        log_error(m->config.log, "invalid broadcast: %s", err.text);
    else if (in.from != m->overlay.config.me)
        m->config.calls.on_message(m->config.arg, &in);
    arena_free(&a);
}

/* Launcher: another daemon's message to all. */
static void pass_on(struct membership *m, const struct overlay_event *e)
{
    if (e->blocks && overlay_broadcast(&m->overlay, block_set_block(e->blocks)) < 0)
        m->overlay.no_memory = true;
    take_broadcast(m, e);
}

/* Are there daemons that should rejoin here if that one is lost? */
static bool has_heirs(const struct membership *m, uint32_t gone)
{
    const struct overlay *o = &m->overlay;

    return tree_children(o->config.width, o->config.count, gone) > 0 &&
           tree_living_parent(o->config.width, gone, o->lost) == o->config.me;
}

static void take_loss(struct membership *m, uint32_t gone)
{
    bool parent = gone == m->overlay.parent;

    if (gone == m->overlay.config.me) {
        step(m, MEMBERSHIP_EVENT_FAIL, "the launcher considers this node lost");
        return;
    }
    overlay_link_down(&m->overlay, gone);
    router_lost(m->router, gone);
    m->config.calls.on_lost(m->config.arg, gone);
    overlay_decide(&m->overlay, gone);
    if (has_heirs(m, gone))
        m->config.calls.overdue(m->config.arg, LIMIT_NODE_RETURN_MS);
    if (parent)
        step(m, MEMBERSHIP_EVENT_ORPHAN, "no daemon above this one can be reached");
}

/* The links come up in parallel, while the first pieces wait. */
static void prepare(struct membership *m, const struct rank_set *peers)
{
    for (uint32_t i = 0; i < peers->nruns; i++) {
        for (uint32_t k = 0; k < peers->runs[i].count; k++)
            router_meet(m->router, peers->runs[i].first + k, m->router->now_ns);
    }
}

static void take_event(struct membership *m, const struct overlay_event *e)
{
    const struct membership_calls *k = &m->config.calls;

    switch (e->kind) {
    case OVERLAY_COMPLETED: k->on_completed(m->config.arg, e); break;
    case OVERLAY_DECIDED:
        if (k->on_decided)
            k->on_decided(m->config.arg, e);
        break;
    case OVERLAY_EXCHANGING: prepare(m, &e->peers); break;
    case OVERLAY_REPORTED: pass_on(m, e); break;
    case OVERLAY_BROADCAST: take_broadcast(m, e); break;
    case OVERLAY_LOST: take_loss(m, e->from); break;
    case OVERLAY_WELCOMED:
        if (k->on_welcome)
            k->on_welcome(m->config.arg, e->from);
        break;
    case OVERLAY_BEHIND:
        step(m, MEMBERSHIP_EVENT_FAIL, "missed messages are no longer available");
        break;
    case OVERLAY_STUCK:
    case OVERLAY_ASKED:
    case OVERLAY_ROUND: break; /* recovery.h */
    }
}

/* Handles all events of the overlay until there are none.  Messages that an event causes are sent
 * at once; events that result from it wait until it has been handled. */
static void turn(struct membership *m)
{
    struct overlay_event *e;

    send_all(m);
    if (m->turning)
        return;
    m->turning = true;
    while ((e = overlay_event(&m->overlay))) {
        if (!recovery_event(&m->overlay, e))
            take_event(m, e);
        overlay_event_free(e);
        send_all(m);
    }
    m->turning = false;
    if (m->overlay.no_memory)
        step(m, MEMBERSHIP_EVENT_FAIL, "out of memory for collectives over nodes");
}

/* ---- calls of the router --------------------------------------------------------------------- */

static void settled(struct membership *m)
{
    if (m->config.calls.on_settled)
        m->config.calls.on_settled(m->config.arg);
}

static void on_overlay(struct membership *m, const struct msg *in)
{
    struct overlay_msg *o = decode(m, in);

    if (!o || overlay_receive(&m->overlay, o) != 0)
        log_error(m->config.log, "the daemon at position %u sent an invalid collective message",
                  in->from);
    turn(m);
}

static void on_message(void *arg, const struct msg *in)
{
    struct membership *m = arg;

    if (in->kind != MSG_overlay) {
        m->config.calls.on_message(m->config.arg, in);
        return;
    }
    on_overlay(m, in);
    settled(m);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct membership *m = arg;

    m->config.calls.on_ready(m->config.arg, position, host);
}

static bool on_near(void *arg, uint32_t position)
{
    struct membership *m = arg;

    if (!overlay_link_up(&m->overlay, position))
        return false;
    if (position == m->overlay.parent)
        step(m, MEMBERSHIP_EVENT_LINK, "");
    turn(m);
    if (m->config.calls.on_near)
        m->config.calls.on_near(m->config.arg, position);
    settled(m);
    return true;
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct membership *m = arg;

    if (m->config.calls.on_down)
        m->config.calls.on_down(m->config.arg, position, why);
    overlay_link_down(&m->overlay, position);
    turn(m);
    settled(m);
}

static void on_orphan(void *arg, const char *why)
{
    struct membership *m = arg;

    step(m, MEMBERSHIP_EVENT_ORPHAN, why);
}

static void on_closed(void *arg)
{
    struct membership *m = arg;

    m->config.calls.on_closed(m->config.arg);
}

struct router_calls membership_router_calls(void)
{
    return (struct router_calls){ on_message, on_ready, on_lost, on_orphan, on_closed, on_near };
}

/* ---- entry points ---------------------------------------------------------------------------- */

int membership_broadcast(struct membership *m, struct msg *out)
{
    struct buf bytes = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);
    int rc = -EMSGSIZE;

    out->from = m->overlay.config.me;
    out->to = MSG_EVERYBODY;
    msg_write(out, &bytes);
    if (buf_ok(&bytes))
        rc = out->from ? overlay_report(&m->overlay, buf_slice(&bytes))
                       : overlay_broadcast(&m->overlay, buf_slice(&bytes));
    buf_free(&bytes);
    turn(m);
    return rc;
}

int membership_contribute(struct membership *m, struct overlay_way way, struct slice what,
                          uint64_t generation, const struct rank_set *all, struct block_set *block,
                          uint64_t now_ns)
{
    int rc = overlay_contribute_by(&m->overlay, way, what, generation, all, block);

    m->router->now_ns = now_ns;
    turn(m);
    return rc;
}

void membership_forget(struct membership *m)
{
    if (m->router)
        overlay_forget(&m->overlay);
}

void membership_lose(struct membership *m, uint32_t position)
{
    overlay_lose(&m->overlay, position);
    turn(m);
}

int membership_defer(struct membership *m, uint32_t position)
{
    return overlay_defer(&m->overlay, position);
}

void membership_settle(struct membership *m, uint32_t position)
{
    overlay_settle(&m->overlay, position);
    turn(m);
}

void membership_welcome(struct membership *m, uint32_t position)
{
    overlay_welcome(&m->overlay, position);
    turn(m);
}

void membership_leave(struct membership *m)
{
    step(m, MEMBERSHIP_EVENT_LEAVE, "");
}

bool membership_has(const struct membership *m, uint32_t position)
{
    return rank_set_has(&m->overlay.members, position);
}

void membership_overdue(struct membership *m)
{
    overlay_overdue(&m->overlay);
    turn(m);
    settled(m);
}

/* Of those that were lost before we joined nothing comes. */
static void know_losses(const struct overlay *o, struct router *c)
{
    for (uint32_t i = 0; i < o->losses.nruns; i++) {
        for (uint32_t n = 0; n < o->losses.runs[i].count; n++)
            router_lost(c, o->losses.runs[i].first + n);
    }
}

int membership_open(struct membership *m, struct router *c, const struct membership_config *config)
{
    int rc;

    memset(m, 0, sizeof *m);
    rc = overlay_init(&m->overlay, &config->overlay);
    if (rc < 0)
        return rc;
    m->config = *config;
    m->config.overlay = m->overlay.config;
    m->router = c;
    know_losses(&m->overlay, c);
    m->tried = config->parent;
    m->state = config->overlay.me ? MEMBERSHIP_STATE_JOINING : MEMBERSHIP_STATE_MEMBER;
    return 0;
}

void membership_close(struct membership *m)
{
    if (!m->router)
        return;
    overlay_free(&m->overlay);
    m->router = NULL;
}
