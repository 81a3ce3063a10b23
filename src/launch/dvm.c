/* dvm.c - see dvm.h. */
#include "launch/dvm.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_now.h"
#include "base/limit.h"
#include "io/child.h"
#include "io/join_token.h"
#include "io/rendezvous.h"
#include "launch/dvm_find.h"
#include "launch/dvm_members.h"
#include "launch/dvm_spares.h"
#include "launch/dvm_takeover.h"
#include "launch/joins.h"
#include "launch/queries.h"
#include "launch/remote.h"
#include "launch/second_jobs.h"
#include "launch/plan_builder.h"
#include "launch/spawn_hosts.h"
#include "launch/spawn_plan.h"
#include "tools/command_json.h"
#include "daemon/allocations.h"
#include "daemon/dvm_exec.h"
#include "daemon/dvm_leases.h"
#include "daemon/local_job.h"
#include "daemon/shutdown.h"
#include "daemon/supervisor.h"
#include "daemon/tools.h"

extern char **environ;

enum { DVM_ANSWER = 1 << 24, DVM_JOIN_TEXT = 1024, DVM_NAMES = 16 << 10 };

/* ---- up ---- */

/* To the process that waits in the foreground. */
struct dvm_news {
    uint32_t nnodes;
    char name[LIMIT_JOB_NAME + 1];
    char join[DVM_JOIN_TEXT]; /* where nodes join; empty: nowhere */
    char missing[DVM_NAMES];  /* nodes of a DVM that was taken over and have not come */
    char ended[DVM_NAMES];    /* ... jobs of tools that have ended with its launcher */
};

struct dvm {
    struct remote remote;
    struct dvm_exec_list dvm_execs;
    struct dvm_leases leases;
    struct dvm_members members;
    struct dvm_spares spares;
    struct joins joins;
    struct second_jobs second_jobs;
    struct dvm_takeover takeover;
    struct dvm_news is_up;
    struct distant_launchers_config distant;
    const struct launch_options *options;
    const struct log *log;
    struct session_dir sessions;
    int news; /* socket to the process that waits in the foreground */
    int control_fd;
    uint64_t begun_ns;
    struct watch waits; /* ... and a watch for its end */
};

static void come_up(void *arg)
{
    struct dvm *s = arg;

    dvm_takeover_up(&s->takeover);
    joins_go(&s->joins);
}

/* As many names as there is room for, and dots for the others; frees the buffer. */
static void keep_names(char to[DVM_NAMES], struct buf *from)
{
    static const char others[] = ", ...";
    struct slice all = buf_slice(from), some = slice_head(all, DVM_NAMES - sizeof others);

    if (all.len > some.len) {
        const char *comma = memrchr(some.ptr, ',', some.len);
        some.len = comma ? (size_t)(comma - some.ptr) : 0;
    }
    snprintf(to, DVM_NAMES, SLICE_FMT "%s", SLICE_ARG(some), all.len > some.len ? others : "");
    buf_free(from);
}

static void count_nodes(struct dvm *s)
{
    struct buf missing = BUF_NULL(DVM_ANSWER), ended = BUF_NULL(DVM_ANSWER);

    if (s->takeover.token)
        s->is_up.nnodes = dvm_takeover_here(&s->takeover);
    dvm_takeover_missing(&s->takeover, &missing);
    dvm_takeover_ended(&s->takeover, &ended);
    keep_names(s->is_up.missing, &missing);
    keep_names(s->is_up.ended, &ended);
}

/* All that are awaited are there. */
static void stand_up(void *arg)
{
    struct dvm *s = arg;

    count_nodes(s);
    supervisor_detach(s->control_fd);
    watch_close(&s->waits);
    s->leases.up = true;
    if (s->takeover.token)
        dvm_takeover_announce(&s->takeover);
    dvm_leases_changed(&s->leases);
    if (send(s->news, &s->is_up, sizeof s->is_up, MSG_NOSIGNAL) < 0 && !s->takeover.token)
        node_give_up(s->remote.node, 1); /* no foreground process: it was killed */
    close(s->news);
    joins_go(&s->joins);
}

/* The foreground process was killed before the DVM was up.  One that was there before stands: jobs
 * run on it. */
static void nobody_waits(void *arg)
{
    struct dvm *s = arg;

    watch_close(&s->waits);
    if (!s->takeover.token)
        node_give_up(s->remote.node, 1);
}

