/* node.c - see node.h.  Reading order: creation; effects; processes that have ended; running.
 *
 * The rest is in other modules: listener.h and control.h (events), local_job.h (jobs), launcher.h,
 * spawning.h and singleton.h (where their processes come from), signals.h, output.h,
 * job_shutdown.h, shutdown.h and node_failure.h.  This one creates them, and gives each the
 * functions that it calls: none of them needs this one. */
#include "daemon/node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/effect.h"
#include "core/input.h"
#include "core/modex.h"
#include "io/child.h"
#include "io/netinfo.h"
#include "daemon/job_msgs.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "daemon/distances.h"
#include "daemon/node_priv.h"
#include "daemon/preflight.h"
#include "daemon/prefork.h"
#include "daemon/signals.h"
#include "daemon/spawning.h"
#include "daemon/staging.h"
#include "daemon/supervisor.h"

static void child_acceptor(void *arg);
static void promise_due(void *arg);
static void node_settle(void *node);
static void node_flush(void *node);
static const struct effect_handlers handlers;

/* ---- creation ---- */

static int open_child_acceptor(struct node *n)
{
    sigset_t chld;

    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    n->chld_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    if (n->chld_fd < 0)
        return -errno;
    watch_open(&n->chld, &n->loop, n->chld_fd, child_acceptor, NULL, n);
    return watch_want(&n->chld, LOOP_READ);
}

static bool knows_way(struct slice words)
{
    enum overlay_schedule schedule;

    return overlay_schedule_known(words, &schedule);
}

static void equip_clock(struct node *n)
{
    uint64_t wall_ns = clock_wall_ns();

    n->server.clock = clock_now_ns;
    n->server.core.wall_offset_ns = wall_ns - clock_now_ns();
    n->server.core.started_s = wall_ns / NS_PER_S;
}

/* The core serves this node's processes, and is given the data that it cannot find out itself. */
static void equip_core(struct node *n)
{
    struct core *c = &n->server.core;
    char wdir[PATH_MAX];

    equip_clock(n);
    c->is_manager = true;
    c->has_neighbours = n->config.listens_late || control_socket_is_open(&n->control_socket);
    c->has_topology = true;
    c->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (gethostname(n->hostname, sizeof n->hostname - 1) == 0)
        c->hostname = n->hostname;
    c->knows_way = knows_way;
    if (getcwd(wdir, sizeof wdir))
        n->wdir = strdup(wdir); /* NULL: processes are not given it */
    c->wdir = n->wdir;
    if (n->config.sessions && n->config.sessions->path[0])
        c->sessions = n->config.sessions->path;
}

/* At the latest when the first job begins, whose processes may look for this launcher. */
static void listen_to_neighbours(struct node *n)
{
    control_socket_listen(&n->control_socket);
    n->server.core.has_neighbours = control_socket_is_open(&n->control_socket);
}

/* Modules that others can reach, or that reach others. */
static int open_acceptors(struct node *n)
{
    const struct control_socket_config socket = { &n->jobs,
                                                  &n->tools,
                                                  &n->pending_queries,
                                                  &n->listener,
                                                  &n->shutdown,
                                                  &n->quota,
                                                  &n->name_queries,
                                                  &n->processes,
                                                  &n->trace_writer,
                                                  &n->foreign_launchers.links };
    const struct job_control_config control = {
        &n->context,   &n->server, &n->output, n->config.sessions, supervisor_leftovers(),
        &n->config.log
    };
    int rc;

    pending_queries_open(&n->pending_queries, &n->context);
    n->jobs.queries = &n->pending_queries;
    control_socket_open(&n->control_socket, &socket);
    name_queries_open(&n->name_queries, &n->context);
    foreign_jobs_open(&n->foreign_jobs, &n->context);
    foreign_launchers_open(&n->foreign_launchers, &n->context, &n->foreign_jobs);
    node_parts_open(&n->node_parts, &n->context, &n->topology, &n->allocations);
    allocations_open(&n->allocations, &n->jobs, &n->processes);
    spawn_growth_open(&n->spawn_growths, &n->jobs, spawning_go_on);
    n->jobs.growths = &n->spawn_growths;
    if (!n->config.listens_late)
        control_socket_listen(&n->control_socket);
    equip_core(n);
    job_control_open(&n->job_control, &control, &n->listener.conns);
    rc = open_child_acceptor(n);
    if (rc == 0)
        rc = listener_open(&n->listener, &n->context, &n->jobs, &n->quota);
    if (rc == 0)
        tools_open(&n->tools, &n->jobs, n->listener.conns.port);
    return rc;
}

