/* remote_exec.c - see remote_exec.h.  The commands as processes or connections are in
 * remote_command.c. */
#include "daemon/remote_exec.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/list.h"
#include "io/deadline.h"
#include "io/rendezvous.h"
#include "daemon/dvm_asked.h"
#include "daemon/path_search.h"
#include "daemon/remote_command.h"
#include "daemon/start_window.h"

enum { LINE_MAX_BYTES = 8192, STARTS_A_TURN = 2 };

/* One daemon to start. */
struct guest {
    struct bootstrap_node node;
    struct agent_command *command;
    uint64_t runs_ns, up_ns; /* 0: not known */
};

struct agent_command {
    struct list link; /* in the queue, or among the running commands */
    struct remote_exec *agent;
    struct guest **guests;
    uint32_t nguests, waiting; /* daemons of this command, neither up nor failed */
    const char *wireupd;       /* the program that the command runs there */
    struct remote_command process;
    int status;                  /* once it has ended; -1 before */
    char *last_word;             /* the error that its daemon reported after it was up, or NULL */
    bool started;                /* one of its daemons has reported that it runs */
    uint64_t since_ns, asked_ns; /* its start, and its first start */
    struct buf output;
    struct deadline bound;
    unsigned refusals;  /* of its node's sshd */
    struct timer again; /* after one, or while a DVM is busy */
};

struct remote_exec {
    struct remote_exec_config c;
    struct arena arena;
    struct guest **guests;
    uint32_t nguests, room;
    struct list queue, commands;
    uint32_t climbing; /* commands that run and are not up */
    struct timer kick; /* to start more commands: from the loop only */
    char **env;
    char *path;
    char program[100]; /* for messages */
};

/* ---- daemons ---- */

/* Positions of one list are mostly consecutive. */
static struct guest *find(struct guest **list, uint32_t n, uint32_t position)
{
    uint32_t guess = n ? position - list[0]->node.position : 0;

    if (guess < n && list[guess]->node.position == position)
        return list[guess];
    for (uint32_t i = 0; i < n; i++) {
        if (list[i]->node.position == position)
            return list[i];
    }
    return NULL;
}

static struct guest *find_guest(const struct remote_exec *a, uint32_t position)
{
    return find(a->guests, a->nguests, position);
}

static enum daemon_state state_of(const struct remote_exec *a, const struct guest *g)
{
    return a->c.daemons->states[g->node.position];
}

static enum daemon_action happen(struct guest *g, enum daemon_event event)
{
    return daemon_states_event(g->command->agent->c.daemons, g->node.position, event);
}

static bool settled(const struct agent_command *k)
{
    return k->waiting == 0;
}

/* When this command is no longer awaited, the next one may run. */
static void check_settled(struct agent_command *k)
{
    if (!settled(k) || !deadline_is_set(&k->bound))
        return;
    deadline_stop(&k->bound);
    remote_command_drop_file(&k->process);
    k->agent->climbing--;
    timer_set(&k->agent->kick, 0);
}

/* ---- output of a command ---- */

static const char *speaker(const struct agent_command *k)
{
    return k->nguests == 1 ? k->guests[0]->node.name : agent_kind_name(k->agent->c.spec.kind);
}

static void keep_output(struct agent_command *k, struct slice line)
{
    line = slice_head(line, LIMIT_AGENT_OUTPUT / 2);
    while (buf_len(&k->output) + line.len + 1 > LIMIT_AGENT_OUTPUT) {
        struct slice s = buf_slice(&k->output);
        buf_take(&k->output, slice_find(s, '\n') + 1);
    }
    buf_slice_put(&k->output, line);
    buf_byte(&k->output, '\n');
}

static void remark(struct agent_command *k, const char *who, struct slice line)
{
    struct remote_exec *a = k->agent;

    if (line.len)
        a->c.calls.on_remark(a->c.arg, who, line);
}

static struct guest *guest_of(struct agent_command *k, uint32_t position)
{
    return k->nguests == 1 ? k->guests[0] : find(k->guests, k->nguests, position);
}