static void reaped(void *arg, pid_t pid, int status)
{
    struct dvm *s = arg;

    if (!second_jobs_reaped(&s->second_jobs, pid, status))
        remote_reaped(&s->remote, pid, status);
}

static void progress(void *arg, struct node_progress *p)
{
    struct dvm *s = arg;

    remote_progress(&s->remote, p);
}

static void limited(void *arg, uint32_t seconds)
{
    const struct dvm *s = arg;

    supervisor_limit(s->control_fd, s->begun_ns, seconds);
}

static int reach(void *arg, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err)
{
    const struct dvm *s = arg;

    return remote_reach(&s->remote, node, a, words_p, err);
}

static int plan_spawn(void *arg, const struct job_map *like, const struct spawn_request *rq,
                      struct job_map *plan_p, int *codes, struct errmsg *err)
{
    struct dvm *s = arg;
    struct launch_options o = *s->options;

    o.nlost = dvm_members_unusable(&s->members, &o.lost);
    o.dvm_name = s->is_up.name;
    return spawn_plan_build(&o, like, rq, plan_p, codes, err);
}

static void added_nodes(void *arg, const struct spawn_request *rq, struct buf *out)
{
    (void)arg;
    spawn_hosts_added(rq, out);
}

static void resize(void *arg, int fd, struct slice words)
{
    struct dvm *s = arg;

    dvm_members_take(&s->members, fd, words);
}

static void member_up(void *arg, uint32_t position)
{
    struct dvm *s = arg;

    dvm_takeover_renew(&s->takeover); /* before it is told */
    dvm_members_up(&s->members, position);
    dvm_takeover_changed(&s->takeover);
    if (s->takeover.fd >= 0 && s->leases.up) /* it may have processes of launchers */
        dvm_takeover_announce(&s->takeover);
}

static void member_failed(void *arg, uint32_t position, struct slice why)
{
    struct dvm *s = arg;

    dvm_members_failed(&s->members, position, why);
}

static void jobs_changed(void *arg, const struct job *j)
{
    struct dvm *s = arg;

    (void)j;
    dvm_takeover_jobs(&s->takeover);
}

/* For jobs of tools; their output is only for those who subscribe to it. */
static struct node_config configuration(struct dvm *s, const struct job_map *plan, struct log log)
{
    const struct launch_options *o = s->options;
    struct node_config config = { .log = log,
                                  .control_fd = s->control_fd,
                                  .begun_ns = s->begun_ns,
                                  .timeout_s = o->timeout_s,
                                  .warning = o->warning,
                                  .warning_s = o->warning_s,
                                  .progress = progress,
                                  .listens_late = true,
                                  .keep_going = !o->auto_cleanup,
                                  .pmi_port = o->pmi_port,
                                  .hostname = o->hostname_propagation,
                                  .memory_kinds = o->memory_alloc_kinds,
                                  .tools = (enum node_tools)o->tools,
                                  .sessions = &s->sessions,
                                  .job_attrs = o->job_attrs,
                                  .njob_attrs = o->njob_attrs,
                                  .plan_spawn = plan_spawn,
                                  .added_nodes = added_nodes,
                                  .dvm_leases = &s->leases,
                                  .resize = resize,
                                  .submits = second_job_known(o->rm),
                                  .tools_like = plan,
                                  .started = jobs_changed,
                                  .ended = jobs_changed,
                                  .reaped = reaped,
                                  .reach = reach,
                                  .distant = remote_distant(o, &s->distant),
                                  .arg = s };

    child_raise_nofile();
    return config;
}

static enum dvm_node_use node_use(void *arg, uint32_t position)
{
    const struct dvm *s = arg;

    return dvm_members_use(&s->members, position);
}

static void nodes_changed(void *arg)
{
    struct dvm *s = arg;

    dvm_takeover_renew(&s->takeover);
    dvm_members_changed(&s->members);
    dvm_spares_changed(&s->spares);
    dvm_takeover_changed(&s->takeover);
    joins_go(&s->joins);
}

/* Jobs of tools, tools, and the launchers of `wireup run`. */
static void news(void *arg, int code, const char *name, uint32_t slots)
{
    struct dvm *s = arg;

    node_dvm_news(s->remote.node, code, slice_str(name), slots);
    dvm_leases_news(&s->leases, code, name, slots);
}

static void judged(void *arg)
{
    struct dvm *s = arg;

    joins_go(&s->joins);
}

static void alive(void *arg, uint32_t position)
{
    struct dvm *s = arg;

    dvm_members_alive(&s->members, position);
}

