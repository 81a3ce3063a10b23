/* job_shutdown.c - see job_shutdown.h. */
#include "daemon/job_shutdown.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/job_states.h"
#include "core/job_end.h"
#include "io/peer_conn.h"
#include "daemon/cluster_io.h"
#include "daemon/end_progress.h"
#include "daemon/supervisor.h"
#include "daemon/help.h"
#include "daemon/job_msgs.h"
#include "daemon/local_job.h"
#include "daemon/mpir.h"
#include "daemon/process.h"
#include "daemon/signals.h"
#include "daemon/spawning.h"
#include "daemon/staging.h"

/* The time that the job's processes were given to end is over. */
static void grace_over(void *arg)
{
    struct local_job *w = arg;

    signals_job(w->processes, w->job, SIGKILL);
}

/* Its processes are not ours to end: their connections are closed with the job. */
static void release(struct job_shutdown *d, struct job *job)
{
    for (uint32_t r = 0; job->is_adopted && r < job->plan.nprocs; r++) {
        if (job->procs[r].state != PROC_STATE_GONE)
            server_proc_state(d->context->server, job, r, PROC_EVENT_EXIT, 0, 0);
    }
}

static void notify_debugger(int control_fd, const struct job *job)
{
    if (job->failed && control_fd >= 0 && mpir_abort(job->reason.text))
        supervisor_debug(control_fd, false);
}

void job_shutdown_begin(struct job_shutdown *d, struct job *job)
{
    struct local_job *w = local_job_of(d->jobs, job);

    if (!job->follows) {
        notify_debugger(d->context->config->control_fd, job);
        /* Until a spawn is answered, its failure is the answer, and does not end the requester. */
        if (w && w->spawning == SPAWNING_STATE_AWAITED)
            w->ended_early = true;
        else if (!w || !w->late)
            server_abort_connected(d->context->server, job);
        if (d->context->cluster)
            job_states_kill(&d->context->cluster->dispatch.context, job);
    }
    signals_meant(d->processes, job, -1, SIGTERM);
    end_progress_begin(d->ends);
    if (!w)
        return;
    staging_end(w);
    local_job_step(w, LOCAL_JOB_EVENT_END);
    release(d, job);
    if (job->is_adopted)
        return;
    w->processes = d->processes;
    timer_init(&w->grace, d->context->loop, grace_over, w);
    timer_set(&w->grace, LIMIT_KILL_GRACE_MS);
}

static void print_codes(const struct log *log, const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        const struct proc *p = &job->procs[r];
        log_error(log, "rank %u: %s %d", r, p->signalled ? "signal" : "exit code", p->code);
    }
}

void job_shutdown_log(struct job_shutdown *d, const struct errmsg *reason)
{
    if (d->last_reason.text[0] &&
        (strstr(d->last_reason.text, reason->text) || strstr(reason->text, d->last_reason.text)))
        return;
    log_error(d->context->log, "%s", reason->text);
    d->last_reason = *reason;
}

static void log_reason(struct job_shutdown *d, const struct job *job)
{
    const struct job *blamed =
        job->blames == JOB_NO_RANK ? NULL : core_job(&d->context->server->core, job->blames);

    if (!blamed || !blamed->failed)
        job_shutdown_log(d, &job->reason);
}

/* The sentence about the first failure covers all that failed alike. */
static void log_reason_once(struct job_shutdown *d, const struct job *job)
{
    struct local_job *w = local_job_of(d->jobs, job);

    if (w)
        unloaded_report(&w->unloaded, d->context->log);
    if (job->failed && (!w || !unloaded_has(&w->unloaded, job->culprit)))
        log_reason(d, job);
}

/* Of several codes the first job's counts, then the first one that is not 0. */
static void note_code(struct job_shutdown *d, const struct job *job)
{
    int code = job_exit_code(job);

    if (job->id == d->jobs->first)
        d->exit_code = code ? code : d->child_code;
    else if (job->plan.ways & JOB_MAP_JOINT && !d->child_code)
        d->child_code = code;
    if (!d->exit_code)
        d->exit_code = d->child_code;
}

void job_shutdown_report(struct job_shutdown *d, const struct job *job)
{
    if (job->follows || job->is_tool) /* the launcher reports it; nobody does */
        return;
    help_report(d->help);
    log_reason_once(d, job);
    log_info(d->context->log, "job %s has ended: exit code %d", job->nspace, job_exit_code(job));
    if (d->context->config->print_exit_codes)
        print_codes(d->context->log, job);
    note_code(d, job);
}

/* Drops all state of the job. */
static void forget(struct job_shutdown *d, struct local_job *w)
{
    struct job *job = w->job;

    LIST_EACH(l, &d->processes->all)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job == job)
            process_close(t);
    }
    LIST_EACH(l, &d->conns->accepted)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (c->peer->job == job)
            peer_conn_close(c);
    }
    staging_end(w);
    if (d->context->config->sessions)
        session_dir_drop(d->context->config->sessions, job->id);
    local_job_free(w);
    if (d->context->cluster)
        membership_forget(&d->context->cluster->overlay_io.member);
}

/* A spawned job leaves nothing behind, so that a thousand of them in a row cost as much as one. */
void job_shutdown_bury(struct job_shutdown *d, struct job *job)
{
    struct local_job *w = local_job_of(d->jobs, job);

    if (w && job->is_tool) {
        forget(d, w);
        return;
    }
    if (!w || w->spawning == SPAWNING_STATE_NONE || job->follows)
        return;
    spawning_answer(w);
    job_shutdown_report(d, job);
    if (d->context->cluster)
        job_msgs_over(d->context->cluster, job);
    forget(d, w);
}

void job_shutdown_forget(struct job_shutdown *d, struct job *j)
{
    struct local_job *w = local_job_of(d->jobs, j);

    if (w)
        forget(d, w);
}

void job_shutdown_because(const struct node_context *c, struct job *job, uint32_t rank, int code,
                          const char *why)
{
    char text[ERRMSG_MAX];

    if (!c->cluster) {
        server_abort(c->server, job, rank, code, "%s", why);
        return;
    }
    snprintf(text, sizeof text, "node %.200s: %.700s",
             job->plan.nodes[job->plan.procs[rank].node].name, why);
    if (job->follows)
        job_msgs_ask_end(c->cluster, job, rank, code, text);
    else
        server_abort(c->server, job, rank, code, "%s", text);
}

void job_shutdown_unloaded(struct local_jobs *jobs, struct job *job, uint32_t rank,
                           struct slice line)
{
    struct local_job *w = local_job_of(jobs, job);

    if (job->follows)
        job_msgs_unloaded(jobs->context->cluster, job, rank, line);
    else if (w)
        unloaded_add(&w->unloaded, rank, line);
}
