/* attach.c - see attach.h.  Reading order: the processes, as their launcher names them; commands;
 * printing; panes; side by side. */
#include "launch/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "core/rank_ranges.h"
#include "daemon/launch_methods.h"
#include "io/child.h"
#include "io/write_all.h"
#include "launch/job_list.h"
#include "launch/panes.h"
#include "launch/queries.h"

extern char **environ;

enum { ATTACH_ANSWER = 64 << 20, ATTACH_MOST = 64, ATTACH_LINE = 64 << 10 };

/* A process, and the command that debugs it. */
struct attached {
    uint32_t rank;
    int pid;
    const char *node, *reach; /* agent_reach(); "!SENTENCE": it cannot be reached */
    const char *command;      /* for a shell on this machine */
    pid_t child;              /* side by side; 0: it does not run */
    int fd;                   /* ... what it prints; -1: closed */
    struct buf line;
};

struct attach {
    const struct command_line *line;
    struct arena arena;
    struct job_list jobs;
    const struct listed_job *job;
    struct attached *all;
    uint32_t n;
};

/* ---- processes ---- */

static bool wanted(const char *ranks, uint32_t rank)
{
    struct slice list = slice_str(ranks);
    uint32_t first, last;

    while (ranks && list.len && rank_range_cut(&list, &first, &last)) {
        if (rank >= first && rank <= last)
            return true;
    }
    return !ranks;
}

static bool is_list(const char *ranks)
{
    struct slice list = slice_str(ranks);
    uint32_t first, last;

    if (list.len == 0)
        return false;
    while (list.len) {
        if (!rank_range_cut(&list, &first, &last))
            return false;
    }
    return true;
}

/* `RANK PID NODE`, a tab, and how it is reached. */
static bool read_process(struct attach *t, struct slice line, struct attached *p)
{
    struct slice words = slice_cut(&line, '\t');

    *p = (struct attached){ .fd = -1 };
    if (!slice_u32(slice_cut(&words, ' '), &p->rank) ||
        !slice_int(slice_cut(&words, ' '), &p->pid) || p->pid <= 0 || words.len == 0)
        return false;
    p->node = arena_str(&t->arena, words);
    p->reach = arena_str(&t->arena, line);
    return p->node && p->reach;
}

static uint32_t count_lines(struct slice text)
{
    uint32_t n = 0;

    for (; text.len; n++)
        slice_cut(&text, '\n');
    return n;
}

static int take_processes(struct attach *t, struct slice text, const char *ranks)
{
    t->all = arena_array(&t->arena, count_lines(text) + (size_t)1, sizeof *t->all);
    while (t->all && text.len) {
        struct slice line = slice_cut(&text, '\n');
        if (!read_process(t, line, &t->all[t->n]))
            continue;
        if (wanted(ranks, t->all[t->n].rank))
            t->n++;
    }
    return t->all && arena_ok(&t->arena) ? 0 : -ENOMEM;
}

static int ask_launcher(struct attach *t, const char *ranks)
{
    struct buf question = BUF_NULL(64), answer = BUF_NULL(ATTACH_ANSWER);
    int rc;

    buf_printf(&question, "ranks %u\n", t->job->row.job);
    rc = queries_launcher(&t->job->launcher->where, buf_slice(&question), &answer);
    if (rc == 0)
        rc = take_processes(t, buf_slice(&answer), ranks);
    if (rc < 0)
        log_error(t->line->log, "the launcher of job %s does not answer: %s", t->job->id,
                  err_text(rc));
    buf_free(&question);
    buf_free(&answer);
    return rc;
}

/* ---- commands ---- */

/* Processes that wait at their first instruction wait in a stop, which gdb would show again when it
 * is told to continue. */
static const char *for_stopped(struct attach *t, const char *debugger)
{
    size_t n = strcspn(debugger, " \t");
    bool is_gdb =
        n >= 3 && !strncmp(debugger + n - 3, "gdb", 3) && (n == 3 || debugger[n - 4] == '/');

    if (!is_gdb || !t->line->choices[CHOICE_attach_apart])
        return debugger;
    return arena_printf(&t->arena,
                        "%.*s -iex 'pipe handle SIGSTOP nostop noprint nopass | cat >/dev/null'%s",
                        (int)n, debugger, debugger + n);
}

