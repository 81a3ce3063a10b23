/* multinode.c - see multinode.h.  Reading order: the dispatcher; signals and input; joining and
 * leaving; messages that do not concern the core; router callbacks; opening and closing.
 */
#include "wireupd/multinode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/effect.h"
#include "wireupd/job_msgs.h"
#include "wireupd/shutdown.h"
#include "wireupd/dvm_exec.h"
#include "wireupd/node_failure.h"
#include "wireupd/preflight.h"
#include "wireupd/server_calls.h"
#include "wireupd/spawning.h"
#include "wireupd/multinode_priv.h"
#include "wireupd/signals.h"

/* ---- the dispatcher ---- */

static void spawn(void *arg, const struct effect_spawn *e)
{
    struct multinode *s = arg;

    spawning_begin(s->node, e);
}

/* The requester may want to read the trace, too. */
static void pending(void *arg, struct slice job, struct buf *part)
{
    struct multinode *s = arg;

    trace_writer_flush(&s->node->trace_writer);
    pending_query_part(s->node, job, part);
}

static void pending_part(void *arg, uint32_t from, uint64_t ticket, struct slice part)
{
    struct multinode *s = arg;

    pending_query_heard(&s->node->pending_queries, from, ticket, part);
}

static void on_proc_states(void *arg, struct job *j)
{
    struct multinode *s = arg;

    spawning_heard(s->node, j);
}

static void wake(void *arg, uint32_t ms)
{
    struct multinode *s = arg;

    timer_set(&s->batch, ms);
}

static void on_batch(void *arg)
{
    struct multinode *s = arg;

    dispatch_tick(&s->dispatch);
}

static void open_dispatch(struct multinode *s, uint32_t me)
{
    struct dispatch_config k = { .core = &share_server(s)->core,
                                 .router = &s->router,
                                 .member = &s->overlay_io.member,
                                 .me = me,
                                 .log = &s->node->config.log,
                                 .core_calls = server_calls(),
                                 .core_arg = share_server(s),
                                 .rpc_calls = { spawn, pending, pending_part },
                                 .on_proc_states = on_proc_states,
                                 .wake = wake,
                                 .arg = s };

    timer_init(&s->batch, &s->node->loop, on_batch, s);
    dispatch_open(&s->dispatch, &k);
}

void multinode_effect(struct multinode *s, const struct effect *e)
{
    dispatch_effect(&s->dispatch, e, clock_now_ns());
}

uint32_t *multinode_positions(const struct multinode *s, struct job_map *p, struct errmsg *err)
{
    return s ? node_map_of_plan(&s->router, s->names, p, err) : NULL;
}

/* ---- signals and input ---- */

/* All daemons learn of a signal that is meant to end processes: the process's own node and the
 * launcher judge its end. */
void multinode_signal(struct multinode *s, const struct job *j, uint32_t rank, int sig, bool meant)
{
    uint32_t to = !j || rank == JOB_NO_RANK || meant ? MSG_EVERYBODY
                                                     : node_map_rank(&s->dispatch.map, j, rank);
    struct msg m = { .kind = MSG_signal };

    m.u.signal.job = j ? (int64_t)j->id : -1;
    m.u.signal.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.signal.number = (uint64_t)sig;
    m.u.signal.meant = meant;
    if (to != s->router.config.me)
        multinode_send(s, &m, to);
}

void multinode_input(struct multinode *s, const struct job *j, uint32_t rank, struct slice bytes)
{
    struct msg m = { .kind = MSG_input };

    m.u.input.job = j->id;
    m.u.input.rank = rank == JOB_NO_RANK ? -1 : (int64_t)rank;
    m.u.input.bytes = bytes;
    multinode_send(s, &m,
                   rank == JOB_NO_RANK ? MSG_EVERYBODY : node_map_rank(&s->dispatch.map, j, rank));
}

static void hear_input(struct multinode *s, const struct msg_input *m)
{
    const struct job *j = share_job(s, m->job);

    if (j)
        node_input(s->node, j, m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank, m->bytes, 0);
}

/* ---- joining and leaving ---- */