/* The daemon's own error: why it does not come up, or its last report before its link broke. */
static void trouble(struct agent_command *k, uint32_t position, struct slice text)
{
    struct remote_exec *a = k->agent;
    struct guest *g = guest_of(k, position);
    struct agent_seen seen = { .status = -1, .started = true, .trouble = text };
    struct errmsg why;

    if (!g) {
        keep_output(k, text);
        return;
    }
    switch (happen(g, DAEMON_EVENT_TROUBLE)) {
    case DAEMON_ACTION_report_failure:
        agent_diagnose(&a->c.spec, g->node.name, k->wireupd, &seen, &why);
        k->waiting--;
        a->c.calls.on_failed(a->c.arg, g->node.position, &why);
        break;
    case DAEMON_ACTION_count_off: k->waiting--; break;
    case DAEMON_ACTION_keep_word:
        if (!k->last_word)
            k->last_word = strndup(text.ptr, text.len);
        break;
    default: break;
    }
    check_settled(k);
}

/* This output may arrive later than the link comes up: then the start time is unknown. */
static void note_started(struct agent_command *k, uint32_t position)
{
    struct guest *g = guest_of(k, position);

    k->started = true;
    if (g && happen(g, DAEMON_EVENT_REPORT) == DAEMON_ACTION_note_start)
        g->runs_ns = clock_now_ns();
}

static void take_line(void *arg, bool answers, struct slice line)
{
    struct agent_command *k = arg;
    uint32_t position = BOOTSTRAP_BY_NAME;
    struct slice text = SLICE_NULL;
    struct guest *g;

    switch (answers ? bootstrap_answer_read(line, &position, &text) : BOOTSTRAP_NOISE) {
    case BOOTSTRAP_STARTED:
    case BOOTSTRAP_READY: note_started(k, position); break;
    case BOOTSTRAP_TROUBLE: trouble(k, position, text); break;
    case BOOTSTRAP_REMARK:
        g = guest_of(k, position);
        remark(k, g ? g->node.name : speaker(k), text);
        break;
    case BOOTSTRAP_NOISE:
        line = slice_trim(line);
        if (settled(k) || k->agent->c.verbose)
            remark(k, speaker(k), line);
        keep_output(k, line);
        break;
    }
}

/* ---- running ---- */

static int make_record(struct agent_command *k, struct errmsg *err)
{
    struct remote_exec *a = k->agent;
    bool all = agent_at_once(a->c.spec.kind);
    struct buf *record = remote_command_record(&k->process);
    int rc =
        a->c.calls.record(a->c.arg, all ? BOOTSTRAP_BY_NAME : k->guests[0]->node.position, record);

    if (rc < 0 || !buf_ok(record))
        return errmsg_set(err, rc < 0 ? rc : -ENOMEM, "cannot make the daemon's record: %s",
                          err_text(rc < 0 ? rc : -ENOMEM));
    return agent_needs_file(a->c.spec.kind) ? remote_command_write_file(&k->process, err) : 0;
}

static void command_ended(struct agent_command *k, int status);

static void connection_ended(void *arg, int status)
{
    struct agent_command *k = arg;
    const struct remote_exec_config *c = &k->agent->c;

    command_ended(k, status);
    if (c->calls.on_ended)
        c->calls.on_ended(c->arg);
}

static int run(struct agent_command *k, char **argv, struct errmsg *err)
{
    struct remote_exec *a = k->agent;
    struct errmsg why = { "" };
    const char *path = NULL;
    int rc = path_search_program(&a->arena, argv[0], NULL, a->path, true, &path, &why);

    if (rc == 0)
        rc = remote_command_start(&k->process, path, argv, a->env, &why);
    return rc ? errmsg_set(err, rc, "%s", why.text) : 0;
}

/* Not all of those that were refused together. */
static uint64_t retry_delay_ms(const struct agent_command *k)
{
    uint64_t ms = (uint64_t)LIMIT_AGENT_RETRY_MS << k->refusals;

    return ms + ms * (k->guests[0]->node.position % 16) / 16;
}

/* The connection of a request that was made before, if there is one. */
static int asked_before(const struct agent_command *k)
{
    struct dvm_asked *q = k->agent->c.spec.asked;

    return q ? dvm_asked_take(q, k->guests[0]->node.name) : -1;
}

/* Its requests go to the DVM's launcher of this moment.  One that has not accepted the requests of
 * others yet is asked again until the node's time is up. */