/* The supervisor's signals first: until then it kills us. */
static int open_node(struct node *n)
{
    const struct control_config control = {
        &n->context,      &n->jobs,     &n->processes, &n->launcher,       &n->pending_queries,
        &n->trace_writer, &n->shutdown, &n->tools,     &n->control_socket, &n->end_progress
    };
    int rc = loop_init(&n->loop);

    if (rc == 0)
        rc = control_open(&n->control, &control);
    if (rc < 0)
        return rc;
    rc = output_open(&n->output, &n->loop, &n->config.log, n->config.diverted, shutdown_check,
                     &n->shutdown);
    if (rc < 0)
        return rc;
    launcher_open(&n->launcher, &n->jobs, &n->processes);
    end_progress_open(&n->end_progress, &n->context, &n->jobs);
    help_open(&n->help, &n->loop, &n->server.core, &n->output, &n->config.log);
    timer_init(&n->promises, &n->loop, promise_due, n);
    n->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (n->null_fd < 0)
        return -errno;
    n->context.null_fd = n->null_fd;
    return open_acceptors(n);
}

/* A daemon leaves: nobody may find it, or its files, any more. */
static void clean_up(void *control)
{
    struct node *n = LIST_OF(control, struct node, control);

    trace_writer_close(&n->trace_writer);
    control_socket_close(&n->control_socket);
    if (n->config.sessions)
        session_dir_remove(n->config.sessions);
}

static void cannot_run(void *node, struct job *job, uint32_t rank, int code, const char *why)
{
    const struct node *n = node;

    job_shutdown_because(&n->context, job, rank, code, why);
}

static void unloaded(void *node, struct job *job, uint32_t rank, struct slice line)
{
    struct node *n = node;

    job_shutdown_unloaded(&n->jobs, job, rank, line);
}

/* Modules without a descriptor: all others find them ready. */
static void put_together(struct node *n)
{
    const struct processes_config processes = {
        &n->context, &n->jobs, &n->listener, n->tools.uri, { cannot_run, unloaded, n }
    };

    n->context = (struct node_context){ .config = &n->config,
                                        .log = &n->config.log,
                                        .loop = &n->loop,
                                        .turn = &n->turn,
                                        .server = &n->server,
                                        .output = &n->output,
                                        .timing = &n->timing,
                                        .state = &n->state,
                                        .null_fd = -1 };
    n->topology = TOPOLOGY_NULL;
    n->trace_writer = TRACE_WRITER_NULL;
    n->null_fd = n->chld_fd = -1;
    quota_init(&n->quota, &quota_evicts, clock_seed());
    arena_init(&n->kept, 16 << 20);
    server_init(&n->server, clock_seed(), &n->config.log);
    n->server.core.uid = getuid();
    n->server.core.gid = getgid();
    effect_host_init(&n->host, &n->server, &handlers, n);
    local_jobs_open(&n->jobs, &n->context);
    processes_open(&n->processes, n->server.core.seed, &processes);
    n->turn = (struct turn){ node_settle, node_flush, n };
    n->job_shutdown = (struct job_shutdown){ .context = &n->context,
                                             .jobs = &n->jobs,
                                             .processes = &n->processes,
                                             .conns = &n->listener.conns,
                                             .help = &n->help,
                                             .ends = &n->end_progress };
    n->shutdown =
        (struct shutdown){ &n->context,      &n->jobs,
                           &n->processes,    &n->launcher,
                           &n->job_shutdown, { control_all_ended, clean_up, &n->control } };
}

static void distant_called(void *arg, int fd)
{
    control_socket_take(arg, fd);
}

static int open_distant(struct node *n, struct errmsg *err)
{
    int rc = n->config.distant ? distant_launchers_open(&n->distant, &n->context, n->config.distant,
                                                        distant_called, &n->control_socket, err)
                               : 0;

    n->context.distant = n->config.distant && rc == 0 ? &n->distant : NULL;
    return rc;
}

struct node *node_new(const struct node_config *config, struct errmsg *err)
{
    struct node *n = calloc(1, sizeof *n);
    int rc;

