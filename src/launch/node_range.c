/* node_range.c - see node_range.h. */
#include "launch/node_range.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/map.h"

int node_range_read(struct slice text, struct node_range *r_p)
{
    struct slice max = text, min = slice_cut(&max, ':');
    struct node_range r;
    bool two = min.len < text.len;

    if (!slice_u32(min, &r.min) || !slice_u32(two ? max : min, &r.max) || r.min == 0 ||
        r.min > r.max)
        return NODE_RANGE_BAD;
    *r_p = r;
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

void node_names_init(struct node_names *n)
{
    *n = (struct node_names){ .arena = ARENA_NULL((size_t)64 << 20) };
}

void node_names_free(struct node_names *n)
{
    arena_free(&n->arena);
    free(n->items);
    n->items = NULL;
    n->count = n->room = 0;
}

void node_names_add(struct node_names *n, const char *name)
{
    const char **more = grow_by_one(n->items, sizeof *more, n->count, &n->room, 4);
    const char *copy = arena_str(&n->arena, slice_str(name));

    if (more)
        n->items = more;
    if (more && copy)
        n->items[n->count++] = copy;
}

/* ---- nodes of a start ------------------------------------------------------------------------ */

struct node_choice {
    struct map lost, used;
    uint32_t nodes;
};

static char present; /* the value of what is in a map */

static int note_lost(struct node_choice *c, const struct node_names *lost)
{
    int rc = 0;

    for (uint32_t i = 0; lost && i < lost->count && rc == 0; i++)
        rc = map_put(&c->lost, slice_str(lost->items[i]), &present, NULL);
    return rc;
}

/* 1: the entry is used; 0: it is not; -ENOMEM. */
static int take(struct node_choice *c, const struct node_range *r, const struct host *h)
{
    struct slice name = slice_str(h->name);
    int rc;

    if (map_get(&c->used, name))
        return 1;
    if (c->nodes == r->max || map_get(&c->lost, name))
        return 0;
    rc = map_put(&c->used, name, &present, NULL);
    if (rc < 0)
        return rc;
    c->nodes++;
    return 1;
}

static int choose(struct node_choice *c, const struct node_range *r, struct host_list *list)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        int rc = take(c, r, &list->items[i]);
        if (rc < 0)
            return rc;
        if (rc)
            list->items[n++] = list->items[i];
    }
    list->count = n;
    return 0;
}

static int too_few(const struct node_range *r, uint32_t left, uint32_t lost, struct errmsg *err)
{
    if (!lost)
        return errmsg_set(err, NODE_RANGE_CANNOT,
                          "-nnodes needs at least %u nodes, and %u %s given by -hosts, a host file "
                          "or the allocation",
                          r->min, left, left == 1 ? "is" : "are");
    return errmsg_set(err, NODE_RANGE_CANNOT,
                      "the job needs at least %u node%s (-nnodes), and %u %s left: %u %s lost",
                      r->min, r->min == 1 ? "" : "s", left, left == 1 ? "is" : "are", lost,
                      lost == 1 ? "is" : "are");
}

int node_range_choose(const struct node_range *r, const struct node_names *lost,
                      struct host_list *list, struct errmsg *err)
{
    struct node_choice c = { MAP_NULL(0), MAP_NULL(0), 0 };
    int rc = 0;

    if (r->max == 0)
        return 0;
    rc = note_lost(&c, lost);
    if (rc == 0)
        rc = choose(&c, r, list);
    if (rc == 0 && c.nodes < r->min)
        rc = too_few(r, c.nodes, lost ? lost->count : 0, err);
    map_free(&c.lost);
    map_free(&c.used);
    return rc;
}
