/* child_daemons.c - see child_daemons.h. */
#include "daemon/child_daemons.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/tree.h"
#include "daemon/bootstrap_overlay.h"

uint32_t child_daemons_width(enum agent_kind kind, uint32_t count, uint32_t wanted)
{
    return agent_by_tree(kind) && wanted ? wanted : count > 1 ? count - 1 : 1;
}

/* Copies the nodes that a child has to know: itself and all below it; all nodes below us when it
 * has to find itself. */
static uint32_t choose(const struct child_daemons *w, uint32_t top, struct bootstrap_node *to)
{
    const struct bootstrap *b = w->c.boot;
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->nnodes; i++) {
        uint32_t p = b->nodes[i].position;
        if (p != w->c.me && tree_is_below(b->width, p, top == BOOTSTRAP_BY_NAME ? w->c.me : top))
            to[n++] = b->nodes[i];
    }
    return n;
}

/* The daemons above a child's parent, which is this daemon. */
static int choose_above(const struct child_daemons *w, struct arena *a, struct bootstrap *b)
{
    const struct bootstrap *ours = w->c.boot;

    b->nabove = 0;
    if (w->c.me == 0)
        return 0;
    b->above = arena_array(a, (size_t)ours->nabove + 1, sizeof *b->above);
    if (!b->above)
        return -ENOMEM;
    b->above[b->nabove++] = (struct bootstrap_above){ ours->parent, ours->addresses };
    for (uint32_t i = 0; i < ours->nabove; i++)
        b->above[b->nabove++] = ours->above[i];
    return 0;
}

/* Those of this record alone are added to them; ours are not passed on. */
static int copy_options(struct bootstrap *b, struct arena *a)
{
    struct bootstrap_pair *to = arena_array(a, (size_t)b->noptions + 1, sizeof *to);
    const struct bootstrap_pair *from = b->options;
    uint32_t n = 0;

    if (!to)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->noptions; i++) {
        if (!bootstrap_overlay_is(from[i].name))
            to[n++] = from[i];
    }
    b->options = to;
    b->noptions = n;
    return 0;
}

int child_daemons_record(struct child_daemons *w, uint32_t position, struct buf *out)
{
    struct bootstrap b = *w->c.boot;
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    int rc;

    b.position = position;
    b.parent = w->c.me;
    b.addresses = w->c.addresses;
    b.wall_ms = clock_wall_ns() / NS_PER_MS;
    b.nodes = arena_array(&a, (size_t)b.nnodes + 1, sizeof *b.nodes);
    rc = !b.nodes ? -ENOMEM : choose_above(w, &a, &b);
    if (rc == 0)
        rc = copy_options(&b, &a);
    if (rc == 0 && w->c.overlay)
        rc = bootstrap_overlay_put(&a, &b, w->c.overlay);
    if (rc == 0) {
        b.nnodes = choose(w, position, b.nodes);
        rc = bootstrap_write(&b, out);
    }
    arena_free(&a);
    return rc;
}

static int record(void *arg, uint32_t position, struct buf *out)
{
    return child_daemons_record(arg, position, out);
}

static void failed(void *arg, uint32_t position, const struct errmsg *why)
{
    struct child_daemons *w = arg;

    w->c.calls.on_failed(w->c.arg, position, why);
}

static void remark(void *arg, const char *node, struct slice line)
{
    struct child_daemons *w = arg;

    w->c.calls.on_remark(w->c.arg, node, line);
}

static void ended(void *arg)
{
    struct child_daemons *w = arg;

    if (w->c.calls.on_ended)
        w->c.calls.on_ended(w->c.arg);
}

static bool is_child(const struct bootstrap *b, uint32_t me, uint32_t position)
{
    return position > 0 && position != me && (position - 1) / b->width == me;
}

bool child_daemons_wanted(const struct bootstrap *b, uint32_t me)
{
    for (uint32_t i = 0; i < b->nnodes; i++) {
        if (is_child(b, me, b->nodes[i].position))
            return true;
    }
    return false;
}

bool child_daemons_is_open(const struct child_daemons *w)
{
    return w->c.boot != NULL;
}

int child_daemons_add(struct child_daemons *w, const struct bootstrap_node *nodes, uint32_t n,
                      struct errmsg *err)
{
    struct remote_exec_config c = { .loop = w->c.loop,
                                    .spec = w->c.spec,
                                    .envp = w->c.envp,
                                    .daemons = w->c.daemons,
                                    .calls = { record, failed, remark, ended },
                                    .arg = w,
                                    .verbose = w->c.boot->verbose };

    if (!w->agent)
        w->agent = remote_exec_new(&c, err);
    return w->agent ? remote_exec_start(w->agent, nodes, n, err) : -ENOMEM;
}

int child_daemons_open(struct child_daemons *w, const struct child_daemons_config *config,
                       struct errmsg *err)
{
    const struct bootstrap *b = config->boot;
    struct bootstrap_node *children;
    uint32_t n = 0;
    int rc;

    memset(w, 0, sizeof *w);
    w->c = *config;
    arena_init(&w->arena, LIMIT_MAP_MEMORY);
    w->c.addresses = arena_str(&w->arena, slice_str(config->addresses));
    children = arena_array(&w->arena, (size_t)b->nnodes + 1, sizeof *children);
    for (uint32_t i = 0; children && i < b->nnodes; i++) {
        if (is_child(b, w->c.me, b->nodes[i].position))
            children[n++] = b->nodes[i];
    }
    if (n == 0 && arena_ok(&w->arena))
        return 0;
    rc = arena_ok(&w->arena) ? child_daemons_add(w, children, n, err)
                             : errmsg_set(err, -ENOMEM, "out of memory for %u daemons", b->nnodes);
    if (rc)
        child_daemons_close(w);
    return rc;
}

void child_daemons_close(struct child_daemons *w)
{
    remote_exec_free(w->agent);
    w->agent = NULL;
    w->c.boot = NULL;
    arena_free(&w->arena);
}

void child_daemons_up(struct child_daemons *w, uint32_t position)
{
    if (w->agent)
        remote_exec_up(w->agent, position);
}

bool child_daemons_reaped(struct child_daemons *w, pid_t pid, int status)
{
    return w->agent && remote_exec_reaped(w->agent, pid, status);
}

void child_daemons_end(struct child_daemons *w)
{
    if (w->agent)
        remote_exec_end(w->agent);
}

void child_daemons_stop(struct child_daemons *w)
{
    if (w->agent)
        remote_exec_stop(w->agent);
}

bool child_daemons_idle(const struct child_daemons *w)
{
    return !w->agent || remote_exec_idle(w->agent);
}
