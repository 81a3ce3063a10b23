/* shutdown.c - see shutdown.h. */
#include "wireupd/shutdown.h"

#include <signal.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/job_states.h"
#include "wireupd/control.h"
#include "wireupd/output.h"
#include "wireupd/multinode.h"
#include "wireupd/job_msgs.h"
#include "wireupd/signals.h"
#include "wireupd/spawning.h"
#include "wireupd/process.h"
#include "wireupd/local_job.h"
#include "core/job_end.h"

void shutdown_begin(struct node *n, struct job *job)
{
    struct local_job *w = local_job_of(n, job);

    if (!job->follows) {
        /* Until a spawn is answered, its failure is the answer, and does not end the requester. */
        if (!w || !w->spawned || w->answered)
            server_abort_connected(&n->server, job);
        if (n->multinode)
            job_states_kill(&n->multinode->dispatch.context, job);
    }
    signals_meant(n, job, -1, SIGTERM);
    if (w && w->held)
        timer_set(&n->starter, 0); /* the launch loop skips held jobs now */
    if (w)
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

void shutdown_say(struct node *n, const struct errmsg *reason)
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
        shutdown_say(n, &job->reason);
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

static void report_end(struct node *n, const struct job *job)
{
    if (job->follows || job->is_tool) /* the launcher reports it; nobody does */
        return;
    help_tell(n);
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

    LIST_EACH(l, &n->tasks)
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
void shutdown_bury(struct node *n, struct job *job)
{
    struct local_job *w = local_job_of(n, job);

    if (w && job->is_tool) {
        forget(n, w);
        return;
    }
    if (!w || !w->spawned || job->follows)
        return;
    spawning_answer(w);
    report_end(n, job);
    if (n->multinode)
        job_msgs_over(n->multinode, job);
    forget(n, w);
}

void shutdown_forget(struct node *n, struct job *j)
{
    struct local_job *w = local_job_of(n, j);

    if (w)
        forget(n, w);
}

/* Tools do not keep us running. */
static bool all_ended(const struct node *n)
{
    LIST_EACH(l, &n->works)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (j->phase != JOB_ENDED && !j->is_tool)
            return false;
    }
    return true;
}

/* A daemon's output goes through its own channels: it stops writing only when all of it is in them.
 * (Waiting for that here would be waiting for ourselves.) */
static void maybe_leave(struct node *n)
{
    struct multinode *s = n->multinode;

    if (!s || s->own != OWN_STATE_ENDING || !sink_idle(&n->out) || !sink_idle(&n->err))
        return;
    multinode_event(s, OWN_EVENT_WRITTEN);
    sink_close(&n->out);
    sink_close(&n->err);
    streams_end(&s->streams);
}

void shutdown_check(void *node)
{
    struct node *n = node;

    maybe_leave(n);
    if (n->launcher != LAUNCHER_STATE_WRITING || !sink_idle(&n->out) || !sink_idle(&n->err))
        return;
    node_event(n, LAUNCHER_EVENT_WRITTEN);
    output_tell_lost(n);
    loop_stop(&n->loop);
}

/* Every process that we started is reaped.  Now what they left behind is removed, then their last
 * output is written. */
static void drain(struct node *n)
{
    control_all_ended(n);
    pump_close(&n->pump);
    if (launcher_state_is_alone(n->launcher)) /* else the commands that start daemons would be */
        child_end_all();                      /* among them */
    LIST_EACH(l, &n->tasks)
    process_close(LIST_OF(l, struct task, link));
    LIST_EACH(l, &n->works)
    report_end(n, LIST_OF(l, struct local_job, link)->job);
}

void shutdown_seek(struct node *n)
{
    enum launcher_action action;

    if (!launcher_state_has_job(n->launcher) || !all_ended(n))
        return;
    action = node_event(n, LAUNCHER_EVENT_ENDED);
    drain(n);
    if (action == LAUNCHER_ACTION_drain_and_quit)
        multinode_dismiss(n->multinode, LAUNCHER_STATE_RUNNING); /* shutdown_unshared() follows */
    shutdown_check(n);
}

void shutdown_unshared(struct node *n, enum launcher_action action)
{
    if (action != LAUNCHER_ACTION_end_drained && action != LAUNCHER_ACTION_end_undrained)
        return;
    startup_timing_unshared(&n->timing);
    child_end_all();
    if (action == LAUNCHER_ACTION_end_undrained)
        drain(n);
    shutdown_check(n);
}

/* Kills all processes; the launcher knows of the ends that it needs to know. */
void shutdown_quit(struct node *n)
{
    pump_close(&n->pump);
    timer_stop(&n->starter);
    signals_job(n, NULL, SIGKILL);
    LIST_EACH(l, &n->tasks)
    process_close(LIST_OF(l, struct task, link));
    maybe_leave(n);
}

void shutdown_gone(struct node *n)
{
    child_end_all();
    loop_stop(&n->loop);
}

void shutdown_kill(struct node *n)
{
    signals_job(n, NULL, SIGKILL);
    child_end_all();
    n->exit_code = 1;
    loop_stop(&n->loop);
}

void shutdown_orphan(struct node *n)
{
    if (multinode_event(n->multinode, OWN_EVENT_ORPHAN) == OWN_ACTION_kill)
        shutdown_kill(n);
}