static int place(void *arg, const struct join_request *q, uint32_t *position_p, struct errmsg *err)
{
    struct dvm *s = arg;
    uint32_t slots = dvm_takeover_slots(&s->takeover, q->name);
    struct join_request known = *q;

    if (slots) /* a daemon that has lost its launcher does not know how many it had */
        known.slots = slots;
    return dvm_members_place(&s->members, &known, position_p, err);
}

/* ---- nodes of a second job ---- */

/* Its nodes are as the first one is. */
static uint32_t slots_of_node(const struct dvm *s)
{
    return s->remote.plan->nnodes ? s->remote.plan->nodes[0].slots : 0;
}

/* Nobody is let in before the first request. */
static int submit_to(struct dvm *s, struct second_job *j, struct buf *where, struct errmsg *err)
{
    const struct joins_config joins = { &s->remote, place, member_failed, s };
    char token[JOIN_TOKEN_TEXT];
    int rc = joins_open_late(&s->joins, &joins, err);

    if (rc == 0)
        rc = joins_addresses(&s->joins, where, err);
    if (rc)
        return rc;
    join_token_of_key(s->joins.key, token);
    j->where = buf_cstr(where);
    j->token = token;
    rc = second_jobs_begin(&s->second_jobs, j, err);
    explicit_bzero(token, sizeof token);
    return rc;
}

static int submit(void *arg, uint32_t nodes, const char *without, uint32_t *request_p,
                  struct errmsg *err)
{
    struct dvm *s = arg;
    const char *wireupd = s->options->wireupd;
    struct second_job j = { .nodes = nodes,
                            .slots = slots_of_node(s),
                            .wireupd = wireupd ? wireupd : remote_find_wireupd(s->remote.opt),
                            .without = without,
                            .envp = environ,
                            .now_s = (uint64_t)time(NULL) };
    struct buf where = BUF_NULL(1 << 16);
    int rc;

    if (!second_job_known(s->options->rm))
        return errmsg_set(err, 1,
                          "your DVM %s is in no job of Slurm, from which more nodes could be had: "
                          "name the nodes by -hosts, or start `wireupd --join` on them",
                          s->is_up.name);
    if (s->remote.boot.width < s->remote.boot.count - 1)
        return errmsg_set(err, 1,
                          "the daemons of your DVM %s are a tree of several levels, which nodes of "
                          "another job cannot join: start it with -tree-width %u, or with "
                          "-join-token-file FILE",
                          s->is_up.name, s->remote.boot.nnodes);
    rc = submit_to(s, &j, &where, err);
    *request_p = j.request;
    buf_free(&where);
    return rc;
}

static void nodes_came(void *arg, uint32_t request)
{
    struct dvm *s = arg;

    second_jobs_came(&s->second_jobs, request);
}

static void nodes_given_up(void *arg, uint32_t request)
{
    struct dvm *s = arg;

    second_jobs_give_up(&s->second_jobs, request);
}

static void job_submitted(void *arg, uint32_t request, const char *manager, const char *id)
{
    struct dvm *s = arg;

    dvm_members_submitted(&s->members, request, manager, id);
}

static void job_over(void *arg, uint32_t request, const char *why)
{
    struct dvm *s = arg;

    dvm_members_over(&s->members, request, why);
}

static void open_second_jobs(struct dvm *s, const struct log *log)
{
    const struct second_jobs_config config = { .loop = node_loop(s->remote.node),
                                               .log = log,
                                               .manager = s->options->rm,
                                               .submitted = job_submitted,
                                               .over = job_over,
                                               .arg = s };

    second_jobs_open(&s->second_jobs, &config);
}

/* ---- the launcher ---- */

static int open_leases(struct dvm *s, struct job_map *plan)
{
    const struct dvm_leases_config config = { .name = s->is_up.name,
                                              .limits = s->options->limits,
                                              .grows = joins_wanted(s->options),
                                              .keeps = s->options->keep != NULL,
                                              .use = node_use,
                                              .changed = nodes_changed,
                                              .arg = s };
    const struct dvm_members_config members = { .name = s->is_up.name,
                                                .remote = &s->remote,
                                                .leases = &s->leases,
                                                .execs = &s->dvm_execs,
                                                .plan = plan,
                                                .news = news,
                                                .judged = judged,
                                                .submit = submit,
                                                .came = nodes_came,
                                                .give_up = nodes_given_up,
                                                .arg = s };

    dvm_leases_open(&s->leases, &s->remote.cluster, &config);
    if (dvm_members_open(&s->members, &members) < 0)
        return -ENOMEM;
    return dvm_spares_open(&s->spares, s->options->spare_hosts, &s->members, &s->remote.cluster);
}

