/* stacks.c - see stacks.h.  Reading order: the output of the tools; processes; tools; rounds. */
#include "daemon/stacks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limit.h"
#include "core/core.h"
#include "daemon/node_context.h"
#include "daemon/path_search.h"
#include "io/child.h"
#include "io/look.h"
#include "io/loop.h"
#include "report/stack_tree.h"
#include "report/who.h"
#include "wire/parts.h"

enum {
    STACK_OUTPUT_MAX = 1 << 20, /* of one tool */
    STACK_TEXT_MAX = 16 << 10,  /* of one stack */
    STACK_TOOLS_MAX = 64        /* at a time */
};

/* ---- the output of the tools ---- */

/* The file's name, from its path, without the numbers of its version. */
static struct slice library_of(struct slice path)
{
    size_t slash = 0, end;

    if (slice_starts(path, SLICE("[vdso")))
        return SLICE("vdso");
    for (size_t i = 0; i < path.len; i++)
        slash = path.ptr[i] == '/' ? i + 1 : slash;
    path = slice_skip(path, slash);
    for (end = 0; end < path.len; end++) {
        if (slice_starts(slice_skip(path, end), SLICE(".so")))
            return slice_head(path, end + 3);
    }
    return SLICE_NULL; /* the program itself, or the kernel's page */
}

static void put_line(struct slice name, struct slice library, struct buf *out)
{
    size_t version = slice_find(name, '@');

    name = slice_head(name, version);
    if (slice_is(name, "??"))
        name = SLICE_NULL;
    if (name.len == 0 && library.len == 0)
        name = SLICE("?");
    buf_slice_put(out, name);
    if (library.len) {
        buf_byte(out, '@');
        buf_slice_put(out, library);
    }
    buf_byte(out, '\n');
}

static bool is_address(struct slice s)
{
    return slice_starts(s, SLICE("0x"));
}

/* The words up to `end`, which is cut off with what follows; the whole rest if it is not there. */
static struct slice cut_before(struct slice *rest, const char *end)
{
    size_t n = strlen(end);

    for (size_t i = 0; i + n <= rest->len; i++) {
        if (!memcmp(rest->ptr + i, end, n)) {
            struct slice head = slice_head(*rest, i);
            *rest = slice_skip(*rest, i + n);
            return head;
        }
    }
    end = rest->ptr ? rest->ptr + rest->len : NULL;
    rest->len = 0;
    return (struct slice){ rest->ptr, (size_t)(end - rest->ptr) };
}

/* gdb: `0xADDRESS in NAME (ARGUMENTS) from LIBRARY`, `NAME (ARGUMENTS) at FILE:LINE`; eu-stack:
 * `0xADDRESS NAME - MODULE`, without ` NAME` if it is not known. */
static void parse_call(struct slice call, struct buf *out)
{
    struct slice rest = slice_trim(call), name;

    if (is_address(rest))
        slice_cut(&rest, ' ');
    rest = slice_trim(rest);
    if (slice_starts(rest, SLICE("in "))) {
        rest = slice_skip(rest, 3);
    } else if (slice_starts(rest, SLICE("- "))) {
        put_line(SLICE_NULL, library_of(slice_skip(rest, 2)), out);
        return;
    }
    name = slice_cut(&rest, ' ');
    if (slice_starts(rest, SLICE("- "))) {
        put_line(name, library_of(slice_skip(rest, 2)), out);
        return;
    }
    cut_before(&rest, " from ");
    put_line(name, library_of(rest), out);
}

/* Lines of other kinds are the tools' talk.  Of several threads the first one is taken. */
void stacks_parse(struct slice text, struct buf *out)
{
    uint32_t n = 0;

    while (text.len) {
        struct slice line = slice_cut(&text, '\n');
        if (line.len < 2 || line.ptr[0] != '#' || !isdigit((unsigned char)line.ptr[1]))
            continue;
        if (n++ && slice_starts(line, SLICE("#0 ")))
            return;
        slice_cut(&line, ' ');
        parse_call(line, out);
    }
}

/* ---- processes ---- */

struct stack_round;

/* A process whose stack is wanted, and its tool. */
struct stack_target {
    struct stack_round *of;
    uint32_t job, rank;
    int pid;
    bool stopped, taken;
    pid_t tool; /* 0: it does not run (any more) */
    int fd;     /* its output; -1: closed */
    struct watch watch;
    struct timer patience;
    struct buf output;
};

struct stack_round {
    struct list link;
    struct stacks *of;
    struct arena arena;
    const char *path; /* of the tool; NULL: there is none */
    bool is_gdb;
    char **env; /* of the tool */
    struct stack_target *targets;
    uint32_t n, next, running, missed;
    bool late;
    struct errmsg refusal; /* why the first one has failed */
    struct buf part;
    struct timer patience;
    stacks_fn *done;
    void *arg;
};

static void add_target(struct stack_round *r, const struct job *j, uint32_t rank)
{
    struct stack_target *t = &r->targets[r->n];
    struct proc_look look;

    if (proc_look_at(r->of->looks, j->procs[rank].pid, &look) < 0 || look.state == 'Z')
        return;
    *t = (struct stack_target){ .of = r, .job = j->id, .rank = rank, .pid = look.pid, .fd = -1 };
    t->stopped = look.state == 'T' || look.state == 't';
    buf_init(&t->output, STACK_OUTPUT_MAX);
    r->n++;
}