static int ask_dvm(struct agent_command *k, char **argv, struct errmsg *err)
{
    int fd = asked_before(k), rc = 0;

    if (fd < 0) {
        fd = rendezvous_connect_pid(*k->agent->c.spec.dvm);
        if (fd == -EAGAIN && timer_set(&k->again, retry_delay_ms(k)) == 0)
            return 0;
        if (fd < 0)
            return errmsg_set(err, fd, "the DVM does not answer: %s",
                              fd == -ESRCH ? "it has ended" : err_text(fd));
        rc = remote_command_ask(fd, argv);
    }
    if (rc == 0)
        return remote_command_connect(&k->process, fd, connection_ended, err);
    close(fd);
    return errmsg_set(err, rc, "the DVM cannot be asked: %s", err_text(rc));
}

static int start_command(struct agent_command *k, struct errmsg *err)
{
    struct remote_exec *a = k->agent;
    struct bootstrap_node *nodes;
    char **argv;
    int rc = make_record(k, err);

    if (rc)
        return rc;
    nodes = arena_array(&a->arena, k->nguests, sizeof *nodes);
    if (!nodes)
        return errmsg_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < k->nguests; i++)
        nodes[i] = k->guests[i]->node;
    rc = agent_argv(&a->c.spec, nodes, k->nguests, k->wireupd, k->process.file, &a->arena, &argv,
                    err);
    if (rc)
        return rc;
    if (a->c.spec.kind == AGENT_MANUAL) {
        char text[LINE_MAX_BYTES];
        snprintf(text, sizeof text, "to be run there: %s %s %s", argv[0], argv[1], argv[2]);
        remark(k, speaker(k), slice_str(text));
        return 0;
    }
    return a->c.spec.kind == AGENT_DVM ? ask_dvm(k, argv, err) : run(k, argv, err);
}

/* Those that are awaited fail; the first stands for all. */
static struct guest *fail_awaited(struct agent_command *k)
{
    struct guest *first = NULL;

    for (uint32_t i = 0; i < k->nguests; i++) {
        enum daemon_action action = happen(k->guests[i], DAEMON_EVENT_FAIL);
        k->waiting -= action == DAEMON_ACTION_report_failure || action == DAEMON_ACTION_count_off;
        if (action == DAEMON_ACTION_report_failure && !first)
            first = k->guests[i];
    }
    return first;
}

static void all_failed(struct agent_command *k, const struct agent_seen *seen,
                       const struct errmsg *given)
{
    struct remote_exec *a = k->agent;
    uint32_t others = k->waiting - 1;
    struct guest *first = fail_awaited(k);
    char who[ERRMSG_MAX / 2];
    struct errmsg why;

    if (first) {
        snprintf(who, sizeof who, others ? "%.200s and %u more" : "%.200s", first->node.name,
                 others);
        if (given)
            errmsg_set(&why, 0, "node %s: %.700s", who, given->text);
        else
            agent_diagnose(&a->c.spec, who, k->wireupd, seen, &why);
        a->c.calls.on_failed(a->c.arg, first->node.position, &why);
    }
    check_settled(k);
}

static void begin(struct agent_command *k)
{
    struct errmsg err = { "out of memory" };

    k->since_ns = clock_now_ns();
    k->asked_ns = k->asked_ns ? k->asked_ns : k->since_ns;
    k->started = false;
    k->status = -1;
    for (uint32_t i = 0; i < k->nguests; i++)
        happen(k->guests[i], DAEMON_EVENT_ASK);
    if (start_command(k, &err))
        all_failed(k, NULL, &err);
}

static bool may_start(const struct remote_exec *a)
{
    /* What a DVM's launcher has not accepted yet must fit into its socket (io/rendezvous.h). */
    if (a->c.spec.kind == AGENT_DVM && a->climbing >= LIMIT_AGENT_AT_ONCE)
        return false;
    return !list_empty(&a->queue) && start_window_allows(a->climbing);
}

