/* trace_collect.c - see trace_collect.h.  Reading order: pieces; removal; one node; all of them. */
#include "daemon/trace_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/launch_methods.h"
#include "daemon/node_context.h"
#include "daemon/trace_writer.h"

enum { COLLECT_PIECE = 64 << 10 };

struct trace_coming {
    struct list link;
    struct trace_collect *of;
    uint32_t position;
    struct arena arena;
    char *path, *word; /* of its file on the node; as a word of the shell */
    int fd;            /* the end of a pipe from which it is read; -1: none */
    struct watch watch;
    bool any, removed; /* something has come; the file there is being removed */
};

static const struct node_context *context_of(const struct trace_collect *t)
{
    return t->cluster->context;
}

static const char *node_of(const struct trace_coming *c)
{
    return c->of->cluster->names[c->position];
}

static void name_missing(const struct trace_collect *t, uint32_t position, const char *why)
{
    const char *node = t->cluster->names[position];

    log_warn(context_of(t)->log, "the trace of node %s is not here: %s", node, why);
    trace_writer_section(t->cluster->trace_writer, node, SLICE(""), false, why);
}

static void coming_free(struct trace_coming *c)
{
    watch_close(&c->watch);
    if (c->fd >= 0)
        close(c->fd);
    list_unlink(&c->link);
    c->of->running--;
    arena_free(&c->arena);
    free(c);
}

/* Without directories in the node's name, as the node has named it (job_handlers.c). */
static bool name_file(struct trace_coming *c)
{
    const char *base = c->of->cluster->trace;

    c->path = arena_printf(&c->arena, "%s.%s", base, node_of(c));
    for (char *at = c->path ? c->path + strlen(base) : NULL; at && (at = strchr(at, '/'));)
        *at = '_';
    c->word = c->path ? agent_word(&c->arena, c->path) : NULL;
    return c->word != NULL;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The next piece from this descriptor: what read() returns. */
static ssize_t take_piece(struct trace_coming *c, int fd)
{
    char piece[COLLECT_PIECE];
    ssize_t n;

    do
        n = read(fd, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        c->any = true;
        trace_writer_section(c->of->cluster->trace_writer, node_of(c), slice_mem(piece, (size_t)n),
                             false, NULL);
    }
    return n;
}

static void on_readable(void *arg)
{
    struct trace_coming *c = arg;
    ssize_t n = take_piece(c, c->fd);

    if (n > 0)
        timer_set(&c->of->patience, LIMIT_TRACE_COLLECT_MS);
    else if (n == 0 || errno != EAGAIN)
        watch_close(&c->watch); /* has_come() follows */
}

/* The node completes its trace and runs this command, whose output comes through a pipe.  False: no
 * memory, or too many. */
static bool ask(struct trace_coming *c, const struct part_texts *command, dvm_exec_done_fn *done)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    c->fd = ends[0];
    return dvm_exec_trace(&c->of->execs, c->position, command, ends[1], done, c);
}

/* ---- removal --------------------------------------------------------------------------------- */

static void has_been_removed(void *arg, bool whole)
{
    struct trace_coming *c = arg;
    struct timer *patience = &c->of->patience;

    (void)whole; /* a file that stays is overwritten by the next job, and is named nowhere */
    timer_set(patience, c->of->running > 1 ? LIMIT_TRACE_COLLECT_MS : 0);
    coming_free(c);
}

static void remove_there(struct trace_coming *c)
{
    struct slice words[] = { SLICE("exec rm -f --"), slice_str(c->word), SLICE("2>/dev/null") };
    const struct part_texts command = { words, 3 };

    close(c->fd);
    c->fd = -1;
    if (!ask(c, &command, has_been_removed))
        has_been_removed(c, false);
}

/* ---- one node -------------------------------------------------------------------------------- */

static bool is_lost(const struct trace_coming *c)
{
    return !router_reaches(&c->of->cluster->router, c->position);
}

static const char *end_of(const struct trace_coming *c, bool whole)
{
    if (!whole)
        return is_lost(c) ? "the node is lost" : "the node has not sent all of it in time";
    return c->any ? NULL : "it cannot be read there";
}

