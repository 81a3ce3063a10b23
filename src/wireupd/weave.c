/* weave.c - see weave.h.  Reading order: what goes out; what it says; the doors. */
#include "wireupd/weave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/spread.h"
#include "overlay/carry.h"
#include "wireupd/node_priv.h"
#include "wireupd/share.h"
#include "wireupd/loss.h"
#include "wireupd/places.h"

/* Bytes of results for those who come late; who has nobody below keeps none. */
enum { WEAVE_KEEP = 16 << 20 };

static struct server *server_of(const struct weave *w)
{
    return &w->share->node->server;
}

static const struct log *log_of(const struct weave *w)
{
    return &w->share->node->config.log;
}

/* ---- what goes out --------------------------------------------------------------------------- */

/* These go from neighbour to neighbour only; who has a new one asks again. */
static bool is_near(enum overlay_kind kind)
{
    return kind == OVERLAY_MSG_GATHER || kind == OVERLAY_MSG_RESULT || kind == OVERLAY_MSG_TELL ||
           kind == OVERLAY_MSG_HELLO;
}

/* Large, and between any two. */
static bool is_piece(enum overlay_kind kind)
{
    return kind == OVERLAY_MSG_PIECE || kind == OVERLAY_MSG_AGAIN;
}

static int send_by_kind(struct cluster *c, enum overlay_kind kind, struct msg *m)
{
    if (is_near(kind))
        return cluster_send_near(c, m);
    return is_piece(kind) ? cluster_send_piece(c, m) : cluster_send(c, m);
}

static void send_out(struct weave *w, struct overlay_msg *m)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct msg out;
    int rc = -ENOMEM;

    if (carry_out(m, &a, &out))
        rc = send_by_kind(&w->share->cluster, m->kind, &out);
    if (rc < 0 && rc != -EPIPE)
        log_error(log_of(w),
                  "cannot send what the nodes do together to the daemon at position %u: %s", m->to,
                  err_text(rc));
    arena_free(&a);
    overlay_msg_free(m);
}

/* ---- what it says ---------------------------------------------------------------------------- */

static void complete(struct weave *w, const struct overlay_event *e)
{
    uint32_t room = bundle_count(e->blocks), n = 0;
    struct slice *blocks = calloc((size_t)room + 1, sizeof *blocks);
    enum answer_status status = e->failed ? ANSWER_FAILED : ANSWER_OK;
    const struct bundle *b;
    struct bundle_walk walk;

    bundle_walk_begin(&walk, e->blocks);
    while (blocks && n < room && (b = bundle_walk_next(&walk)))
        blocks[n++] = b->block;
    if (!blocks || walk.no_memory)
        status = ANSWER_NO_MEMORY;
    bundle_walk_end(&walk);
    server_completed(server_of(w), slice_str(e->what), e->generation, status, blocks,
                     status == ANSWER_OK ? n : 0);
    free(blocks);
}

/* Words for everybody, as the bytes of a message. */
static void hear_words(struct weave *w, const struct overlay_event *e)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct slice bytes = e->blocks ? e->blocks->block : SLICE_NULL;
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) != 0)
        log_error(log_of(w), "words for everybody: %s", err.text);
    else if (m.from != w->overlay.config.me)
        share_hear(w->share, &m);
    arena_free(&a);
}

/* Launcher: what another one has for everybody. */
static void pass_on(struct weave *w, const struct overlay_event *e)
{
    if (e->blocks && overlay_tell(&w->overlay, e->blocks->block) < 0)
        w->overlay.no_memory = true;
    hear_words(w, e);
}

/* Those that should come to us when that one is lost. */
static bool has_heirs(const struct weave *w, uint32_t gone)
{
    const struct overlay *o = &w->overlay;

    return tree_children(o->config.width, o->config.count, gone) > 0 &&
           tree_living_parent(o->config.width, gone, o->lost) == o->config.me;
}

static void hear_loss(struct weave *w, uint32_t gone)
{
    bool parent = gone == w->overlay.parent;

    if (gone == w->overlay.config.me) {
        share_end(w->share, "the launcher takes this node for lost");
        return;
    }
    overlay_link_down(&w->overlay, gone);
    cluster_lost(&w->share->cluster, gone);
    loss_position(w->share, gone);
    if (has_heirs(w, gone))
        timer_set(&w->overdue, LIMIT_NODE_RETURN_MS);
    if (parent && !weave_seek(w))
        share_end(w->share, "no daemon above this one can be reached");
}

static void note_decision(const struct weave *w, const struct overlay_event *e)
{
    log_info(log_of(w), "%s, round %llu: %u nodes, %llu bytes, by the %s", e->what ? e->what : "?",
             (unsigned long long)e->generation + 1, e->nodes, (unsigned long long)e->bytes,
             e->exchanges ? "exchange" : "tree");
}

/* They come up side by side, while the first pieces wait. */
static void prepare(struct weave *w, const struct posset *peers)
{
    for (uint32_t i = 0; i < peers->nruns; i++) {
        for (uint32_t k = 0; k < peers->runs[i].count; k++)
            cluster_meet(&w->share->cluster, peers->runs[i].first + k);
    }
}