/* %p, %r, %h, %%; without %p the process is added. */
static const char *expand(struct attach *t, const char *text, const struct attached *p)
{
    struct buf out = BUF_NULL(ATTACH_LINE);
    bool named = false;
    const char *made;

    for (; *text; text++) {
        char c = *text == '%' ? text[1] : '\0';
        if (c == 'p')
            buf_printf(&out, "%d", p->pid);
        else if (c == 'r')
            buf_printf(&out, "%u", p->rank);
        else if (c == 'h')
            buf_str(&out, p->node);
        else
            buf_byte(&out, *text);
        named = named || c == 'p';
        text += c == 'p' || c == 'r' || c == 'h' || c == '%';
    }
    if (!named)
        buf_printf(&out, " -p %d", p->pid);
    made = buf_ok(&out) ? arena_str(&t->arena, buf_slice(&out)) : NULL;
    buf_free(&out);
    return made;
}

/* 0; 1: a node cannot be reached, which is reported. */
static int make_commands(struct attach *t, const char *debugger)
{
    debugger = for_stopped(t, debugger);
    for (uint32_t i = 0; debugger && i < t->n; i++) {
        struct attached *p = &t->all[i];
        const char *there = expand(t, debugger, p), *word;
        if (p->reach[0] == '!') {
            log_error(t->line->log, "%s", p->reach + 1);
            return 1;
        }
        word = there && *p->reach ? agent_word(&t->arena, there) : NULL;
        p->command = word ? arena_printf(&t->arena, "%s %s", p->reach, word) : there;
    }
    if (arena_ok(&t->arena))
        return 0;
    log_error(t->line->log, "attach: out of memory");
    return 1;
}

/* ---- printing ---- */

