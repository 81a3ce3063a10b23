/* node_parts.c - see node_parts.h. */
#include "daemon/node_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "daemon/allocations.h"
#include "daemon/cluster_io.h"
#include "daemon/node_context.h"
#include "daemon/node_members.h"
#include "daemon/topology.h"
#include "io/devices.h"
#include "io/usage.h"
#include "server/node_part.h"
#include "topo/xml.h"

enum { NODE_PARTS_MAX = 64 << 20 };

struct part_wait {
    struct list link;
    struct node_parts *of;
    uint64_t ticket, number;
    struct timer patience;
    struct buf parts;
    bool *awaited; /* by position; NULL: this node alone */
    uint32_t count, nawaited;
};

static struct slice topology_of(void *arg)
{
    return topology_text(arg);
}

static char *old_form_of(void *arg)
{
    struct buf text = BUF_NULL(NODE_PARTS_MAX);
    struct errmsg err;
    char *copy = NULL;

    if (topo_xml_v1(topology_text(arg), &text, &err) == 0 && buf_cstr(&text))
        copy = strdup(buf_cstr(&text));
    buf_free(&text);
    return copy;
}

void node_parts_own(const struct node_parts *n, uint32_t parts, struct buf *out)
{
    const struct machine m = { .name = n->context->config->name,
                               .proc = usage_of_proc,
                               .node = usage_of_node,
                               .storages = usage_of_storages,
                               .devices = devices_of_node,
                               .topology = topology_of,
                               .topology_arg = n->topology,
                               .topology_v1 = old_form_of };

    node_part_write(n->context->server, parts, &m, out);
    if (parts & NODE_PART_ALLOCATIONS)
        allocations_write(n->allocations, out);
    if (parts & NODE_PART_MEMBERS)
        node_members_write(n->context, out);
}

static void part_wait_free(struct part_wait *g)
{
    queues_forget(&g->of->queues, g);
    timer_stop(&g->patience);
    list_unlink(&g->link);
    buf_free(&g->parts);
    free(g->awaited);
    free(g);
}

/* The server's answer may begin the next query. */
static void part_wait_over(struct part_wait *g)
{
    struct server *s = g->of->context->server;
    struct buf parts = g->parts;
    uint64_t ticket = g->ticket;
    struct answer a = { .status = ANSWER_NO_MEMORY };

    buf_init(&g->parts, 0);
    part_wait_free(g);
    if (buf_ok(&parts))
        a = ANSWER_TO(node_parts, ANSWER_OK, .parts = buf_slice(&parts));
    server_answer(s, ticket, &a);
    buf_free(&parts);
}

static void patience_over(void *arg)
{
    struct part_wait *g = arg;
    const struct turn *turn = g->of->context->turn;

    part_wait_over(g);
    turn_end(turn);
}

static void on_queues(void *arg, struct slice lines)
{
    struct part_wait *g = arg;

    node_part_write_queues(lines, &g->parts);
    if (--g->nawaited == 0)
        part_wait_over(g);
}

/* The launcher knows who has come; a daemon does not know more of the others than who is lost. */
static bool can_answer(const struct cluster_io *s, uint32_t position)
{
    if (position == s->router.config.me || !cluster_io_has(s, position))
        return false;
    return cluster_io_is_root(s) ? router_reaches(&s->router, position)
                                 : !router_is_lost(&s->router, position);
}

static void ask_others(struct part_wait *g, uint32_t parts)
{
    struct cluster_io *s = g->of->context->cluster;

    g->count = s->router.config.count;
    g->awaited = calloc(g->count, sizeof *g->awaited);
    for (uint32_t at = 0; g->awaited && at < g->count; at++) {
        g->awaited[at] = can_answer(s, at);
        g->nawaited += g->awaited[at];
    }
    if (g->nawaited)
        rpc_node_parts(&s->dispatch.rpc, g->number, parts);
}

void node_parts_begin(struct node_parts *n, uint64_t ticket, uint32_t parts, bool local)
{
    struct part_wait *g = calloc(1, sizeof *g);

    if (!g) {
        server_answer(n->context->server, ticket, &(struct answer){ .status = ANSWER_NO_MEMORY });
        return;
    }
    g->of = n;
    g->ticket = ticket;
    g->number = ++n->last;
    buf_init(&g->parts, NODE_PARTS_MAX);
    list_append(&n->all, &g->link);
    timer_init(&g->patience, n->context->loop, patience_over, g);
    node_parts_own(n, parts, &g->parts);
    if (!local && n->context->cluster)
        ask_others(g, parts);
    if (parts & NODE_PART_QUEUES && queues_ask(&n->queues, on_queues, g))
        g->nawaited++;
    if (g->nawaited)
        timer_set(&g->patience, LIMIT_WHO_MS);
    else
        part_wait_over(g);
}

/* Its part is not awaited any more. */
static void settle(struct part_wait *g, uint32_t position)
{
    if (position >= g->count || !g->awaited[position])
        return;
    g->awaited[position] = false;
    if (--g->nawaited == 0)
        part_wait_over(g);
}

void node_parts_receive(struct node_parts *n, uint32_t position, uint64_t number, struct slice part)
{
    LIST_EACH(l, &n->all)
    {
        struct part_wait *g = LIST_OF(l, struct part_wait, link);
        if (g->number != number || position >= g->count || !g->awaited[position])
            continue;
        buf_slice_put(&g->parts, part);
        settle(g, position);
        return;
    }
}

void node_parts_lost(struct node_parts *n, uint32_t position)
{
    LIST_EACH(l, &n->all)
    settle(LIST_OF(l, struct part_wait, link), position);
}

void node_parts_open(struct node_parts *n, const struct node_context *c, struct topology *t,
                     const struct allocations *a)
{
    n->allocations = a;
    n->context = c;
    n->topology = t;
    queues_open(&n->queues, c);
    list_init(&n->all);
}

void node_parts_close(struct node_parts *n)
{
    if (!n->context)
        return;
    LIST_EACH(l, &n->all)
    part_wait_free(LIST_OF(l, struct part_wait, link));
    queues_close(&n->queues);
    n->context = NULL;
}
