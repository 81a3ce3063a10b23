/* shutdown.c - see shutdown.h.  Reading order: what is left here; leaving the other nodes;
 * requests. */
#include "daemon/shutdown.h"

#include <signal.h>
#include <stdio.h>

#include "cluster/msg.h"
#include "io/child.h"
#include "daemon/job_shutdown.h"
#include "daemon/local_job.h"
#include "daemon/multinode_priv.h"
#include "daemon/output.h"
#include "daemon/process.h"
#include "daemon/signals.h"

/* ---- what is left here ----------------------------------------------------------------------- */

static enum launcher_action launcher_event(struct node *n, enum launcher_event event)
{
    return launcher_state_event(&n->launcher, event, &n->config.log);
}

static enum own_action own_event(struct multinode *s, enum own_event event)
{
    return own_state_event(&s->own, event, &s->node->config.log);
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

    if (!s || s->own != OWN_STATE_ENDING || !output_is_idle(&n->output))
        return;
    own_event(s, OWN_EVENT_WRITTEN);
    output_end(&n->output);
    streams_end(&s->streams);
}

void shutdown_check(void *node)
{
    struct node *n = node;

    maybe_leave(n);
    if (n->launcher != LAUNCHER_STATE_WRITING || !output_is_idle(&n->output))
        return;
    launcher_event(n, LAUNCHER_EVENT_WRITTEN);
    output_tell_lost(&n->output);
    if (n->output.failed && !n->exit_code)
        n->exit_code = 1;
    loop_stop(&n->loop);
}

/* Every process that we started is reaped.  Now what they left behind is removed, then their last
 * output is written. */
static void drain(struct node *n)
{
    n->shutdown.all_ended(n->shutdown.arg);
    pump_close(&n->pump);
    if (launcher_state_is_alone(n->launcher)) /* else the commands that start daemons would be */
        child_end_all();                      /* among them */
    processes_end(&n->processes);
    LIST_EACH(l, &n->works)
    job_shutdown_report(n, LIST_OF(l, struct local_job, link)->job);
}

static void kill_all(struct node *n)
{
    signals_job(n, NULL, SIGKILL);
    child_end_all();
    n->exit_code = 1;
    loop_stop(&n->loop);
}

/* ---- leaving the other nodes ----------------------------------------------------------------- */

/* A daemon that has ended and sent everything leaves. */
static void maybe_left(struct multinode *s)
{
    struct node *n = s->node;

    if ((s->own != OWN_STATE_ENDING && s->own != OWN_STATE_SENDING) || !streams_over(&s->streams))
        return;
    own_event(s, OWN_EVENT_SENT);
    n->shutdown.clean_up(n->shutdown.arg);
    router_end(&s->router);
}

/* Launcher: nothing is left of the other nodes, if the action says so. */
static void alone(struct node *n, enum launcher_action action)
{
    if (action != LAUNCHER_ACTION_end_drained && action != LAUNCHER_ACTION_end_undrained)
        return;
    startup_timing_unshared(&n->timing);
    child_end_all();
    if (action == LAUNCHER_ACTION_end_undrained)
        drain(n);
    shutdown_check(n);
}

/* The launcher waits until the links are closed. */
static void maybe_gone(struct multinode *s)
{
    enum launcher_action action;

    if (s->router.state != ROUTER_STATE_CLOSED || !streams_over(&s->streams))
        return;
    action = launcher_event(s->node, LAUNCHER_EVENT_GONE);
    if (action <= LAUNCHER_ACTION_nothing) /* again */
        return;
    if (s->calls.on_gone)
        s->calls.on_gone(s->arg);
    alone(s->node, action);
}

void shutdown_commands_ended(struct multinode *s)
{
    alone(s->node, launcher_event(s->node, LAUNCHER_EVENT_STOPPED));
}

void shutdown_streams_over(void *multinode)
{
    struct multinode *s = multinode;

    if (share_is_root(s))
        maybe_gone(s);
    else
        maybe_left(s);
}

void shutdown_links_closed(struct multinode *s)
{
    struct node *n = s->node;

    if (share_is_root(s)) {
        for (uint32_t p = 1; p < s->router.config.count; p++)
            streams_cut(&s->streams, p);
        maybe_gone(s);
    } else if (own_event(s, OWN_EVENT_CLOSED) == OWN_ACTION_stop_loop) {
        child_end_all();
        loop_stop(&n->loop);
    }
}

/* The launcher, which has left the state `before`: tells all daemons to exit. */
static void dismiss(struct multinode *s, enum launcher_state before)
{
    struct msg m = { .kind = MSG_quit };

    for (uint32_t p = 1; p < s->daemons.count; p++)
        daemon_states_event(&s->daemons, p, DAEMON_EVENT_STOP);
    if (s->calls.on_quit)
        s->calls.on_quit(s->arg, before);
    multinode_send(s, &m, MSG_EVERYBODY);
    router_leave(&s->router);
    router_end(&s->router);
    maybe_gone(s);
}

/* A daemon's processes are killed; the launcher knows of the ends that it needs to know. */
static void end_processes(struct node *n)
{
    pump_close(&n->pump);
    timer_stop(&n->starter);
    signals_job(n, NULL, SIGKILL);
    processes_end(&n->processes);
    maybe_leave(n);
}

static void quit_daemon(struct multinode *s)
{
    switch (own_event(s, OWN_EVENT_QUIT)) {
    case OWN_ACTION_end_processes:
        router_leave(&s->router);
        end_processes(s->node);
        maybe_left(s);
        break;
    case OWN_ACTION_kill: kill_all(s->node); break;
    default: break;
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

void shutdown_quit(struct multinode *s)
{
    enum launcher_state before = s->node->launcher;

    if (!share_is_root(s))
        quit_daemon(s);
    else if (launcher_event(s->node, LAUNCHER_EVENT_QUIT) == LAUNCHER_ACTION_quit)
        dismiss(s, before);
}

void shutdown_give_up(struct node *n, int exit_code)
{
    n->exit_code = exit_code;
    if (n->multinode)
        shutdown_quit(n->multinode);
    else if (launcher_event(n, LAUNCHER_EVENT_QUIT) == LAUNCHER_ACTION_stop_loop)
        loop_stop(&n->loop);
}

void shutdown_orphan(struct multinode *s)
{
    if (own_event(s, OWN_EVENT_ORPHAN) == OWN_ACTION_kill)
        kill_all(s->node);
}

void shutdown_failed(struct multinode *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    if (share_is_root(s)) {
        log_error(&s->node->config.log, "%s", why);
        shutdown_give_up(s->node, 1);
    } else {
        shutdown_orphan(s);
    }
}

void shutdown_seek(struct node *n)
{
    enum launcher_action action;

    if (!launcher_state_has_job(n->launcher) || !all_ended(n))
        return;
    action = launcher_event(n, LAUNCHER_EVENT_ENDED);
    drain(n);
    if (action == LAUNCHER_ACTION_drain_and_quit)
        dismiss(n->multinode, LAUNCHER_STATE_RUNNING); /* alone() follows */
    shutdown_check(n);
}