static int open_joins(struct dvm *s, struct errmsg *err)
{
    const struct joins_config config = { &s->remote, place, member_failed, s };
    struct buf text = BUF_NULL(1 << 16);
    int rc = joins_open(&s->joins, &config, err);

    if (rc == 0)
        rc = joins_addresses(&s->joins, &text, err);
    if (rc == 0 && (s->options->join_token_file || !s->joins.no_variable))
        snprintf(s->is_up.join, sizeof s->is_up.join, "%s", buf_cstr(&text));
    buf_free(&text);
    return rc;
}

static int stand(struct dvm *s, struct launch_options *o, struct job_map *plan, struct log log)
{
    struct node_config config = configuration(s, plan, log);
    struct errmsg err = { "" };
    char host[256] = "localhost";
    struct node *node;
    int code = 1;

    s->is_up.nnodes = plan->nnodes;
    if (gethostname(host, sizeof host - 1) == 0)
        config.name = host;
    node = node_new(&config, &err);
    if (node)
        log = *node_log(node);
    if (node && node_tools(node, &err) == 0 &&
        remote_open(&s->remote, o, node, plan, LIMIT_DVM_JOINS, log, &err) == 0 &&
        (!joins_wanted(o) || open_joins(s, &err) == 0)) {
        dvm_takeover_open(&s->takeover, &s->remote, s->is_up.name, stand_up, s);
        s->remote.on_up = come_up;
        s->remote.on_member = member_up;
        s->remote.on_no_member = member_failed;
        s->remote.on_alive = alive;
        s->remote.arg = s;
        dvm_execs_open(&s->dvm_execs, &s->remote.cluster);
        s->remote.cluster.dvm_execs = &s->dvm_execs;
        open_second_jobs(s, node_log(node));
        if (open_leases(s, plan) < 0) {
            log_error(&log, "out of memory for the nodes of the DVM");
            node_give_up(node, 1);
        }
        node_set_alias(node, s->is_up.name);
        watch_open(&s->waits, node_loop(node), s->news, nobody_waits, NULL, s);
        watch_want(&s->waits, LOOP_READ);
        remote_go(&s->remote);
        code = node_run(node);
    } else {
        log_error(&log, "%s", err.text);
    }
    watch_close(&s->waits);
    second_jobs_close(&s->second_jobs);
    joins_close(&s->joins);
    dvm_takeover_close(&s->takeover);
    dvm_spares_close(&s->spares);
    dvm_members_close(&s->members);
    dvm_leases_close(&s->leases);
    dvm_execs_close(&s->dvm_execs);
    remote_close(&s->remote);
    node_free(node);
    return code;
}

/* Takes the name, if no other DVM has it. */
static bool is_new(struct dvm *s, const char *name, const struct log *log)
{
    struct dvm_place there;
    struct errmsg err;

    snprintf(s->is_up.name, sizeof s->is_up.name, "%s", name ? name : DVM_UNNAMED);
    if (dvm_find(s->is_up.name, &there, &err) != 0)
        return true;
    log_error(log,
              "your DVM %s is already up (launcher %d); end it with `wireup down%s%s`, or start "
              "another one with -name",
              there.name, (int)there.where.pid, name ? " " : "", name ? name : "");
    return false;
}

/* The token of those that come by themselves, and of a DVM that outlives us. */
static int prepare_joins(struct dvm *s, struct launch_options *o, struct job_map *plan,
                         struct errmsg *err)
{
    int rc = dvm_takeover_prepare(&s->takeover, o, err);

    if (rc || !joins_wanted(o)) {
        if (rc == 0 && joins_possible(o, plan))
            o->tree_width = 0;
        return rc;
    }
    if (joins_find_token(&s->joins, o, s->takeover.token, o->keep != NULL, err) < 0)
        return LAUNCH_REFUSED;
    o->keep_token = o->keep ? s->joins.key : NULL;
    joins_expect(o, plan);
    return 0;
}

/* With any dashes, and its value behind '='.  (The background reads the options, and refuses those
 * that are wrong.) */
static bool has_word(int argc, char **argv, const char *option)
{
    size_t len = strlen(option);

    for (int i = 2; i < argc; i++) {
        const char *word = argv[i] + strspn(argv[i], "-");
        if (word != argv[i] && !strncmp(word, option, len) && (!word[len] || word[len] == '='))
            return true;
    }
    return false;
}

