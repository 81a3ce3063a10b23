/* job_shutdown.c - see job_shutdown.h. */
#include "daemon/job_shutdown.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/job_states.h"
#include "core/input.h"
#include "core/job_end.h"
#include "daemon/job_msgs.h"
#include "daemon/local_job.h"
#include "daemon/process.h"
#include "daemon/signals.h"
#include "daemon/spawning.h"

/* The time that the job's processes were given to end is over. */
static void grace_over(void *arg)
{
    struct local_job *w = arg;

    signals_job(w->node, w->job, SIGKILL);
}

void job_shutdown_begin(struct node *n, struct job *job)
{
    struct local_job *w = local_job_of(n, job);

    if (!job->follows) {
        /* Until a spawn is answered, its failure is the answer, and does not end the requester. */
        if (!w || !w->spawned || w->answered)
            server_deliver(&n->server, INPUT(abort_connected, .job = job->id));
        if (n->multinode)
            job_states_kill(&n->multinode->dispatch.context, job);
    }
    signals_meant(n, job, -1, SIGTERM);
    if (w && w->held)
        timer_set(&n->starter, 0); /* the launch loop skips held jobs now */
    if (!w)
        return;
    timer_init(&w->grace, &n->loop, grace_over, w);
    timer_set(&w->grace, LIMIT_KILL_GRACE_MS);
}

static void print_codes(struct node *n, const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        const struct proc *p = &job->procs[r];
        log_error(&n->config.log, "rank %u: %s %d", r, p->signalled ? "signal" : "exit code",
                  p->code);
    }
}

void job_shutdown_say(struct node *n, const struct errmsg *reason)
{
    if (n->said.text[0] &&
        (strstr(n->said.text, reason->text) || strstr(reason->text, n->said.text)))
        return;
    log_error(&n->config.log, "%s", reason->text);
    n->said = *reason;
}

static void say_why(struct node *n, const struct job *job)
{
    const struct job *blamed =
        job->blames == JOB_NO_RANK ? NULL : core_job(&n->server.core, job->blames);

    if (!blamed || !blamed->failed)
        job_shutdown_say(n, &job->reason);
}

/* The sentence about the first failure covers all that failed alike. */
static void tell_why(struct node *n, const struct job *job)
{
    struct local_job *w = local_job_of(n, job);

    if (w)
        unloaded_tell(&w->unloaded, &n->config.log);
    if (job->failed && (!w || !unloaded_has(&w->unloaded, job->culprit)))
        say_why(n, job);
}

void job_shutdown_report(struct node *n, const struct job *job)
{
    if (job->follows || job->is_tool) /* the launcher reports it; nobody does */
        return;
    help_tell(&n->help);
    tell_why(n, job);
    if (n->config.print_exit_codes)
        print_codes(n, job);
    if (job->id == n->first_job)
        n->exit_code = job_exit_code(job);
}

/* Drops all state of the job. */
static void forget(struct node *n, struct local_job *w)
{
    struct job *job = w->job;

    LIST_EACH(l, &n->processes.all)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job == job)
            process_close(t);
    }
    LIST_EACH(l, &n->conns.accepted)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (c->peer->job == job)
            peer_conn_close(c);
    }
    if (n->config.sessions)
        session_dir_drop(n->config.sessions, job->id);
    local_job_free(w);
}

/* A spawned job leaves nothing behind, so that a thousand of them in a row cost as much as one. */
void job_shutdown_bury(struct node *n, struct job *job)
{
    struct local_job *w = local_job_of(n, job);

    if (w && job->is_tool) {
        forget(n, w);
        return;
    }
    if (!w || !w->spawned || job->follows)
        return;
    spawning_answer(w);
    job_shutdown_report(n, job);
    if (n->multinode)
        job_msgs_over(n->multinode, job);
    forget(n, w);
}

void job_shutdown_forget(struct node *n, struct job *j)
{
    struct local_job *w = local_job_of(n, j);

    if (w)
        forget(n, w);
}

void job_shutdown_because(struct node *n, struct job *job, uint32_t rank, int code, const char *why)
{
    char text[ERRMSG_MAX];

    if (!n->multinode) {
        server_abort(&n->server, job, rank, code, "%s", why);
        return;
    }
    snprintf(text, sizeof text, "node %.200s: %.700s",
             job->plan.nodes[job->plan.procs[rank].node].name, why);
    if (job->follows)
        job_msgs_ask_end(n->multinode, job, rank, code, text);
    else
        server_abort(&n->server, job, rank, code, "%s", text);
}

void job_shutdown_unloaded(struct node *n, struct job *job, uint32_t rank, struct slice line)
{
    struct local_job *w = local_job_of(n, job);

    if (job->follows)
        job_msgs_unloaded(n->multinode, job, rank, line);
    else if (w)
        unloaded_add(&w->unloaded, rank, line);
}
