/* batch_jobs.c - see batch_jobs.h.  Reading order: slots; the plan of a line; a job; the launcher;
 * the lease. */
#include "launch/batch_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/map.h"
#include "core/job_end.h"
#include "daemon/supervisor.h"
#include "daemon/tools.h"
#include "io/child.h"
#include "io/session_dir.h"
#include "launch/dvm_lease.h"
#include "launch/plan_builder.h"
#include "launch/remote.h"
#include "launch/spawn_plan.h"

extern char **environ;

/* A node of the lease. */
struct batch_node {
    const char *name;
    uint32_t slots, free;
};

struct batch_jobs {
    struct batch_file *file;
    struct log log;
    struct dvm_lease lease;
    struct launch_options options; /* of the launcher, and its plan: all nodes of the lease */
    struct job_map plan;
    struct job_map first; /* the first line's */
    struct batch_node *nodes;
    uint32_t nnodes, slots, free;
    struct map by_name;
    bool full;                   /* the next line needs more slots than are free now */
    uint32_t *running, nrunning; /* lines, by their numbers */
    uint32_t *over, nover;       /* ... that have ended, and have their options still */
    struct remote remote;
    struct node *node;
    struct session_dir sessions;
    struct timer next;
    uint32_t first_line;
    uint64_t begun_ns;
    int control_fd;
    bool special; /* options that one launcher for all cannot honour */
};

/* ---- slots ---- */

