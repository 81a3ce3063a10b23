/* leftovers.c - see leftovers.h. */
#include "daemon/leftovers.h"

#include <string.h>

/* An entry of the list; the order's texts are behind it. */
struct entry {
    struct cleanup_order order;
    bool segment;
};

void leftovers_begin(struct leftovers *l)
{
    atomic_store(&l->used, 0);
    l->room = 0;
}

static void append(struct leftovers *l, const void *bytes, size_t n)
{
    if (n)
        memcpy(l->bytes + l->room, bytes, n);
    l->room += (unsigned)n;
}

bool leftovers_add(struct leftovers *l, const struct cleanup_order *o, bool segment)
{
    struct entry e = { *o, segment };

    if (sizeof e + o->path.len + o->stay.len > sizeof l->bytes - l->room)
        return false;
    append(l, &e, sizeof e);
    append(l, o->path.ptr, o->path.len);
    append(l, o->stay.ptr, o->stay.len);
    return true;
}

void leftovers_end(struct leftovers *l)
{
    atomic_store(&l->used, l->room);
}

static bool take(struct slice *rest, size_t n, struct slice *part_p)
{
    if (n > rest->len)
        return false;
    *part_p = slice_mem(rest->ptr, n);
    *rest = slice_skip(*rest, n);
    return true;
}

static bool read_entry(struct slice *rest, struct entry *e)
{
    struct cleanup_order *o = &e->order;
    struct slice bytes;

    if (!take(rest, sizeof *e, &bytes))
        return false;
    memcpy(e, bytes.ptr, sizeof *e);
    return take(rest, o->path.len, &o->path) && take(rest, o->stay.len, &o->stay);
}

/* Nobody is left who could be told of what stays. */
static void remove_one(const struct entry *e)
{
    if (e->segment)
        cleanup_segment(e->order.path, e->order.uid);
    else
        cleanup_run(&e->order);
}

void leftovers_remove(struct leftovers *l)
{
    unsigned used = atomic_exchange(&l->used, 0);
    struct slice rest =
        slice_mem((const char *)l->bytes, used <= sizeof l->bytes ? used : sizeof l->bytes);
    struct entry e;

    while (read_entry(&rest, &e))
        remove_one(&e);
}
