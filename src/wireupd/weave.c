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

static struct server *server_of(const struct weave *w)
{
    return &w->share->node->server;
}

static const struct log *log_of(const struct weave *w)
{
    return &w->share->node->config.log;
}

/* ---- what goes out -----------------------------------------------------------------------------
 */

/* What finds no way now waits in the overlay for a link. */
static void send_out(struct weave *w, struct overlay_msg *m)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct msg out;
    int rc = carry_out(m, &a, &out) ? cluster_send(&w->share->cluster, &out) : -ENOMEM;

    arena_free(&a);
    if (rc == -EPIPE) {
        overlay_hold(&w->overlay, m);
        return;
    }
    if (rc < 0)
        log_error(log_of(w),
                  "cannot send what the nodes do together to the daemon at position %u: %s", m->to,
                  err_text(rc));
    overlay_msg_free(m);
}

/* ---- what it says ------------------------------------------------------------------------------
 */

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

static void take_event(struct weave *w, const struct overlay_event *e)
{
    switch (e->kind) {
    case OVERLAY_COMPLETED: complete(w, e); break;
    case OVERLAY_REPORTED:
    case OVERLAY_TOLD:
    case OVERLAY_LOST:
    case OVERLAY_BEHIND: break;
    }
}

/* Everything that the overlay has to say, until it is silent. */
static void turn(struct weave *w)
{
    struct overlay_msg *m;
    struct overlay_event *e;

    while ((m = overlay_next(&w->overlay)))
        send_out(w, m);
    while ((e = overlay_event(&w->overlay))) {
        take_event(w, e);
        overlay_event_free(e);
    }
}

/* ---- doors -------------------------------------------------------------------------------------
 */

void weave_near(struct weave *w, uint32_t position)
{
    overlay_link_up(&w->overlay, position);
    turn(w);
}

void weave_far(struct weave *w, uint32_t position)
{
    overlay_link_down(&w->overlay, position);
    turn(w);
}

void weave_hear(struct weave *w, const struct msg *m)
{
    struct overlay_msg *in = carry_in(m, w->overlay.config.count);

    if (!in || overlay_hear(&w->overlay, in) != 0)
        log_error(log_of(w), "position %u says of what the nodes do together what cannot be",
                  m->from);
    turn(w);
}

/* The positions of a contribution's nodes; -ENOMEM. */
static int positions_of(const struct weave *w, const struct contribution *k, struct posset *all)
{
    struct place *places = NULL;
    uint32_t n = 0;
    int rc = spread_places(&server_of(w)->core, k, &places, &n);

    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = posset_add(all, share_place(w->share, places[i].job, places[i].node), 1);
    free(places);
    return rc;
}

void weave_contribute(struct weave *w, const struct contribution *k)
{
    struct posset all = { NULL, 0, 0, 0 };
    struct slice block = buf_slice(&k->block);
    struct bundle *mine = block.len ? bundle_one(w->overlay.config.me, block) : NULL;
    int rc = block.len && !mine ? -ENOMEM : positions_of(w, k, &all);

    if (rc == 0)
        rc = overlay_contribute(&w->overlay, slice_str(k->identity), k->generation, &all, mine);
    else
        bundle_drop(mine);
    posset_free(&all);
    if (rc < 0)
        server_completed(server_of(w), slice_str(k->identity), k->generation,
                         rc == -ENOMEM ? ANSWER_NO_MEMORY : ANSWER_FAILED, NULL, 0);
    turn(w);
}

/* ---- birth and death ---------------------------------------------------------------------------
 */

int weave_open(struct weave *w, struct share *s, enum overlay_schedule schedule)
{
    const struct cluster_config *c = &s->cluster.config;
    struct overlay_config k;
    int rc;

    overlay_defaults(&k, c->me, c->count, c->width);
    k.schedule = schedule;
    if (tree_children(c->width, c->count, c->me) == 0)
        k.keep_max = 0; /* nobody comes to us late */
    rc = overlay_init(&w->overlay, &k);
    if (rc == 0)
        w->share = s;
    return rc;
}

void weave_close(struct weave *w)
{
    if (w->share)
        overlay_free(&w->overlay);
    w->share = NULL;
}
