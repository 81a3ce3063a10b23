/* overlay_io.c - see overlay_io.h.  Reading order: sending; events of the overlay; entry points. */
#include "wireupd/overlay_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/exchange_data.h"
#include "cluster/overlay_codec.h"
#include "wireupd/node_priv.h"
#include "wireupd/multinode.h"
#include "wireupd/node_failure.h"
#include "wireupd/node_map.h"

/* Bytes of results kept for daemons that join late; a daemon without children keeps none. */
enum { OVERLAY_IO_KEEP = 16 << 20 };

static struct server *server_of(const struct overlay_io *w)
{
    return &w->multinode->node->server;
}

static const struct log *log_of(const struct overlay_io *w)
{
    return &w->multinode->node->config.log;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* These go from neighbour to neighbour only; a daemon with a new neighbour requests them again. */
static bool is_near(enum overlay_kind kind)
{
    return kind == OVERLAY_MSG_GATHER || kind == OVERLAY_MSG_RESULT || kind == OVERLAY_MSG_TELL ||
           kind == OVERLAY_MSG_HELLO;
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
    return is_piece(kind) ? router_send_piece(c, m, clock_now_ns()) : router_send(c, m);
}

static void send_out(struct overlay_io *w, struct overlay_msg *m)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct msg out;
    int rc = -ENOMEM;

    if (overlay_codec_out(m, &a, &out))
        rc = send_by_kind(&w->multinode->router, m->kind, &out);
    if (rc < 0 && rc != -EPIPE)
        log_error(log_of(w), "cannot send a collective message to the daemon at position %u: %s",
                  m->to, err_text(rc));
    arena_free(&a);
    overlay_msg_free(m);
}

/* ---- events of the overlay --------------------------------------------------------------------
 */

static void complete(struct overlay_io *w, const struct overlay_event *e)
{
    uint32_t room = block_set_count(e->blocks), n = 0;
    struct slice *blocks = calloc((size_t)room + 1, sizeof *blocks);
    enum answer_status status = e->failed ? ANSWER_FAILED : ANSWER_OK;
    const struct block_set *b;
    struct block_set_walk walk;
    struct coll_id id;

    block_set_walk_begin(&walk, e->blocks);
    while (blocks && n < room && (b = block_set_walk_next(&walk)))
        blocks[n++] = b->block;
    if (!blocks || walk.no_memory)
        status = ANSWER_NO_MEMORY;
    block_set_walk_end(&walk);
    if (coll_id_read(slice_str(e->what), e->generation, &id))
        server_completed(server_of(w), &id, status, blocks, status == ANSWER_OK ? n : 0);
    free(blocks);
}

/* A broadcast, as the bytes of a message. */
static void hear_words(struct overlay_io *w, const struct overlay_event *e)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct slice bytes = e->blocks ? e->blocks->block : SLICE_NULL;
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) != 0)
        log_error(log_of(w), "invalid broadcast: %s", err.text);
    else if (m.from != w->overlay.config.me)
        multinode_hear(w->multinode, &m);
    arena_free(&a);
}

/* Launcher: another daemon's message to all. */
static void pass_on(struct overlay_io *w, const struct overlay_event *e)
{
    if (e->blocks && overlay_tell(&w->overlay, e->blocks->block) < 0)
        w->overlay.no_memory = true;
    hear_words(w, e);
}

/* Are there daemons that should rejoin here if that one is lost? */
static bool has_heirs(const struct overlay_io *w, uint32_t gone)
{
    const struct overlay *o = &w->overlay;

    return tree_children(o->config.width, o->config.count, gone) > 0 &&
           tree_living_parent(o->config.width, gone, o->lost) == o->config.me;
}

static void hear_loss(struct overlay_io *w, uint32_t gone)
{
    bool parent = gone == w->overlay.parent;

    if (gone == w->overlay.config.me) {
        multinode_end(w->multinode, "the launcher considers this node lost");
        return;
    }
    overlay_link_down(&w->overlay, gone);
    router_lost(&w->multinode->router, gone);
    node_failure_position(w->multinode, gone);
    if (has_heirs(w, gone))
        timer_set(&w->overdue, LIMIT_NODE_RETURN_MS);
    if (parent && !overlay_io_seek(w))
        multinode_end(w->multinode, "no daemon above this one can be reached");
}

static void note_decision(const struct overlay_io *w, const struct overlay_event *e)
{
    log_info(log_of(w), "%s, round %llu: %u nodes, %llu bytes, by the %s", e->what ? e->what : "?",
             (unsigned long long)e->generation + 1, e->nodes, (unsigned long long)e->bytes,
             e->exchanges ? "exchange" : "tree");
}

/* The links come up in parallel, while the first pieces wait. */
static void prepare(struct overlay_io *w, const struct rank_set *peers)
{
    uint64_t now = clock_now_ns();

    for (uint32_t i = 0; i < peers->nruns; i++) {
        for (uint32_t k = 0; k < peers->runs[i].count; k++)
            router_meet(&w->multinode->router, peers->runs[i].first + k, now);
    }
}

static void take_event(struct overlay_io *w, const struct overlay_event *e)
{
    switch (e->kind) {
    case OVERLAY_COMPLETED: complete(w, e); break;
    case OVERLAY_DECIDED: note_decision(w, e); break;
    case OVERLAY_EXCHANGING: prepare(w, &e->peers); break;
    case OVERLAY_REPORTED: pass_on(w, e); break;
    case OVERLAY_TOLD: hear_words(w, e); break;
    case OVERLAY_LOST: hear_loss(w, e->from); break;
    case OVERLAY_BEHIND:
        multinode_end(w->multinode, "missed broadcasts are no longer available");
        break;
    }
}