/* The node is lost.  Where the disk is shared, what it has written is here. */
static void take_rest(struct trace_coming *c)
{
    struct trace_writer *t = c->of->cluster->trace_writer;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    while (fd >= 0 && take_piece(c, fd) > 0)
        continue;
    name_missing(c->of, c->position, "the node is lost");
    if (fd >= 0)
        close(fd);
    trace_writer_flush(t);
    if (c->any && t->server)
        unlink(c->path);
}

/* Its command has ended: what it has written is in the pipe. */
static void has_come(void *arg, bool whole)
{
    struct trace_coming *c = arg;
    struct trace_writer *t = c->of->cluster->trace_writer;
    const char *why;

    watch_close(&c->watch);
    while (take_piece(c, c->fd) > 0)
        continue;
    why = end_of(c, whole);
    if (!whole && !c->any && is_lost(c))
        take_rest(c);
    else if (why)
        name_missing(c->of, c->position, why);
    else
        trace_writer_section(t, node_of(c), SLICE(""), true, NULL);
    trace_writer_flush(t);
    if (!why && t->server)
        remove_there(c);
    else
        has_been_removed(c, false);
}

static void bring(struct trace_collect *t, uint32_t position)
{
    struct trace_coming *c = calloc(1, sizeof *c);
    bool there = router_reaches(&t->cluster->router, position);

    if (!c) {
        name_missing(t, position, "out of memory");
        return;
    }
    *c = (struct trace_coming){ .of = t, .position = position, .fd = -1 };
    arena_init(&c->arena, 1 << 20);
    list_append(&t->all, &c->link);
    t->running++;
    if (name_file(c) && there) {
        struct slice words[] = { SLICE("exec cat --"), slice_str(c->word), SLICE("2>/dev/null") };
        const struct part_texts command = { words, 3 };
        if (ask(c, &command, has_come)) {
            watch_open(&c->watch, context_of(t)->loop, c->fd, on_readable, NULL, c);
            watch_want(&c->watch, LOOP_READ);
            return;
        }
    }
    if (c->word && !there)
        take_rest(c);
    else
        name_missing(t, position, "out of memory");
    coming_free(c);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Of a job that was refused, on whatever node, there is nothing to bring. */
static bool anything_ran(const struct trace_collect *t)
{
    const struct core *c = &context_of(t)->server->core;
    bool ran = c->nended > 0;

    LIST_EACH(l, &c->jobs)
    {
        ran = ran || LIST_OF(l, struct job, link)->started > 0;
    }
    return ran;
}

bool trace_collect_waits(struct trace_collect *t)
{
    const struct cluster_io *s = t->cluster;

    if (!s || !anything_ran(t) || (t->running == 0 && !s->trace_writer->server))
        return false;
    if (t->next == 1)
        timer_set(&t->patience, LIMIT_TRACE_COLLECT_MS);
    for (; t->next < s->router.config.count && t->running < LIMIT_TRACES_AT_ONCE; t->next++) {
        if (cluster_io_has(s, t->next))
            bring(t, t->next);
    }
    if (t->running == 0)
        timer_stop(&t->patience);
    return t->running > 0;
}

/* The last one has come; or a node hangs, which is not waited for. */
static void stop_waiting(void *arg)
{
    struct trace_collect *t = arg;

    if (t->running) {
        t->next = t->cluster->router.config.count;
        dvm_execs_close(&t->execs); /* has_come() for each */
        timer_stop(&t->patience);
    }
    turn_end(context_of(t)->turn);
}

void trace_collect_open(struct trace_collect *t, struct cluster_io *s)
{
    *t = (struct trace_collect){ .cluster = s, .next = 1 };
    list_init(&t->all);
    timer_init(&t->patience, s->context->loop, stop_waiting, t);
    dvm_execs_open(&t->execs, s);
    s->dvm_execs = &t->execs;
}

void trace_collect_close(struct trace_collect *t)
{
    if (!t->cluster)
        return;
    t->cluster->dvm_execs = NULL;
    dvm_execs_close(&t->execs);
    timer_stop(&t->patience);
    t->cluster = NULL;
}
