/* job_msgs.c - see job_msgs.h. */
#include "daemon/job_msgs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/msg.h"
#include "core/effect.h"
#include "cluster/job_states.h"
#include "core/job_map_pack.h"
#include "core/job_restart.h"
#include "daemon/preflight.h"
#include "daemon/startup_timing.h"
#include "daemon/cluster_io.h"

static void put_config(const struct node_config *c, struct op_job *m)
{
    m->keep_going = c->keep_going;
    m->stdin_to = (uint8_t)c->stdin_to;
    m->stdin_rank = c->stdin_rank;
    m->label = c->label ? slice_str(c->label) : SLICE_NULL;
    m->outfile = c->outfile ? slice_str(c->outfile) : SLICE_NULL;
    m->errfile = c->errfile ? slice_str(c->errfile) : SLICE_NULL;
    m->speaker = c->speaker;
    m->flags =
        (c->hostname ? JOB_FLAG_HOSTNAME : 0u) | (c->one_rank_speaks ? JOB_FLAG_ONE_SPEAKS : 0u);
}

/* The server's own entries in the store are sent along, so that all nodes have the same. */
static void put_presets(const struct cluster_io *s, const struct local_job *w, struct op_job *m,
                        struct slice *pairs)
{
    const struct node_config *c = s->context->config;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->njob_attrs; i++) {
        pairs[n++] = c->job_attrs[i].key;
        pairs[n++] = c->job_attrs[i].value;
    }
    if (c->memory_kinds) {
        pairs[n++] = SLICE("PMI_mpi_memory_alloc_kinds");
        pairs[n++] = slice_str(c->memory_kinds);
    }
    for (uint32_t i = 0; i < w->npreputs; i++) {
        pairs[n++] = w->preputs[i].key;
        pairs[n++] = w->preputs[i].value;
    }
    m->presets = (struct part_texts){ pairs, n };
}

/* As in the message. */
static int64_t push_of(const struct local_job *w)
{
    switch (w->push_to) {
    case NODE_STDIN_ALL: return -1;
    case NODE_STDIN_ONE: return (int64_t)w->push_rank + 1;
    case NODE_STDIN_NONE: break;
    }
    return 0;
}

static bool replaces(const struct node_config *c, const struct job *j)
{
    return c->replace && job_restarts(j);
}

/* flags: of those that only the first announcement has. */
static void announce(struct cluster_io *s, const struct local_job *w, uint32_t flags)
{
    const struct node_config *c = s->context->config;
    struct job *j = w->job;
    struct slice *pairs = calloc(2 * ((size_t)c->njob_attrs + 1 + w->npreputs), sizeof *pairs);
    struct msg m = { .kind = MSG_job };
    struct op_job *o = &m.u.job;

    buf_clear(&s->scratch);
    job_map_pack(&j->plan, &s->scratch);
    if (!pairs || !buf_ok(&s->scratch)) {
        free(pairs);
        server_abort(cluster_io_server(s), j, JOB_NO_RANK, 1, "out of memory for announcing a job");
        return;
    }
    o->job = j->id;
    o->base = j->base;
    o->nspace = slice_str(j->nspace);
    o->parent = j->parent;
    o->parent_rank = j->parent_rank;
    o->positions = node_map_positions(&s->dispatch.map, j->id);
    o->plan = buf_slice(&s->scratch);
    o->push_to = push_of(w);
    o->trace = s->trace ? slice_str(s->trace) : SLICE_NULL;
    put_config(c, o);
    o->keep_going = j->keep_going;
    o->session = j->session;
    o->epoch = j->epoch;
    o->flags |= flags;
    o->flags |= j->is_asked ? JOB_FLAG_ASKED : 0;
    o->flags |= replaces(c, j) ? JOB_FLAG_REPLACES : 0;
    put_presets(s, w, o, pairs);
    cluster_io_send(s, &m, MSG_EVERYBODY);
    free(pairs);
}

/* For nodes that join later, too.  False: no memory. */
static bool keep_preputs(struct local_job *w, const struct spawn_request *rq)
{
    struct arena *a = &w->job->plan.arena;
    uint32_t n = rq ? rq->npreputs : 0;
    struct spawn_pair *to = arena_array(a, (size_t)n + 1, sizeof *to);

    for (uint32_t i = 0; to && i < n; i++)
        to[i] = (struct spawn_pair){ arena_copy(a, rq->preputs[i].key),
                                     arena_copy(a, rq->preputs[i].value) };
    w->preputs = to;
    w->npreputs = to ? n : 0;
    return arena_ok(a);
}

void job_msgs_announce(struct cluster_io *s, struct local_job *w, const struct spawn_request *rq)
{
    struct job *j = w->job;
    uint32_t flags = startup_timing_wants(s->context->timing, j) ? JOB_FLAG_TIMED : 0;

    if (keep_preputs(w, rq) && node_map_keep(&s->dispatch.map, j->id, w->positions, j->plan.nnodes,
                                             replaces(s->context->config, j)))
        announce(s, w, flags | (preflight_waits(w) ? JOB_FLAG_HELD : 0));
    else
        server_abort(cluster_io_server(s), j, JOB_NO_RANK, 1, "out of memory for announcing a job");
}

void job_msgs_repeat(struct cluster_io *s)
{
    LIST_EACH(l, &s->jobs->all)
    {
        const struct local_job *w = LIST_OF(l, struct local_job, link);
        if (!w->positions || w->job->is_tool || w->job->phase == JOB_ENDED)
            continue;
        announce(s, w, 0);
        job_states_repeat(&s->dispatch.context, w->job);
    }
}

bool job_msgs_replace(struct cluster_io *s, const struct job *j, const struct node_replacement *n,
                      uint32_t position)
{
    struct msg m =
        MSG_WITH(node_replaced, .job = j->id, .node = n->node, .position = position,
                 .name = n->name, .ranks = { n->ranks, n->count }, .times = { n->times, n->count });

    cluster_io_send(s, &m, MSG_EVERYBODY);
    node_map_move(&s->dispatch.map, j->id, n->node, position);
    return server_node_replaced(cluster_io_server(s), &m.u.node_replaced);
}

void job_msgs_ask_end(struct cluster_io *s, struct job *j, uint32_t rank, int code,
                      const char *reason)
{
    if (j->phase != JOB_RUNNING || j->asked_abort)
        return;
    j->asked_abort = true;
    job_states_ask_end(&s->dispatch.context, j->id, rank, code, slice_str(reason));
}

void job_msgs_over(struct cluster_io *s, const struct job *j)
{
    struct msg m = { .kind = MSG_job_done };

    m.u.job_done.job = j->id;
    cluster_io_send(s, &m, MSG_EVERYBODY);
    node_map_drop(&s->dispatch.map, j->id);
}

void job_msgs_unloaded(struct cluster_io *s, const struct job *j, uint32_t rank, struct slice line)
{
    struct msg m = { .kind = MSG_unloaded };

    m.u.unloaded.job = j->id;
    m.u.unloaded.rank = rank;
    m.u.unloaded.line = line;
    cluster_io_send(s, &m, 0);
}