static void take_event(struct weave *w, const struct overlay_event *e)
{
    switch (e->kind) {
    case OVERLAY_COMPLETED: complete(w, e); break;
    case OVERLAY_DECIDED: note_decision(w, e); break;
    case OVERLAY_EXCHANGING: prepare(w, &e->peers); break;
    case OVERLAY_REPORTED: pass_on(w, e); break;
    case OVERLAY_TOLD: hear_words(w, e); break;
    case OVERLAY_LOST: hear_loss(w, e->from); break;
    case OVERLAY_BEHIND:
        share_end(w->share, "what all nodes were told meanwhile is not to be had any more");
        break;
    }
}

static void send_all(struct weave *w)
{
    struct overlay_msg *m;

    while ((m = overlay_next(&w->overlay)))
        send_out(w, m);
}

/* Everything that the overlay has to say, until it is silent.  What an event brings about is sent
 * at once; events that come of it wait until it is done with. */
static void turn(struct weave *w)
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
        share_end(w->share, "out of memory for what the nodes do together");
}

/* ---- doors ----------------------------------------------------------------------------------- */

bool weave_near(struct weave *w, uint32_t position)
{
    bool good = overlay_link_up(&w->overlay, position);

    w->joined = w->joined || (good && position == w->overlay.parent);
    turn(w);
    return good;
}

void weave_far(struct weave *w, uint32_t position)
{
    overlay_link_down(&w->overlay, position);
    turn(w);
}

void weave_lose(struct weave *w, uint32_t position)
{
    overlay_lose(&w->overlay, position);
    turn(w);
}

static const char *addresses_of(const struct weave *w, uint32_t position)
{
    for (uint32_t i = 0; i < w->config.nabove; i++) {
        if (w->config.above[i].position == position)
            return w->config.above[i].addresses;
    }
    return NULL;
}

bool weave_seek(struct weave *w)
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
        if (at && cluster_join(&w->share->cluster, w->tried, slice_str(at), &err) == 0)
            return true;
        overlay_shun(o, w->tried);
    }
    return false;
}

/* Some who should have come to us have not. */
static void overdue(void *arg)
{
    struct weave *w = arg;

    overlay_overdue(&w->overlay);
    turn(w);
    node_settle(w->share->node);
}

void weave_hear(struct weave *w, const struct msg *m)
{
    struct overlay_msg *in = carry_in(m, w->overlay.config.count);

    if (!in || overlay_hear(&w->overlay, in) != 0)
        log_error(log_of(w), "position %u says of what the nodes do together what cannot be",
                  m->from);
    turn(w);
}

int weave_tell(struct weave *w, struct msg *m)
{
    struct buf bytes = BUF_NULL(LIMIT_HOP_MESSAGE / 2);
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
static int positions_of(const struct weave *w, const struct contribution *k, struct posset *all)
{
    struct place *places = NULL;
    uint32_t n = 0;
    int rc = spread_places(&server_of(w)->core, k, &places, &n);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = posset_add(all, places_position(w->share, places[i].job, places[i].node), 1);
    free(places);
    return rc;
}

void weave_contribute(struct weave *w, const struct contribution *k)
{
    struct posset all = { NULL, 0, 0, 0 };
    struct slice block = buf_slice(&k->block);
    struct bundle *mine = block.len ? bundle_one(w->overlay.config.me, block) : NULL;
    int rc = block.len && !mine ? -ENOMEM : positions_of(w, k, &all);
    enum overlay_schedule schedule;

    overlay_schedule_known(slice_str(k->ways), &schedule);
    if (rc == 0)
        rc = overlay_contribute_by(&w->overlay, schedule, slice_str(k->identity), k->generation,
                                   &all, mine);
    else
        bundle_drop(mine);
    posset_free(&all);
    if (rc < 0)
        server_completed(server_of(w), slice_str(k->identity), k->generation,
                         rc == -ENOMEM ? ANSWER_NO_MEMORY : ANSWER_FAILED, NULL, 0);
    turn(w);
}

/* ---- birth and death ------------------------------------------------------------------------- */

int weave_open(struct weave *w, struct share *s, const struct weave_config *config)
{
    const struct cluster_config *c = &s->cluster.config;
    struct overlay_config k;
    int rc;

    overlay_defaults(&k, c->me, c->count, c->width);
    k.schedule = config->schedule;
    k.keep_max = tree_children(c->width, c->count, c->me) ? WEAVE_KEEP : 0;
    rc = overlay_init(&w->overlay, &k);
    if (rc < 0)
        return rc;
    timer_init(&w->overdue, &s->node->loop, overdue, w);
    w->config = *config;
    w->tried = config->nabove ? config->above[0].position : TREE_NONE;
    w->share = s;
    return 0;
}

void weave_close(struct weave *w)
{
    if (!w->share)
        return;
    timer_stop(&w->overdue);
    overlay_free(&w->overlay);
    w->share = NULL;
}
