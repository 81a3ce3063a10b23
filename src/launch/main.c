/* main.c - the launcher: prepare a plan, split into supervisor and worker, run the plan.
 *
 * Called as wireup, mpiexec or mpirun it behaves the same. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/exit_now.h"
#include "base/log.h"
#include "base/privilege.h"
#include "io/child.h"
#include "io/write_all.h"
#include "launch/batch.h"
#include "launch/debuggers.h"
#include "launch/enter.h"
#include "launch/job_members.h"
#include "launch/join_start.h"
#include "launch/joins.h"
#include "launch/localhost.h"
#include "launch/conform.h"
#include "launch/run_command.h"
#include "launch/srun_words.h"
#include "launch/remote.h"
#include "launch/plan_builder.h"
#include "launch/spawn_hosts.h"
#include "launch/spawn_plan.h"
#include "launch/dvm.h"
#include "launch/dvm_on.h"
#include "launch/dvm_lease.h"
#include "daemon/mpir.h"
#include "daemon/singleton.h"
#include "daemon/staging_child.h"
#include "daemon/supervisor.h"
#include "daemon/tool_callback.h"
#include "daemon/trace_collect.h"
#include "daemon/node.h"
#include "daemon/tools.h"

extern char **environ;

/* People expect colours on a terminal, unless they have said no (NO_COLOR). */
static bool wants_colour(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    return isatty(STDERR_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "wireup";
}

static enum node_stdin stdin_choice(const struct launch_options *o)
{
    switch (o->stdin_to) {
    case LAUNCH_STDIN_ALL: return NODE_STDIN_ALL;
    case LAUNCH_STDIN_NONE: return NODE_STDIN_NONE;
    default: return NODE_STDIN_ONE;
    }
}

/* The state of the node's callbacks. */
struct launch {
    struct launch_options *options;
    struct remote remote;
    struct debuggers debuggers;
    struct dvm_lease lease;
    struct job_members members;
    struct join_start joins;
    struct trace_collect traces;
    struct tool_callback callback;
    struct distant_launchers_config distant;
    struct session_dir sessions;
    struct log log;
    uint64_t begun_ns;
    pid_t guard;
    int control_fd; /* from the supervisor */
    uint32_t restarts;
    struct node_names lost; /* nodes that later starts do without */
    bool failed;            /* the job, by itself */
};

static void reaped(void *arg, pid_t pid, int status)
{
    struct launch *l = arg;

    if (!debuggers_reaped(&l->debuggers, pid))
        remote_reaped(&l->remote, pid, status);
}

static void started(void *arg, const struct job *j)
{
    struct launch *l = arg;

    dvm_lease_renew(&l->lease); /* now its ranks have their places */
    debuggers_start(&l->debuggers, l->options, j, &l->log);
}

static void ended(void *arg, const struct job *j)
{
    struct launch *l = arg;

    (void)j;
    dvm_lease_renew(&l->lease);
}

static void successor(void *arg, pid_t pid, struct slice name)
{
    struct launch *l = arg;

    dvm_lease_again(&l->lease, pid, name);
}

static bool waits(void *arg)
{
    struct launch *l = arg;

    return debuggers_end(&l->debuggers) || trace_collect_waits(&l->traces);
}

static int reach(void *arg, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err)
{
    const struct launch *l = arg;

    return remote_reach(&l->remote, node, a, words_p, err);
}

/* With -all-nodes spawned jobs use them, too. */
static int add_members(const struct launch *l, struct arena *a, struct host_list *spares)
{
    struct host_list all = { NULL, 0, 0 };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < spares->count; i++)
        rc = hosts_add(a, &all, spares->items[i]);
    if (rc == 0)
        rc = job_members_list(&l->members, a, &all);
    *spares = all;
    return rc;
}

static int plan_spawn(void *arg, const struct job_map *like, const struct spawn_request *rq,
                      struct job_map *plan_p, int *codes, struct errmsg *err)
{
    struct launch *l = arg;
    struct launch_options o = *l->options;

    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    int rc;

    o.nlost = remote_lost(&l->remote, &o.lost);
    dvm_lease_bind(&l->lease, &o);
    rc = add_members(l, &a, &o.spares);
    if (rc == 0)
        rc = spawn_plan_build(&o, like, rq, plan_p, codes, err);
    else
        errmsg_set(err, rc, "%s", err_text(rc));
    arena_free(&a);
    return rc;
}