/* What is about a job's end.  (-timeout is for the start of the nodes here, and what a file of
 * settings says is for the jobs.) */
static int refuse_job_words(int argc, char **argv, struct errmsg *err)
{
    static const char *const words[] = { "exit-timeout", "timeout-signal" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (has_word(argc, argv, words[i]))
            return errmsg_set(err, LAUNCH_USAGE, "-%s is for a job: give it to wireup run",
                              words[i]);
    }
    return LAUNCH_GO;
}

/* The options of a job whose program is never run: the plan is only for the nodes. */
static int prepare_and_stand(struct dvm *s, int argc, char **argv, const struct log *log)
{
    const struct launch_hooks hooks = { .no_join = true, .limited = limited, .arg = s };
    char **words = calloc((size_t)argc + 2, sizeof *words);
    struct launch_options options;
    struct job_map plan;
    struct errmsg err = { "out of memory" };
    int rc, code = 1;

    if (!words) {
        log_error(log, "%s", err.text);
        return 1;
    }
    joins_take_variable(&s->joins);
    words[0] = argv[0];
    memcpy(words + 1, argv + 2, ((size_t)argc - 2) * sizeof *words);
    words[argc - 1] = (char *)(uintptr_t) "/bin/true";
    rc = launch_prepare_with(argc, words, environ, &hooks, &options, &plan, &err);
    log_remarks(log, buf_slice(&options.remarks));
    if (rc == LAUNCH_GO)
        rc = refuse_job_words(argc, argv, &err);
    if (rc != LAUNCH_GO && rc != LAUNCH_SHOW) {
        log_error(log, "%s", err.text);
        code = launch_exit_code(rc);
    } else if (rc == LAUNCH_GO && (rc = prepare_joins(s, &options, &plan, &err)) != 0) {
        log_error(log, "%s", err.text);
        code = rc == LAUNCH_USAGE ? launch_exit_code(rc) : 1;
    } else if (rc == LAUNCH_GO && is_new(s, options.dvm_name, log)) {
        s->options = &options;
        /* It is of this machine alone.  (Nodes of -launcher fork are no machines, and `wireup run`
         * looks for all of them here.) */
        if (!options.remote && options.launcher != LAUNCHER_FORK && plan.nnodes)
            options.here = plan.nodes[0].name;
        code = stand(s, &options, &plan, *log);
    }
    joins_close(&s->joins);
    dvm_takeover_close(&s->takeover);
    job_map_free(&plan);
    launch_options_free(&options);
    free(words);
    return code;
}

/* The worker cannot clean up after itself any more. */
static void worker_killed(void *arg, const char *sentence)
{
    struct dvm *s = arg;

    tool_files_clear(tools_dir());
    session_dir_remove(&s->sessions);
    log_error(s->log, "%s", sentence);
}

/* The background: a session of its own, so that the terminal's signals arrive through the
 * foreground. */
static int be_standing(int news, uint64_t begun_ns, int argc, char **argv, const struct log *log)
{
    struct dvm s = { .news = news, .begun_ns = begun_ns, .log = log };

    session_dir_name(&s.sessions, tool_files_dir(NULL, "TMPDIR"));
    if (setsid() < 0 || supervisor_split(log, worker_killed, &s, &s.control_fd) < 0) {
        log_error(log, "cannot start the worker process: %s", err_text(errno));
        return 1;
    }
    return prepare_and_stand(&s, argc, argv, log);
}

/* Signals from the user are passed to the background, until the DVM is up or has ended. */
static bool pass_signals(int signals, pid_t pid)
{
    struct signalfd_siginfo info;
    bool any = false;

    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
        kill(pid, (int)info.ssi_signo);
        any = true;
    }
    return any;
}