enum own_action multinode_event(struct multinode *s, enum own_event event)
{
    return own_state_event(&s->own, event, &s->node->config.log);
}

/* A daemon that has ended and sent everything leaves. */
static void maybe_left(struct multinode *s)
{
    if ((s->own != OWN_STATE_ENDING && s->own != OWN_STATE_SENDING) || !streams_over(&s->streams))
        return;
    multinode_event(s, OWN_EVENT_SENT);
    /* Clean up before the launcher ends: its end may take us with it. */
    trace_writer_close(&s->node->trace_writer);
    control_socket_close(&s->node->control_socket);
    if (s->node->config.sessions)
        session_dir_remove(s->node->config.sessions);
    router_end(&s->router);
}

/* The launcher waits until the links are closed. */
static void maybe_gone(struct multinode *s)
{
    enum launcher_action action;

    if (!s->router.ending || s->router.nbelow || !streams_over(&s->streams))
        return;
    action = node_event(s->node, LAUNCHER_EVENT_GONE);
    if (action <= LAUNCHER_ACTION_nothing) /* again */
        return;
    if (s->calls.on_gone)
        s->calls.on_gone(s->arg);
    shutdown_unshared(s->node, action);
}

static void maybe_over(struct multinode *s)
{
    if (share_is_root(s))
        maybe_gone(s);
    else
        maybe_left(s);
}

void multinode_gone(struct multinode *s)
{
    shutdown_unshared(s->node, node_event(s->node, LAUNCHER_EVENT_STOPPED));
}

void multinode_streams_ended(struct multinode *s)
{
    maybe_over(s);
}

void multinode_dismiss(struct multinode *s, enum launcher_state before)
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

static void quit_daemon(struct multinode *s)
{
    switch (multinode_event(s, OWN_EVENT_QUIT)) {
    case OWN_ACTION_end_processes:
        router_leave(&s->router);
        shutdown_quit(s->node);
        maybe_left(s);
        break;
    case OWN_ACTION_kill: shutdown_kill(s->node); break;
    default: break;
    }
}

void multinode_quit(struct multinode *s)
{
    enum launcher_state before = node_state(s->node);

    if (!share_is_root(s))
        quit_daemon(s);
    else if (node_event(s->node, LAUNCHER_EVENT_QUIT) == LAUNCHER_ACTION_quit)
        multinode_dismiss(s, before);
}

static void hear_trouble(struct multinode *s, const struct msg_launch_error *m)
{
    char why[ERRMSG_MAX];
    bool known = m->position > 0 && m->position < s->router.config.count;

    snprintf(why, sizeof why, SLICE_FMT, SLICE_ARG(m->text));
    if (m->fatal == TROUBLE_LOST && known && s->calls.on_lost)
        s->calls.on_lost(s->arg, (uint32_t)m->position, why);
    else if (s->calls.on_trouble)
        s->calls.on_trouble(s->arg, m->fatal ? m->position : -1, m->text);
    if (!share_is_root(s) || !m->fatal || !known)
        return;
    node_failure_reason(s, (uint32_t)m->position, why);
    membership_lose(&s->overlay_io.member, (uint32_t)m->position);
}

/* A message that does not concern the core. */
static void hear(struct multinode *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_launch_error: hear_trouble(s, &m->u.launch_error); break;
    case MSG_hardware:
        if (s->calls.on_hardware)
            s->calls.on_hardware(s->arg, m->from, m->u.hardware.view, m->u.hardware.text);
        break;
    case MSG_quit: multinode_quit(s); break;
    case MSG_job:
    case MSG_unloaded:
    case MSG_job_done: job_msgs_hear(s, m); break;
    case MSG_signal:
        signals_order(s->node, m->u.signal.job, m->u.signal.rank, (int)m->u.signal.number,
                      m->u.signal.meant != 0);
        break;
    case MSG_checked:
    case MSG_begin: preflight_hear(s, m); break;
    case MSG_help: help_hear(s->node, &m->u.help); break;
    case MSG_input: hear_input(s, &m->u.input); break;
    case MSG_data:
    case MSG_window_update:
    case MSG_unread: streams_hear(&s->streams, m); break;
    case MSG_startup:
        startup_timing_heard(&s->node->timing, m->from, m->u.startup.job, m->u.startup.part);
        break;
    default: break; /* handled by the dispatcher, the member or its router */
    }
}