/* A few per turn of the loop: daemons that are up already are served in between. */
static void start_more(void *arg)
{
    struct remote_exec *a = arg;

    for (unsigned n = 0; n < STARTS_A_TURN && may_start(a); n++) {
        struct agent_command *k = LIST_OF(list_first(&a->queue), struct agent_command, link);
        list_unlink(&k->link);
        list_append(&a->commands, &k->link);
        a->climbing++;
        /* A user who types needs more time. */
        deadline_set(&k->bound, (uint64_t)a->c.up_ms * (a->c.spec.kind == AGENT_MANUAL ? 30 : 1));
        begin(k);
    }
    if (may_start(a))
        timer_set(&a->kick, 0);
}

static void too_late(void *arg)
{
    struct agent_command *k = arg;
    struct agent_seen seen = { .status = -1,
                               .started = k->started,
                               .seconds = k->agent->c.up_ms / 1000,
                               .output = buf_slice(&k->output) };

    deadline_set(&k->bound, k->agent->c.up_ms); /* still counted: all_failed() settles it */
    if (k->nguests == 1)
        remote_command_signal(&k->process, SIGKILL);
    all_failed(k, &seen, NULL);
}

/* ---- end of a command ---- */

static bool is_awaited(const struct agent_command *k)
{
    for (uint32_t i = 0; i < k->nguests; i++) {
        if (daemon_state_is_awaited(state_of(k->agent, k->guests[i])))
            return true;
    }
    return false;
}

/* If there is no such program, and its path was our guess, its bare name is tried: it may be where
 * the user's shell finds it. */
static bool try_bare_name(struct agent_command *k, const struct agent_seen *seen)
{
    const char *slash = strrchr(k->wireupd, '/');

    if (!agent_not_found(seen) || k->agent->c.spec.wireupd_given || !slash || !is_awaited(k))
        return false;
    k->wireupd = slash + 1;
    buf_clear(&k->output);
    begin(k);
    return true;
}

static bool try_again_later(struct agent_command *k, const struct agent_seen *seen)
{
    if (!agent_refused(seen) || k->refusals == LIMIT_AGENT_RETRIES || !is_awaited(k))
        return false;
    timer_set(&k->again, retry_delay_ms(k));
    k->refusals++;
    buf_clear(&k->output);
    return true;
}

static void try_again(void *arg)
{
    struct agent_command *k = arg;

    if (is_awaited(k))
        begin(k);
}

static void command_ended(struct agent_command *k, int status)
{
    struct agent_seen seen = { .status = status };

    k->status = status;
    remote_command_ended(&k->process);
    if (settled(k))
        return;
    seen.started = k->started;
    seen.output = buf_slice(&k->output);
    if (!try_again_later(k, &seen) && !try_bare_name(k, &seen))
        all_failed(k, &seen, NULL);
}

bool remote_exec_reaped(struct remote_exec *a, pid_t pid, int status)
{
    LIST_EACH(link, &a->commands)
    {
        struct agent_command *k = LIST_OF(link, struct agent_command, link);
        if (k->process.pid == pid) {
            command_ended(k, status);
            return true;
        }
    }
    return false;
}

void remote_exec_up(struct remote_exec *a, uint32_t position)
{
    struct guest *g = find_guest(a, position);

    if (!g || happen(g, DAEMON_EVENT_LINK) != DAEMON_ACTION_count_up)
        return;
    g->up_ns = clock_now_ns();
    g->command->waiting--;
    check_settled(g->command);
}

bool remote_exec_times(const struct remote_exec *a, uint32_t at, struct remote_exec_times *t)
{
    const struct guest *g = at < a->nguests ? a->guests[at] : NULL;

    if (g)
        *t = (struct remote_exec_times){ g->node.position, g->command->asked_ns, g->runs_ns,
                                         g->up_ns };
    return g != NULL;
}

const char *remote_exec_how(const struct remote_exec *a)
{
    return a->program;
}

bool remote_exec_waits(const struct remote_exec *a, uint32_t position)
{
    const struct guest *g = find_guest(a, position);

    return g && daemon_state_is_awaited(state_of(a, g));
}