static void put_json(const struct attach *t, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-attach-1");
    json_str(&j, "job", t->job->id);
    json_array(&j, "debuggers");
    for (uint32_t i = 0; i < t->n; i++) {
        json_object(&j, NULL);
        json_u64(&j, "rank", t->all[i].rank);
        json_str(&j, "node", t->all[i].node);
        json_i64(&j, "pid", t->all[i].pid);
        json_str(&j, "command", t->all[i].command);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

static int print(const struct attach *t, bool json)
{
    struct buf out = BUF_NULL(ATTACH_ANSWER);
    int rc;

    if (json)
        put_json(t, &out);
    for (uint32_t i = 0; i < t->n && !json; i++)
        buf_printf(&out, "%u\t%s\t%d\t%s\n", t->all[i].rank, t->all[i].node, t->all[i].pid,
                   t->all[i].command);
    rc = buf_ok(&out) ? write_all_slice(STDOUT_FILENO, buf_slice(&out)) : -ENOMEM;
    buf_free(&out);
    return rc < 0;
}

/* ---- panes ---- */

static void wait_for_end(void)
{
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigwait(&set, &sig);
}

/* Of a launcher that goes on: until it says that the job is over. */
static void announce(struct attach *t, const struct panes *p)
{
    const char *how = panes_how(p);

    if (!how)
        return;
    log_error(t->line->log, "the debuggers of job %s are in tmux; look at them with: %s",
              t->job->id, how);
    wait_for_end();
    panes_end(p);
}

static int in_panes(struct attach *t, struct panes *p)
{
    bool apart = t->line->choices[CHOICE_attach_apart] != NULL;
    struct errmsg err;
    int rc = 0;

    for (uint32_t i = 0; i < t->n && rc == 0; i++) {
        const struct attached *a = &t->all[i];
        const char *title = arena_printf(&t->arena, "rank %u on %s", a->rank, a->node);
        rc = title ? panes_add(p, title, a->command, &err) : errmsg_set(&err, 1, "out of memory");
    }
    if (rc) {
        panes_end(p);
        log_error(t->line->log, "attach: %s", err.text);
        return rc;
    }
    if (apart)
        announce(t, p);
    else
        panes_show(p);
    return 0;
}

/* ---- side by side ---- */

/* False: it is reported. */
static bool begin(struct attach *t, struct attached *p, int null)
{
    const char *argv[] = { "/bin/sh", "-c", p->command, NULL };
    struct child_fd fds[3] = { { null, 0 } };
    struct child_plan plan = { .path = argv[0], .env = environ, .fds = fds, .nfds = 3 };
    struct errmsg err = { "" };
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        log_error(t->line->log, "attach: %s", err_text(errno));
        return false;
    }
    fds[1] = (struct child_fd){ ends[1], 1 };
    fds[2] = (struct child_fd){ ends[1], 2 };
    plan.argv = (char *const *)(uintptr_t)argv;
    buf_init(&p->line, ATTACH_LINE);
    rc = child_start(&plan, &p->child, &err);
    close(ends[1]);
    if (rc < 0) {
        log_error(t->line->log, "attach: %s", err.text);
        close(ends[0]);
        return false;
    }
    p->fd = ends[0];
    return true;
}

/* Whole lines, or what there is at the end or is too long. */
static void print_lines(struct attached *p, bool all)
{
    for (;;) {
        struct slice text = buf_slice(&p->line);
        size_t n = slice_find(text, '\n');
        struct buf out = BUF_NULL(2 * ATTACH_LINE);
        if (n == text.len && (!text.len || (!all && text.len < ATTACH_LINE / 2)))
            return;
        buf_printf(&out, "[%u] " SLICE_FMT "\n", p->rank, SLICE_ARG(slice_head(text, n)));
        write_all_slice(STDOUT_FILENO, buf_slice(&out));
        buf_free(&out);
        buf_take(&p->line, n < text.len ? n + 1 : n);
    }
}

static void receive(struct attached *p)
{
    char *room = buf_room(&p->line, 4096);
    ssize_t n = room ? read(p->fd, room, 4096) : 0;

    if (n < 0 && errno == EINTR)
        return;
    if (n > 0)
        buf_commit(&p->line, (size_t)n);
    print_lines(p, n <= 0);
    if (n > 0)
        return;
    close(p->fd);
    p->fd = -1;
    buf_free(&p->line);
}

static void receive_all(struct attach *t)
{
    struct pollfd p[ATTACH_MOST];
    uint32_t open;

    do {
        open = 0;
        for (uint32_t i = 0; i < t->n; i++) {
            p[i] = (struct pollfd){ .fd = t->all[i].fd, .events = POLLIN };
            open += t->all[i].fd >= 0;
        }
        if (!open || poll(p, t->n, -1) < 0)
            continue;
        for (uint32_t i = 0; i < t->n; i++) {
            if (p[i].fd >= 0 && p[i].revents)
                receive(&t->all[i]);
        }
    } while (open);
}

static int code_of(const struct attached *p)
{
    int status = 1 << 8;

    while (p->child && waitpid(p->child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Of a launcher that goes on: they end with their processes. */
static int side_by_side(struct attach *t)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), code = 0;

    if (null >= 0 && null < 3)
        null = fcntl(null, F_DUPFD_CLOEXEC, 3);
    for (uint32_t i = 0; i < t->n; i++) {
        if (null < 0 || !begin(t, &t->all[i], null))
            code = 1;
    }
    receive_all(t);
    for (uint32_t i = 0; i < t->n; i++) {
        int one = code_of(&t->all[i]);
        code = one > code ? one : code;
    }
    close(null);
    return code;
}

/* ---- the command ---- */

static int alone(const struct attach *t)
{
    execl("/bin/sh", "sh", "-c", t->all[0].command, (char *)NULL);
    log_error(t->line->log, "attach: /bin/sh: %s", err_text(errno));
    return 1;
}

static int debug(struct attach *t)
{
    bool apart = t->line->choices[CHOICE_attach_apart] != NULL, json;
    bool terminal = isatty(STDERR_FILENO) && (apart || isatty(STDIN_FILENO));
    struct panes panes;

    json = t->line->choices[CHOICE_attach_json] != NULL;
    if (json || t->line->choices[CHOICE_attach_print])
        return print(t, json);
    if (t->n > ATTACH_MOST) {
        log_error(t->line->log,
                  "attach: %u debuggers are more than %d; name ranks, such as: wireup attach %s "
                  "0,2-5",
                  t->n, ATTACH_MOST, t->job->id);
        return 2;
    }
    if (t->n == 1 && !apart)
        return alone(t);
    if (terminal && panes_open(&panes, &t->arena, t->job->name))
        return in_panes(t, &panes);
    return side_by_side(t);
}

static int attach(struct attach *t, const char *ranks)
{
    const char *debugger = t->line->choices[CHOICE_attach_debugger];
    struct errmsg err;

    t->job = job_list_find(&t->jobs, t->line->operands[0], t->line->log, &err);
    if (!t->job) {
        log_error(t->line->log, "%s", err.text);
        return 1;
    }
    if (t->job->is_none || ask_launcher(t, ranks) < 0 || t->n == 0) {
        log_error(t->line->log, "job %s has no process%s%s that runs", t->job->id,
                  ranks ? " of ranks " : "", ranks ? ranks : "");
        return 1;
    }
    if (make_commands(t, debugger && *debugger ? debugger : "gdb") != 0)
        return 1;
    return debug(t);
}

int attach_command(const struct command_line *l)
{
    struct attach t = { .line = l };
    const char *ranks = l->operands[1];
    int code;

    if (ranks && !is_list(ranks)) {
        log_error(l->log, "attach: RANKS must be ranks such as 0,2-5, not '%s'", ranks);
        return 2;
    }
    if (l->choices[CHOICE_attach_apart]) { /* before anybody can send it */
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    arena_init(&t.arena, (size_t)256 << 20);
    code = attach(&t, ranks);
    job_list_free(&t.jobs);
    arena_free(&t.arena);
    return code;
}
