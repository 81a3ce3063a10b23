/* reliable.c - see reliable.h. */
#include "cluster/reliable.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/msg.h"

/* An acknowledgement is sent after so many bytes, of which a message counts as so many at least. */
enum { RELIABLE_BYTES = 64 << 10, RELIABLE_LEAST = RELIABLE_BYTES / 32 };

struct reliable_kept {
    struct reliable_kept *next; /* a later one */
    uint64_t number;
    uint32_t len;
    char bytes[];
};

/* There is one of each peer of each daemon, so it is kept small. */
struct reliable_end {
    uint32_t position;
    uint32_t owed;  /* bytes received since our last acknowledgement, as counted above */
    uint64_t sent;  /* number of our last message */
    uint64_t acked; /* ... and of the last one of theirs received in order */
    struct reliable_kept *first, *last;
};

void reliable_open(struct reliable *t, uint32_t count)
{
    t->count = count;
    t->ends = (struct number_map){ 0 };
}

static void drop_kept(struct reliable_end *e, uint64_t up_to)
{
    struct reliable_kept *k;

    while ((k = e->first) && k->number <= up_to) {
        e->first = k->next;
        free(k);
    }
    if (!e->first)
        e->last = NULL;
}

void reliable_close(struct reliable *t)
{
    struct reliable_end *e;

    for (size_t at = 0; (e = number_map_next(&t->ends, &at));) {
        drop_kept(e, UINT64_MAX);
        free(e);
    }
    number_map_free(&t->ends);
}

/* NULL: no traffic yet. */
static struct reliable_end *find(const struct reliable *t, uint32_t position)
{
    return number_map_get(&t->ends, position);
}

/* NULL: no such position, or no memory. */
static struct reliable_end *end_of(struct reliable *t, uint32_t position)
{
    struct reliable_end *e = position < t->count ? find(t, position) : NULL;

    if (e || position >= t->count)
        return e;
    e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->position = position;
    if (number_map_put(&t->ends, position, e) == 0)
        return e;
    free(e);
    return NULL;
}

uint32_t reliable_each(const struct reliable *t, size_t *at)
{
    const struct reliable_end *e = number_map_next(&t->ends, at);

    return e ? e->position : UINT32_MAX;
}

static uint64_t take_ack(struct reliable_end *e)
{
    e->owed = 0;
    return e->acked;
}

bool reliable_number(struct reliable *t, struct msg *m)
{
    struct reliable_end *e = end_of(t, m->to);

    if (!e)
        return false;
    m->number = e->sent + 1;
    m->acked = take_ack(e);
    return true;
}

bool reliable_keep(struct reliable *t, uint32_t to, struct slice bytes)
{
    struct reliable_end *e = end_of(t, to);
    size_t size = offsetof(struct reliable_kept, bytes) + bytes.len;
    struct reliable_kept *k = e && bytes.len <= UINT32_MAX ? malloc(size) : NULL;

    if (!k)
        return false;
    k->next = NULL;
    k->number = ++e->sent;
    k->len = (uint32_t)bytes.len;
    memcpy(k->bytes, bytes.ptr, bytes.len);
    if (e->last)
        e->last->next = k;
    else
        e->first = k;
    e->last = k;
    return true;
}

void reliable_note(struct reliable *t, struct msg *m)
{
    struct reliable_end *e = end_of(t, m->to);

    m->number = 0;
    m->acked = e ? take_ack(e) : 0;
}

static void owe(struct reliable_end *e, size_t bytes)
{
    size_t more = bytes > RELIABLE_LEAST ? bytes : RELIABLE_LEAST;

    e->owed = more < RELIABLE_BYTES - e->owed ? e->owed + (uint32_t)more : RELIABLE_BYTES;
}

bool reliable_take(struct reliable *t, const struct msg *m, size_t bytes)
{
    struct reliable_end *e = end_of(t, m->from);

    if (!e)
        return m->number == 0;
    if (m->acked <= e->sent)
        drop_kept(e, m->acked);
    if (m->number == 0)
        return true;
    owe(e, bytes); /* for duplicates too: their sender has not got the acknowledgement */
    if (m->number != e->acked + 1)
        return false;
    e->acked++;
    return true;
}

bool reliable_owes(const struct reliable *t, uint32_t position)
{
    const struct reliable_end *e = find(t, position);

    return e && e->owed >= RELIABLE_BYTES;
}

const struct reliable_kept *reliable_next(const struct reliable *t, uint32_t to,
                                          const struct reliable_kept *at)
{
    const struct reliable_end *e = find(t, to);

    return !e ? NULL : at ? at->next : e->first;
}

struct slice reliable_bytes(const struct reliable_kept *k)
{
    return slice_mem(k->bytes, k->len);
}

void reliable_forget(struct reliable *t, uint32_t position)
{
    struct reliable_end *e = find(t, position);

    if (e)
        drop_kept(e, UINT64_MAX);
}
