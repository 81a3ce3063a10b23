/* shutdown.c - see shutdown.h.  Reading order: leftovers here; leaving the other nodes;
 * requests. */
#include "daemon/shutdown.h"

#include <signal.h>
#include <stdio.h>

#include "io/child.h"
#include "daemon/dvm_leases.h"
#include "daemon/job_shutdown.h"
#include "daemon/launcher.h"
#include "daemon/local_job.h"
#include "daemon/cluster_io.h"
#include "daemon/node_msgs.h"
#include "daemon/output.h"
#include "daemon/process.h"
#include "daemon/signals.h"
#include "daemon/startup_timing.h"

/* ---- leftovers here -------------------------------------------------------------------------- */

static enum launcher_action launcher_event(struct shutdown *d, enum launcher_event event)
{
    return launcher_state_event(d->context->state, event, d->context->log);
}

static enum own_action own_event(struct cluster_io *s, enum own_event event)
{
    return own_state_event(&s->own, event, s->context->log);
}

static struct cluster_io *others(const struct shutdown *d)
{
    return d->context->cluster;
}

static bool is_root(const struct cluster_io *s)
{
    return s->router.config.me == 0;
}

/* Tools do not keep us running. */
static bool all_ended(const struct shutdown *d)
{
    LIST_EACH(l, &d->jobs->all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (j->phase != JOB_ENDED && !j->is_tool)
            return false;
    }
    return true;
}

/* A daemon's output goes through its own channels: it stops writing only when all of it is in them.
 * (Waiting for that here would be waiting for ourselves.) */
static void maybe_leave(struct shutdown *d)
{
    struct cluster_io *s = others(d);

    if (!s || s->own != OWN_STATE_ENDING || !output_is_idle(d->context->output))
        return;
    own_event(s, OWN_EVENT_WRITTEN);
    output_end(d->context->output);
    streams_end(&s->streams);
}

void shutdown_check(void *shutdown)
{
    struct shutdown *d = shutdown;

    maybe_leave(d);
    if (*d->context->state != LAUNCHER_STATE_WRITING || !output_is_idle(d->context->output))
        return;
    launcher_event(d, LAUNCHER_EVENT_WRITTEN);
    output_report_lost(d->context->output);
    if (d->context->output->failed && !d->job_shutdown->exit_code)
        d->job_shutdown->exit_code = 1;
    loop_stop(d->context->loop);
}

/* Every process that we started is reaped.  Now their leftovers are removed, then their last
 * output is written. */
static void drain(struct shutdown *d)
{
    d->calls.all_ended(d->calls.arg);
    pump_close(&d->launcher->pump);
    /* Else the commands that start daemons would be among them. */
    if (launcher_state_is_alone(*d->context->state))
        child_end_all();
    processes_end(d->processes);
    LIST_EACH(l, &d->jobs->all)
    job_shutdown_report(d->job_shutdown, LIST_OF(l, struct local_job, link)->job);
}

static void kill_all(struct shutdown *d)
{
    signals_job(d->processes, NULL, SIGKILL);
    child_end_all();
    d->job_shutdown->exit_code = 1;
    loop_stop(d->context->loop);
}

/* ---- leaving the other nodes ----------------------------------------------------------------- */

/* A daemon that has ended and sent everything leaves. */
static void maybe_left(struct shutdown *d)
{
    struct cluster_io *s = others(d);

    if ((s->own != OWN_STATE_ENDING && s->own != OWN_STATE_SENDING) || !streams_over(&s->streams))
        return;
    own_event(s, OWN_EVENT_SENT);
    d->calls.clean_up(d->calls.arg);
    router_end(&s->router);
}

/* Launcher: nothing is left of the other nodes, if the action says so. */
static void alone(struct shutdown *d, enum launcher_action action)
{
    if (action != LAUNCHER_ACTION_end_drained && action != LAUNCHER_ACTION_end_undrained)
        return;
    startup_timing_unshared(d->context->timing);
    child_end_all();
    if (action == LAUNCHER_ACTION_end_undrained)
        drain(d);
    shutdown_check(d);
}

/* The launcher waits until the links are closed. */
static void maybe_gone(struct shutdown *d)
{
    struct cluster_io *s = others(d);
    enum launcher_action action;

    if (s->router.state != ROUTER_STATE_CLOSED || !streams_over(&s->streams))
        return;
    action = launcher_event(d, LAUNCHER_EVENT_GONE);
    if (action <= LAUNCHER_ACTION_nothing) /* again */
        return;
    if (s->calls.on_gone)
        s->calls.on_gone(s->arg);
    alone(d, action);
}

