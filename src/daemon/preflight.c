/* preflight.c - see preflight.h. */
#include "daemon/preflight.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>

#include "cluster/msg.h"
#include "daemon/job_msgs.h"
#include "daemon/output.h"
#include "daemon/staging.h"
#include "daemon/cluster_io.h"

/* The exit code for a wrong command line, as for the launcher's own checks. */
enum { PREFLIGHT_USAGE = 2 };

/* Output files of this node, and its trace. */
static int prepare_here(struct local_job *w, struct errmsg *err)
{
    const struct node_context *c = w->jobs->context;
    struct job_map_output ways = output_ways(c->config, w->job);

    return output_prepare(c->output, ways.outfile, ways.errfile, w->job, err);
}

bool preflight_waits(const struct local_job *w)
{
    return w->state == LOCAL_JOB_STATE_HELD && w->job->phase == JOB_RUNNING;
}

/* ---- launcher ---- */

static bool needs_files(const struct node_context *c, const struct job *j)
{
    struct job_map_output ways = output_ways(c->config, j);

    return ways.outfile || ways.errfile || j->plan.staged || (c->cluster && c->cluster->trace);
}

static void await(struct local_job *w, uint32_t position)
{
    w->nawaited += !w->awaited[position];
    w->awaited[position] = true;
}

/* The nodes that must have their files, ours only if they are staged. */
static int hold(struct local_job *w, struct errmsg *err)
{
    const struct node_context *c = w->jobs->context;
    const struct cluster_io *s = c->cluster;
    const struct job *j = w->job;

    if (!needs_files(c, j) || !(w->positions || j->plan.staged))
        return 0;
    w->awaited = calloc(s ? s->router.config.count : 1, sizeof *w->awaited);
    if (!w->awaited)
        return errmsg_set(err, -ENOMEM, "out of memory for the nodes of the job");
    for (uint32_t i = 0; w->positions && i < j->plan.nnodes; i++) {
        uint32_t at = w->positions[i];
        if (at != 0 && !router_is_lost(&s->router, at))
            await(w, at);
    }
    if (j->plan.staged && j->here != JOB_NONE_HERE)
        await(w, 0);
    if (w->nawaited)
        local_job_step(w, LOCAL_JOB_EVENT_HOLD);
    return 0;
}

static void let_begin(struct local_job *w)
{
    struct cluster_io *s = w->jobs->context->cluster;
    struct msg m = { .kind = MSG_begin };

    m.u.begin.job = w->job->id;
    if (s)
        cluster_io_send(s, &m, MSG_EVERYBODY);
    local_job_step(w, LOCAL_JOB_EVENT_RELEASE);
}

static void settle(struct local_job *w, uint32_t position)
{
    if (!w->awaited || !w->awaited[position])
        return;
    w->awaited[position] = false;
    if (--w->nawaited == 0)
        let_begin(w);
}

/* Nothing of it is started. */
static void refuse(struct local_job *w, const char *node, struct slice why)
{
    w->refusal = SPAWN_NO_FILES;
    if (w->job->phase == JOB_RUNNING)
        server_abort(w->jobs->context->server, w->job, JOB_NO_RANK, PREFLIGHT_USAGE,
                     "%s%.200s%s" SLICE_FMT, node ? "node " : "", node ? node : "",
                     node ? ": " : "", SLICE_ARG(slice_head(why, 700)));
}

/* Staged files are here, or the reader of all has failed. */
static void staged_here(struct local_job *w, const char *why)
{
    if (why)
        refuse(w, NULL, slice_str(why));
    settle(w, 0);
}

int preflight_here(struct local_job *w, struct errmsg *err)
{
    int rc = prepare_here(w, err);

    if (rc == 0)
        rc = hold(w, err);
    if (rc == 0 && w->job->plan.staged)
        rc = staging_lead(w, staged_here, err);
    return rc;
}

void preflight_lost(struct local_jobs *jobs, uint32_t position)
{
    LIST_EACH(l, &jobs->all)
    settle(LIST_OF(l, struct local_job, link), position);
    staging_lost(jobs, position);
}

static void on_checked(struct cluster_io *s, uint32_t from, const struct op_checked *m)
{
    struct job *j = cluster_io_job(s, m->job);
    struct local_job *w = j ? local_job_of(s->jobs, j) : NULL;

    if (!w || !cluster_io_is_root(s) || from >= s->router.config.count)
        return;
    if (m->text.len)
        refuse(w, s->names[from], m->text);
    settle(w, from);
}

/* ---- daemon ---- */

static void answer(struct local_job *w, const char *why)
{
    struct msg m = MSG_WITH(checked, .job = w->job->id, .text = slice_str(why ? why : ""));

    cluster_io_send(w->jobs->context->cluster, &m, 0);
}

void preflight_answer(struct cluster_io *s, struct job *j, const struct op_job *m,
                      const struct errmsg *bad)
{
    struct local_job *w = local_job_of(s->jobs, j);
    struct errmsg why = *bad;

    if (!w || !(m->flags & JOB_FLAG_HELD))
        return;
    if (!why.text[0] && prepare_here(w, &why) == 0)
        why.text[0] = '\0';
    if (j->plan.staged && staging_follow(w, why.text[0] ? NULL : answer, &why) == 0 && !why.text[0])
        return; /* answer() follows */
    answer(w, why.text);
}

static void on_begin(struct cluster_io *s, const struct op_begin *m)
{
    struct job *j = cluster_io_job(s, m->job);
    struct local_job *w = j ? local_job_of(s->jobs, j) : NULL;

    if (w)
        local_job_step(w, LOCAL_JOB_EVENT_RELEASE);
}

void preflight_receive(struct cluster_io *s, const struct msg *m)
{
    if (m->kind == MSG_checked)
        on_checked(s, m->from, &m->u.checked);
    else if (m->kind == MSG_begin && m->from == 0)
        on_begin(s, &m->u.begin);
}
