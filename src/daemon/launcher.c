/* launcher.c - see launcher.h. */
#include "daemon/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/multinode.h"
#include "daemon/job_msgs.h"
#include "daemon/preflight.h"
#include "daemon/spawning.h"
#include "daemon/process.h"

/* Processes started in one turn of the loop. */
enum { LAUNCHER_BATCH = 64 };

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

void launcher_skip(struct local_job *w)
{
    for (; w->next < w->job->plan.nprocs; w->next++) {
        if (job_rank_is_here(w->job, w->next))
            server_proc_state(&w->node->server, w->job, w->next, PROC_EVENT_NOT_STARTED, 1, 0);
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
    turn_end(&n->turn);
}
