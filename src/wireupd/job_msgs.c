/* job_msgs.c - see job_msgs.h. */
#include "wireupd/job_msgs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/effect.h"
#include "cluster/job_states.h"
#include "core/job_map_pack.h"
#include "wireupd/shutdown.h"
#include "wireupd/preflight.h"
#include "wireupd/multinode_priv.h"
#include "wireupd/spawning.h"
#include "wireupd/launcher.h"

static void say_config(const struct node_config *c, struct msg_job *m)
{
    m->keep_going = c->keep_going;
    m->stdin_to = (uint64_t)c->stdin_to;
    m->stdin_rank = c->stdin_rank;
    m->label = c->label ? slice_str(c->label) : SLICE_NULL;
    m->outfile = c->outfile ? slice_str(c->outfile) : SLICE_NULL;
    m->errfile = c->errfile ? slice_str(c->errfile) : SLICE_NULL;
    m->speaker = c->speaker;
    m->flags =
        (c->hostname ? JOB_FLAG_HOSTNAME : 0u) | (c->one_rank_speaks ? JOB_FLAG_ONE_SPEAKS : 0u);
}

/* The server's own entries in the store are sent along, so that all nodes have the same. */
static void say_presets(const struct multinode *s, const struct spawn_request *rq,
                        struct msg_job *m, struct slice *pairs)
{
    const struct node_config *c = &s->node->config;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->njob_attrs; i++) {
        pairs[n++] = c->job_attrs[i].key;
        pairs[n++] = c->job_attrs[i].value;
    }
    if (c->memory_kinds) {
        pairs[n++] = SLICE("PMI_mpi_memory_alloc_kinds");
        pairs[n++] = slice_str(c->memory_kinds);
    }
    for (uint32_t i = 0; rq && i < rq->npreputs; i++) {
        pairs[n++] = rq->preputs[i].key;
        pairs[n++] = rq->preputs[i].value;
    }
    m->presets = (struct part_texts){ pairs, n };
}

void job_msgs_job(struct multinode *s, struct job *j, const uint32_t *positions, int64_t push_to,
                  const struct spawn_request *rq)
{
    const struct node_config *c = &s->node->config;
    struct slice *pairs =
        calloc(2 * ((size_t)c->njob_attrs + 1 + (rq ? rq->npreputs : 0)), sizeof *pairs);
    struct msg m = { .kind = MSG_job };
    struct msg_job *o = &m.u.job;

    buf_clear(&s->scratch);
    job_map_pack(&j->plan, &s->scratch);
    if (!pairs || !buf_ok(&s->scratch) ||
        !node_map_keep(&s->dispatch.map, j->id, positions, j->plan.nnodes)) {
        free(pairs);
        server_abort(share_server(s), j, JOB_NO_RANK, 1, "out of memory for announcing a job");
        return;
    }
    o->job = j->id;
    o->base = j->base;
    o->nspace = slice_str(j->nspace);
    o->parent = j->parent == JOB_NO_RANK ? -1 : (int64_t)j->parent;
    o->positions = (struct part_uints){ positions, j->plan.nnodes };
    o->plan = buf_slice(&s->scratch);
    o->push_to = push_to;
    o->trace = s->trace ? slice_str(s->trace) : SLICE_NULL;
    say_config(c, o);
    o->keep_going = j->keep_going;
    o->flags |= j->is_asked ? JOB_FLAG_ASKED : 0;
    o->flags |= startup_timing_wants(&s->node->timing, j) ? JOB_FLAG_TIMED : 0;
    o->flags |= preflight_holds(s, j) ? JOB_FLAG_HELD : 0;
    say_presets(s, rq, o, pairs);
    multinode_send(s, &m, MSG_EVERYBODY);
    free(pairs);
}

void job_msgs_ask_end(struct multinode *s, struct job *j, uint32_t rank, int code,
                      const char *reason)
{
    if (j->phase != JOB_RUNNING || j->asked_abort)
        return;
    j->asked_abort = true;
    job_states_ask_end(&s->dispatch.context, j->id, rank, code, slice_str(reason));
}

void job_msgs_over(struct multinode *s, const struct job *j)
{
    struct msg m = { .kind = MSG_job_done };

    m.u.job_done.job = j->id;
    multinode_send(s, &m, MSG_EVERYBODY);
    node_map_drop(&s->dispatch.map, j->id);
}

static const char *keep_text(struct multinode *s, struct slice text)
{
    return text.len ? arena_str(&s->node->kept, text) : NULL;
}

/* Takes over the launcher's settings for all of its jobs, from the first job. */
static void hear_config(struct multinode *s, const struct msg_job *m)
{
    struct node_config *c = &s->node->config;

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
static int record_here(struct multinode *s, struct slice trace, struct errmsg *err)
{
    struct node *n = s->node;
    char *file;

    if (trace.len == 0 || n->trace_writer.server)
        return 0;
    file = arena_printf(&n->kept, SLICE_FMT ".%s", SLICE_ARG(trace), n->config.name);
    for (char *c = file ? file + trace.len : NULL; c && (c = strchr(c, '/'));)
        *c = '_'; /* in the node's name, which is not a directory */
    return file ? node_record(n, file, err) : errmsg_set(err, -ENOMEM, "out of memory");
}

static void hear_job(struct multinode *s, const struct msg_job *m)
{
    struct errmsg err = { "" }, bad_file = { "" };
    struct job_map plan;
    struct job *j = NULL;
    int rc;

    s->heard_ns = clock_now_ns();
    rc = job_map_unpack(m->plan, &plan, &err);
    if (rc == 0 && m->positions.n != plan.nnodes)
        rc = errmsg_set(&err, 1, "a job map of %u nodes with %u positions", plan.nnodes,
                        m->positions.n);
    if (rc == 0 && !s->node->kept.blocks) {
        hear_config(s, m);
        record_here(s, m->trace, &bad_file);
    }
    if (rc == 0 &&
        node_map_keep(&s->dispatch.map, (uint32_t)m->job, m->positions.items, m->positions.n))
        j = launcher_follow(s->node, &plan, m,
                            node_map_here(m->positions.items, m->positions.n, s->router.config.me),
                            &err);
    if (j) {
        preflight_answer(s, j, m, &bad_file);
        return;
    }
    job_map_free(&plan);
    log_error(&s->node->config.log, "cannot join the job: %s",
              err.text[0] ? err.text : "out of memory");
    multinode_quit(s);
}

static void hear_over(struct multinode *s, const struct msg_job_done *m)
{
    struct job *j = share_job(s, m->job);

    node_map_drop(&s->dispatch.map, (uint32_t)m->job);
    if (j)
        shutdown_forget(s->node, j);
}

void job_msgs_unloaded(struct multinode *s, const struct job *j, uint32_t rank, struct slice line)
{
    struct msg m = { .kind = MSG_unloaded };

    m.u.unloaded.job = j->id;
    m.u.unloaded.rank = rank;
    m.u.unloaded.line = line;
    multinode_send(s, &m, 0);
}

static void hear_unloaded(struct multinode *s, const struct msg_unloaded *m)
{
    struct job *j = share_job_with(s, m->job, m->rank);
    struct local_job *w = j && share_is_root(s) ? local_job_of(s->node, j) : NULL;

    if (w && program_is_unloaded(m->line))
        unloaded_add(&w->unloaded, (uint32_t)m->rank, m->line);
}

void job_msgs_hear(struct multinode *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_job: hear_job(s, &m->u.job); break;
    case MSG_unloaded: hear_unloaded(s, &m->u.unloaded); break;
    case MSG_job_done: hear_over(s, &m->u.job_done); break;
    default: break;
    }
}
