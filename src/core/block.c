/* block.c - see block.h. */
#include "core/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/parts.h"

enum { HEAD_LEN = 5, WORTH_A_NUMBER = 4 /* shorter values are as short as a reference */ };

/* ---- writing --------------------------------------------------------------------------------- */

void block_begin(struct block_writer *w, struct buf *out, uint64_t seed)
{
    *w = (struct block_writer){ .out = out, .start = buf_len(out) };
    map_init(&w->keys, seed);
    map_init(&w->values, seed);
    buf_put(out, "B\0\0\0\0", HEAD_LEN);
}

void block_rank(struct block_writer *w, uint32_t rank, bool whole)
{
    parts_put_uint(w->out, 0);
    parts_put_uint(w->out, rank);
    buf_byte(w->out, whole);
    w->nranks++;
}

/* The number under which it has occurred; -1: it has not, and is recorded now. */
static int64_t number_of(struct block_writer *w, struct map *m, struct slice s)
{
    uintptr_t known = (uintptr_t)map_get(m, s);

    if (known)
        return (int64_t)known - 1;
    if (map_put(m, s, (void *)(uintptr_t)(m->count + 1), NULL) < 0)
        w->out->error = BUF_NO_MEMORY;
    return -1;
}

static void put_bytes(struct buf *out, struct slice s)
{
    parts_put_uint(out, s.len);
    buf_slice_put(out, s);
}

static void put_key(struct block_writer *w, struct slice key)
{
    int64_t k = number_of(w, &w->keys, key);

    parts_put_uint(w->out, k < 0 ? 1 : (uint64_t)k + 2);
    if (k < 0)
        put_bytes(w->out, key);
}

void block_entry(struct block_writer *w, const struct seg_item *item)
{
    int64_t v = -1;

    put_key(w, item->key);
    if (item->value.len >= WORTH_A_NUMBER)
        v = number_of(w, &w->values, item->value);
    buf_byte(w->out, (char)((item->flags & SEG_RECORD_FLAT ? BLOCK_FLAT : 0) |
                            (v >= 0 ? BLOCK_AGAIN : 0) | (item->quals.len ? BLOCK_QUALS : 0)));
    parts_put_uint(w->out, item->type);
    buf_byte(w->out, (char)item->scope);
    if (v >= 0)
        parts_put_uint(w->out, (uint64_t)v);
    else
        put_bytes(w->out, item->value);
    if (item->quals.len)
        put_bytes(w->out, item->quals);
}

void block_end(struct block_writer *w)
{
    size_t len = buf_len(w->out) - w->start;

    map_free(&w->keys);
    map_free(&w->values);
    if (!buf_ok(w->out))
        return;
    if (w->nranks == 0) {
        w->out->end -= len;
        return;
    }
    if (len - HEAD_LEN > UINT32_MAX) {
        w->out->error = BUF_TOO_LONG;
        return;
    }
    for (int i = 0; i < 4; i++)
        w->out->mem[w->out->start + w->start + 1 + (size_t)i] = (char)((len - HEAD_LEN) >> (8 * i));
}

/* ---- reading --------------------------------------------------------------------------------- */

void block_open(struct block_reader *r, struct slice blocks)
{
    *r = (struct block_reader){ .rest = blocks };
}

void block_close(struct block_reader *r)
{
    free(r->keys);
    free(r->values);
    *r = (struct block_reader){ .bad = true };
}

static int bad(struct block_reader *r)
{
    r->bad = true;
    return BLOCK_BAD;
}

static bool begin(struct block_reader *r)
{
    size_t len = 0;

    if (r->rest.len < HEAD_LEN || r->rest.ptr[0] != 'B')
        return false;
    for (int i = 0; i < 4; i++)
        len |= (size_t)(unsigned char)r->rest.ptr[1 + i] << (8 * i);
    r->rest = slice_skip(r->rest, HEAD_LEN);
    if (len > r->rest.len)
        return false;
    r->body = slice_head(r->rest, len);
    r->rest = slice_skip(r->rest, len);
    r->nkeys = r->nvalues = 0;
    r->has_rank = false;
    return true;
}

static bool get_byte(struct slice *rest, uint8_t *b_p)
{
    if (rest->len == 0)
        return false;
    *b_p = (uint8_t)rest->ptr[0];
    *rest = slice_skip(*rest, 1);
    return true;
}

static bool note(struct slice **list, uint32_t *n, uint32_t *room, struct slice s)
{
    if (*n == *room) {
        uint32_t more = *room ? *room * 2 : 64;
        struct slice *longer = realloc(*list, more * sizeof *longer);
        if (!longer)
            return false;
        *list = longer;
        *room = more;
    }
    (*list)[(*n)++] = s;
    return true;
}

static int read_rank(struct block_reader *r)
{
    uint64_t rank;
    uint8_t whole;

    if (!parts_get_uint(&r->body, &rank) || rank >= UINT32_MAX || !get_byte(&r->body, &whole))
        return bad(r);
    r->item = (struct seg_item){ .rank = (uint32_t)rank };
    r->whole = whole != 0;
    r->has_rank = true;
    return BLOCK_RANK;
}

static int read_value(struct block_reader *r, uint8_t flags)
{
    uint64_t v;

    if (flags & BLOCK_AGAIN) {
        if (!parts_get_uint(&r->body, &v) || v >= r->nvalues)
            return bad(r);
        r->item.value = r->values[v];
        return BLOCK_ENTRY;
    }
    if (!parts_get_bytes(&r->body, &r->item.value))
        return bad(r);
    if (r->item.value.len >= WORTH_A_NUMBER &&
        !note(&r->values, &r->nvalues, &r->values_room, r->item.value))
        return -ENOMEM;
    return BLOCK_ENTRY;
}

static int read_entry(struct block_reader *r, uint64_t key)
{
    uint8_t flags;
    uint64_t type;
    int rc;

    r->item = (struct seg_item){ .rank = r->item.rank };
    if (key == 1) {
        if (!parts_get_bytes(&r->body, &r->item.key))
            return bad(r);
        if (!note(&r->keys, &r->nkeys, &r->keys_room, r->item.key))
            return -ENOMEM;
    } else {
        if (key - 2 >= r->nkeys)
            return bad(r);
        r->item.key = r->keys[key - 2];
    }
    if (!get_byte(&r->body, &flags) || !parts_get_uint(&r->body, &type) || type > UINT16_MAX ||
        !get_byte(&r->body, &r->item.scope))
        return bad(r);
    r->item.type = (uint16_t)type;
    r->item.flags = flags & BLOCK_FLAT ? SEG_RECORD_FLAT : 0;
    rc = read_value(r, flags);
    if (rc == BLOCK_ENTRY && flags & BLOCK_QUALS && !parts_get_bytes(&r->body, &r->item.quals))
        return bad(r);
    return rc;
}

int block_next(struct block_reader *r)
{
    uint64_t head;

    while (!r->bad && r->body.len == 0) {
        if (r->rest.len == 0)
            return BLOCK_OVER;
        if (!begin(r))
            return bad(r);
    }
    if (r->bad || !parts_get_uint(&r->body, &head) || (head && !r->has_rank))
        return bad(r);
    return head ? read_entry(r, head) : read_rank(r);
}
