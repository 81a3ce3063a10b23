/* remote_exec.c - see remote_exec.h. */
#include "daemon/remote_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/list.h"
#include "io/child.h"
#include "io/create.h"
#include "io/write_all.h"
#include "daemon/path_search.h"

enum { LINE_MAX_BYTES = 8192, READ_STEP = 4096, STARTS_A_TURN = 2 };

/* One daemon to start. */
struct guest {
    struct bootstrap_node node;
    struct command *command;
    uint64_t runs_ns, up_ns; /* 0: not known */
};

/* One of the two streams of a command. */
struct stream {
    struct command *command;
    int fd;       /* -1: closed */
    bool answers; /* standard output: the daemon's answers arrive here */
    struct watch watch;
    struct buf line;
};

struct command {
    struct list link; /* in the queue, or among the running commands */
    struct remote_exec *agent;
    struct guest **guests;
    uint32_t nguests, waiting;   /* daemons of this command, neither up nor failed */
    const char *wireupd;         /* the program that the command runs there */
    pid_t pid;                   /* 0: not running */
    int status;                  /* once it has ended; -1 before */
    char *last_word;             /* what its daemon reported as wrong after it was up, or NULL */
    bool started;                /* one of its daemons has reported that it runs */
    uint64_t since_ns, asked_ns; /* its start, and its first start */
    struct buf record;
    int in; /* -1: closed */
    struct watch feed;
    struct stream out, err;
    struct buf said;
    struct timer bound;
    char *file; /* the record's file, or NULL */
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

static bool settled(const struct command *k)
{
    return k->waiting == 0;
}

/* When this command is no longer awaited, the next one may run. */
static void check_settled(struct command *k)
{
    if (!settled(k) || !k->bound.set)
        return;
    timer_stop(&k->bound);
    if (k->file)
        unlink(k->file);
    k->agent->climbing--;
    timer_set(&k->agent->kick, 0);
}

/* ---- output of a command ---- */

static const char *speaker(const struct command *k)
{
    return k->nguests == 1 ? k->guests[0]->node.name : agent_kind_name(k->agent->c.spec.kind);
}

static void keep_said(struct command *k, struct slice line)
{
    line = slice_head(line, LIMIT_AGENT_OUTPUT / 2);
    while (buf_len(&k->said) + line.len + 1 > LIMIT_AGENT_OUTPUT) {
        struct slice s = buf_slice(&k->said);
        buf_take(&k->said, slice_find(s, '\n') + 1);
    }
    buf_slice_put(&k->said, line);
    buf_byte(&k->said, '\n');
}

static void remark(struct command *k, const char *who, struct slice line)
{
    struct remote_exec *a = k->agent;

    if (line.len)
        a->c.calls.on_remark(a->c.arg, who, line);
}

static struct guest *guest_of(struct command *k, uint32_t position)
{
    return k->nguests == 1 ? k->guests[0] : find(k->guests, k->nguests, position);
}

/* The daemon's own error: why it does not come up, or what it said before its link broke. */
static void trouble(struct command *k, uint32_t position, struct slice text)
{
    struct remote_exec *a = k->agent;
    struct guest *g = guest_of(k, position);
    struct agent_seen seen = { .status = -1, .started = true, .trouble = text };
    struct errmsg why;

    if (!g) {
        keep_said(k, text);
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
static void note_started(struct command *k, uint32_t position)
{
    struct guest *g = guest_of(k, position);

    k->started = true;
    if (g && happen(g, DAEMON_EVENT_REPORT) == DAEMON_ACTION_note_start)
        g->runs_ns = clock_now_ns();
}

static void take_line(struct stream *s, struct slice line)
{
    struct command *k = s->command;
    uint32_t position = BOOTSTRAP_BY_NAME;
    struct slice text = SLICE_NULL;
    struct guest *g;

    switch (s->answers ? bootstrap_answer_read(line, &position, &text) : BOOTSTRAP_NOISE) {
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
        keep_said(k, line);
        break;
    }
}

static void take_lines(struct stream *s)
{
    for (;;) {
        struct slice all = buf_slice(&s->line);
        size_t n = slice_find(all, '\n');
        if (n == all.len && n < LINE_MAX_BYTES / 2)
            return;
        take_line(s, slice_head(all, n));
        buf_take(&s->line, n + 1);
    }
}

static void stream_close(struct stream *s)
{
    if (s->fd < 0)
        return;
    watch_close(&s->watch);
    close(s->fd);
    s->fd = -1;
    if (buf_len(&s->line))
        take_line(s, buf_slice(&s->line));
    buf_free(&s->line);
}

/* False: nothing to read now, or EOF. */
static bool stream_read(struct stream *s)
{
    char *to = s->fd >= 0 ? buf_room(&s->line, READ_STEP) : NULL;
    ssize_t n = to ? read(s->fd, to, READ_STEP) : 0;

    if (n > 0) {
        buf_commit(&s->line, (size_t)n);
        take_lines(s);
        return true;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n == 0 || errno != EAGAIN)
        stream_close(s);
    return false;
}

static void stream_readable(void *arg)
{
    stream_read(arg);
}

static int stream_open(struct stream *s, struct command *k, int fd, bool answers)
{
    s->command = k;
    s->fd = fd;
    s->answers = answers;
    buf_init(&s->line, LINE_MAX_BYTES);
    watch_open(&s->watch, k->agent->c.loop, fd, stream_readable, NULL, s);
    return watch_want(&s->watch, LOOP_READ);
}

/* ---- the record ---- */

static void close_in(struct command *k)
{
    if (k->in < 0)
        return;
    watch_close(&k->feed);
    close(k->in);
    k->in = -1;
}

static void feed(void *arg)
{
    struct command *k = arg;
    struct slice s = buf_slice(&k->record);
    ssize_t n = s.len ? write(k->in, s.ptr, s.len) : 0;

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close_in(k); /* the reason is reported at its end */
        return;
    }
    if (n > 0) {
        explicit_bzero(k->record.mem + k->record.start, (size_t)n);
        buf_take(&k->record, (size_t)n);
    }
    if (buf_len(&k->record) == 0) {
        watch_want(&k->feed, 0); /* it stays open as long as we live */
        buf_free(&k->record);
    }
}

/* A file in our home that only we may read, for commands without standard input. */
static int write_file(struct command *k, struct errmsg *err)
{
    const char *home = getenv("HOME");
    uint64_t r = 0;
    struct slice s = buf_slice(&k->record);
    int fd, rc;

    if (!home || home[0] != '/')
        return errmsg_set(err, -ENOENT,
                          "HOME is not set; the records of daemons are written there");
    if (getrandom(&r, sizeof r, 0) != sizeof r || asprintf(&k->file, "%s/.wireup", home) < 0)
        return -ENOMEM;
    rc = create_private(k->file);
    if (rc < 0)
        rc = errmsg_set(
            err, rc, "%s must be a directory of yours that nobody else may enter (mode 0700): %s",
            k->file, err_text(rc));
    free(k->file);
    k->file = NULL;
    if (rc < 0)
        return rc;
    if (asprintf(&k->file, "%s/.wireup/record-%016llx", home, (unsigned long long)r) < 0) {
        k->file = NULL;
        return -ENOMEM;
    }
    fd = create_new(k->file);
    rc = fd < 0 ? fd : write_all_slice(fd, s);
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot write %s: %s", k->file, err_text(rc));
    buf_free(&k->record);
    return 0;
}

static void drop_file(struct command *k)
{
    if (k->file)
        unlink(k->file);
    free(k->file);
    k->file = NULL;
}

static int make_record(struct command *k, struct errmsg *err)
{
    struct remote_exec *a = k->agent;
    bool all = agent_at_once(a->c.spec.kind);
    int rc;

    drop_file(k);
    buf_free(&k->record);
    buf_init_secret(&k->record, LIMIT_BOOTSTRAP_RECORD);
    rc = a->c.calls.record(a->c.arg, all ? BOOTSTRAP_BY_NAME : k->guests[0]->node.position,
                           &k->record);
    if (rc < 0 || !buf_ok(&k->record))
        return errmsg_set(err, rc < 0 ? rc : -ENOMEM, "cannot make the daemon's record: %s",
                          err_text(rc < 0 ? rc : -ENOMEM));
    return agent_needs_file(a->c.spec.kind) ? write_file(k, err) : 0;
}

/* ---- running ---- */

static void close_pair(int *ends)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

static bool open_pair(int *ends, int ours)
{
    if (pipe2(ends, O_CLOEXEC) < 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    return fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0;
}

/* The child's descriptors must not be below 3 (child.h); our 0 to 2 are always open. */
static int run(struct command *k, char **argv, struct errmsg *err)
{
    struct remote_exec *a = k->agent;
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errs[2] = { -1, -1 };
    struct child_fd fds[3];
    struct child_plan plan = { .argv = argv, .env = a->env, .fds = fds, .nfds = 3 };
    struct errmsg why = { "" };
    const char *path = NULL;
    int rc = path_search_program(&a->arena, argv[0], NULL, a->path, true, &path, &why);

    plan.path = path;
    if (rc == 0 && (!open_pair(in, 1) || !open_pair(out, 0) || !open_pair(errs, 0)))
        rc = errmsg_set(&why, -errno, "cannot make pipes: %s", err_text(errno));
    fds[0] = (struct child_fd){ in[0], 0 };
    fds[1] = (struct child_fd){ out[1], 1 };
    fds[2] = (struct child_fd){ errs[1], 2 };
    if (rc == 0)
        rc = child_start(&plan, &k->pid, &why);
    if (rc) {
        close_pair(in);
        close_pair(out);
        close_pair(errs);
        return errmsg_set(err, rc, "%s", why.text);
    }
    close(in[0]);
    close(out[1]);
    close(errs[1]);
    k->in = in[1];
    watch_open(&k->feed, a->c.loop, k->in, NULL, feed, k);
    rc = stream_open(&k->out, k, out[0], true);
    if (stream_open(&k->err, k, errs[0], false) < 0 || rc < 0)
        return errmsg_set(err, -ENOMEM, "out of memory");
    return buf_len(&k->record) ? watch_want(&k->feed, LOOP_WRITE) : 0;
}

static int start_command(struct command *k, struct errmsg *err)
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
    rc = agent_argv(&a->c.spec, nodes, k->nguests, k->wireupd, k->file, &a->arena, &argv, err);
    if (rc)
        return rc;
    if (a->c.spec.kind == AGENT_MANUAL) {
        char text[LINE_MAX_BYTES];
        snprintf(text, sizeof text, "to be run there: %s %s %s", argv[0], argv[1], argv[2]);
        remark(k, speaker(k), slice_str(text));
        return 0;
    }
    return run(k, argv, err);
}

/* Those that are awaited fail; the first stands for all. */
static struct guest *fail_awaited(struct command *k)
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

static void all_failed(struct command *k, const struct agent_seen *seen, const struct errmsg *given)
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

static void begin(struct command *k)
{
    struct errmsg err;

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
    return a->climbing < LIMIT_AGENT_AT_ONCE && !list_empty(&a->queue);
}

/* A few per turn of the loop: daemons that are up already are served in between. */
static void start_more(void *arg)
{
    struct remote_exec *a = arg;

    for (unsigned n = 0; n < STARTS_A_TURN && may_start(a); n++) {
        struct command *k = LIST_OF(list_first(&a->queue), struct command, link);
        list_unlink(&k->link);
        list_append(&a->commands, &k->link);
        a->climbing++;
        /* A user who types needs more time. */
        timer_set(&k->bound, (uint64_t)a->c.up_ms * (a->c.spec.kind == AGENT_MANUAL ? 30 : 1));
        begin(k);
    }
    if (may_start(a))
        timer_set(&a->kick, 0);
}

static void too_late(void *arg)
{
    struct command *k = arg;
    struct agent_seen seen = { .status = -1,
                               .started = k->started,
                               .seconds = k->agent->c.up_ms / 1000,
                               .said = buf_slice(&k->said) };

    timer_set(&k->bound, k->agent->c.up_ms); /* still counted: all_failed() settles it */
    if (k->pid && k->nguests == 1)
        kill(-k->pid, SIGKILL);
    all_failed(k, &seen, NULL);
}

/* ---- end of a command ---- */

static bool is_awaited(const struct command *k)
{
    for (uint32_t i = 0; i < k->nguests; i++) {
        if (daemon_state_is_awaited(state_of(k->agent, k->guests[i])))
            return true;
    }
    return false;
}

/* If there is no such program, and its path was our guess, its bare name is tried: it may be where
 * the user's shell finds it. */
static bool try_bare_name(struct command *k, const struct agent_seen *seen)
{
    const char *slash = strrchr(k->wireupd, '/');

    if (!agent_not_found(seen) || k->agent->c.spec.wireupd_said || !slash || !is_awaited(k))
        return false;
    k->wireupd = slash + 1;
    buf_clear(&k->said);
    begin(k);
    return true;
}

static void command_ended(struct command *k, int status)
{
    struct agent_seen seen = { .status = status };

    k->pid = 0;
    k->status = status;
    close_in(k);
    while (stream_read(&k->out))
        continue;
    while (stream_read(&k->err))
        continue;
    stream_close(&k->out);
    stream_close(&k->err);
    if (settled(k))
        return;
    seen.started = k->started;
    seen.said = buf_slice(&k->said);
    if (!try_bare_name(k, &seen))
        all_failed(k, &seen, NULL);
}

bool remote_exec_reaped(struct remote_exec *a, pid_t pid, int status)
{
    LIST_EACH(link, &a->commands)
    {
        struct command *k = LIST_OF(link, struct command, link);
        if (k->pid == pid) {
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

bool remote_exec_settled(const struct remote_exec *a)
{
    for (uint32_t i = 0; i < a->nguests; i++) {
        enum daemon_state state = state_of(a, a->guests[i]);
        if (state == DAEMON_STATE_PLANNED || daemon_state_is_awaited(state))
            return false;
    }
    return true;
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

static struct command *add_command(struct remote_exec *a, struct guest **guests, uint32_t n)
{
    struct command *k = calloc(1, sizeof *k);

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
    k->in = k->out.fd = k->err.fd = -1;
    buf_init(&k->said, LIMIT_AGENT_OUTPUT + 1);
    timer_init(&k->bound, a->c.loop, too_late, k);
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

static void command_free(struct command *k)
{
    list_unlink(&k->link);
    timer_stop(&k->bound);
    close_in(k);
    for (int i = 0; i < 2; i++) {
        struct stream *s = i ? &k->err : &k->out;
        watch_close(&s->watch);
        if (s->fd >= 0)
            close(s->fd);
        buf_free(&s->line);
    }
    if (k->pid) {
        kill(-k->pid, SIGKILL);
        while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    drop_file(k);
    buf_free(&k->record);
    buf_free(&k->said);
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
    close_in(LIST_OF(link, struct command, link));
}

void remote_exec_stop(struct remote_exec *a)
{
    remote_exec_end(a);
    LIST_EACH(link, &a->commands)
    {
        struct command *k = LIST_OF(link, struct command, link);
        if (k->pid && !settled(k))
            kill(-k->pid, SIGTERM);
    }
}

bool remote_exec_idle(const struct remote_exec *a)
{
    LIST_EACH(link, &a->commands)
    {
        if (LIST_OF(link, struct command, link)->pid)
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
    command_free(LIST_OF(link, struct command, link));
    LIST_EACH(link, &a->commands)
    command_free(LIST_OF(link, struct command, link));
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

void remote_exec_find_wireupd(char *path, size_t room)
{
    static const char *const places[] = { "/wireupd", "/../daemon/wireupd" };
    char self[PATH_MAX], place[PATH_MAX + 32], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    snprintf(path, room, "wireupd");
    if (n <= 0)
        return;
    self[n] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(place, sizeof place, "%s%s", self, places[i]);
        if (access(place, X_OK) == 0 && realpath(place, real) && strlen(real) < room) {
            snprintf(path, room, "%s", real);
            return;
        }
    }
}