bool remote_exec_how_ended(const struct remote_exec *a, uint32_t position, struct errmsg *how)
{
    const struct guest *g = find_guest(a, position);
    int status = g ? g->command->status : -1;

    if (g && g->command->last_word)
        return errmsg_set(how, 0, "%s", g->command->last_word) == 0;
    if (status < 0)
        return false;
    if (WIFSIGNALED(status))
        errmsg_set(how, 0, "%s was killed by SIG%s", agent_kind_name(a->c.spec.kind),
                   sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        errmsg_set(how, 0, "%s ended with status %d", agent_kind_name(a->c.spec.kind),
                   WEXITSTATUS(status));
    return true;
}

/* ---- creation ---- */

/* Makes srun of all versions run our step beside others; its options differ between versions. */
static const char *const for_srun[] = { "SLURM_OVERLAP=1", "SLURM_MEM_BIND=none" };

static int make_env(struct remote_exec *a)
{
    size_t n = 0, extra = a->c.spec.kind == AGENT_SLURM ? sizeof for_srun / sizeof *for_srun : 0;

    while (a->c.envp[n])
        n++;
    a->env = arena_array(&a->arena, n + extra + 1, sizeof *a->env);
    if (!a->env)
        return -ENOMEM;
    memcpy(a->env, a->c.envp, n * sizeof *a->env);
    for (size_t i = 0; i < extra; i++)
        a->env[n + i] = (char *)(uintptr_t)for_srun[i];
    a->env[n + extra] = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!strncmp(a->env[i], "PATH=", 5))
            a->path = a->env[i] + 5;
    }
    return 0;
}

struct remote_exec *remote_exec_new(const struct remote_exec_config *c, struct errmsg *err)
{
    struct remote_exec *a = calloc(1, sizeof *a);

    if (!a) {
        errmsg_set(err, 0, "out of memory");
        return NULL;
    }
    a->c = *c;
    if (!a->c.up_ms)
        a->c.up_ms = LIMIT_AGENT_UP_MS;
    agent_program(&c->spec, c->spec.wireupd, a->program, sizeof a->program);
    arena_init(&a->arena, LIMIT_MAP_MEMORY);
    timer_init(&a->kick, c->loop, start_more, a);
    list_init(&a->queue);
    list_init(&a->commands);
    if (make_env(a) < 0) {
        errmsg_set(err, 0, "out of memory");
        remote_exec_free(a);
        return NULL;
    }
    return a;
}

static struct guest *add_guest(struct remote_exec *a, const struct bootstrap_node *node)
{
    struct guest *g = arena_alloc(&a->arena, sizeof *g);

    if (a->nguests == a->room) {
        uint32_t room = a->room ? a->room * 2 : 64;
        struct guest **more = realloc(a->guests, room * sizeof(struct guest *));
        if (!more)
            return NULL;
        a->guests = more;
        a->room = room;
    }
    if (!g)
        return NULL;
    g->node.position = node->position;
    g->node.port = node->port;
    g->node.name = arena_str(&a->arena, slice_str(node->name));
    if (node->user)
        g->node.user = arena_str(&a->arena, slice_str(node->user));
    if (!arena_ok(&a->arena))
        return NULL;
    a->guests[a->nguests++] = g;
    return g;
}

static struct agent_command *add_command(struct remote_exec *a, struct guest **guests, uint32_t n)
{
    struct agent_command *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->agent = a;
    k->guests = arena_array(&a->arena, n, sizeof(struct guest *));
    if (!k->guests) {
        free(k);
        return NULL;
    }
    memcpy(k->guests, guests, n * sizeof *guests);
    k->nguests = k->waiting = n;
    k->wireupd = a->c.spec.wireupd;
    k->status = -1;
    remote_command_init(&k->process, a->c.loop, take_line, k);
    buf_init(&k->output, LIMIT_AGENT_OUTPUT + 1);
    deadline_init(&k->bound, a->c.loop, too_late, k);
    timer_init(&k->again, a->c.loop, try_again, k);
    for (uint32_t i = 0; i < n; i++)
        guests[i]->command = k;
    list_append(&a->queue, &k->link);
    return k;
}

/* A trial command line, so that an invalid node name is refused before anything runs. */
static int check_all(struct remote_exec *a, const struct bootstrap_node *nodes, uint32_t n,
                     struct errmsg *err)
{
    struct arena scratch = ARENA_NULL(LIMIT_MAP_MEMORY);
    bool all = agent_at_once(a->c.spec.kind);
    char **argv;
    int rc = 0;

