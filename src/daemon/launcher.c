/* launcher.c - see launcher.h. */
#include "daemon/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/cluster_io.h"
#include "daemon/job_msgs.h"
#include "daemon/preflight.h"
#include "daemon/prefork.h"
#include "daemon/spawning.h"
#include "daemon/process.h"

/* Processes started in one turn of the loop. */
enum { LAUNCHER_BATCH = 64 };

/* A daemon's standard input is a stream from the launcher; closing it notifies the launcher that no
 * process reads it any more. */
static void input_over(void *arg)
{
    const struct launcher *l = arg;

    dup2(l->jobs->context->null_fd, STDIN_FILENO);
}

static void start_pump(struct launcher *l)
{
    if (l->nstdin_ends)
        pump_open(&l->pump, l->jobs->context->loop, STDIN_FILENO, l->stdin_ends, l->nstdin_ends);
    if (l->nstdin_ends && l->jobs->context->config->diverted) {
        l->pump.on_end = input_over;
        l->pump.arg = l;
    }
    l->nstdin_ends = 0;
}

void launcher_skip(struct local_job *w)
{
    for (; w->next < w->job->plan.nprocs; w->next++) {
        if (job_rank_is_here(w->job, w->next))
            server_proc_state(w->jobs->context->server, w->job, w->next, PROC_EVENT_NOT_STARTED, 1,
                              0);
    }
    local_job_step(w, LOCAL_JOB_EVENT_SKIP);
    prefork_close(w);
}

/* The user's input also goes to ranks on other nodes: one end for each of those nodes. */
static void open_remote_stdin(struct launcher *l, const struct job *job)
{
    const struct node_config *c = l->jobs->context->config;
    struct cluster_io *s = l->jobs->context->cluster;
    uint32_t last = 0;

    if (!s || c->stdin_to == NODE_STDIN_NONE || job->follows)
        return;
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        uint32_t at = node_map_rank(&s->dispatch.map, job, r);
        int end;
        if (at == 0 || at == last || (c->stdin_to == NODE_STDIN_ONE && r != c->stdin_rank))
            continue;
        last = at;
        end = streams_stdin(&s->streams, at);
        if (end >= 0)
            l->stdin_ends[l->nstdin_ends++] = end;
    }
}

/* All local ranks have been tried. */
static void all_started(struct launcher *l, struct local_job *w)
{
    local_job_step(w, LOCAL_JOB_EVENT_TRY);
    prefork_all_tried(w);
    if (w->job->id == l->jobs->first) {
        open_remote_stdin(l, w->job);
        start_pump(l);
    }
    log_info(l->jobs->context->log, "job %s: all processes of this node are started",
             w->job->nspace);
    local_job_list(w);
    spawning_answer(w);
}

static void start_one(struct launcher *l, struct local_job *w)
{
    struct errmsg err;
    int end;

    if (w->job->phase != JOB_RUNNING) {
        launcher_skip(w);
        spawning_answer(w);
        return;
    }
    if (job_rank_is_here(w->job, w->next)) {
        if (process_load(l->processes, w->job, w->next))
            return;
        /* Failures are in the job's report. */
        process_start(l->processes, w->job, w->next, &end, &err);
        if (end >= 0)
            l->stdin_ends[l->nstdin_ends++] = end;
    }
    w->next++;
    if (w->next == w->job->plan.nprocs)
        all_started(l, w);
}

static bool waits(const struct local_job *w)
{
    return preflight_waits(w) ||
           (w->state == LOCAL_JOB_STATE_LOADING && w->job->phase == JOB_RUNNING);
}

static void run(void *launcher)
{
    struct launcher *l = launcher;
    int room = LAUNCHER_BATCH;

    LIST_EACH(at, &l->jobs->all)
    {
        struct local_job *w = LIST_OF(at, struct local_job, link);
        while (w->state != LOCAL_JOB_STATE_TRIED && !waits(w) && room > 0) {
            room -= job_rank_is_here(w->job, w->next);
            start_one(l, w);
        }
    }
    if (room == 0)
        local_jobs_start(l->jobs);
    turn_end(l->jobs->context->turn);
}

void launcher_open(struct launcher *l, struct local_jobs *jobs, struct processes *p)
{
    l->jobs = jobs;
    l->processes = p;
    timer_init(&jobs->starter, jobs->context->loop, run, l);
}

int launcher_expect(struct launcher *l, uint32_t count)
{
    l->stdin_ends = calloc((size_t)count + 1, sizeof *l->stdin_ends);
    return l->stdin_ends ? 0 : -ENOMEM;
}

void launcher_close(struct launcher *l)
{
    pump_close(&l->pump);
    free(l->stdin_ends);
    l->stdin_ends = NULL;
}
