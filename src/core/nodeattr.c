/* nodeattr.c - see nodeattr.h. */
#include "core/nodeattr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nodeattrs_init(struct nodeattrs *a, uint64_t seed)
{
    map_init(&a->by_name, seed);
}

void nodeattrs_free(struct nodeattrs *a)
{
    struct nodeattr *n;
    size_t at = 0;

    while ((n = map_next(&a->by_name, &at)))
        nodeattr_free(n);
    map_free(&a->by_name);
}

struct nodeattr *nodeattr_free(struct nodeattr *n)
{
    if (n) {
        free(n->name);
        free(n->waits);
        free(n);
    }
    return NULL;
}

static struct nodeattr *nodeattr_new(struct slice name)
{
    struct nodeattr *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->name_len = name.len;
    n->name = malloc(name.len + 1);
    if (!n->name)
        return nodeattr_free(n);
    memcpy(n->name, name.ptr, name.len);
    n->name[name.len] = '\0';
    return n;
}

static int add_wait(struct nodeattr *n, struct nodeattr_wait wait)
{
    if (n->n == n->room) {
        uint32_t room = n->room ? n->room * 2 : 8;
        struct nodeattr_wait *more = realloc(n->waits, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        n->waits = more;
        n->room = room;
    }
    n->waits[n->n++] = wait;
    return 0;
}

int nodeattrs_wait(struct nodeattrs *a, struct slice name, struct nodeattr_wait wait)
{
    struct nodeattr *n = map_get(&a->by_name, name);

    if (n)
        return add_wait(n, wait);
    n = nodeattr_new(name);
    if (!n || add_wait(n, wait) < 0 ||
        map_put(&a->by_name, slice_mem(n->name, n->name_len), n, NULL) < 0) {
        nodeattr_free(n);
        return -ENOMEM;
    }
    return 0;
}

struct nodeattr *nodeattrs_take(struct nodeattrs *a, struct slice name)
{
    return map_del(&a->by_name, name);
}

static bool take_of(struct nodeattr *n, uint32_t rank, struct nodeattr_wait *wait_p)
{
    uint32_t i = 0;

    while (i < n->n && rank != NODEATTR_ANY_RANK && n->waits[i].rank != rank)
        i++;
    if (i == n->n)
        return false;
    *wait_p = n->waits[i];
    memmove(&n->waits[i], &n->waits[i + 1], (n->n - i - 1) * sizeof *n->waits);
    n->n--;
    return true;
}

bool nodeattrs_take_one(struct nodeattrs *a, struct slice prefix, uint32_t rank,
                        struct nodeattr_wait *wait_p)
{
    struct nodeattr *n;
    size_t at = 0;

    while ((n = map_next(&a->by_name, &at))) {
        struct slice name = slice_mem(n->name, n->name_len);
        if (!slice_eq(slice_head(name, prefix.len), prefix) || !take_of(n, rank, wait_p))
            continue;
        if (!n->n)
            nodeattr_free(nodeattrs_take(a, name));
        return true;
    }
    return false;
}