static void spawn_hosts(void *arg, const struct spawn_request *rq, struct buf *out)
{
    (void)arg;
    spawn_hosts_all(rq, out);
}

static void add_nodes(void *arg, int fd, struct slice words)
{
    struct launch *l = arg;

    job_members_take(&l->members, fd, words);
}

static void seek_node(void *arg, uint32_t ranks)
{
    struct launch *l = arg;

    job_members_seek(&l->members, ranks);
}

/* Daemons run in other directories than we do: an absolute path means the same file to all. */
static const char *pattern_for_all(struct launch_options *o, const char *pattern)
{
    char here[PATH_MAX];
    const char *path;

    if (!pattern || !o->remote || pattern[0] == '/' || !getcwd(here, sizeof here))
        return pattern;
    path = arena_printf(&o->arena, "%s/%s", here, pattern);
    return path ? path : pattern;
}

static const char *why_lost(void *arg)
{
    struct launch *l = arg;

    return dvm_lease_loss(&l->lease);
}

static void progress(void *arg, struct node_progress *p)
{
    struct launch *l = arg;

    remote_progress(&l->remote, p);
}

static void configure(struct node_config *c, struct launch *l, struct log log)
{
    const struct launch_options *o = l->options;

    *c = (struct node_config){
        .log = log,
        .control_fd = l->control_fd,
        .guard = l->guard,
        .progress = o->remote ? progress : NULL,
        .listens_late = o->remote,
        .stdin_to = stdin_choice(o),
        .stdin_rank = o->stdin_rank,
        .label = o->prepend_pattern ? o->prepend_pattern
                 : o->prepend_rank  ? "[%r] "
                                    : NULL,
        .outfile = pattern_for_all(l->options, o->outfile_pattern),
        .errfile = pattern_for_all(l->options, o->errfile_pattern),
        .timeout_s = o->timeout_s,
        .warning = o->warning,
        .warning_s = o->warning_s,
        .stacks_when_late = o->stacks_when_late,
        .exit_wait_s = o->exit_wait_s,
        .exit_warns = o->exit_warns,
        .keep_going = !o->auto_cleanup,
        .replace = o->replace,
        .replace_wait_s = o->replace_wait_s,
        .seek_node = o->on_dvm || o->join ? seek_node : NULL,
        .added_nodes = o->on_dvm && o->remote ? spawn_hosts : NULL,
        .add_nodes = add_nodes,
        .pmi_port = o->pmi_port,
        .print_exit_codes = o->print_all_exitcodes,
        .hostname = o->hostname_propagation,
        .one_rank_speaks = o->output_from_given,
        .speaker = o->output_from,
        .memory_kinds = o->memory_alloc_kinds,
        .report_startup = o->report_startup,
        .json = o->json,
        .terminal = isatty(STDERR_FILENO) == 1,
        .begun_ns = l->begun_ns,
        .planned_ns = clock_now_ns(),
        .tools = (enum node_tools)o->tools,
        .job_attrs = o->job_attrs,
        .njob_attrs = o->njob_attrs,
        .job_name = o->job_name,
        .plan_spawn = plan_spawn,
        .reaped = reaped,
        .started = started,
        .ended = ended,
        .waits = o->debugger || (o->trace_file && o->remote) ? waits : NULL,
        .reach = o->remote ? reach : NULL,
        .successor = successor,
        .why_lost = why_lost,
        .callback = &l->callback,
        .distant = remote_distant(o, &l->distant),
        .arg = l,
    };
    child_raise_nofile();
}

/* So many nodes may join the job after its start, or before it. */
static uint32_t room_for(const struct launch_options *o)
{
    return o->join ? join_start_room(o) : o->on_dvm ? LIMIT_DVM_JOINS : 0;
}

static int begin(struct node *node, struct launch *l, struct job_map *plan, struct log log,
                 struct errmsg *err)
{
    struct launch_options *o = l->options;

    int rc = node_tools(node, err);

