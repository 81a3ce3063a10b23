/* cluster_io.c - see cluster_io.h.  Reading order: the dispatcher; input; messages that do not
 * concern the core; router callbacks; opening and closing.
 */
#include "daemon/cluster_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/msg.h"
#include "core/effect.h"
#include "io/journal.h"
#include "daemon/job_handlers.h"
#include "daemon/job_msgs.h"
#include "daemon/process.h"
#include "daemon/shutdown.h"
#include "daemon/dvm_exec.h"
#include "daemon/node_failure.h"
#include "daemon/allocations.h"
#include "daemon/node_parts.h"
#include "daemon/node_priv.h"
#include "daemon/pending_query.h"
#include "daemon/preflight.h"
#include "daemon/staging.h"
#include "daemon/server_calls.h"
#include "daemon/spawning.h"
#include "daemon/signals.h"
#include "daemon/trace_clock.h"

/* ---- the dispatcher ---- */

static void spawn(void *arg, const struct op_spawn *e)
{
    struct cluster_io *s = arg;

    spawning_begin(s->jobs, e);
}

/* The requester may want to read the trace, too. */
static void pending(void *arg, struct slice job, bool usage, struct buf *part)
{
    struct cluster_io *s = arg;

    if (!usage)
        trace_writer_flush(s->trace_writer);
    pending_query_part(s->pending_queries, job, usage, part);
}

static void pending_part(void *arg, uint32_t from, uint64_t ticket, struct slice part)
{
    struct cluster_io *s = arg;

    pending_query_receive(s->pending_queries, from, ticket, part);
}

static void stacks(void *arg, uint32_t from, uint64_t ticket, struct slice job)
{
    struct cluster_io *s = arg;

    pending_query_stacks(s->pending_queries, from, ticket, job);
}

static void own_node_part(void *arg, uint32_t parts, struct buf *part)
{
    const struct cluster_io *s = arg;

    node_parts_own(s->node_parts, parts, part);
}

static void node_part_here(void *arg, uint32_t from, uint64_t number, struct slice part)
{
    struct cluster_io *s = arg;

    node_parts_receive(s->node_parts, from, number, part);
}

static void allocate(void *arg, const struct op_allocate *e)
{
    const struct cluster_io *s = arg;

    allocations_request(s->jobs->allocations, e);
}

static void foreign_connect(void *arg, const struct op_foreign_connect *e)
{
    const struct cluster_io *s = arg;

    foreign_launchers_connect(s->foreign_launchers, e);
}

static void on_proc_states(void *arg, struct job *j)
{
    struct cluster_io *s = arg;

    spawning_on_state(s->jobs, j);
}

static void wake(void *arg, uint32_t ms)
{
    struct cluster_io *s = arg;

    timer_set(&s->batch, ms);
}

static void on_batch(void *arg)
{
    struct cluster_io *s = arg;

    dispatch_tick(&s->dispatch);
}

static void open_dispatch(struct cluster_io *s, uint32_t me)
{
    struct dispatch_config k = { .core = &cluster_io_server(s)->core,
                                 .router = &s->router,
                                 .member = &s->overlay_io.member,
                                 .me = me,
                                 .log = s->context->log,
                                 .core_calls = server_calls(),
                                 .core_arg = cluster_io_server(s),
                                 .rpc_calls = { spawn, pending, pending_part, own_node_part,
                                                node_part_here, stacks, allocate, foreign_connect },
                                 .on_proc_states = on_proc_states,
                                 .wake = wake,
                                 .arg = s };

    timer_init(&s->batch, s->context->loop, on_batch, s);
    dispatch_open(&s->dispatch, &k);
}

void cluster_io_effect(struct cluster_io *s, const struct effect *e)
{
    dispatch_effect(&s->dispatch, e, clock_now_ns());
}

/* ---- input ---- */

void cluster_io_input(struct cluster_io *s, const struct job *j, uint32_t rank, struct slice bytes)
{
    struct msg m = MSG_WITH(input, .job = j->id, .rank = rank, .bytes = bytes);

    cluster_io_send(s, &m,
                    rank == JOB_NO_RANK ? MSG_EVERYBODY : node_map_rank(&s->dispatch.map, j, rank));
}

static void on_input(struct cluster_io *s, const struct op_input *m)
{
    const struct job *j = cluster_io_job(s, m->job);

    if (j)
        process_input(s->processes, j, m->rank, m->bytes, 0);
}

/* ---- messages that do not concern the core ---- */

static void on_launch_error(struct cluster_io *s, const struct op_launch_error *m)
{
    char why[ERRMSG_MAX];
    bool known = m->position > 0 && m->position < s->router.config.count;

    snprintf(why, sizeof why, SLICE_FMT, SLICE_ARG(m->text));
    if (m->fatal == LAUNCH_ERROR_LOST && known && s->calls.on_lost)
        s->calls.on_lost(s->arg, m->position, why);
    else if (s->calls.on_trouble)
        s->calls.on_trouble(
            s->arg, m->fatal && m->position != UINT32_MAX ? (int64_t)m->position : -1, m->text);
    if (!cluster_io_is_root(s) || !m->fatal || !known)
        return;
    node_failure_reason(s, m->position, why);
    membership_lose(&s->overlay_io.member, m->position);
}

