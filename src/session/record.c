/* record.c - see record.h.  One interpreter for writing and one for reading, over the table. */
#include "session/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/limit.h"

#define RECORD(id, name)             static const struct record_part parts_##id[] = {
#define PART(id, kind, member, name) { name, RECORD_##kind, offsetof(struct record, u.id.member) },
/* An extra, unused row keeps records without parts from being empty arrays. */
#define DONE(id)                                                                                   \
    {                                                                                              \
        NULL, RECORD_UINT, 0                                                                       \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE

const struct record_row record_rows[RECORD_KINDS] = {
#define RECORD(id, name) { name, sizeof parts_##id / sizeof *parts_##id - 1, parts_##id },
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE
};

static const char magic[] = "WIREUP-RECORD 1\n";

enum { MAGIC_LEN = sizeof magic - 1, HEAD_LEN = 4, VARINT_MAX = 10 };

int record_find(struct slice name)
{
    for (int i = 0; i < RECORD_KINDS; i++) {
        if (slice_is(name, record_rows[i].name))
            return i;
    }
    return -1;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void put_uint(struct buf *out, uint64_t v)
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
    put_uint(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_bytes(struct buf *out, struct slice s)
{
    put_uint(out, s.len);
    buf_slice_put(out, s);
}

static void put_part(struct buf *out, const struct record_part *p, const struct record *r)
{
    const void *at = (const char *)r + p->offset;

    switch (p->kind) {
    case RECORD_UINT: put_uint(out, *(const uint64_t *)at); break;
    case RECORD_INT: put_int(out, *(const int64_t *)at); break;
    case RECORD_BYTES: put_bytes(out, *(const struct slice *)at); break;
    case RECORD_UINTS: {
        const struct record_uints *l = at;
        put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            put_uint(out, l->items[i]);
        break;
    }
    case RECORD_INTS: {
        const struct record_ints *l = at;
        put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            put_int(out, l->items[i]);
        break;
    }
    case RECORD_TEXTS: {
        const struct record_texts *l = at;
        put_uint(out, l->n);
        for (uint32_t i = 0; i < l->n; i++)
            put_bytes(out, l->items[i]);
        break;
    }
    }
}

void record_write(struct record_writer *w, const struct record *r, struct buf *out)
{
    const struct record_row *row = &record_rows[r->kind];
    uint64_t now = r->time_ns > w->last_ns ? r->time_ns : w->last_ns;
    size_t head, body;

    if (!w->begun)
        buf_put(out, magic, MAGIC_LEN);
    w->begun = true;
    head = buf_len(out);
    buf_put(out, "\0\0\0\0", HEAD_LEN);
    buf_byte(out, (char)r->kind);
    put_uint(out, now - w->last_ns);
    for (uint32_t i = 0; i < row->nparts; i++)
        put_part(out, &row->parts[i], r);
    w->last_ns = now;
    if (!buf_ok(out))
        return;
    body = buf_len(out) - head - HEAD_LEN;
    if (body > LIMIT_RECORD) {
        out->error = BUF_TOO_LONG;
        return;
    }
    for (int i = 0; i < HEAD_LEN; i++)
        out->mem[out->start + head + (size_t)i] = (char)(body >> (8 * i));
}

/* ---- reading -----------------------------------------------------------------------------------
 */

void record_reader_init(struct record_reader *r)
{
    memset(r, 0, sizeof *r);
    buf_init(&r->in, SIZE_MAX / 2);
    arena_init(&r->arena, (size_t)LIMIT_RECORD * 4);
}

void record_reader_free(struct record_reader *r)
{
    buf_free(&r->in);
    arena_free(&r->arena);
}

int record_reader_feed(struct record_reader *r, struct slice bytes)
{
    buf_take(&r->in, r->taken);
    r->taken = 0;
    buf_slice_put(&r->in, bytes);
    return buf_ok(&r->in) ? 0 : -ENOMEM;
}

/* What is left of one record; a step that fails says so by false. */
static bool get_uint(struct slice *rest, uint64_t *v_p)
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

    if (!get_uint(rest, &v))
        return false;
    *v_p = (int64_t)(v >> 1 ^ (~(v & 1) + 1));
    return true;
}

static bool get_bytes(struct slice *rest, struct slice *s_p)
{
    uint64_t len;

    if (!get_uint(rest, &len) || len > rest->len)
        return false;
    *s_p = slice_head(*rest, len);
    *rest = slice_skip(*rest, len);
    return true;
}

/* Room for the items of a list; each takes at least a byte of what is left. */
static bool get_room(struct arena *a, struct slice *rest, size_t size, uint32_t *n_p,
                     void **items_p)
{
    uint64_t n;

    if (!get_uint(rest, &n) || n > rest->len)
        return false;
    *n_p = (uint32_t)n;
    *items_p = arena_array(a, n + 1, size);
    return *items_p != NULL;
}

static bool get_uints(struct arena *a, struct slice *rest, struct record_uints *l)
{
    uint32_t *items;
    void *room;
    uint64_t v;

    if (!get_room(a, rest, sizeof *items, &l->n, &room))
        return false;
    items = room;
    l->items = items;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!get_uint(rest, &v) || v > UINT32_MAX)
            return false;
        items[i] = (uint32_t)v;
    }
    return true;
}