    if (rc == 0 && o->remote) {
        rc = remote_open(&l->remote, o, node, plan, room_for(o), log, err);
        if (rc == 0 && o->on_dvm && job_members_open(&l->members, &l->remote, &l->lease) < 0)
            rc = errmsg_set(err, -ENOMEM, "out of memory");
        if (rc == 0 && o->join)
            rc = join_start_open(&l->joins, &l->remote, err);
        if (rc == 0 && o->trace_file)
            trace_collect_open(&l->traces, &l->remote.cluster);
        return rc;
    }
    if (rc == 0 && o->trace_file)
        rc = node_record(node, o->trace_file, err);
    if (rc)
        return rc;
    if (o->singleton.port && !strcmp(o->singleton.interface, "fd"))
        return singleton_fd(node, (int)o->singleton.port, o->singleton.key, (int)o->singleton.pid,
                            err);
    if (o->singleton.port)
        return singleton_port(node, (uint16_t)o->singleton.port, (int)o->singleton.pid, err);
    return node_start(node, plan, err);
}

/* The worker cannot clean up after itself any more. */
static void worker_killed(void *arg, const char *sentence)
{
    struct launch *l = arg;

    tool_files_clear(tools_dir());
    session_dir_remove(&l->sessions);
    log_error(&l->log, "%s", sentence);
}

/* With -nnodes the next start does without the nodes that this one has lost, or that did not come
 * up. */
static void note_lost_nodes(struct launch *l, const struct node *node)
{
    const char *const *names;
    uint32_t n = l->options->nnodes.max ? remote_lost(&l->remote, &names) : 0;

    for (uint32_t i = 0; i < n; i++)
        node_names_add(&l->lost, names[i]);
    for (uint32_t i = 0; l->options->nnodes.max && i < l->remote.failures.count; i++) {
        node_names_add(&l->lost, l->remote.failures.items[i].name);
        l->failed = !node_is_asked_to_end(node);
    }
}

static int run_plan(struct launch *launch, struct job_map *plan, struct log log)
{
    struct node_config config;
    struct errmsg err;
    struct node *node;
    char host[256] = "localhost";
    int code = launch_exit_code(LAUNCH_REFUSED), rc;

    launch->options->dvm_asked = &launch->lease.asked;
    if (launch->lease.fd >= 0 && launch->options->remote)
        remote_ask_dvm(&launch->lease.place.where, launch->options, plan);
    configure(&config, launch, log);
    if (gethostname(host, sizeof host - 1) == 0)
        config.name = host;
    config.sessions = &launch->sessions;
    node = node_new(&config, &err);
    if (node)
        log = *node_log(node);
    rc = node ? begin(node, launch, plan, log, &err) : -EIO;
    if (rc == 0) {
        dvm_lease_follow(&launch->lease, node);
        code = node_run(node);
        launch->failed = node_has_failed(node);
        note_lost_nodes(launch, node);
    } else {
        log_error(&log, "%s", err.text);
    }
    if (rc == NODE_BAD_FILE)
        code = launch_exit_code(LAUNCH_USAGE);
    job_members_close(&launch->members);
    dvm_lease_unfollow(&launch->lease);
    trace_collect_close(&launch->traces);
    join_start_close(&launch->joins);
    remote_close(&launch->remote);
    node_free(node);
    return code;
}

static void set_number(struct launch_options *o, const char *name, uint32_t number)
{
    const char *text = arena_printf(&o->arena, "%u", number);

    if (text)
        environ_set(&o->arena, &o->env, slice_str(name), slice_str(text));
}

/* The variables of torchrun; without -restart-job, those of the program's style. */
static void set_restarts(const struct launch *l)
{
    if (!l->options->restart_job)
        return;
    set_number(l->options, "TORCHELASTIC_RESTART_COUNT", l->restarts);
    set_number(l->options, "TORCHELASTIC_MAX_RESTARTS", l->options->restart_job);
}

/* The options have been read: the time limit holds from now on. */
static void limited(void *arg, uint32_t seconds)
{
    struct launch *l = arg;
    struct launch_options *o = l->options;

    set_restarts(l);
    if (o->join)
        join_start_take_token(&l->joins);
    o->stop_on_exec |= mpir_is_debugged() || l->callback.stops[JOB_MAP_STOP_ON_EXEC];
    o->stop_in_init |= l->callback.stops[JOB_MAP_STOP_IN_INIT];
    o->stop_in_app |= l->callback.stops[JOB_MAP_STOP_IN_APP];
    if (seconds)
        supervisor_limit(l->control_fd, l->begun_ns, seconds);
}

