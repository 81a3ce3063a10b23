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
        free(n->tickets);
        free(n);
    }
    return NULL;
}

static struct nodeattr *nodeattr_new(struct slice name, uint64_t now_ns)
{
    struct nodeattr *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->since_ns = now_ns;
    n->name_len = name.len;
    n->name = malloc(name.len + 1);
    if (!n->name)
        return nodeattr_free(n);
    memcpy(n->name, name.ptr, name.len);
    n->name[name.len] = '\0';
    return n;
}

static int add_ticket(struct nodeattr *n, uint64_t ticket)
{
    if (n->n == n->room) {
        uint32_t room = n->room ? n->room * 2 : 8;
        uint64_t *more = realloc(n->tickets, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        n->tickets = more;
        n->room = room;
    }
    n->tickets[n->n++] = ticket;
    return 0;
}

int nodeattrs_wait(struct nodeattrs *a, struct slice name, uint64_t ticket, uint64_t now_ns)
{
    struct nodeattr *n = map_get(&a->by_name, name);

    if (n)
        return add_ticket(n, ticket);
    n = nodeattr_new(name, now_ns);
    if (!n || add_ticket(n, ticket) < 0 ||
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