    for (uint32_t i = 0; i < (all ? 1 : n) && rc == 0; i++) {
        rc = agent_argv(&a->c.spec, nodes + i, all ? n : 1, a->c.spec.wireupd, NULL, &scratch,
                        &argv, err);
        arena_free(&scratch);
    }
    return rc;
}

int remote_exec_start(struct remote_exec *a, const struct bootstrap_node *nodes, uint32_t n,
                      struct errmsg *err)
{
    uint32_t first = a->nguests;
    bool all = agent_at_once(a->c.spec.kind), good = true;
    int rc = n ? check_all(a, nodes, n, err) : 0;

    if (rc || n == 0)
        return rc < 0 ? errmsg_set(err, rc, "%s", err_text(rc)) : rc;
    for (uint32_t i = 0; i < n && good; i++)
        good = add_guest(a, &nodes[i]) && (all || add_command(a, a->guests + first + i, 1));
    if (good && all)
        good = add_command(a, a->guests + first, n) != NULL;
    if (!good)
        return errmsg_set(err, -ENOMEM, "out of memory");
    return timer_set(&a->kick, 0);
}

/* ---- destruction ---- */

static void command_free(struct agent_command *k)
{
    list_unlink(&k->link);
    deadline_stop(&k->bound);
    timer_stop(&k->again);
    remote_command_free(&k->process);
    buf_free(&k->output);
    free(k->last_word);
    free(k);
}

void remote_exec_end(struct remote_exec *a)
{
    timer_stop(&a->kick);
    for (uint32_t i = 0; i < a->nguests; i++)
        happen(a->guests[i], DAEMON_EVENT_STOP);
    while (!list_empty(&a->queue)) { /* they will not be run */
        struct list *link = list_first(&a->queue);
        list_unlink(link);
        list_append(&a->commands, link);
    }
    LIST_EACH(link, &a->commands)
    remote_command_close_in(&LIST_OF(link, struct agent_command, link)->process);
}

void remote_exec_stop(struct remote_exec *a)
{
    remote_exec_end(a);
    LIST_EACH(link, &a->commands)
    {
        struct agent_command *k = LIST_OF(link, struct agent_command, link);
        if (!settled(k))
            remote_command_signal(&k->process, SIGTERM);
    }
}

bool remote_exec_idle(const struct remote_exec *a)
{
    LIST_EACH(link, &a->commands)
    {
        if (remote_command_runs(&LIST_OF(link, struct agent_command, link)->process))
            return false;
    }
    return list_empty(&a->queue);
}

void remote_exec_free(struct remote_exec *a)
{
    if (!a)
        return;
    timer_stop(&a->kick);
    LIST_EACH(link, &a->queue)
    command_free(LIST_OF(link, struct agent_command, link));
    LIST_EACH(link, &a->commands)
    command_free(LIST_OF(link, struct agent_command, link));
    free(a->guests);
    arena_free(&a->arena);
    free(a);
}

void remote_exec_progress(const struct remote_exec *a, struct remote_exec_progress *p)
{
    *p = (struct remote_exec_progress){ .all = a->nguests };
    for (uint32_t i = 0; i < a->nguests; i++) {
        const struct guest *g = a->guests[i];
        enum daemon_state state = state_of(a, g);
        p->up += state == DAEMON_STATE_LINKED || state == DAEMON_STATE_SERVING;
        p->failed += state == DAEMON_STATE_FAILED;
        if (daemon_state_is_awaited(state) && (!p->slowest || g->command->since_ns < p->since_ns)) {
            p->slowest = g->node.name;
            p->at = state == DAEMON_STATE_ASKED ? a->program : "its link";
            p->since_ns = g->command->since_ns;
        }
    }
}

void remote_exec_find_wireupd(char path[PATH_MAX])
{
    static const char *const places[] = { "/wireupd", "/../daemon/wireupd" };
    char place[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", place, PATH_MAX - 1);
    char *slash = n > 0 ? memrchr(place, '/', (size_t)n) : NULL;

    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        strcpy(slash, places[i]);
        if (access(place, X_OK) == 0 && realpath(place, path))
            return;
    }
    strcpy(path, "wireupd");
}
