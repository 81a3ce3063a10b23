/* job_handlers.c - see job_handlers.h.  Reading order: a job is announced; it ends. */
#include "daemon/job_handlers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/msg.h"
#include "core/job_map_pack.h"
#include "topo/plan_bind.h"
#include "daemon/job_shutdown.h"
#include "daemon/job_msgs.h"
#include "daemon/launcher.h"
#include "daemon/cluster_io.h"
#include "daemon/preflight.h"
#include "daemon/shutdown.h"
#include "daemon/startup_timing.h"
#include "daemon/trace_clock.h"
#include "daemon/trace_writer.h"

/* ---- a job is announced ---------------------------------------------------------------------- */

/* Binds to this machine's hardware; the launcher's own part was bound with the plan. */
static int bind_here(struct job_map *plan, uint32_t here, struct errmsg *err)
{
    struct bind_machine machine = { .looked = false };

    return here < plan->nnodes ? plan_bind(plan, here, &machine, err) : 0;
}

/* This node's hardware does not fit the plan: none of its processes is started. */
static void refuse_part(struct local_job *w, const struct errmsg *why)
{
    const struct node_context *c = w->jobs->context;
    char text[ERRMSG_MAX];

    snprintf(text, sizeof text, "node %.200s: %.700s", c->config->name, why->text);
    job_msgs_ask_end(c->cluster, w->job, JOB_NO_RANK, SPAWN_CODE_REFUSED, text);
    launcher_skip(w);
}

/* Starts our part of a job; takes the plan over on success.  NULL with a sentence. */
static struct job *follow(struct cluster_io *s, struct job_map *plan, const struct op_job *m,
                          uint32_t here, struct errmsg *err)
{
    struct job_order o = { .plan = plan,
                           .parent = m->parent,
                           .parent_rank = (uint32_t)m->parent_rank,
                           .keep_going = m->keep_going != 0,
                           .here = here,
                           .follows = true,
                           .numbered = true,
                           .id = (uint32_t)m->job,
                           .base = (uint32_t)m->base,
                           .is_asked = m->flags & JOB_FLAG_ASKED,
                           .session = (uint32_t)m->session,
                           .epoch = (uint32_t)m->epoch };
    char name[256];
    struct local_job *w;

    bool bound = bind_here(plan, here, err) == 0;

    if (m->nspace.len >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(m->nspace));
    o.nspace = name;
    if (list_empty(&s->jobs->all) && s->jobs->first == JOB_NO_RANK) {
        s->jobs->first = o.id;
        launcher_expect(s->launcher, plan->nprocs);
    }
    w = s->launcher->stdin_ends
            ? local_job_new(s->jobs, &o, here == JOB_NONE_HERE && !(m->flags & JOB_FLAG_REPLACES))
            : NULL;
    if (!w) {
        local_job_no_memory(plan, err);
        return NULL;
    }
    if (m->push_to < 0)
        w->push_to = NODE_STDIN_ALL;
    else if (m->push_to > 0)
        w->push_to = NODE_STDIN_ONE;
    if (m->flags & JOB_FLAG_TIMED)
        startup_timing_begin(s->context->timing, s->context, w->job, s->announced_ns);
    if (m->flags & JOB_FLAG_HELD)
        local_job_step(w, LOCAL_JOB_EVENT_HOLD);
    w->push_rank = m->push_to > 0 ? (uint32_t)(m->push_to - 1) : 0;
    local_job_preset(s->jobs, w->job);
    for (uint32_t i = 0; i + 1 < m->presets.n; i += 2)
        server_preset(s->context->server, w->job, m->presets.items[i], m->presets.items[i + 1]);
    if (bound)
        local_jobs_start(s->jobs);
    else
        refuse_part(w, err);
    return w->job;
}

static const char *keep_text(struct cluster_io *s, struct slice text)
{
    return text.len ? arena_str(s->kept, text) : NULL;
}

/* Takes over the launcher's settings for all of its jobs, from the first job. */
static void take_config(struct cluster_io *s, const struct op_job *m)
{
    struct node_config *c = s->config;

    c->stdin_to = m->stdin_to == NODE_STDIN_ALL   ? NODE_STDIN_ALL
                  : m->stdin_to == NODE_STDIN_ONE ? NODE_STDIN_ONE
                                                  : NODE_STDIN_NONE;
    c->stdin_rank = (uint32_t)m->stdin_rank;
    c->label = keep_text(s, m->label);
    c->outfile = keep_text(s, m->outfile);
    c->errfile = keep_text(s, m->errfile);
    c->speaker = (uint32_t)m->speaker;
    c->hostname = m->flags & JOB_FLAG_HOSTNAME;
    c->one_rank_speaks = m->flags & JOB_FLAG_ONE_SPEAKS;
    c->keep_going = m->keep_going != 0;
}