static uint32_t processes_of(const struct launch_options *o)
{
    uint64_t sum = 0;

    for (const struct launch_block *b = o->blocks; b; b = b->next)
        sum += b->nprocs ? b->nprocs : 1;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* sign: 1 gives them back. */
static void count_slots(struct batch_jobs *b, const struct job_map *plan, int sign)
{
    for (uint32_t n = 0; n < plan->nnodes; n++) {
        struct batch_node *at = map_get(&b->by_name, slice_str(plan->nodes[n].name));
        uint32_t count = plan->nodes[n].nprocs;
        if (!at)
            continue;
        at->free = sign > 0 ? at->free + count : at->free - (count < at->free ? count : at->free);
    }
    b->free = 0;
    for (uint32_t n = 0; n < b->nnodes; n++)
        b->free += b->nodes[n].free;
}

static int keep_nodes(struct batch_jobs *b)
{
    int rc = 0;

    b->nnodes = b->plan.nnodes;
    b->nodes = arena_array(&b->options.arena, b->nnodes, sizeof *b->nodes);
    if (!b->nodes)
        return -ENOMEM;
    for (uint32_t n = 0; n < b->nnodes && rc == 0; n++) {
        const struct job_map_node *from = &b->plan.nodes[n];
        b->nodes[n] = (struct batch_node){ from->name, from->nprocs, from->nprocs };
        b->slots += from->nprocs;
        rc = map_put(&b->by_name, slice_str(from->name), &b->nodes[n], NULL);
    }
    b->free = b->slots;
    b->running = arena_array(&b->options.arena, b->slots, sizeof *b->running);
    b->over = arena_array(&b->options.arena, b->slots, sizeof *b->over);
    return b->running && b->over ? rc : -ENOMEM;
}

/* A dvm_lease_calls: all of the lease, which lines share that have not begun yet. */
static void uses(void *arg, struct buf *out)
{
    const struct batch_jobs *b = arg;

    for (uint32_t n = 0; n < b->nnodes; n++)
        buf_printf(out, " %s %u", b->nodes[n].name, b->nodes[n].slots);
}

/* ---- the plan of a line ---- */

/* A dvm_fn: the free slots of the lease, for a line. */
static int offer(void *arg, struct launch_options *opt, const struct dvm_wish *wish, bool *used_p,
                 struct errmsg *err)
{
    struct batch_jobs *b = arg;
    uint32_t need = processes_of(opt);
    int rc = 0;

    (void)wish;
    *used_p = true;
    if (need > b->slots)
        return errmsg_set(err, LAUNCH_REFUSED,
                          "the job has %u processes, more than the %u slots of DVM %s", need,
                          b->slots, b->lease.place.name);
    b->full = need > b->free;
    if (b->full)
        return errmsg_set(err, LAUNCH_REFUSED, "it waits for slots");
    opt->hosts = (struct host_list){ .items = NULL };
    opt->remote = b->options.remote;
    opt->here = b->options.here;
    opt->launcher_exec = b->options.launcher_exec;
    opt->dvm_launcher = b->options.dvm_launcher;
    for (uint32_t n = 0; n < b->nnodes && rc == 0; n++) {
        struct host h = { .name = b->nodes[n].name, .slots = b->nodes[n].free };
        rc = h.slots ? hosts_add(&opt->arena, &opt->hosts, h) : 0;
    }
    return rc;
}

static void drop_options(struct batch_job *j)
{
    if (j->options)
        launch_options_free(j->options);
    free(j->options);
    j->options = NULL;
}

/* 0; LAUNCH_REFUSED while b->full; others, with the sentence. */
static int make_plan(struct batch_jobs *b, struct batch_job *j, struct job_map *plan,
                     struct errmsg *err)
{
    const struct launch_hooks hooks = { .dvm = offer, .dvm_arg = b, .no_join = true };
    int argc = 0, rc;
    char **argv = batch_file_command(b->file, NULL, &j->words, &argc);

    b->full = false;
    j->options = argv ? calloc(1, sizeof *j->options) : NULL;
    if (!j->options)
        return errmsg_set(err, LAUNCH_REFUSED, "out of memory");
    rc = launch_prepare_with(argc, argv, environ, &hooks, j->options, plan, err);
    if (rc == LAUNCH_GO)
        return 0;
    job_map_free(plan);
    drop_options(j);
    return rc == LAUNCH_SHOW ? errmsg_set(err, LAUNCH_USAGE, "the line starts nothing") : rc;
}

/* The next line that can be started now.  False: none. */
static bool next_plan(struct batch_jobs *b, uint32_t *line_p, struct job_map *plan)
{
    while (batch_file_goes_on(b->file)) {
        struct batch_job *j = &b->file->jobs[b->file->next];
        struct errmsg err = { "" };
        int rc = make_plan(b, j, plan, &err);
        if (b->full)
            return false;
        *line_p = b->file->next++;
        if (rc == 0)
            return true;
        batch_file_ended(b->file, j, err.text, launch_exit_code(rc));
    }
    return false;
}

/* ---- a job ---- */

static void begun(struct batch_jobs *b, uint32_t line, const struct job_map *plan)
{
    b->file->jobs[line].begun_ns = clock_now_ns();
    b->running[b->nrunning++] = line;
    count_slots(b, plan, -1);
}

/* Their jobs are removed by now; the first one's is kept. */
static void drop_ended(struct batch_jobs *b)
{
    while (b->nover) {
        uint32_t line = b->over[--b->nover];
        if (line != b->first_line)
            drop_options(&b->file->jobs[line]);
    }
}

static void start_more(void *arg)
{
    struct batch_jobs *b = arg;
    struct job_map plan;
    uint32_t line;

    drop_ended(b);
    while (!node_is_interrupted(b->node) && next_plan(b, &line, &plan)) {
        struct batch_job *j = &b->file->jobs[line];
        struct errmsg err = { "" };
        begun(b, line, &plan);
        if (node_add(b->node, &plan, &j->job, &err) == 0)
            continue;
        b->nrunning--;
        job_map_free(&plan);
        batch_file_ended(b->file, j, err.text, launch_exit_code(LAUNCH_REFUSED));
    }
    node_go_on(b->node);
}

/* The number of the first job is known when it runs. */
static void started(void *arg, const struct job *job)
{
    struct batch_jobs *b = arg;

    if (b->file->jobs[b->first_line].job == UINT32_MAX) {
        b->file->jobs[b->first_line].job = job->id;
        timer_set(&b->next, 0);
    }
}

static bool take_running(struct batch_jobs *b, uint32_t job, struct batch_job **j_p)
{
    for (uint32_t i = 0; i < b->nrunning; i++) {
        struct batch_job *j = &b->file->jobs[b->running[i]];
        if (j->job != job && !(b->running[i] == b->first_line && j->job == UINT32_MAX))
            continue;
        b->over[b->nover++] = b->running[i];
        b->running[i] = b->running[--b->nrunning];
        j->job = job;
        *j_p = j;
        return true;
    }
    return false;
}

static void ended(void *arg, const struct job *job)
{
    struct batch_jobs *b = arg;
    struct batch_job *j;

    if (job->is_tool || job->parent != JOB_NO_RANK || !take_running(b, job->id, &j))
        return;
    count_slots(b, &job->plan, 1);
    batch_file_ended(b->file, j, NULL, job_exit_code(job));
    timer_set(&b->next, 0);
}

static void successor(void *arg, pid_t pid, struct slice name)
{
    struct batch_jobs *b = arg;

    dvm_lease_again(&b->lease, pid, name);
}

/* Lines are left. */
static bool waits(void *arg)
{
    struct batch_jobs *b = arg;

    return batch_file_goes_on(b->file) && !node_is_interrupted(b->node);
}

/* ---- the launcher ---- */

static void reaped(void *arg, pid_t pid, int status)
{
    struct batch_jobs *b = arg;

    remote_reaped(&b->remote, pid, status);
}

static const char *why_lost(void *arg)
{
    struct batch_jobs *b = arg;

    return dvm_lease_loss(&b->lease);
}

static void progress(void *arg, struct node_progress *p)
{
    struct batch_jobs *b = arg;

    remote_progress(&b->remote, p);
}

static int reach(void *arg, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err)
{
    const struct batch_jobs *b = arg;

    return remote_reach(&b->remote, node, a, words_p, err);
}

static int plan_spawn(void *arg, const struct job_map *like, const struct spawn_request *rq,
                      struct job_map *plan_p, int *codes, struct errmsg *err)
{
    struct batch_jobs *b = arg;
    struct launch_options o = b->options;

    o.nlost = remote_lost(&b->remote, &o.lost);
    dvm_lease_bind(&b->lease, &o);
    return spawn_plan_build(&o, like, rq, plan_p, codes, err);
}

static struct node_config configuration(struct batch_jobs *b)
{
    const struct launch_options *o = &b->options;
    struct node_config c = { .log = b->log,
                             .control_fd = b->control_fd,
                             .progress = o->remote ? progress : NULL,
                             .stdin_to = NODE_STDIN_NONE,
                             .label = o->prepend_pattern ? o->prepend_pattern
                                      : o->prepend_rank  ? "[%r] "
                                                         : NULL,
                             .keep_going = !o->auto_cleanup,
                             .pmi_port = o->pmi_port,
                             .hostname = o->hostname_propagation,
                             .memory_kinds = o->memory_alloc_kinds,
                             .terminal = isatty(STDERR_FILENO) == 1,
                             .begun_ns = b->begun_ns,
                             .planned_ns = clock_now_ns(),
                             .tools = (enum node_tools)o->tools,
                             .sessions = &b->sessions,
                             .job_attrs = o->job_attrs,
                             .njob_attrs = o->njob_attrs,
                             .plan_spawn = plan_spawn,
                             .started = started,
                             .ended = ended,
                             .successor = successor,
                             .why_lost = why_lost,
                             .reaped = reaped,
                             .waits = waits,
                             .reach = o->remote ? reach : NULL,
                             .arg = b };

    child_raise_nofile();
    return c;
}

static int begin(struct batch_jobs *b, struct errmsg *err)
{
    int rc = node_tools(b->node, err);

    if (rc)
        return rc;
    if (!b->options.remote)
        return node_start(b->node, &b->first, err);
    rc = remote_open(&b->remote, &b->options, b->node, &b->plan, 0, b->log, err);
    b->remote.plan = &b->first; /* the nodes are known; this is what runs first */
    return rc;
}

static int run_node(struct batch_jobs *b)
{
    struct node_config config = configuration(b);
    int code = launch_exit_code(LAUNCH_REFUSED);
    struct errmsg err = { "" };
    char host[256] = "localhost";

    if (gethostname(host, sizeof host - 1) == 0)
        config.name = host;
    b->node = node_new(&config, &err);
    if (b->node) {
        b->log = *node_log(b->node);
        timer_init(&b->next, node_loop(b->node), start_more, b);
    }
    if (b->node && begin(b, &err) == 0) {
        dvm_lease_follow(&b->lease, b->node);
        code = node_run(b->node);
        if (node_is_interrupted(b->node))
            b->file->signal = code - 128;
    } else {
        log_error(&b->log, "%s", err.text);
    }
    dvm_lease_unfollow(&b->lease);
    timer_stop(&b->next);
    remote_close(&b->remote);
    node_free(b->node);
    return code;
}

static void worker_killed(void *arg, const char *sentence)
{
    struct batch_jobs *b = arg;

    tool_files_clear(tools_dir());
    session_dir_remove(&b->sessions);
    log_error(&b->log, "%s", sentence);
}

/* In the worker, as soon as a line can be started; none can: that was all. */
static int run_lines(struct batch_jobs *b)
{
    int code = 0;

    if (next_plan(b, &b->first_line, &b->first)) {
        begun(b, b->first_line, &b->first);
        code = run_node(b);
    }
    return b->file->signal || b->file->nfailed ? batch_file_report(b->file) : code;
}

/* ---- the lease ---- */

static bool is_special(const struct launch_options *o)
{
    return o->timeout_s || o->exit_wait_s || o->outfile_pattern || o->errfile_pattern ||
           o->trace_file || o->restart_job || o->restarts || o->replace || o->debugger ||
           o->report_startup || o->print_all_exitcodes || o->output_from_given || o->spares.count ||
           o->nnodes.max;
}

/* A dvm_fn: what is free, as far as the lines can use it. */
static int lease(void *arg, struct launch_options *opt, const struct dvm_wish *wish, bool *used_p,
                 struct errmsg *err)
{
    struct batch_jobs *b = arg;
    uint32_t largest, all = batch_file_processes(b->file, &largest);
    uint64_t offered = 0;
    int rc;

    b->special = is_special(opt);
    if (b->special)
        return LAUNCH_REFUSED;
    opt->wait = true;
    opt->blocks->nprocs = largest < b->file->most ? largest : b->file->most;
    rc = dvm_lease_nodes(&b->lease, opt, wish, used_p, err);
    for (uint32_t i = 0; rc == 0 && i < opt->hosts.count; i++)
        offered += opt->hosts.items[i].slots;
    if (rc == 0 && offered > opt->blocks->nprocs)
        opt->blocks->nprocs = offered < all ? (uint32_t)offered : all;
    return rc;
}

static int take_lease(struct batch_jobs *b, struct errmsg *err)
{
    static char program[] = "/bin/true";
    static char *const words[] = { program };
    const struct mpmd_words none = { words, 1 };
    const struct launch_hooks hooks = { .dvm = lease, .dvm_arg = b, .no_join = true };
    int argc = 0, rc;
    char **argv = batch_file_command(b->file, NULL, &none, &argc);

    if (!argv)
        return errmsg_set(err, LAUNCH_REFUSED, "out of memory");
    rc = launch_prepare_with(argc, argv, environ, &hooks, &b->options, &b->plan, err);
    if (b->special || dvm_limits_any(&b->lease.limits) || (rc == LAUNCH_GO && b->options.scouting))
        return BATCH_JOBS_NOT;
    if (rc == LAUNCH_GO)
        rc = dvm_lease_take(&b->lease, &b->plan, err);
    if (rc == LAUNCH_GO && keep_nodes(b) < 0)
        rc = errmsg_set(err, LAUNCH_REFUSED, "out of memory");
    return rc;
}

static int run(struct batch_jobs *b)
{
    struct errmsg err = { "" };
    int rc = take_lease(b, &err);

    if (rc == BATCH_JOBS_NOT)
        return rc;
    if (rc != LAUNCH_GO) {
        log_error(&b->log, "%s", err.text);
        return launch_exit_code(rc);
    }
    if (b->options.quiet)
        b->log.most = LOG_ERROR;
    session_dir_name(&b->sessions, tool_files_dir(NULL, "TMPDIR"));
    if (supervisor_split(&b->log, worker_killed, b, &b->control_fd) < 0) {
        log_error(&b->log, "cannot start the worker process: %s", err_text(errno));
        return launch_exit_code(LAUNCH_REFUSED);
    }
    return run_lines(b);
}

int batch_jobs_run(struct batch_file *file, const struct log *log)
{
    struct batch_jobs b = { .file = file,
                            .log = *log,
                            .lease = { .fd = -1, .by_rule = true, .log = *log },
                            .begun_ns = clock_now_ns() };
    int code;

    b.lease.calls = (struct dvm_lease_calls){ .uses = uses, .arg = &b };
    map_init(&b.by_name, 0);
    code = run(&b);
    dvm_lease_end(&b.lease);
    for (uint32_t i = 0; i < file->njobs; i++)
        drop_options(&file->jobs[i]);
    map_free(&b.by_name);
    job_map_free(&b.plan);
    launch_options_free(&b.options);
    return code;
}
