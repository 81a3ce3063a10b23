/* overlay_io.c - see overlay_io.h.  Reading order: results; links and time. */
#include "daemon/overlay_io.h"

#include <errno.h>

#include "base/limit.h"
#include "cluster/collectives.h"
#include "daemon/cluster_io.h"
#include "daemon/node_context.h"

/* ---- results --------------------------------------------------------------------------------- */

static void on_completed(void *arg, const struct overlay_event *e)
{
    struct cluster_io *s = arg;

    collectives_completed(&s->dispatch.context, e);
}

static void on_decided(void *arg, const struct overlay_event *e)
{
    const struct cluster_io *s = arg;

    log_info(s->context->log, "%s, round %llu: %u nodes, %llu bytes, by the %s",
             e->what ? e->what : "?", (unsigned long long)e->generation + 1, e->nodes,
             (unsigned long long)e->bytes, e->exchanges ? "exchange" : "tree");
}

/* ---- links and time -------------------------------------------------------------------------- */

static void on_settled(void *arg)
{
    struct cluster_io *s = arg;

    turn_end(s->context->turn);
}

static const char *addresses_of(const struct overlay_io *w, uint32_t position)
{
    for (uint32_t i = 0; i < w->config.nabove; i++) {
        if (w->config.above[i].position == position)
            return w->config.above[i].addresses;
    }
    return NULL;
}

static struct router_link *join(void *arg, uint32_t position)
{
    struct cluster_io *s = arg;
    const char *at = addresses_of(&s->overlay_io, position);
    struct errmsg err;

    return at ? router_io_connect(&s->router_io, position, slice_str(at), &err) : NULL;
}

static void overdue(void *arg, uint32_t ms)
{
    struct cluster_io *s = arg;

    timer_set(&s->overlay_io.overdue, ms);
}

static void on_overdue(void *arg)
{
    struct overlay_io *w = arg;

    membership_overdue(&w->member);
}

/* ---- creation and destruction ---------------------------------------------------------------- */

int overlay_io_open(struct overlay_io *w, struct cluster_io *s,
                    const struct overlay_io_config *config, struct membership_calls calls)
{
    const struct router_config *c = &s->router.config;
    struct membership_config k = { .parent = config->nabove ? config->above[0].position : TREE_NONE,
                                   .log = s->context->log,
                                   .calls = calls,
                                   .arg = s };
    int rc;

    overlay_defaults(&k.overlay, c->me, c->count, c->width);
    k.overlay.schedule = config->schedule;
    k.overlay.members = config->members;
    k.overlay.lost = config->lost;
    k.overlay.last_broadcast = config->last_broadcast;
    k.overlay.is_over = collectives_are_over;
    k.overlay.over_arg = &s->dispatch.context;
    k.calls.on_decided = on_decided;
    k.calls.on_completed = on_completed;
    k.calls.on_settled = on_settled;
    k.calls.join = join;
    k.calls.overdue = overdue;
    rc = membership_open(&w->member, &s->router, &k);
    if (rc < 0)
        return rc;
    timer_init(&w->overdue, s->context->loop, on_overdue, w);
    w->config = *config;
    w->config.members = w->config.lost = NULL; /* copied */
    w->cluster = s;
    return 0;
}

void overlay_io_close(struct overlay_io *w)
{
    if (!w->cluster)
        return;
    timer_stop(&w->overdue);
    membership_close(&w->member);
    w->cluster = NULL;
}
