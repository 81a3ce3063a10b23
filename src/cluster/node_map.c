/* node_map.c - see node_map.h. */
#include "cluster/node_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/router.h"

static struct placement *placement_of(const struct node_map *m, uint32_t job)
{
    LIST_EACH(l, &m->placed)
    {
        struct placement *p = LIST_OF(l, struct placement, link);
        if (p->job == job)
            return p;
    }
    return NULL;
}

bool node_map_keep(struct node_map *m, uint32_t job, const uint32_t *positions, uint32_t n,
                   bool replaces)
{
    struct placement *p = calloc(1, sizeof *p + n * sizeof *positions);

    if (!p)
        return false;
    p->job = job;
    p->nnodes = n;
    p->replaces = replaces;
    memcpy(p->positions, positions, n * sizeof *positions);
    list_append(&m->placed, &p->link);
    return true;
}

void node_map_move(struct node_map *m, uint32_t job, uint32_t node, uint32_t position)
{
    struct placement *p = placement_of(m, job);

    if (p && node < p->nnodes)
        p->positions[node] = position;
}

bool node_map_replaces(const struct node_map *m, uint32_t job)
{
    const struct placement *p = placement_of(m, job);

    return p && p->replaces;
}

struct part_uints node_map_positions(const struct node_map *m, uint32_t job)
{
    const struct placement *p = placement_of(m, job);

    return p ? (struct part_uints){ p->positions, p->nnodes } : (struct part_uints){ NULL, 0 };
}

void node_map_drop(struct node_map *m, uint32_t job)
{
    struct placement *p = placement_of(m, job);

    if (p)
        list_unlink(&p->link);
    free(p);
}

uint32_t node_map_rank(const struct node_map *m, const struct job *j, uint32_t rank)
{
    const struct placement *p = placement_of(m, j->id);

    return p && rank < j->plan.nprocs ? p->positions[j->plan.procs[rank].node] : m->me;
}

uint32_t node_map_node(const struct node_map *m, const struct job *j, uint32_t position)
{
    const struct placement *p = placement_of(m, j->id);

    return p ? node_map_here(p->positions, p->nnodes, position) : JOB_NONE_HERE;
}

uint32_t node_map_position(const struct node_map *m, uint32_t job, uint32_t node)
{
    const struct placement *p = placement_of(m, job);

    return p && node < p->nnodes ? p->positions[node] : m->me;
}

/* The position of that node, of those that are not lost if it has several, searched from `at` on:
 * plans mostly list nodes in order, and then each is found at once.  The number of positions: not
 * found. */
static uint32_t position_named(const struct router *c, const char *const *names, const char *name,
                               uint32_t at)
{
    uint32_t count = c->config.count, lost = count;

    for (uint32_t tried = 0; tried < count; tried++, at = at + 1 < count ? at + 1 : 0) {
        if (!names[at] || strcmp(names[at], name) != 0)
            continue;
        if (!router_is_lost(c, at))
            return at;
        lost = at;
    }
    return lost;
}

uint32_t *node_map_of_plan(const struct router *c, const char *const *names, struct job_map *p,
                           struct errmsg *err)
{
    uint32_t *positions = arena_array(&p->arena, (size_t)p->nnodes + 1, sizeof *positions);
    uint32_t at = 0;

    for (uint32_t n = 0; positions && n < p->nnodes; n++) {
        at = position_named(c, names, p->nodes[n].name, at);
        if (at == c->config.count) {
            errmsg_set(err, 1, "node %s is not a node of this job", p->nodes[n].name);
            return NULL;
        }
        if (router_is_lost(c, at)) {
            errmsg_set(err, 1, "node %s is lost", p->nodes[n].name);
            return NULL;
        }
        positions[n] = at;
    }
    if (!positions)
        errmsg_set(err, -ENOMEM, "out of memory for %u nodes", p->nnodes);
    return positions;
}

uint32_t node_map_here(const uint32_t *positions, uint32_t n, uint32_t position)
{
    for (uint32_t i = 0; i < n; i++) {
        if (positions[i] == position)
            return i;
    }
    return JOB_NONE_HERE;
}

void node_map_open(struct node_map *m, uint32_t me)
{
    m->me = me;
    list_init(&m->placed);
}

void node_map_close(struct node_map *m)
{
    if (!m->placed.next)
        return;
    LIST_EACH(p, &m->placed)
    {
        list_unlink(p);
        free(LIST_OF(p, struct placement, link));
    }
}