static void send_all(struct overlay_io *w)
{
    struct overlay_msg *m;

    while ((m = overlay_next(&w->overlay)))
        send_out(w, m);
}

/* Handles all events of the overlay until there are none.  What an event causes is sent at once;
 * events that result from it wait until it has been handled. */
static void turn(struct overlay_io *w)
{
    struct overlay_event *e;

    send_all(w);
    if (w->turning)
        return;
    w->turning = true;
    while ((e = overlay_event(&w->overlay))) {
        take_event(w, e);
        overlay_event_free(e);
        send_all(w);
    }
    w->turning = false;
    if (w->overlay.no_memory)
        multinode_end(w->multinode, "out of memory for collectives over nodes");
}

/* ---- entry points ---------------------------------------------------------------------------- */

bool overlay_io_near(struct overlay_io *w, uint32_t position)
{
    bool good = overlay_link_up(&w->overlay, position);

    w->joined = w->joined || (good && position == w->overlay.parent);
    turn(w);
    return good;
}

void overlay_io_far(struct overlay_io *w, uint32_t position)
{
    overlay_link_down(&w->overlay, position);
    turn(w);
}

void overlay_io_lose(struct overlay_io *w, uint32_t position)
{
    overlay_lose(&w->overlay, position);
    turn(w);
}

static const char *addresses_of(const struct overlay_io *w, uint32_t position)
{
    for (uint32_t i = 0; i < w->config.nabove; i++) {
        if (w->config.above[i].position == position)
            return w->config.above[i].addresses;
    }
    return NULL;
}

bool overlay_io_seek(struct overlay_io *w)
{
    struct overlay *o = &w->overlay;
    struct errmsg err;
    const char *at;

    if (o->parent != TREE_NONE)
        overlay_link_down(o, o->parent);
    else
        overlay_shun(o, w->tried);
    while (w->joined && (w->tried = overlay_wanted_parent(o)) != TREE_NONE) {
        at = addresses_of(w, w->tried);
        if (at && router_io_join(&w->multinode->router_io, w->tried, slice_str(at), &err) == 0)
            return true;
        overlay_shun(o, w->tried);
    }
    return false;
}

/* Some daemons that should have joined here have not. */
static void overdue(void *arg)
{
    struct overlay_io *w = arg;

    overlay_overdue(&w->overlay);
    turn(w);
    node_settle(w->multinode->node);
}

void overlay_io_hear(struct overlay_io *w, const struct msg *m)
{
    struct overlay_msg *in = overlay_codec_in(m, w->overlay.config.count);

    if (!in || overlay_hear(&w->overlay, in) != 0)
        log_error(log_of(w), "the daemon at position %u sent an invalid collective message",
                  m->from);
    turn(w);
}

int overlay_io_tell(struct overlay_io *w, struct msg *m)
{
    struct buf bytes = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2);
    int rc = -EMSGSIZE;

    m->from = w->overlay.config.me;
    m->to = MSG_EVERYBODY;
    msg_write(m, &bytes);
    if (buf_ok(&bytes))
        rc = m->from ? overlay_report(&w->overlay, buf_slice(&bytes))
                     : overlay_tell(&w->overlay, buf_slice(&bytes));
    buf_free(&bytes);
    turn(w);
    return rc;
}

/* The positions of a contribution's nodes; -ENOMEM. */
static int positions_of(const struct overlay_io *w, const struct contribution *k,
                        struct rank_set *all)
{
    struct place *places = NULL;
    uint32_t n = 0;
    int rc = exchange_data_places(&server_of(w)->core, k, &places, &n);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = rank_set_add(all, node_map_position(w->multinode, places[i].job, places[i].node), 1);
    free(places);
    return rc;
}

void overlay_io_contribute(struct overlay_io *w, const struct contribution *k)
{
    struct rank_set all = { NULL, 0, 0, 0 };
    struct slice block = buf_slice(&k->block);
    struct block_set *mine = block.len ? block_set_one(w->overlay.config.me, block) : NULL;
    int rc = block.len && !mine ? -ENOMEM : positions_of(w, k, &all);
    struct buf what = BUF_NULL(LIMIT_BLOCK);
    enum overlay_schedule schedule;

    overlay_schedule_known(slice_str(k->ways), &schedule);
    coll_id_write(&k->id, &what);
    if (rc == 0 && !buf_ok(&what))
        rc = -ENOMEM;
    if (rc == 0)
        rc = overlay_contribute_by(&w->overlay, schedule, buf_slice(&what), k->id.generation, &all,
                                   mine);
    else
        block_set_drop(mine);
    rank_set_free(&all);
    buf_free(&what);
    if (rc < 0)
        server_completed(server_of(w), &k->id, rc == -ENOMEM ? ANSWER_NO_MEMORY : ANSWER_FAILED,
                         NULL, 0);
    turn(w);
}

/* ---- creation and destruction ---------------------------------------------------------------- */

int overlay_io_open(struct overlay_io *w, struct multinode *s,
                    const struct overlay_io_config *config)
{
    const struct router_config *c = &s->router.config;
    struct overlay_config k;
    int rc;

    overlay_defaults(&k, c->me, c->count, c->width);
    k.schedule = config->schedule;
    k.keep_max = tree_children(c->width, c->count, c->me) ? OVERLAY_IO_KEEP : 0;
    rc = overlay_init(&w->overlay, &k);
    if (rc < 0)
        return rc;
    timer_init(&w->overdue, &s->node->loop, overdue, w);
    w->config = *config;
    w->tried = config->nabove ? config->above[0].position : TREE_NONE;
    w->multinode = s;
    return 0;
}

void overlay_io_close(struct overlay_io *w)
{
    if (!w->multinode)
        return;
    timer_stop(&w->overdue);
    overlay_free(&w->overlay);
    w->multinode = NULL;
}