/* Records a trace of this node's server.  0, or a sentence why it cannot. */
static int record_here(struct cluster_io *s, struct slice trace, struct errmsg *err)
{
    const struct node_context *c = s->context;
    char *file;
    int rc;

    if (trace.len == 0 || s->trace_writer->server)
        return 0;
    file = arena_printf(s->kept, SLICE_FMT ".%s", SLICE_ARG(trace), c->config->name);
    for (char *at = file ? file + trace.len : NULL; at && (at = strchr(at, '/'));)
        *at = '_'; /* in the node's name, which is not a directory */
    if (!file)
        return errmsg_set(err, -ENOMEM, "out of memory");
    rc = trace_writer_open(s->trace_writer, c->server, c->loop, file, c->config->name, c->log, err);
    if (rc == 0)
        trace_clock_begin(s);
    return rc;
}

static void on_job(struct cluster_io *s, const struct op_job *m)
{
    struct errmsg err = { "" }, bad_file = { "" };
    struct job_map plan;
    struct job *j = NULL;
    int rc;

    if (cluster_io_job(s, m->job))
        return; /* it is repeated for those that have joined since */
    s->announced_ns = clock_now_ns();
    rc = job_map_unpack(m->plan, &plan, &err);
    if (rc == 0 && m->positions.n != plan.nnodes)
        rc = errmsg_set(&err, 1, "a job map of %u nodes with %u positions", plan.nnodes,
                        m->positions.n);
    if (rc == 0 && !s->kept->blocks) {
        take_config(s, m);
        record_here(s, m->trace, &bad_file);
    }
    if (rc == 0 && node_map_keep(&s->dispatch.map, (uint32_t)m->job, m->positions.items,
                                 m->positions.n, m->flags & JOB_FLAG_REPLACES))
        j = follow(s, &plan, m,
                   node_map_here(m->positions.items, m->positions.n, s->router.config.me), &err);
    if (j) {
        preflight_answer(s, j, m, &bad_file);
        return;
    }
    job_map_free(&plan);
    log_error(s->context->log, "cannot join the job: %s", err.text[0] ? err.text : "out of memory");
    shutdown_quit(s->shutdown);
}

/* ---- a node of it is replaced ---------------------------------------------------------------- */

/* Its ranks come here by being started again; the job may have been announced a moment ago. */
static void skip_start(struct cluster_io *s, const struct job *j)
{
    struct local_job *w = local_job_of(s->jobs, j);

    if (w && w->next < j->plan.nprocs)
        launcher_skip(w);
}

static void on_node_replaced(struct cluster_io *s, const struct op_node_replaced *m)
{
    struct job *j = cluster_io_job(s, m->job);
    struct op_node_replaced o = *m;
    struct errmsg err;

    if (!j || o.node >= j->plan.nnodes)
        return;
    o.here = o.position == s->router.config.me;
    if (o.here)
        skip_start(s, j);
    node_map_move(&s->dispatch.map, j->id, o.node, o.position);
    if (o.here && bind_here(&j->plan, o.node, &err) != 0)
        job_msgs_ask_end(s, j, JOB_NO_RANK, SPAWN_CODE_REFUSED, err.text);
    server_node_replaced(cluster_io_server(s), &o);
}

/* ---- it ends --------------------------------------------------------------------------------- */

static void on_job_done(struct cluster_io *s, const struct op_job_done *m)
{
    struct job *j = cluster_io_job(s, m->job);

    node_map_drop(&s->dispatch.map, (uint32_t)m->job);
    if (j)
        job_shutdown_forget(s->job_shutdown, j);
}

static void on_unloaded(struct cluster_io *s, const struct op_unloaded *m)
{
    struct job *j = cluster_io_job_with(s, m->job, m->rank);
    struct local_job *w = j && cluster_io_is_root(s) ? local_job_of(s->jobs, j) : NULL;

    if (w && program_is_unloaded(m->line))
        unloaded_add(&w->unloaded, (uint32_t)m->rank, m->line);
}

void job_handlers_receive(struct cluster_io *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_job: on_job(s, &m->u.job); break;
    case MSG_node_replaced: on_node_replaced(s, &m->u.node_replaced); break;
    case MSG_unloaded: on_unloaded(s, &m->u.unloaded); break;
    case MSG_job_done: on_job_done(s, &m->u.job_done); break;
    default: break;
    }
}
