/* trace_collect.c - see trace_collect.h. */
#include "daemon/trace_collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/launch_methods.h"
#include "daemon/node_context.h"
#include "io/create.h"

struct trace_coming {
    struct list link;
    struct trace_collect *of;
    const char *node;
    struct arena arena;
    char *path, *part; /* it is written under the second name first */
    int fd;            /* ... by this, and by a copy of it */
};

static const struct node_context *context_of(const struct trace_collect *t)
{
    return t->cluster->context;
}

static void name_missing(const struct trace_collect *t, const char *node, const char *why)
{
    log_warn(context_of(t)->log, "the trace of node %s is not here: %s", node, why);
}

static void coming_free(struct trace_coming *c)
{
    unlink(c->part);
    if (c->fd >= 0)
        close(c->fd);
    list_unlink(&c->link);
    c->of->running--;
    arena_free(&c->arena);
    free(c);
}

/* Without directories in the node's name, as the node has named it (job_handlers.c). */
static bool name_files(struct trace_coming *c, const char *base)
{
    c->path = arena_printf(&c->arena, "%s.%s", base, c->node);
    for (char *at = c->path ? c->path + strlen(base) : NULL; at && (at = strchr(at, '/'));)
        *at = '_';
    c->part = c->path ? arena_printf(&c->arena, "%s.part", c->path) : NULL;
    return c->part != NULL;
}

static const char *keep(struct trace_coming *c, bool whole)
{
    struct stat st;
    int rc;

    if (!whole)
        return "the node has gone, or the disk here is full";
    if (fstat(c->fd, &st) < 0 || st.st_size == 0)
        return "it cannot be read there";
    rc = create_name(c->part, c->path);
    return rc == 0 || rc == -EEXIST ? NULL : err_text(rc);
}

static void has_come(void *arg, bool whole)
{
    struct trace_coming *c = arg;
    const char *why = keep(c, whole);

    if (why)
        name_missing(c->of, c->node, why);
    timer_set(&c->of->patience, c->of->running > 1 ? LIMIT_TRACE_COLLECT_MS : 0);
    coming_free(c);
}

/* The node completes its trace, and runs `exec cat -- PATH 2>/dev/null`; false: no memory, or too
 * many. */
static bool ask(struct trace_coming *c, uint32_t position)
{
    char *word = agent_word(&c->arena, c->path);
    struct slice words[] = { SLICE("exec cat --"), slice_str(word ? word : ""),
                             SLICE("2>/dev/null") };
    const struct part_texts command = { words, 3 };
    int copy = word ? fcntl(c->fd, F_DUPFD_CLOEXEC, 3) : -1;

    return copy >= 0 && dvm_exec_trace(&c->of->execs, position, &command, copy, has_come, c);
}

static void bring(struct trace_collect *t, uint32_t position)
{
    struct trace_coming *c = calloc(1, sizeof *c);
    const char *why = "out of memory";

    if (!c) {
        name_missing(t, t->cluster->names[position], why);
        return;
    }
    *c = (struct trace_coming){ .of = t, .node = t->cluster->names[position], .fd = -1 };
    arena_init(&c->arena, 1 << 20);
    list_append(&t->all, &c->link);
    t->running++;
    if (name_files(c, t->cluster->trace)) {
        if (access(c->path, F_OK) == 0) { /* the disk is shared */
            coming_free(c);
            return;
        }
        unlink(c->part); /* of one that was interrupted */
        c->fd = router_reaches(&t->cluster->router, position) ? create_new(c->part) : -ENOTCONN;
        if (c->fd >= 0 && ask(c, position))
            return;
        why = c->fd == -ENOTCONN ? "the node is lost" : c->fd < 0 ? err_text(c->fd) : why;
    }
    name_missing(t, c->node, why);
    coming_free(c);
}

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

    if (!s || !anything_ran(t))
        return false;
    if (t->next == 1)
        timer_set(&t->patience, LIMIT_TRACE_COLLECT_MS);
    while (t->next < s->router.config.count && t->running < LIMIT_TRACES_AT_ONCE)
        bring(t, t->next++);
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