static bool has_process(const struct job *j, uint32_t rank)
{
    return job_rank_is_here(j, rank) && j->procs[rank].pid > 0 &&
           j->procs[rank].state != PROC_STATE_GONE;
}

/* Calls add for each process here; their number. */
static uint32_t each_process(struct stack_round *r, struct slice job, bool add)
{
    const struct core *c = &r->of->context->server->core;
    uint32_t n = 0;

    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (j->is_tool || !who_wants(j, job))
            continue;
        for (uint32_t rank = 0; rank < j->plan.nprocs; rank++) {
            if (!has_process(j, rank))
                continue;
            n++;
            if (add)
                add_target(r, j, rank);
        }
    }
    return n;
}

/* ---- tools ---- */

static void fill(struct stack_round *r);
static void over(struct stack_round *r);

static void tool_close(struct stack_target *t)
{
    watch_close(&t->watch);
    timer_stop(&t->patience);
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    buf_free(&t->output);
}

/* A tool that is killed while it attaches may leave its process with a stop. */
static void tool_kill(struct stack_target *t)
{
    if (t->tool == 0)
        return;
    kill(t->tool, SIGKILL);
    if (!t->stopped)
        kill(t->pid, SIGCONT);
}

static void settle(struct stack_target *t)
{
    struct stack_round *r = t->of;
    struct buf stack = BUF_NULL(STACK_TEXT_MAX);

    stacks_parse(buf_slice(&t->output), &stack);
    t->taken = buf_len(&stack) > 0;
    if (t->taken) {
        parts_put_uint(&r->part, t->job + UINT64_C(1));
        parts_put_uint(&r->part, t->rank);
        parts_put_uint(&r->part, buf_len(&stack));
        buf_slice_put(&r->part, buf_slice(&stack));
    } else if (r->missed++ == 0 && r->refusal.text[0] == '\0') {
        struct slice rest = buf_slice(&t->output), line = slice_cut(&rest, '\n');
        errmsg_set(&r->refusal, 0, SLICE_FMT, SLICE_ARG(slice_head(line, 200)));
    }
    buf_free(&stack);
    tool_close(t);
    r->running--;
}

static void on_output(void *arg)
{
    struct stack_target *t = arg;
    struct stack_round *r = t->of;
    const struct turn *turn = r->of->context->turn;
    char *room = buf_room(&t->output, 16 << 10);
    ssize_t n = room ? read(t->fd, room, 16 << 10) : 0;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0) {
        buf_commit(&t->output, (size_t)n);
        return;
    }
    if (!room) /* it talks too much */
        tool_kill(t);
    settle(t);
    fill(r);
    turn_end(turn);
}

static void on_late(void *arg)
{
    struct stack_target *t = arg;
    struct stack_round *r = t->of;
    const struct turn *turn = r->of->context->turn;

    tool_kill(t);
    errmsg_set(&r->refusal, 0, "%s has taken longer than %d s", r->path, LIMIT_STACK_MS / 1000);
    settle(t);
    fill(r);
    turn_end(turn);
}

/* No network is asked for symbols. */
static char **environment(struct arena *a)
{
    size_t n = 0, k = 0;
    char **env;

    while (environ[n])
        n++;
    env = arena_array(a, n + 3, sizeof *env);
    for (size_t i = 0; env && i < n; i++) {
        if (strncmp(environ[i], "DEBUGINFOD_URLS=", 16) != 0 &&
            strncmp(environ[i], "LC_ALL=", 7) != 0)
            env[k++] = environ[i];
    }
    if (env) {
        env[k++] = arena_str(a, SLICE("LC_ALL=C"));
        env[k] = NULL;
    }
    return env;
}

static int start_tool(struct stack_target *t, int out, struct errmsg *err)
{
    struct stack_round *r = t->of;
    const struct child_fd fds[] = { { r->of->context->null_fd, 0 }, { out, 1 }, { out, 2 } };
    char *pid = arena_printf(&r->arena, "%d", t->pid);
    const char *eu[] = { r->path, "-1", "-m", "-n", "64", "-p", pid, NULL };
    const char *gdb[] = { r->path,
                          "-nx",
                          "-batch",
                          "-iex",
                          "set debuginfod enabled off",
                          "-p",
                          pid,
                          "-ex",
                          "bt -frame-arguments none -frame-info location-and-address 64",
                          NULL };
    struct child_plan plan = { .path = r->path, .env = r->env, .fds = fds, .nfds = 3 };

    plan.argv = (char *const *)(uintptr_t)(r->is_gdb ? gdb : eu);
    return pid && r->env && arena_ok(&r->arena) ? child_start(&plan, &t->tool, err) : -ENOMEM;
}

