/* trail.c - see trail.h. */
#include "overlay/trail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* After so many messages, or bytes, the other end is told that we have them. */
enum { TRAIL_MESSAGES = 32, TRAIL_BYTES = 64 << 10 };

struct trail_kept {
    struct list link;
    uint64_t number;
    size_t len;
    char bytes[];
};

struct trail_end {
    uint64_t sent;     /* number of our last message */
    uint64_t heard;    /* … and of the last one of theirs that came in order */
    struct list kept;  /* struct trail_kept */
    uint32_t owed;     /* messages that came since we have said so */
    size_t owed_bytes; /* likewise */
};

int trail_open(struct trail *t, uint32_t count)
{
    t->count = count;
    t->ends = calloc((size_t)count + 1, sizeof(struct trail_end *));
    return t->ends ? 0 : -ENOMEM;
}

static void drop_kept(struct trail_end *e, uint64_t up_to)
{
    LIST_EACH(l, &e->kept)
    {
        struct trail_kept *k = LIST_OF(l, struct trail_kept, link);
        if (k->number > up_to)
            return;
        list_unlink(&k->link);
        free(k);
    }
}

static void end_free(struct trail_end *e)
{
    if (e)
        drop_kept(e, UINT64_MAX);
    free(e);
}

void trail_close(struct trail *t)
{
    for (uint32_t p = 0; t->ends && p < t->count; p++)
        end_free(t->ends[p]);
    free(t->ends);
    t->ends = NULL;
}

/* NULL: no such position, or no memory. */
static struct trail_end *end_of(struct trail *t, uint32_t position)
{
    struct trail_end *e;

    if (position >= t->count)
        return NULL;
    if (t->ends[position])
        return t->ends[position];
    e = calloc(1, sizeof *e);
    if (e)
        list_init(&e->kept);
    return t->ends[position] = e;
}

static uint64_t say_heard(struct trail_end *e)
{
    e->owed = 0;
    e->owed_bytes = 0;
    return e->heard;
}

bool trail_number(struct trail *t, struct msg *m)
{
    struct trail_end *e = end_of(t, m->to);

    if (!e)
        return false;
    m->number = e->sent + 1;
    m->heard = say_heard(e);
    return true;
}

bool trail_keep(struct trail *t, uint32_t to, struct slice bytes)
{
    struct trail_end *e = end_of(t, to);
    struct trail_kept *k = e ? malloc(sizeof *k + bytes.len) : NULL;

    if (!k)
        return false;
    list_init(&k->link);
    k->number = ++e->sent;
    k->len = bytes.len;
    memcpy(k->bytes, bytes.ptr, bytes.len);
    list_append(&e->kept, &k->link);
    return true;
}

void trail_note(struct trail *t, struct msg *m)
{
    struct trail_end *e = end_of(t, m->to);

    m->number = 0;
    m->heard = e ? say_heard(e) : 0;
}

bool trail_take(struct trail *t, const struct msg *m, size_t bytes)
{
    struct trail_end *e = end_of(t, m->from);

    if (!e)
        return m->number == 0;
    if (m->heard <= e->sent)
        drop_kept(e, m->heard);
    if (m->number == 0)
        return true;
    e->owed++; /* also what came twice: its sender has not heard of it */
    e->owed_bytes += bytes;
    if (m->number != e->heard + 1)
        return false;
    e->heard++;
    return true;
}

bool trail_owes(const struct trail *t, uint32_t position)
{
    const struct trail_end *e = position < t->count ? t->ends[position] : NULL;

    return e && (e->owed >= TRAIL_MESSAGES || e->owed_bytes >= TRAIL_BYTES);
}

const struct trail_kept *trail_next(const struct trail *t, uint32_t to, const struct trail_kept *at)
{
    const struct trail_end *e = to < t->count ? t->ends[to] : NULL;
    const struct list *next;

    if (!e)
        return NULL;
    next = at ? at->link.next : e->kept.next;
    return next == &e->kept ? NULL : LIST_OF(next, struct trail_kept, link);
}

struct slice trail_bytes(const struct trail_kept *k)
{
    return slice_mem(k->bytes, k->len);
}

void trail_forget(struct trail *t, uint32_t position)
{
    if (position < t->count && t->ends[position])
        drop_kept(t->ends[position], UINT64_MAX);
}
