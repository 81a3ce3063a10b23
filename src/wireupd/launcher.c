/* launcher.c - see launcher.h. */
#include "wireupd/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "topo/plan_bind.h"
#include "wireupd/multinode.h"
#include "wireupd/job_msgs.h"
#include "wireupd/preflight.h"
#include "wireupd/spawning.h"
#include "wireupd/process.h"

/* Processes started in one turn of the loop. */
enum { LAUNCHER_BATCH = 64 };

/* The launcher's exit code when a machine cannot do the request. */
enum { LAUNCHER_REFUSED = 125 };

/* A daemon's standard input is a stream from the launcher; closing it notifies the launcher that no
 * process reads it any more. */
static void input_over(void *arg)
{
    struct node *n = arg;

    dup2(n->null_fd, STDIN_FILENO);
}

static void start_pump(struct node *n)
{
    if (n->nstdin_ends)
        pump_open(&n->pump, &n->loop, STDIN_FILENO, n->stdin_ends, n->nstdin_ends);
    if (n->nstdin_ends && n->config.diverted) {
        n->pump.on_end = input_over;
        n->pump.arg = n;
    }
    n->nstdin_ends = 0;
}

/* Marks the ranks that have not been tried as not started. */
static void launcher_skip(struct local_job *w)
{
    for (; w->next < w->job->plan.nprocs; w->next++) {
        if (job_rank_is_here(w->job, w->next))
            server_event(&w->node->server, w->job, w->next, PROC_EVENT_NOT_STARTED, 1);
    }
}

/* The user's input also goes to ranks on other nodes: one end for each of those nodes. */
static void pump_far(struct node *n, const struct job *job)
{
    uint32_t last = 0;

    if (!n->multinode || n->config.stdin_to == NODE_STDIN_NONE || job->follows)
        return;
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        uint32_t at = node_map_rank(&n->multinode->dispatch.map, job, r);
        int end;
        if (at == 0 || at == last ||
            (n->config.stdin_to == NODE_STDIN_ONE && r != n->config.stdin_rank))
            continue;
        last = at;
        end = streams_stdin(&n->multinode->streams, at);
        if (end >= 0)
            n->stdin_ends[n->nstdin_ends++] = end;
    }
}

/* All local ranks have been tried. */
static void all_started(struct local_job *w)
{
    struct node *n = w->node;

    if (w->job->id == n->first_job) {
        pump_far(n, w->job);
        start_pump(n);
    }
    spawning_answer(w);
}

static void start_one(struct local_job *w)
{
    struct node *n = w->node;
    struct errmsg err;
    int end;

    if (w->job->phase != JOB_RUNNING) {
        launcher_skip(w);
        spawning_answer(w);
        return;
    }
    if (job_rank_is_here(w->job, w->next)) {
        process_start(n, w->job, w->next, &end, &err); /* failures are in the job's report */
        if (end >= 0)
            n->stdin_ends[n->nstdin_ends++] = end;
    }
    w->next++;
    if (w->next == w->job->plan.nprocs)
        all_started(w);
}

void launcher_run(void *node)
{
    struct node *n = node;
    int room = LAUNCHER_BATCH;

    LIST_EACH(l, &n->works)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        while (!preflight_waits(w) && room > 0 && w->next < w->job->plan.nprocs) {
            room -= job_rank_is_here(w->job, w->next);
            start_one(w);
        }
    }
    if (room == 0)
        timer_set(&n->starter, 0);
    node_settle(n);
}

/* Binds to this machine's hardware; the launcher's own part was bound with the plan. */
static int bind_here(struct job_map *plan, uint32_t here, struct errmsg *err)
{
    struct bind_machine machine = { .looked = false };

    return here < plan->nnodes ? plan_bind(plan, here, &machine, err) : 0;
}

/* This node's hardware does not fit the plan: none of its processes is started. */
static void refuse_part(struct local_job *w, const struct errmsg *why)
{
    struct node *n = w->node;
    char text[ERRMSG_MAX];

    snprintf(text, sizeof text, "node %.200s: %.700s", n->config.name, why->text);
    job_msgs_ask_end(n->multinode, w->job, JOB_NO_RANK, LAUNCHER_REFUSED, text);
    launcher_skip(w);
}

struct job *launcher_follow(struct node *n, struct job_map *plan, const struct msg_job *m,
                            uint32_t here, struct errmsg *err)
{
    struct job_order o = { .plan = plan,
                           .parent = m->parent < 0 ? JOB_NO_RANK : (uint32_t)m->parent,
                           .keep_going = m->keep_going != 0,
                           .here = here,
                           .follows = true,
                           .numbered = true,
                           .id = (uint32_t)m->job,
                           .base = (uint32_t)m->base,
                           .is_asked = m->flags & JOB_FLAG_ASKED };
    char name[256];
    struct local_job *w;

    bool bound = bind_here(plan, here, err) == 0;

    if (m->nspace.len >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(m->nspace));
    o.nspace = name;
    if (list_empty(&n->works) && n->first_job == JOB_NO_RANK) {
        n->first_job = o.id;
        n->stdin_ends = calloc((size_t)plan->nprocs + 1, sizeof *n->stdin_ends);
    }
    w = n->stdin_ends ? local_job_new(n, &o) : NULL;
    if (!w) {
        errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", plan->nprocs);
        return NULL;
    }
    if (m->push_to < 0)
        w->push_to = NODE_STDIN_ALL;
    else if (m->push_to > 0)
        w->push_to = NODE_STDIN_ONE;
    if (m->flags & JOB_FLAG_TIMED)
        startup_timing_begin(&n->timing, n, w->job, n->multinode->heard_ns);
    w->held = m->flags & JOB_FLAG_HELD;
    w->push_rank = m->push_to > 0 ? (uint32_t)(m->push_to - 1) : 0;
    local_job_preset(n, w->job);
    for (uint32_t i = 0; i + 1 < m->presets.n; i += 2)
        server_preset(&n->server, w->job, m->presets.items[i], m->presets.items[i + 1]);
    if (bound)
        timer_set(&n->starter, 0);
    else
        refuse_part(w, err);
    return w->job;
}
