/* spawn_growth.c - see spawn_growth.h. */
#include "daemon/spawn_growth.h"

#include "daemon/allocations.h"
#include "daemon/local_job.h"
#include "daemon/node_context.h"
#include "daemon/spawn_limit.h"

enum { SPAWN_GROWTH_TEXT = 1 << 20 };

/* ---- requests that wait ---------------------------------------------------------------------- */

static void drop(void *request)
{
    spawn_held_free(request);
}

static void end_wait(struct spawn_growths *g, struct spawn_held *h)
{
    g->go_on(g->jobs, h);
    spawn_held_free(h);
    turn_end(g->jobs->context->turn);
}

static void go_on(void *arg, void *request, struct slice joined, const char *why)
{
    (void)joined; /* what is missing is found out like any node that is not there */
    (void)why;
    end_wait(arg, request);
}

static void late(struct spawn_held *h)
{
    struct spawn_growths *g = h->holder;

    dvm_growth_forget(&g->growths, h);
    h->failure = errmsg_set(&h->why, SPAWN_LATE,
                            "the added nodes have not joined within its time limit of %u s",
                            spawn_limit_seconds(h->request));
    end_wait(g, h);
}

/* ---- nodes that the DVM does not have -------------------------------------------------------- */

/* all: of all that it adds. */
static void put_unknown(const struct local_jobs *jobs, const struct spawn_request *rq,
                        struct buf *out, struct buf *all)
{
    const struct node_config *config = jobs->context->config;
    struct buf added = BUF_NULL(SPAWN_GROWTH_TEXT);

    config->added_nodes(config->arg, rq, &added);
    if (buf_ok(&added)) {
        allocations_unknown(jobs->allocations, buf_slice(&added), out);
        allocations_names(buf_slice(&added), all);
    }
    buf_free(&added);
}

static bool grow(struct spawn_growths *g, const struct spawn_held *h, struct slice nodes,
                 struct slice all)
{
    struct spawn_held *request = spawn_held_copy(h, g->jobs->context->loop, late, g);

    if (request && dvm_growth_begin(&g->growths, request, nodes, all))
        return true;
    if (request)
        drop(request);
    return false;
}

bool spawn_growth_begin(struct spawn_growths *g, const struct spawn_held *h)
{
    struct buf unknown = BUF_NULL(SPAWN_GROWTH_TEXT), all = BUF_NULL(SPAWN_GROWTH_TEXT);
    bool grows = false;

    if (!g->jobs->context->config->added_nodes || !g->jobs->allocations)
        return false;
    put_unknown(g->jobs, h->request, &unknown, &all);
    if (buf_len(&unknown) && buf_ok(&unknown) && buf_ok(&all))
        grows = grow(g, h, buf_slice(&unknown), buf_slice(&all));
    buf_free(&unknown);
    buf_free(&all);
    return grows;
}

void spawn_growth_open(struct spawn_growths *g, struct local_jobs *jobs, spawn_growth_fn *go)
{
    g->jobs = jobs;
    g->go_on = go;
    dvm_growths_open(&g->growths, jobs->context, &(struct dvm_growth_calls){ go_on, drop, g });
    if (jobs->context->config->add_nodes)
        g->growths.resize = jobs->context->config->add_nodes;
}

void spawn_growth_close(struct spawn_growths *g)
{
    dvm_growths_close(&g->growths);
}