/* The limit of the DVM counts from now on, when it is the shorter one. */
static void limit_by_dvm(struct launch *l)
{
    uint64_t now = clock_now_ns(), most = l->lease.limits.seconds * NS_PER_S;
    struct launch_options *o = l->options;

    if (!most || (o->timeout_s && l->begun_ns + o->timeout_s * NS_PER_S <= now + most))
        return;
    l->begun_ns = now;
    o->timeout_s = l->lease.limits.seconds;
    supervisor_limit(l->control_fd, now, o->timeout_s);
}

/* One start of the job, and whether another one follows. */
static bool starts_again(struct launch *l, int code, const struct log *log)
{
    bool again = l->failed && l->restarts < l->options->restart_job;

    l->failed = false;
    if (again)
        log_warn(log, "the job has failed (exit code %d): start %u of %u", code, ++l->restarts + 1,
                 l->options->restart_job + 1);
    return again;
}

/* In the worker: until it takes signals itself, the supervisor handles them. */
static int prepare_and_run(int argc, char **argv, struct launch *launch, struct log log,
                           bool *again_p)
{
    /* `run` means the DVM if there is one. */
    const struct launch_hooks hooks = {
        .dvm = dvm_lease_nodes,
        .dvm_arg = &launch->lease,
        .lost = &launch->lost,
        .limited = limited,
        .arg = launch,
    };
    struct launch_options options;
    struct job_map plan;
    struct errmsg err = { "" };
    int rc, code;

    launch->options = &options;
    launch->lease = (struct dvm_lease){ .fd = -1, .log = log };
    launch->lease.by_rule = argc > 1 && !strcmp(argv[1], "run");
    rc = launch_prepare_with(argc, argv, environ, &hooks, &options, &plan, &err);
    if (rc == LAUNCH_GO && (options.keep || options.takeover))
        rc = errmsg_set(&err, LAUNCH_USAGE, "-keep and -takeover are for wireup up");
    if (rc == LAUNCH_GO && options.spare_hosts)
        rc = errmsg_set(
            &err, LAUNCH_USAGE,
            "-spare-hosts is for wireup up; a job has spare nodes by -on-failure replace");
    if (rc == LAUNCH_GO && dvm_limits_any(&options.limits))
        rc = errmsg_set(&err, LAUNCH_USAGE,
                        "-jobs, -job-slots, -job-nodes and -job-time are for wireup up");
    if (rc == LAUNCH_GO && !options.join && (joins_wanted(&options) || options.join_only))
        rc = errmsg_set(&err, LAUNCH_USAGE,
                        "-join-token-file, -join-port, -join-file and -join-only need -join, for "
                        "one job, or wireup up, for a DVM");
    if (rc == LAUNCH_GO && options.join)
        rc = join_start_prepare(&launch->joins, &options, &plan, &err);
    if (options.restart_job)
        plan.ways |= JOB_MAP_STRICT;
    if (rc == LAUNCH_GO)
        rc = dvm_lease_take(&launch->lease, &plan, &err);
    if (rc == LAUNCH_GO)
        limit_by_dvm(launch);
    if (options.quiet)
        log.most = LOG_ERROR;
    if (options.verbose || options.very_verbose)
        log.most = options.very_verbose ? LOG_DEBUG : LOG_INFO;
    log_remarks(&log, buf_slice(&options.remarks));
    code = launch_exit_code(rc);
    if (rc == LAUNCH_SHOW) {
        if (write_all_slice(STDOUT_FILENO, buf_slice(&options.answer)) < 0)
            code = 1;
    } else if (rc != LAUNCH_GO) {
        const char *meant = rc == LAUNCH_NOT_FOUND && argc > 1 ? run_command_near(argv[1]) : NULL;
        log_error(&log, "%s%s%s%s", err.text, meant ? "; did you mean wireup " : "",
                  meant ? meant : "", meant ? "?" : "");
    } else {
        write_all_slice(STDERR_FILENO, buf_slice(&options.answer));
        if (!options.join)
            log_info(&log, "placed: %u process%s on %u node%s", plan.nprocs,
                     plan.nprocs == 1 ? "" : "es", plan.nnodes, plan.nnodes == 1 ? "" : "s");
        code = run_plan(launch, &plan, log);
    }
    *again_p = starts_again(launch, code, &log);
    dvm_lease_end(&launch->lease);
    join_start_close(&launch->joins);
    job_map_free(&plan);
    launch_options_free(&options);
    return code;
}

/* A tool that has started us waits for a call.  False: nothing is started. */
static bool call_back(struct launch *l)
{
    struct errmsg err;

    if (tool_callback_open(&l->callback, &l->log, &err) == 0)
        return true;
    log_error(&l->log, "%s", err.text);
    return false;
}