    if (!n) {
        errmsg_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    n->config = *config;
    put_together(n);
    rc = open_node(n);
    if (rc < 0) {
        errmsg_set(err, rc, "cannot open the descriptors of the launcher: %s", err_text(rc));
        return node_free(n);
    }
    if (n->config.report_startup && startup_timing_open(&n->timing, &n->context) < 0) {
        errmsg_set(err, -ENOMEM, "out of memory");
        return node_free(n);
    }
    return open_distant(n, err) < 0 ? node_free(n) : n;
}

int node_record(struct node *n, const char *file, struct errmsg *err)
{
    return trace_writer_open(&n->trace_writer, &n->server, &n->loop, file, n->config.name,
                             &n->config.log, err)
               ? NODE_BAD_FILE
               : 0;
}

int node_tools(struct node *n, struct errmsg *err)
{
    return tools_begin(&n->tools, err) ? NODE_BAD_FILE : 0;
}

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

struct node *node_free(struct node *n)
{
    if (!n)
        return NULL;
    launcher_close(&n->launcher);
    processes_close(&n->processes);
    job_control_close(&n->job_control);
    listener_close(&n->listener);
    tool_relay_close(&n->tool_relay);
    trace_writer_close(&n->trace_writer);
    output_close(&n->output);
    control_socket_close(&n->control_socket);
    name_queries_close(&n->name_queries);
    foreign_launchers_close(&n->foreign_launchers);
    distant_launchers_close(&n->distant);
    foreign_jobs_close(&n->foreign_jobs);
    node_parts_close(&n->node_parts);
    spawn_growth_close(&n->spawn_growths);
    allocations_close(&n->allocations);
    tools_close(&n->tools);
    pending_queries_close(&n->pending_queries);
    startup_timing_close(&n->timing);
    watch_close(&n->chld);
    control_close(&n->control);
    quota_report(&n->quota, &n->config.log);
    end_progress_close(&n->end_progress);
    help_close(&n->help);
    timer_stop(&n->promises);
    local_jobs_close(&n->jobs);
    server_free(&n->server);
    if (n->config.sessions)
        session_dir_remove(n->config.sessions);
    topology_close(&n->topology);
    arena_free(&n->kept);
    loop_free(&n->loop);
    close_one(n->null_fd);
    close_one(n->chld_fd);
    free(n->wdir);
    free(n);
    return NULL;
}

int node_start(struct node *n, struct job_map *plan, struct errmsg *err)
{
    struct local_job *w;
    uint32_t count = plan->nprocs;

    if (n->config.pmi_port && listener_make_ids(&n->listener, count) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory for %u processes", count);
    if (launcher_expect(&n->launcher, count) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", count);
    w = local_job_lead(&n->jobs, plan, NULL, JOB_NO_RANK, n->config.keep_going, err);
    if (!w)
        return -EINVAL;
    if (preflight_here(w, err) != 0) {
        local_job_free(w);
        return NODE_BAD_FILE;
    }
    n->jobs.first = w->job->id;
    listen_to_neighbours(n);
    if (n->config.report_startup)
        startup_timing_begin(&n->timing, &n->context, w->job, clock_now_ns());
    if (n->context.cluster)
        job_msgs_announce(n->context.cluster, w, NULL);
    node_event(n, LAUNCHER_EVENT_BEGIN);
    server_deliver(&n->server, INPUT(launcher_ready, .stands = false));
    control_job_up(&n->control);
    return 0;
}

int node_add(struct node *n, struct job_map *plan, uint32_t *job_p, struct errmsg *err)
{
    struct local_job *w =
        local_job_lead(&n->jobs, plan, NULL, JOB_NO_RANK, n->config.keep_going, err);

    if (!w)
        return -EINVAL;
    *job_p = w->job->id;
    /* Nobody waits for the answer of this one. */
    spawning_state_event(&w->spawning, SPAWNING_EVENT_REQUEST, n->context.log);
    spawning_state_event(&w->spawning, SPAWNING_EVENT_ANSWER, n->context.log);
    if (preflight_here(w, err) != 0) {
        local_job_free(w);
        job_map_init(plan);
        return NODE_BAD_FILE;
    }
    if (n->context.cluster)
        job_msgs_announce(n->context.cluster, w, NULL);
    return 0;
}

void node_go_on(struct node *n)
{
    local_jobs_start(&n->jobs);
    turn_end(&n->turn);
}

bool node_is_interrupted(const struct node *n)
{
    return n->control.ended_by != 0;
}

bool node_is_asked_to_end(const struct node *n)
{
    const struct job *first = core_job(&n->server.core, n->jobs.first);

    return control_is_asked(&n->control) || (first && first->asked_to_end);
}

/* ---- effects ---- */

/* PMI_hwloc_xmlfile, the only one that takes time to compute; the job knows it from now on. */
static void find_attr(struct node *n, struct job *job, const struct op_job_attr *e)
{
    struct answer a = { .status = ANSWER_NOT_FOUND };
    struct errmsg err = { "" };
    const char *path = NULL;
    struct slice text = SLICE_NULL;
    struct buf made = BUF_NULL(DISTANCES_MAX);

    if (slice_is(e->key, CORE_TOPOLOGY))
        text = topology_text(&n->topology);
    else if (slice_starts(e->key, SLICE(CORE_DISTANCES)))
        text = distances_text(slice_skip(e->key, strlen(CORE_DISTANCES)), &made);
    else if (slice_is(e->key, "PMI_netinfo_of_task"))
        text = netinfo_text(n->config.name, &made) == 0 && buf_ok(&made) ? buf_slice(&made)
                                                                         : SLICE_NULL;
    else
        path = topology_path(&n->topology, &err);
    if (text.len) {
        a = ANSWER_TO(job_attr, ANSWER_OK, .value = text);
    } else if (path) {
        a = ANSWER_TO(job_attr, ANSWER_OK, .value = slice_str(path));
        if (job)
            server_preset(&n->server, job, e->key, slice_str(path));
    } else if (err.text[0]) {
        log_warn(&n->config.log, "programs will discover the hardware themselves: %s", err.text);
    }
    server_answer(&n->server, e->ticket, &a);
    buf_free(&made);
}

static struct job *job_of(const struct node *n, const struct effect *e)
{
    return core_job(&n->server.core, effect_job(e));
}

static void on_attr(void *arg, struct effect *e)
{
    find_attr(arg, job_of(arg, e), &e->u.job_attr);
}

static void on_input(void *arg, struct effect *effect)
{
    struct node *n = arg;
    const struct op_input *e = &effect->u.input;
    struct job *j = job_of(n, effect);
    struct answer a = { .status = j && j->spread ? ANSWER_OK : ANSWER_NOT_FOUND };
    bool ours = j && (e->rank == JOB_NO_RANK || job_rank_is_here(j, e->rank));

    if (j && j->spread && (e->rank == JOB_NO_RANK || !ours))
        cluster_io_input(n->context.cluster, j, e->rank, e->bytes);
    if (!ours || !process_input(&n->processes, j, e->rank, e->bytes, e->ticket)) {
        if (e->ticket) /* other nodes are not waited for */
            server_answer(&n->server, e->ticket, &a);
    }
}

static void on_kill(void *arg, struct effect *e)
{
    struct node *n = arg;
    struct job *j = job_of(n, e);

    if (j)
        job_shutdown_begin(&n->job_shutdown, j);
}

static void on_job_ended(void *arg, struct effect *e)
{
    struct node *n = arg;
    struct job *j = job_of(n, e);

    if (!j)
        return;
    startup_timing_over(&n->timing, j);
    if (n->config.ended)
        n->config.ended(n->config.arg, j);
    launcher_links_job_ended(&n->foreign_launchers.links, j);
    allocations_job_ended(&n->allocations, j);
    job_shutdown_bury(&n->job_shutdown, j);
    if (n->context.config->dvm_leases)
        dvm_leases_changed(n->context.config->dvm_leases);
}

static void on_spawn(void *arg, struct effect *e)
{
    struct node *n = arg;
    const struct job *j = job_of(n, e);

    if (j && j->follows)
        cluster_io_effect(n->context.cluster, e);
    else
        spawning_begin(&n->jobs, &e->u.spawn);
}

static void on_allocate(void *arg, struct effect *e)
{
    struct node *n = arg;

    if (n->context.cluster && n->server.core.position != 0)
        cluster_io_effect(n->context.cluster, e);
    else
        allocations_request(&n->allocations, &e->u.allocate);
}

static void on_scheduled(void *arg, struct effect *e)
{
    struct node *n = arg;

    allocations_scheduled(&n->allocations, &e->u.scheduled);
}

static void on_names(void *arg, struct effect *e)
{
    struct node *n = arg;

    if (n->server.core.names_elsewhere)
        cluster_io_effect(n->context.cluster, e);
    else
        name_query_ask(&n->name_queries, &e->u.names);
}

static void on_foreign_connect(void *arg, struct effect *e)
{
    struct node *n = arg;

    if (n->server.core.names_elsewhere)
        cluster_io_effect(n->context.cluster, e);
    else
        foreign_launchers_connect(&n->foreign_launchers, &e->u.foreign_connect);
}

static void for_other_nodes(void *arg, struct effect *e)
{
    struct node *n = arg;

    if (n->context.cluster)
        cluster_io_effect(n->context.cluster, e);
}

/* Of a process of another launcher: this one asks that one, its daemons ask this one. */
static void on_modex_request(void *arg, struct effect *e)
{
    struct node *n = arg;
    const struct job *j = job_of(n, e);

    if (j && j->is_foreign && !n->server.core.names_elsewhere)
        foreign_values_get(&n->foreign_launchers.values, &e->u.modex_request);
    else
        for_other_nodes(n, e);
}

static void on_modex_reply(void *arg, struct effect *e)
{
    struct node *n = arg;

    if (e->u.modex_reply.asker >= MODEX_LAUNCHERS)
        foreign_values_reply(&n->foreign_launchers.values, &e->u.modex_reply);
    else
        for_other_nodes(n, e);
}

static void on_foreign_state(void *arg, struct effect *e)
{
    struct node *n = arg;

    launcher_links_state(&n->foreign_launchers.links, &e->u.foreign_state);
}

static void on_restart(void *arg, struct effect *e)
{
    struct node *n = arg;
    struct job *j = job_of(n, e);

    if (j && j->phase == JOB_RUNNING)
        process_restart(&n->processes, j, e->u.restart.rank, e->u.restart.how, e->u.restart.code);
}

static void on_signal(void *arg, struct effect *e)
{
    struct node *n = arg;

    signals_effect(&n->processes, &e->u.signal);
}

static void on_control(void *arg, struct effect *e)
{
    struct node *n = arg;

    job_control_carry_out(&n->job_control, e);
}

static void on_node_parts(void *arg, struct effect *e)
{
    struct node *n = arg;

    node_parts_begin(&n->node_parts, e->u.node_parts.ticket, e->u.node_parts.parts,
                     e->u.node_parts.local);
}

static void on_help(void *arg, struct effect *e)
{
    struct node *n = arg;

    help_effect(&n->help, &e->u.help,
                n->context.cluster ? &n->context.cluster->dispatch.queue : NULL);
}

static void on_tool(void *arg, struct effect *e)
{
    struct node *n = arg;

    tools_admit(&n->tools, &e->u.tool_connect);
}

static effect_fn *const kinds[OPERATIONS] = {
    [EFFECT_job_attr] = on_attr,
    [EFFECT_input] = on_input,
    [EFFECT_kill] = on_kill,
    [EFFECT_job_ended] = on_job_ended,
    [EFFECT_spawn] = on_spawn,
    [EFFECT_names] = on_names,
    [EFFECT_foreign_connect] = on_foreign_connect,
    [EFFECT_foreign_state] = on_foreign_state,
    [EFFECT_modex_request] = on_modex_request,
    [EFFECT_modex_reply] = on_modex_reply,
    [EFFECT_signal] = on_signal,
    [EFFECT_restart] = on_restart,
    [EFFECT_proc_root] = on_control,
    [EFFECT_session_dir] = on_control,
    [EFFECT_cleanup] = on_control,
    [EFFECT_log] = on_control,
    [EFFECT_credential] = on_control,
    [EFFECT_file_look] = on_control,
    [EFFECT_help] = on_help,
    [EFFECT_tool_connect] = on_tool,
    [EFFECT_node_parts] = on_node_parts,
    [EFFECT_allocate] = on_allocate,
    [EFFECT_scheduled] = on_scheduled,
};

static void write_out(void *arg, struct peer *p)
{
    (void)arg;
    peer_conn_flush(p->host);
}

static uint64_t now_ns(void *arg)
{
    (void)arg;
    return clock_now_ns();
}

static void ring_at(void *arg, uint64_t due_ns)
{
    struct node *n = arg;

    timer_at(&n->promises, due_ns);
}

static void drained(void *arg)
{
    struct node *n = arg;

    job_control_drained(&n->job_control);
}

static const struct effect_handlers handlers = { kinds,  for_other_nodes, write_out,
                                                 now_ns, ring_at,         drained };

static void promise_due(void *arg)
{
    struct node *n = arg;

    effect_host_ring(&n->host);
    node_settle(n);
}

static void node_flush(void *node)
{
    struct node *n = node;

    effect_host_flush(&n->host);
}

/* Carries out all effects and writes all answers: the end of every turn of the loop. */
static void node_settle(void *node)
{
    struct node *n = node;

    effect_host_settle(&n->host);
    if (n->server.core.startup)
        startup_timing_settle(&n->timing);
    if (n->context.cluster) {
        replacing_turn(&n->context.cluster->replacing);
        dispatch_settle(&n->context.cluster->dispatch);
    }
    control_turn(&n->control);
    shutdown_seek(&n->shutdown);
}

/* ---- processes that have ended ---- */

static void child_acceptor(void *arg)
{
    struct node *n = arg;
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    while (read(n->chld_fd, &info, sizeof info) > 0) {
        /* only the readability matters: several ends may share one signal */
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct task *t = processes_find(&n->processes, pid);
        if (t)
            process_ended(t, status);
        else if (!staging_reaped(&n->jobs, pid, status) && !prefork_reaped(&n->jobs, pid) &&
                 !stacks_reaped(&n->pending_queries.stacks, pid) &&
                 !queues_reaped(&n->node_parts.queues, pid, status) &&
                 n->config.reaped) /* ... or an orphan from one of our processes */
            n->config.reaped(n->config.arg, pid, status);
    }
    node_settle(n);
}

/* ---- other nodes, and running ---- */

void node_share(struct node *n, struct cluster_io *s)
{
    n->context.cluster = s;
    n->server.core.position = s->router.config.me;
    n->server.core.has_others = true;
    n->server.core.names_elsewhere = s->router.config.me != 0;
    if (s->router.config.me != 0)
        n->jobs.first = JOB_NO_RANK;
    else
        node_event(n, LAUNCHER_EVENT_SHARE);
}

void node_rename(struct node *n, const char *name)
{
    n->config.name = name;
}

void node_listen_soon(struct node *n)
{
    control_socket_listen_soon(&n->control_socket);
}

void node_set_alias(struct node *n, const char *alias)
{
    control_socket_set_alias(&n->control_socket, alias);
}

const struct log *node_log(const struct node *n)
{
    return &n->config.log;
}

struct loop *node_loop(struct node *n)
{
    return &n->loop;
}

void node_begin(struct node *n)
{
    local_jobs_start(&n->jobs);
}

enum launcher_state node_state(const struct node *n)
{
    return n->state;
}

enum launcher_action node_event(struct node *n, enum launcher_event event)
{
    return launcher_state_event(&n->state, event, &n->config.log);
}

void node_places(const struct node *n, struct buf *out)
{
    local_jobs_places(&n->jobs, out);
}

void node_dvm_ends(struct node *n)
{
    server_deliver(&n->server,
                   INPUT(signal, .job = JOB_NO_RANK, .rank = JOB_NO_RANK, .ends_jobs = true));
    turn_end(&n->turn);
}

void node_dvm_news(struct node *n, int code, struct slice name, uint32_t slots)
{
    server_dvm_news(&n->server, code, name, slots);
    turn_end(&n->turn);
}

void node_stands(struct node *n)
{
    listen_to_neighbours(n);
    pending_queries_lead(&n->pending_queries, JOB_NO_RANK);
    control_stands(&n->control);
    server_deliver(&n->server, INPUT(launcher_ready, .stands = true));
    output_detach(&n->output);
}

void node_give_up(struct node *n, int exit_code)
{
    shutdown_give_up(&n->shutdown, exit_code);
}

/* The tool that has started us, and was called back, is a tool as any other from here on. */
static void take_caller(struct node *n)
{
    struct tool_callback *c = n->config.callback;
    struct errmsg err;
    int rc;

    if (!c || c->fd < 0)
        return;
    rc = tool_callback_ready(c, n->tools.uri, &err);
    if (rc == 0)
        rc = tool_relay_open(&n->tool_relay, c, &n->listener, &n->loop);
    if (rc < 0)
        errmsg_set(&err, rc, "the tool that has started this launcher cannot be served: %s",
                   err_text(rc));
    if (rc)
        log_warn(&n->config.log, "%s", err.text);
}

int node_run(struct node *n)
{
    take_caller(n);
    local_jobs_start(&n->jobs);
    if (loop_run(&n->loop) < 0) {
        log_error(&n->config.log, "the event loop failed; all processes are killed");
        signals_job(&n->processes, NULL, SIGKILL);
        child_end_all();
        return 1;
    }
    if (n->control.phase == PHASE_STATE_CUT)
        child_end_all();
    startup_timing_finish(&n->timing);
    return control_code(&n->control);
}

bool node_has_failed(const struct node *n)
{
    return n->control.phase == PHASE_STATE_LEAVING && control_code(&n->control) != 0 &&
           !node_is_asked_to_end(n);
}