static bool get_ints(struct arena *a, struct slice *rest, struct record_ints *l)
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

static bool get_texts(struct arena *a, struct slice *rest, struct record_texts *l)
{
    struct slice *items;
    void *room;

    if (!get_room(a, rest, sizeof *items, &l->n, &room))
        return false;
    items = room;
    l->items = items;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!get_bytes(rest, &items[i]))
            return false;
    }
    return true;
}

static bool get_part(struct arena *a, struct slice *rest, const struct record_part *p,
                     struct record *r)
{
    void *at = (char *)r + p->offset;

    switch (p->kind) {
    case RECORD_UINT: return get_uint(rest, at);
    case RECORD_INT: return get_int(rest, at);
    case RECORD_BYTES: return get_bytes(rest, at);
    case RECORD_UINTS: return get_uints(a, rest, at);
    case RECORD_INTS: return get_ints(a, rest, at);
    case RECORD_TEXTS: return get_texts(a, rest, at);
    }
    return false;
}

static int bad(struct record_reader *r, struct errmsg *err, const char *why)
{
    r->bad = true;
    return errmsg_set(err, RECORD_BAD, "%s (at byte %llu)", why, (unsigned long long)r->at);
}

/* Parts that an older writer did not know are missing at the end; what a newer one adds there is
 * skipped. */
static int read_body(struct record_reader *r, struct slice body, struct record *r_p,
                     struct errmsg *err)
{
    unsigned kind = (unsigned char)body.ptr[0];
    const struct record_row *row = &record_rows[kind < RECORD_KINDS ? kind : 0];
    struct slice rest = slice_skip(body, 1);
    uint64_t since;

    memset(r_p, 0, sizeof *r_p);
    if (kind >= RECORD_KINDS)
        return bad(r, err, "a record of a kind that this version does not know");
    if (!get_uint(&rest, &since) || since > UINT64_MAX - r->last_ns)
        return bad(r, err, "a record without a time");
    r_p->kind = (enum record_kind)kind;
    for (uint32_t i = 0; i < row->nparts && rest.len; i++) {
        if (!get_part(&r->arena, &rest, &row->parts[i], r_p))
            return bad(r, err, "a record whose parts do not fit its length");
    }
    if ((kind == RECORD_begin) != (r->at == MAGIC_LEN))
        return bad(r, err, "a recording has one beginning, and it comes first");
    r->last_ns += since;
    r_p->time_ns = r->last_ns;
    return RECORD_WHOLE;
}

static int read_magic(struct record_reader *r, struct errmsg *err)
{
    struct slice in = buf_slice(&r->in);
    size_t n = in.len < MAGIC_LEN ? in.len : MAGIC_LEN;

    if (!slice_eq(slice_head(in, n), slice_mem(magic, n))) {
        bool other = slice_starts(in, slice_mem(magic, MAGIC_LEN - 2));
        return bad(r, err,
                   other ? "a recording in a format that this version does not know"
                         : "this is no recording");
    }
    if (n < MAGIC_LEN)
        return RECORD_MORE;
    buf_take(&r->in, MAGIC_LEN);
    r->at = MAGIC_LEN;
    r->begun = true;
    return RECORD_WHOLE;
}

int record_reader_next(struct record_reader *r, struct record *r_p, struct errmsg *err)
{
    struct slice in;
    uint32_t len = 0;
    int rc;

    if (r->bad)
        return bad(r, err, "this recording is broken");
    buf_take(&r->in, r->taken);
    r->taken = 0;
    arena_free(&r->arena);
    if (!r->begun && (rc = read_magic(r, err)) != RECORD_WHOLE)
        return rc;
    in = buf_slice(&r->in);
    if (in.len < HEAD_LEN)
        return RECORD_MORE;
    for (int i = 0; i < HEAD_LEN; i++)
        len |= (uint32_t)(unsigned char)in.ptr[i] << (8 * i);
    if (len < 2 || len > LIMIT_RECORD)
        return bad(r, err, "a record of an impossible length");
    if (in.len - HEAD_LEN < len)
        return RECORD_MORE;
    rc = read_body(r, slice_mem(in.ptr + HEAD_LEN, len), r_p, err);
    if (rc != RECORD_WHOLE)
        return rc;
    r->taken = HEAD_LEN + len;
    r->at += r->taken;
    return RECORD_WHOLE;
}
