/* preflight.c - see preflight.h. */
#include "daemon/preflight.h"

#include <stdio.h>
#include <stdlib.h>

#include "cluster/msg.h"
#include "daemon/job_msgs.h"
#include "daemon/output.h"
#include "daemon/cluster_io.h"

/* The exit code for a wrong command line, as for the launcher's own checks. */
enum { PREFLIGHT_USAGE = 2 };

int preflight_here(struct local_job *w, struct errmsg *err)
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

static bool needs_files(const struct cluster_io *s, const struct job *j)
{
    struct job_map_output ways = output_ways(s->context->config, j);

    return ways.outfile || ways.errfile || s->trace;
}

bool preflight_holds(struct cluster_io *s, struct local_job *w)
{
    const struct job *j = w->job;

    if (!w->positions || !needs_files(s, j))
        return false;
    w->awaited = calloc(s->router.config.count, sizeof *w->awaited);
    for (uint32_t i = 0; w->awaited && i < j->plan.nnodes; i++) {
        uint32_t at = w->positions[i];
        if (at == 0 || w->awaited[at] || router_is_lost(&s->router, at))
            continue;
        w->awaited[at] = true;
        w->nawaited++;
    }
    if (w->nawaited == 0)
        return false;
    local_job_step(w, LOCAL_JOB_EVENT_HOLD);
    return true;
}

static void let_begin(struct local_job *w)
{
    struct cluster_io *s = w->jobs->context->cluster;
    struct msg m = { .kind = MSG_begin };

    m.u.begin.job = w->job->id;
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

void preflight_lost(struct local_jobs *jobs, uint32_t position)
{
    LIST_EACH(l, &jobs->all)
    settle(LIST_OF(l, struct local_job, link), position);
}

static void on_checked(struct cluster_io *s, uint32_t from, const struct op_checked *m)
{
    struct job *j = cluster_io_job(s, m->job);
    struct local_job *w = j ? local_job_of(s->jobs, j) : NULL;

    if (!w || !cluster_io_is_root(s) || from >= s->router.config.count)
        return;
    if (m->text.len)
        w->refusal = SPAWN_NO_FILES;
    if (m->text.len && j->phase == JOB_RUNNING)
        server_abort(cluster_io_server(s), j, JOB_NO_RANK, PREFLIGHT_USAGE,
                     "node %.200s: " SLICE_FMT, s->names[from],
                     SLICE_ARG(slice_head(m->text, 700)));
    settle(w, from);
}

/* ---- daemon ---- */

void preflight_answer(struct cluster_io *s, struct job *j, const struct op_job *m,
                      const struct errmsg *bad)
{
    struct local_job *w = local_job_of(s->jobs, j);
    struct msg answer = { .kind = MSG_checked };
    struct errmsg why = *bad;

    if (!w || !(m->flags & JOB_FLAG_HELD))
        return;
    if (!why.text[0] && preflight_here(w, &why) == 0)
        why.text[0] = '\0';
    answer.u.checked.job = j->id;
    answer.u.checked.text = slice_str(why.text);
    cluster_io_send(s, &answer, 0);
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