void shutdown_commands_ended(struct shutdown *d)
{
    alone(d, launcher_event(d, LAUNCHER_EVENT_STOPPED));
}

void shutdown_streams_over(struct shutdown *d)
{
    struct cluster_io *s = others(d);

    if (is_root(s))
        maybe_gone(d);
    else
        maybe_left(d);
}

void shutdown_links_closed(struct shutdown *d)
{
    struct cluster_io *s = others(d);

    if (is_root(s)) {
        for (uint32_t p = 1; p < s->router.config.count; p++)
            streams_cut(&s->streams, p);
        maybe_gone(d);
    } else if (own_event(s, OWN_EVENT_CLOSED) == OWN_ACTION_stop_loop) {
        child_end_all();
        loop_stop(d->context->loop);
    }
}

/* The launcher, which has left the state `before`: tells all daemons to exit. */
static void dismiss(struct shutdown *d, enum launcher_state before)
{
    struct cluster_io *s = others(d);

    for (uint32_t p = 1; p < s->daemons.count; p++)
        daemon_states_event(&s->daemons, p, DAEMON_EVENT_STOP);
    if (d->context->config->dvm_leases)
        dvm_leases_end(d->context->config->dvm_leases);
    if (s->calls.on_quit)
        s->calls.on_quit(s->arg, before);
    node_msgs_quit(s);
    router_leave(&s->router);
    router_end(&s->router);
    maybe_gone(d);
}

/* A daemon's processes are killed; the launcher knows of the ends that it needs to know. */
static void end_processes(struct shutdown *d)
{
    pump_close(&d->launcher->pump);
    timer_stop(&d->jobs->starter);
    signals_job(d->processes, NULL, SIGKILL);
    processes_end(d->processes);
    maybe_leave(d);
}

static void quit_daemon(struct shutdown *d)
{
    switch (own_event(others(d), OWN_EVENT_QUIT)) {
    case OWN_ACTION_end_processes:
        router_leave(&others(d)->router);
        end_processes(d);
        maybe_left(d);
        break;
    case OWN_ACTION_kill: kill_all(d); break;
    default: break;
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

void shutdown_quit(struct shutdown *d)
{
    struct cluster_io *s = others(d);
    enum launcher_state before = *d->context->state;

    if (!is_root(s))
        quit_daemon(d);
    else if (launcher_event(d, LAUNCHER_EVENT_QUIT) == LAUNCHER_ACTION_quit)
        dismiss(d, before);
}

void shutdown_give_up(struct shutdown *d, int exit_code)
{
    d->job_shutdown->exit_code = exit_code;
    if (others(d))
        shutdown_quit(d);
    else if (launcher_event(d, LAUNCHER_EVENT_QUIT) == LAUNCHER_ACTION_stop_loop)
        loop_stop(d->context->loop);
}

/* The loop stops; the daemon (main.c) looks for another launcher.  Jobs of the DVM itself end with
 * the launcher that led them. */
static void hold(struct shutdown *d)
{
    signals_job(d->processes, NULL, SIGKILL);
    loop_stop(d->context->loop);
}

static void part(struct shutdown *d)
{
    switch (own_event(others(d), OWN_EVENT_PART)) {
    case OWN_ACTION_hold: hold(d); break;
    case OWN_ACTION_kill: kill_all(d); break;
    default: break;
    }
}

void shutdown_orphan(struct shutdown *d)
{
    if (own_event(others(d), OWN_EVENT_ORPHAN) == OWN_ACTION_kill)
        kill_all(d);
}

void shutdown_failed(struct shutdown *d, const char *why)
{
    struct cluster_io *s = others(d);

    snprintf(s->why, sizeof s->why, "%s", why);
    if (is_root(s)) {
        log_error(d->context->log, "%s", why);
        shutdown_give_up(d, 1);
    } else if (s->outlives && !s->dismissed) {
        part(d);
    } else {
        shutdown_orphan(d);
    }
}

static bool host_waits(const struct shutdown *d)
{
    const struct node_config *c = d->context->config;

    return c->waits && c->waits(c->arg);
}

void shutdown_seek(struct shutdown *d)
{
    enum launcher_action action;

    if (!launcher_state_has_job(*d->context->state) || !all_ended(d) || host_waits(d))
        return;
    action = launcher_event(d, LAUNCHER_EVENT_ENDED);
    drain(d);
    if (action == LAUNCHER_ACTION_drain_and_quit)
        dismiss(d, LAUNCHER_STATE_RUNNING); /* alone() follows */
    shutdown_check(d);
}