/* The command line of srun in our own words.  False: *code_p is the exit code. */
static bool as_srun(struct arena *a, int *argc_p, char ***argv_p, const struct log *log,
                    int *code_p)
{
    struct srun_words w = { .answer = BUF_NULL(1 << 20),
                            .remarks = BUF_NULL(1 << 20),
                            .wait = env_value(environ, "SLURM_WAIT") };
    struct errmsg err = { "" };
    int rc = srun_words_translate(a, *argc_p, *argv_p, localhost_read_file, &w, &err);

    *code_p = launch_exit_code(rc);
    if (rc == LAUNCH_SHOW && write_all_slice(STDOUT_FILENO, buf_slice(&w.answer)) < 0)
        *code_p = 1;
    else if (rc != LAUNCH_GO && rc != LAUNCH_SHOW)
        log_error(log, "%s", rc < 0 ? "out of memory" : err.text);
    if (rc == LAUNCH_GO)
        log_remarks(log, buf_slice(&w.remarks));
    buf_free(&w.answer);
    buf_free(&w.remarks);
    *argc_p = w.argc;
    *argv_p = w.argv;
    return rc == LAUNCH_GO;
}

/* `wireup up`, `wireup who`: the first word names what is to be done, and is no option.  False: a
 * launch.  As mpiexec it has no commands: `mpiexec who` runs the program who. */
static bool is_command(int argc, char **argv, const struct log *log, int *code_p)
{
    static char dry_run[] = "-dry-run";
    bool asks = argc == 3 && strstr(argv[2], "help");
    bool draws = argc > 1 && !strcmp(argv[1], "map") && !asks;

    if (argc < 2 || argv[1][0] == '-' || strcmp(log->who, "wireup") != 0)
        return false;
    if (draws)
        argv[1] = dry_run;
    else if (!strcmp(argv[1], "up") && !asks)
        *code_p = dvm_up(argc, argv, log);
    else if (!strcmp(argv[1], "on") && argc > 3 && (argc > 4 || argv[2][0] != '-'))
        *code_p = dvm_on(argc, argv, log);
    else if (!strcmp(argv[1], "enter") && argc > 2 && !asks)
        *code_p = enter_command(argc, argv, log);
    else if (!strcmp(argv[1], "conform") && !asks)
        *code_p = conform_become(argv, log);
    else if (batch_meant(argc, argv))
        *code_p = batch_run(argc, argv, log);
    else
        return run_command(argc, argv, log, code_p);
    return !draws;
}

int main(int argc, char **argv)
{
    struct arena words = ARENA_NULL((size_t)256 << 20); /* until the end */
    struct log log = { STDERR_FILENO, LOG_WARN, base_name(argc ? argv[0] : NULL), NULL,
                       wants_colour() };
    struct launch launch = { .log = log, .begun_ns = clock_now_ns(), .guard = getpid() };
    struct errmsg err;
    bool again = true;
    int rc, code;

    if (privilege_check(&err) < 0) {
        log_error(&log, "%s", err.text);
        return launch_exit_code(LAUNCH_REFUSED);
    }
    if (staging_child_main(argc, argv, &code))
        return code;
    singleton_close_inherited(argc, argv);
    supervisor_tidy();
    if (srun_words_meant(argc, argv) && !as_srun(&words, &argc, &argv, &log, &code)) {
        arena_free(&words);
        return code;
    }
    if (is_command(argc, argv, &log, &code)) {
        supervisor_finish();
        return code;
    }
    session_dir_name(&launch.sessions, tool_files_dir(NULL, "TMPDIR"));
    mpir_open();
    rc = supervisor_split(&log, worker_killed, &launch, &launch.control_fd);
    if (rc < 0) {
        log_error(&log, "cannot start the worker process: %s", err_text_of_start(rc));
        return launch_exit_code(LAUNCH_REFUSED);
    }
    code = launch_exit_code(LAUNCH_USAGE);
    again = call_back(&launch);
    node_names_init(&launch.lost);
    while (again)
        code = prepare_and_run(argc, argv, &launch, log, &again);
    node_names_free(&launch.lost);
    tool_callback_close(&launch.callback);
    arena_free(&words);
    supervisor_finish();
    exit_now(code); /* nothing is left for the handlers of exit() */
}
