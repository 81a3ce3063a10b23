/* parts.c - see parts.h.  One interpreter for writing and one for reading, over the table. */
#include "wire/parts.h"

#include <limits.h>

enum { VARINT_MAX = 10 };

/* ---- writing --------------------------------------------------------------------------------- */

void parts_put_uint(struct buf *out, uint64_t v)
{
    char bytes[VARINT_MAX];
    size_t n = 0;

    while (v >= 0x80) {
        bytes[n++] = (char)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (char)v;
    buf_put(out, bytes, n);
}

static void put_int(struct buf *out, int64_t v)
{
    parts_put_uint(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_bytes(struct buf *out, struct slice s)
{
    parts_put_uint(out, s.len);
    buf_slice_put(out, s);
}

static void put_part(struct buf *out, const struct part *p, const void *base)
{
    const void *at = (const char *)base + p->offset;

    switch (p->kind) {
    case PART_UINT: parts_put_uint(out, *(const uint64_t *)at); break;
    case PART_INT: put_int(out, *(const int64_t *)at); break;
    case PART_BYTES: put_bytes(out, *(const struct slice *)at); break;
    case PART_UINTS: {
        const struct part_uints *l = at;
        parts_put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            parts_put_uint(out, l->items[i]);
        break;
    }
    case PART_INTS: {
        const struct part_ints *l = at;
        parts_put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            put_int(out, l->items[i]);
        break;
    }
    case PART_TEXTS: {
        const struct part_texts *l = at;
        parts_put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            put_bytes(out, l->items[i]);
        break;
    }
    }
}

void parts_write(const struct part *parts, uint32_t n, const void *base, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++)
        put_part(out, &parts[i], base);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The remaining input; a step that fails returns false. */
bool parts_get_uint(struct slice *rest, uint64_t *v_p)
{
    uint64_t v = 0;

    for (size_t i = 0; i < rest->len && i < VARINT_MAX; i++) {
        unsigned char c = (unsigned char)rest->ptr[i];
        if (i == VARINT_MAX - 1 && c > 1) /* over 64 bits */
            return false;
        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c < 0x80) {
            *rest = slice_skip(*rest, i + 1);
            *v_p = v;
            return true;
        }
    }
    return false;
}

static bool get_int(struct slice *rest, int64_t *v_p)
{
    uint64_t v;

    if (!parts_get_uint(rest, &v))
        return false;
    *v_p = (int64_t)(v >> 1 ^ (~(v & 1) + 1));
    return true;
}

bool parts_get_u32(struct slice *rest, uint32_t *v_p)
{
    uint64_t v;

    if (!parts_get_uint(rest, &v) || v > UINT32_MAX)
        return false;
    *v_p = (uint32_t)v;
    return true;
}

bool parts_get_bytes(struct slice *rest, struct slice *s_p)
{
    uint64_t len;

    if (!parts_get_uint(rest, &len) || len > rest->len)
        return false;
    *s_p = slice_head(*rest, len);
    *rest = slice_skip(*rest, len);
    return true;
}

/* Memory for the items of a list; each takes at least a byte of the remaining input. */
static bool get_room(struct arena *a, struct slice *rest, size_t size, uint32_t *n_p,
                     void **items_p)
{
    uint64_t n;

    if (!parts_get_uint(rest, &n) || n > rest->len)
        return false;
    *n_p = (uint32_t)n;
    *items_p = arena_array(a, n + 1, size);
    return *items_p != NULL;
}

static bool get_uints(struct arena *a, struct slice *rest, struct part_uints *l)
{
    uint32_t *items;
    void *room;

    if (!get_room(a, rest, sizeof *items, &l->n, &room))
        return false;
    items = room;
    l->items = items;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!parts_get_u32(rest, &items[i]))
            return false;
    }
    return true;
}

static bool get_ints(struct arena *a, struct slice *rest, struct part_ints *l)
{
    int *items;
    void *room;
    int64_t v;

    if (!get_room(a, rest, sizeof *items, &l->n, &room))
        return false;
    items = room;
    l->items = items;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!get_int(rest, &v) || v < INT_MIN || v > INT_MAX)
            return false;
        items[i] = (int)v;
    }
    return true;
}

static bool get_texts(struct arena *a, struct slice *rest, struct part_texts *l)
{
    struct slice *items;
    void *room;

    if (!get_room(a, rest, sizeof *items, &l->n, &room))
        return false;
    items = room;
    l->items = items;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!parts_get_bytes(rest, &items[i]))
            return false;
    }
    return true;
}

static bool get_part(struct arena *a, struct slice *rest, const struct part *p, void *base)
{
    void *at = (char *)base + p->offset;

    switch (p->kind) {
    case PART_UINT: return parts_get_uint(rest, at);
    case PART_INT: return get_int(rest, at);
    case PART_BYTES: return parts_get_bytes(rest, at);
    case PART_UINTS: return get_uints(a, rest, at);
    case PART_INTS: return get_ints(a, rest, at);
    case PART_TEXTS: return get_texts(a, rest, at);
    }
    return false;
}

bool parts_read(const struct part *parts, uint32_t n, struct slice bytes, struct arena *a,
                void *base)
{
    for (uint32_t i = 0; i < n && bytes.len; i++) {
        if (!get_part(a, &bytes, &parts[i], base))
            return false;
    }
    return true;
}