static void on_message(void *arg, const struct msg *m)
{
    struct multinode *s = arg;

    if (s->errands && dvm_exec_hear(s->errands, m))
        return;
    if (!dispatch_message(&s->dispatch, m, clock_now_ns()))
        hear(s, m);
    node_settle(s->node);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct multinode *s = arg;

    (void)host;
    daemon_states_event(&s->daemons, position, DAEMON_EVENT_READY);
    if (share_is_root(s))
        streams_show(&s->streams, position);
    startup_timing_ready(&s->node->timing, position);
    if (s->calls.on_ready)
        s->calls.on_ready(s->arg, position);
}

/* A daemon: a link towards the launcher is up. */
static void on_above(struct multinode *s)
{
    streams_flow(&s->streams);
    if (multinode_event(s, OWN_EVENT_LINK) == OWN_ACTION_begin && s->calls.on_joined)
        s->calls.on_joined(s->arg);
}

static void on_near(void *arg, uint32_t position)
{
    struct multinode *s = arg;

    if (!s->linked_ns)
        s->linked_ns = clock_now_ns();
    if (position == router_parent(&s->router))
        on_above(s);
    else if (s->calls.on_near)
        s->calls.on_near(s->arg, position);
}

static void on_down(void *arg, uint32_t position, const char *why)
{
    struct multinode *s = arg;

    if (s->calls.on_lost)
        s->calls.on_lost(s->arg, position, why);
    node_failure_reason(s, position, why);
}

void multinode_end(struct multinode *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    if (share_is_root(s)) {
        log_error(&s->node->config.log, "%s", why);
        node_give_up(s->node, 1);
    } else {
        shutdown_orphan(s->node);
    }
}

static void on_closed(void *arg)
{
    struct multinode *s = arg;

    if (!share_is_root(s)) {
        if (multinode_event(s, OWN_EVENT_CLOSED) == OWN_ACTION_stop_loop)
            shutdown_gone(s->node);
        return;
    }
    for (uint32_t p = 1; p < s->router.config.count; p++)
        streams_cut(&s->streams, p);
    maybe_over(s);
}

int multinode_open(struct multinode *s, struct node *n, const struct router_io_config *config,
                   const struct overlay_io_config *overlay_io, const int far[STREAM_KINDS],
                   struct errmsg *err)
{
    struct router_io_config c = *config;
    struct membership_calls calls = { .on_message = on_message,
                                      .on_ready = on_ready,
                                      .on_near = on_near,
                                      .on_down = on_down,
                                      .on_closed = on_closed };
    int rc;

    memset(s, 0, sizeof *s);
    s->node = n;
    list_init(&s->reasons);
    buf_init(&s->scratch, LIMIT_DAEMON_LINK_MESSAGE);
    open_dispatch(s, config->router.me);
    c.router.calls = membership_router_calls();
    c.router.arg = &s->overlay_io.member;
    c.quota = &n->quota;
    rc = router_io_open(&s->router_io, &s->router, &c, err);
    if (rc < 0)
        return rc;
    rc = daemon_states_open(&s->daemons, config->router.count, &n->config.log);
    if (rc == 0)
        rc = streams_open(&s->streams, s, far);
    if (rc == 0)
        rc = overlay_io_open(&s->overlay_io, s, overlay_io, calls);
    return rc < 0 ? errmsg_set(err, rc, "out of memory for %u daemons", config->router.count) : 0;
}

void multinode_close(struct multinode *s)
{
    if (!s->node)
        return;
    streams_close(&s->streams);
    overlay_io_close(&s->overlay_io);
    router_io_close(&s->router_io);
    node_failure_free(s);
    daemon_states_close(&s->daemons);
    timer_stop(&s->batch);
    dispatch_close(&s->dispatch);
    buf_free(&s->scratch);
    s->node = NULL;
}