static int print_up(const struct dvm_news *up, bool json)
{
    bool named = strcmp(up->name, DVM_UNNAMED) != 0;
    const char *them = up->nnodes == 1 ? "it" : "them";
    struct dvm_place place = { .where.pid = 0 };
    struct command_json o;
    struct errmsg err;

    if (!json) {
        printf("%u node%s up; `wireup run%s%s` uses %s, `wireup down%s%s` ends %s\n", up->nnodes,
               up->nnodes == 1 ? " is" : "s are", named ? " -dvm " : "", named ? up->name : "",
               them, named ? " " : "", named ? up->name : "", them);
        if (up->missing[0])
            printf("have not come: %s\n", up->missing);
        if (up->ended[0])
            printf("jobs of tools that have ended with the launcher before: %s\n", up->ended);
        if (up->join[0])
            printf("nodes join it by `wireupd --join %.*s`\n", (int)strcspn(up->join, " "),
                   up->join);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    dvm_find(up->name, &place, &err);
    command_json_begin(&o, "wireup-up-1");
    json_str(&o.json, "name", up->name);
    json_u64(&o.json, "nodes", up->nnodes);
    json_i64(&o.json, "pid", place.where.pid);
    if (up->join[0])
        json_str(&o.json, "join", up->join);
    if (up->missing[0])
        json_str(&o.json, "missing", up->missing);
    if (up->ended[0])
        json_str(&o.json, "ended", up->ended);
    return command_json_end(&o, 0);
}

/* The foreground: until the DVM is up, or has ended.  If interrupted, it waits for the end, even if
 * the DVM comes up at that moment. */
static int wait_up(pid_t pid, int news, int signals, bool json)
{
    struct pollfd p[2] = { { news, POLLIN, 0 }, { signals, POLLIN, 0 } };
    bool interrupted = false;
    struct dvm_news up;
    int status = 0;

    for (;;) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents && pass_signals(signals, pid))
            interrupted = true;
        if (!p[0].revents)
            continue;
        if (recv(news, &up, sizeof up, MSG_DONTWAIT) != (ssize_t)sizeof up)
            break; /* both processes of the background have ended */
        if (!interrupted) {
            return print_up(&up, json);
        }
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int dvm_up(int argc, char **argv, const struct log *log)
{
    uint64_t begun_ns = clock_now_ns();
    int ends[2], signals, code;
    sigset_t set, old;
    pid_t pid = -1;

    supervisor_note_inherited();
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigprocmask(SIG_BLOCK, &set, &old);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
        pid = fork();
    if (pid < 0) {
        log_error(log, "cannot start the DVM: %s", err_text_of_start(errno));
        return 1;
    }
    if (pid == 0) {
        close(ends[0]);
        close(signals);
        sigprocmask(SIG_SETMASK, &old, NULL);
        exit_now(be_standing(ends[1], begun_ns, argc, argv, log));
    }
    close(ends[1]);
    code = wait_up(pid, ends[0], signals, has_word(argc, argv, "json"));
    return code;
}

/* ---- down ---- */

/* The DVM's launcher ends last, when nothing of the DVM is left on any node.  (On a kernel without
 * pidfds this cannot be detected.) */
static bool has_ended(int pidfd)
{
    struct pollfd p = { pidfd, POLLIN, 0 };
    int rc;

    if (pidfd < 0)
        return true;
    do {
        rc = poll(&p, 1, LIMIT_DOWN_MS);
    } while (rc < 0 && errno == EINTR);
    close(pidfd);
    return rc != 0;
}

static int end_dvm(const struct dvm_place *dvm, const struct log *log)
{
    int pidfd = (int)syscall(SYS_pidfd_open, dvm->where.pid, 0);
    struct buf answer = BUF_NULL(DVM_ANSWER);
    int rc = queries_launcher(&dvm->where, SLICE("down\n"), &answer);

    buf_free(&answer);
    if (rc < 0) {
        if (pidfd >= 0)
            close(pidfd);
        log_error(log, "the DVM %s (launcher %d) does not answer", dvm->name, (int)dvm->where.pid);
        return 1;
    }
    if (has_ended(pidfd))
        return 0;
    log_error(log, "the DVM %s (launcher %d) has not ended within %d s", dvm->name,
              (int)dvm->where.pid, LIMIT_DOWN_MS / 1000);
    return 1;
}

int dvm_down(const struct command_line *l)
{
    struct dvm_place dvm;
    struct command_json o;
    struct errmsg err;
    int rc = dvm_find(l->operand, &dvm, &err);

    if (rc == 0)
        rc = end_dvm(&dvm, l->log);
    else
        log_error(l->log, "%s", err.text);
    if (rc || !l->choices[CHOICE_down_json])
        return rc ? 1 : 0;
    command_json_begin(&o, "wireup-down-1");
    json_str(&o.json, "name", dvm.name);
    json_i64(&o.json, "pid", dvm.where.pid);
    return command_json_end(&o, 0);
}

int dvm_misused(const struct command_line *l)
{
    log_error(l->log, "usage: wireup up OPTIONS, wireup on NODE WORDS...");
    return launch_exit_code(LAUNCH_USAGE);
}