/* ---- nodes that join and leave --------------------------------------------------------------- */

/* The i-th node of the message, if we are its parent. */
static void grow_one(struct cluster_io *s, const struct op_grow *m, uint32_t i)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct bootstrap_node node = { .position = m->positions.items[i],
                                   .name = arena_str(&a, m->names.items[i]),
                                   .port = m->ports.items[i] };

    if (m->users.items[i].len)
        node.user = arena_str(&a, m->users.items[i]);
    if (!arena_ok(&a))
        log_error(s->context->log, "out of memory for another daemon");
    else if (m->parents.items[i] == s->router.config.me && s->calls.on_grow)
        s->calls.on_grow(s->arg, &node);
    arena_free(&a);
}

static void on_grow(struct cluster_io *s, const struct op_grow *m)
{
    uint32_t n = m->positions.n;

    if (m->parents.n != n || m->names.n != n || m->users.n != n || m->ports.n != n) {
        log_error(s->context->log, "invalid message about nodes that join");
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        grow_one(s, m, i);
}

int cluster_io_grow(struct cluster_io *s, const struct bootstrap_node *node, uint32_t parent)
{
    struct slice name = slice_str(node->name), user = slice_str(node->user ? node->user : "");
    struct msg out = { .kind = MSG_grow,
                       .u.grow = { .positions = { &node->position, 1 },
                                   .parents = { &parent, 1 },
                                   .names = { &name, 1 },
                                   .users = { &user, 1 },
                                   .ports = { &node->port, 1 } } };
    int rc = membership_broadcast(&s->overlay_io.member, &out);

    if (rc == 0)
        on_grow(s, &out.u.grow);
    return rc;
}

int cluster_io_dismiss(struct cluster_io *s, uint32_t position)
{
    struct msg out = MSG_WITH(leave, .position = position);

    node_failure_reason(s, position, "it has been asked to leave");
    return membership_broadcast(&s->overlay_io.member, &out);
}

static void on_leave(struct cluster_io *s, uint32_t position)
{
    struct msg out = { .kind = MSG_leaves, .to = 0 };

    if (position != s->router.config.me)
        return;
    s->dismissed = true;
    membership_leave(&s->overlay_io.member);
    router_send(&s->router, &out);
}

/* It serves as a relay until the others know. */
static void on_leaves(struct cluster_io *s, uint32_t from)
{
    if (cluster_io_is_root(s) && from)
        membership_lose(&s->overlay_io.member, from);
}

void cluster_io_probe(struct cluster_io *s, uint32_t position)
{
    struct msg out = { .kind = MSG_probe, .to = position };

    router_send(&s->router, &out); /* fails: that position is lost, which is told */
}

static void on_probe(struct cluster_io *s, uint32_t from)
{
    struct msg out = { .kind = MSG_alive, .to = 0 };

    if (from == 0)
        router_send(&s->router, &out);
}

static void on_alive(struct cluster_io *s, uint32_t from)
{
    if (cluster_io_is_root(s) && s->calls.on_alive)
        s->calls.on_alive(s->arg, from);
}

/* A message that does not concern the core. */
static void receive(struct cluster_io *s, const struct msg *m)
{
    switch (m->kind) {
    case MSG_launch_error: on_launch_error(s, &m->u.launch_error); break;
    case MSG_hardware:
        if (s->calls.on_hardware)
            s->calls.on_hardware(s->arg, m->from, m->u.hardware.view, m->u.hardware.text);
        break;
    case MSG_quit: shutdown_quit(s->shutdown); break;
    case MSG_grow: on_grow(s, &m->u.grow); break;
    case MSG_leave: on_leave(s, m->u.leave.position); break;
    case MSG_leaves: on_leaves(s, m->from); break;
    case MSG_probe: on_probe(s, m->from); break;
    case MSG_alive: on_alive(s, m->from); break;
    case MSG_job:
    case MSG_node_replaced:
    case MSG_unloaded:
    case MSG_job_done: job_handlers_receive(s, m); break;
    case MSG_foreign_job:
    case MSG_foreign_gone: foreign_jobs_receive(s->foreign_jobs, m); break;
    case MSG_signal: signals_receive(s->processes, &m->u.signal); break;
    case MSG_checked:
    case MSG_begin: preflight_receive(s, m); break;
    case MSG_stage:
        if (m->from == 0)
            staging_receive(s->jobs, m->u.stage.job, m->u.stage.bytes);
        break;
    case MSG_staged: staging_note(s->jobs, m->from, m->u.staged.job, m->u.staged.count); break;
    case MSG_log: journal_write(m->u.log.priority, m->u.log.text); break;
    case MSG_help: help_receive(s->help, &m->u.help); break;
    case MSG_clock: trace_clock_receive(s, m->from, &m->u.clock); break;
    case MSG_input: on_input(s, &m->u.input); break;
    case MSG_data:
    case MSG_window_update:
    case MSG_unread: streams_receive(&s->streams, m); break;
    case MSG_startup:
        startup_timing_receive(s->context->timing, m->from, m->u.startup.job, m->u.startup.part);
        break;
    default: break; /* handled by the dispatcher, the member or its router */
    }
}

static void on_message(void *arg, const struct msg *m)
{
    struct cluster_io *s = arg;

    if (s->dvm_execs && dvm_exec_receive(s->dvm_execs, m))
        return;
    if (!dispatch_message(&s->dispatch, m, clock_now_ns()))
        receive(s, m);
    turn_end(s->context->turn);
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    struct cluster_io *s = arg;

    (void)host;
    daemon_states_event(&s->daemons, position, DAEMON_EVENT_READY);
    if (cluster_io_is_root(s))
        streams_show(&s->streams, position);
    startup_timing_ready(s->context->timing, position);
    trace_clock_up(s, position);
    if (cluster_io_is_root(s) && !cluster_io_has(s, position)) {
        membership_welcome(&s->overlay_io.member, position);
        job_msgs_repeat(s);
    }
    if (s->calls.on_ready)
        s->calls.on_ready(s->arg, position);
    replacing_offer(&s->replacing);
}

/* A daemon: a link towards the launcher is up. */
static void on_above(struct cluster_io *s)
{
    streams_flow(&s->streams);
    if (own_state_event(&s->own, OWN_EVENT_LINK, s->context->log) == OWN_ACTION_begin &&
        s->calls.on_joined)
        s->calls.on_joined(s->arg);
}

static void on_near(void *arg, uint32_t position)
{
    struct cluster_io *s = arg;

    if (!s->linked_ns)
        s->linked_ns = clock_now_ns();
    if (position == router_parent(&s->router))
        on_above(s);
    else if (s->calls.on_near)
        s->calls.on_near(s->arg, position);
}

static void on_down(void *arg, uint32_t position, const char *why)
{
    struct cluster_io *s = arg;

    if (s->calls.on_lost)
        s->calls.on_lost(s->arg, position, why);
    node_failure_reason(s, position, why);
}

static void on_closed(void *arg)
{
    const struct cluster_io *s = arg;

    shutdown_links_closed(s->shutdown);
}

static void on_lost(void *arg, uint32_t position)
{
    node_failure_position(arg, position);
}

static void on_end(void *arg, const char *why)
{
    const struct cluster_io *s = arg;

    shutdown_failed(s->shutdown, why);
}

static void on_streams_over(void *cluster)
{
    const struct cluster_io *s = cluster;

    shutdown_streams_over(s->shutdown);
}

static void use_modules(struct cluster_io *s, struct node *n)
{
    s->context = &n->context;
    s->jobs = &n->jobs;
    s->processes = &n->processes;
    s->launcher = &n->launcher;
    s->job_shutdown = &n->job_shutdown;
    s->shutdown = &n->shutdown;
    s->pending_queries = &n->pending_queries;
    s->node_parts = &n->node_parts;
    s->foreign_jobs = &n->foreign_jobs;
    s->foreign_launchers = &n->foreign_launchers;
    s->help = &n->help;
    s->trace_writer = &n->trace_writer;
    s->config = &n->config;
    s->kept = &n->kept;
}

int cluster_io_open(struct cluster_io *s, struct node *n, const struct router_io_config *config,
                    const struct overlay_io_config *overlay_io, const int pipe_ends[STREAM_KINDS],
                    struct errmsg *err)
{
    struct router_io_config c = *config;
    struct membership_calls calls = { .on_message = on_message,
                                      .on_ready = on_ready,
                                      .on_near = on_near,
                                      .on_down = on_down,
                                      .on_closed = on_closed,
                                      .on_lost = on_lost,
                                      .on_end = on_end };
    int rc;

    memset(s, 0, sizeof *s);
    use_modules(s, n);
    list_init(&s->reasons);
    buf_init(&s->scratch, LIMIT_DAEMON_LINK_MESSAGE);
    open_dispatch(s, config->router.me);
    replacing_open(&s->replacing, s, node_failure_ranks);
    c.router.calls = membership_router_calls();
    c.router.arg = &s->overlay_io.member;
    c.quota = &n->quota;
    rc = router_io_open(&s->router_io, &s->router, &c, err);
    if (rc < 0)
        return rc;
    rc = daemon_states_open(&s->daemons, config->router.count, s->context->log);
    if (rc == 0)
        rc = streams_open(&s->streams, s, pipe_ends, on_streams_over);
    if (rc == 0)
        rc = overlay_io_open(&s->overlay_io, s, overlay_io, calls);
    return rc < 0 ? errmsg_set(err, rc, "out of memory for %u daemons", config->router.count) : 0;
}

void cluster_io_close(struct cluster_io *s)
{
    if (!s->context)
        return;
    replacing_close(&s->replacing);
    streams_close(&s->streams);
    overlay_io_close(&s->overlay_io);
    router_io_close(&s->router_io);
    node_failure_free(s);
    daemon_states_close(&s->daemons);
    timer_stop(&s->batch);
    dispatch_close(&s->dispatch);
    buf_free(&s->scratch);
    s->context = NULL;
}