/* False: it is counted as missed. */
static bool begin(struct stack_target *t)
{
    struct stack_round *r = t->of;
    struct errmsg err = { "out of memory" };
    struct loop *loop = r->of->context->loop;
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        errmsg_set(&r->refusal, 0, "%s", err_text(errno));
        r->missed++;
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    rc = start_tool(t, ends[1], &err);
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        r->refusal = err;
        r->missed++;
        return false;
    }
    t->fd = ends[0];
    watch_open(&t->watch, loop, t->fd, on_output, NULL, t);
    watch_want(&t->watch, LOOP_READ);
    timer_init(&t->patience, loop, on_late, t);
    timer_set(&t->patience, LIMIT_STACK_MS);
    r->running++;
    return true;
}

static uint32_t at_a_time(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > STACK_TOOLS_MAX ? STACK_TOOLS_MAX : (uint32_t)n;
}

/* Starts as many tools as may run; ends the round after the last one. */
static void fill(struct stack_round *r)
{
    uint32_t most = at_a_time();

    while (r->next < r->n && r->running < most)
        begin(&r->targets[r->next++]);
    if (r->running == 0 && r->next == r->n)
        over(r);
}

bool stacks_reaped(struct stacks *s, pid_t pid)
{
    if (!s->context)
        return false;
    LIST_EACH(l, &s->all)
    {
        struct stack_round *r = LIST_OF(l, struct stack_round, link);
        for (uint32_t i = 0; i < r->next; i++) {
            if (r->targets[i].tool == pid) {
                r->targets[i].tool = 0;
                return true;
            }
        }
    }
    return false;
}

/* ---- rounds ---- */

static void round_free(struct stack_round *r)
{
    for (uint32_t i = 0; i < r->next; i++) {
        if (r->targets[i].fd >= 0)
            tool_kill(&r->targets[i]);
        tool_close(&r->targets[i]);
    }
    timer_stop(&r->patience);
    list_unlink(&r->link);
    buf_free(&r->part);
    arena_free(&r->arena);
    free(r->targets);
    free(r);
}

static const char *why_not_all(struct stack_round *r)
{
    uint32_t missed = r->missed + (r->late ? r->n - r->next + r->running : 0);

    if (r->n && !r->path)
        return "neither eu-stack (package elfutils) nor gdb is installed";
    if (missed == 0)
        return "";
    return arena_printf(&r->arena, "of %u %s: %s", missed, missed == 1 ? "process" : "processes",
                        r->late              ? "it took too long"
                        : r->refusal.text[0] ? r->refusal.text
                                             : "the kernel did not let it be taken");
}

static void over(struct stack_round *r)
{
    stacks_fn *done = r->done;
    void *arg = r->arg;
    struct buf part;
    struct slice why = slice_str(why_not_all(r));

    parts_put_uint(&r->part, 0);
    parts_put_uint(&r->part, why.len);
    buf_slice_put(&r->part, why);
    part = r->part;
    buf_init(&r->part, 0);
    round_free(r);
    done(arg, buf_ok(&part) ? buf_slice(&part) : SLICE_NULL);
    buf_free(&part);
}

static void all_late(void *arg)
{
    struct stack_round *r = arg;
    const struct turn *turn = r->of->context->turn;

    r->late = true;
    over(r);
    turn_end(turn);
}

static void find_tool(struct stack_round *r)
{
    const char *search = getenv("PATH");
    struct errmsg err;

    if (path_search_program(&r->arena, "eu-stack", NULL, search, true, &r->path, &err) == 0)
        return;
    if (path_search_program(&r->arena, "gdb", NULL, search, true, &r->path, &err) == 0)
        r->is_gdb = true;
    else
        r->path = NULL;
}

void stacks_begin(struct stacks *s, struct slice job, stacks_fn *done, void *arg)
{
    struct stack_round *r = calloc(1, sizeof *r);

    if (!r) {
        done(arg, SLICE_NULL);
        return;
    }
    *r = (struct stack_round){ .of = s, .done = done, .arg = arg };
    list_init(&r->link);
    list_append(&s->all, &r->link);
    arena_init(&r->arena, 16 << 20);
    buf_init(&r->part, LIMIT_DAEMON_LINK_MESSAGE / 2);
    timer_init(&r->patience, s->context->loop, all_late, r);
    find_tool(r);
    r->env = environment(&r->arena);
    r->targets = calloc(each_process(r, job, false) + (size_t)1, sizeof *r->targets);
    if (r->targets)
        each_process(r, job, true);
    if (!r->path)
        r->next = r->n;
    timer_set(&r->patience, LIMIT_STACKS_MS);
    fill(r);
}

void stacks_forget(struct stacks *s, const void *arg)
{
    if (!s->context)
        return;
    LIST_EACH(l, &s->all)
    {
        struct stack_round *r = LIST_OF(l, struct stack_round, link);
        if (r->arg == arg)
            round_free(r);
    }
}

void stacks_open(struct stacks *s, const struct node_context *c, struct proc_looks *looks)
{
    *s = (struct stacks){ .context = c, .looks = looks };
    list_init(&s->all);
}

void stacks_close(struct stacks *s)
{
    if (!s->context)
        return;
    LIST_EACH(l, &s->all)
    round_free(LIST_OF(l, struct stack_round, link));
    s->context = NULL;
}
