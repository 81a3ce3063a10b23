/* record.c - see record.h. */
#include "trace/record.h"

#include <errno.h>
#include <string.h>

#include "base/limit.h"

#define RECORD(id, name)             static const struct part parts_##id[] = {
#define PART(id, kind, member, name) { name, PART_##kind, offsetof(struct record_##id, member) },
/* An extra, unused row keeps records without parts from being empty arrays. */
#define DONE(id)                                                                                   \
    {                                                                                              \
        "", PART_UINT, 0                                                                           \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE

static const struct operation_row own_rows[RECORDS_OWN] = {
#define RECORD(id, name) { name, sizeof parts_##id / sizeof *parts_##id - 1, parts_##id },
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/record.def"
#undef RECORD
#undef PART
#undef DONE
};

/* Format 1 had one kind of record for all effects, format 2 had rows of its own for inputs, and
 * format 3 had no ranges of published names. */
static const char magic[] = "WIREUP-RECORD 4\n";

enum { MAGIC_LEN = sizeof magic - 1, HEAD_LEN = 4 };

_Static_assert((int)RECORDS_OWN <= (int)RECORD_OPERATIONS, "the first operation follows");
_Static_assert((int)RECORD_KINDS <= 256, "kinds fit a byte");

/* Which rows have records of which kind. */
#define IS_RECORD_EFFECT true
#define IS_RECORD_INPUT  true
#define IS_RECORD_NONE   false

static const bool is_record[2 * OPERATIONS] = {
#define OPERATION(id, name, E, M, I) IS_RECORD_##I, IS_RECORD_##E,
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

static bool of_operation(enum record_kind kind)
{
    unsigned k = (unsigned)kind;

    return k >= RECORD_OPERATIONS && k < RECORD_KINDS && is_record[k - RECORD_OPERATIONS];
}

static enum operation operation_of(enum record_kind kind)
{
    return (enum operation)(((unsigned)kind - RECORD_OPERATIONS) / 2);
}

const struct operation_row *record_row(enum record_kind kind)
{
    static const struct operation_row none = { NULL, 0, NULL };

    if ((unsigned)kind < RECORDS_OWN)
        return &own_rows[kind];
    return of_operation(kind) ? &operation_rows[operation_of(kind)] : &none;
}

bool record_is_effect(enum record_kind kind)
{
    return of_operation(kind) && ((unsigned)kind - RECORD_OPERATIONS) % 2 == 1;
}

bool record_is_input(enum record_kind kind)
{
    return of_operation(kind) && ((unsigned)kind - RECORD_OPERATIONS) % 2 == 0;
}

bool record_number(const struct record *r, const char *name, int64_t *n_p)
{
    const struct operation_row *row = record_row(r->kind);

    for (uint32_t i = 0; i < row->nparts; i++) {
        const struct part *p = &row->parts[i];
        if ((p->kind == PART_UINT || p->kind == PART_INT) && !strcmp(p->name, name)) {
            *n_p = *(const int64_t *)(const void *)((const char *)&r->u + p->offset);
            return true;
        }
    }
    return false;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool same_texts(const struct part_texts *a, const struct part_texts *b)
{
    bool same = a->n == b->n;

    for (uint32_t i = 0; same && i < a->n; i++)
        same = slice_eq(a->items[i], b->items[i]);
    return same;
}

static bool same_part(enum part_kind kind, const void *a, const void *b)
{
    const struct part_uints *u = a, *v = b;
    const struct part_ints *i = a, *k = b;

    switch (kind) {
    case PART_UINT:
    case PART_INT: return *(const uint64_t *)a == *(const uint64_t *)b;
    case PART_BYTES: return slice_eq(*(const struct slice *)a, *(const struct slice *)b);
    case PART_UINTS:
        return slice_eq(slice_mem(u->items, u->n * sizeof *u->items),
                        slice_mem(v->items, v->n * sizeof *v->items));
    case PART_INTS:
        return slice_eq(slice_mem(i->items, i->n * sizeof *i->items),
                        slice_mem(k->items, k->n * sizeof *k->items));
    case PART_TEXTS: return same_texts(a, b);
    }
    return false;
}

bool record_same(const struct record *a, const struct record *b)
{
    const struct operation_row *row = record_row(a->kind);
    bool same = a->kind == b->kind;

    for (uint32_t i = 0; same && i < row->nparts; i++) {
        size_t at = row->parts[i].offset;
        same = same_part(row->parts[i].kind, (const char *)&a->u + at, (const char *)&b->u + at);
    }
    return same;
}

/* ---- operations ------------------------------------------------------------------------------ */

void record_effect(const struct effect *e, struct record *r)
{
    r->kind = (enum record_kind)(RECORD_OPERATIONS + 2 * (unsigned)e->kind + 1);
    r->time_ns = 0;
    operation_flatten((enum operation)e->kind, &e->u, &r->u.of);
}

void record_input(const struct input *in, struct record *r)
{
    r->kind = (enum record_kind)(RECORD_OPERATIONS + 2 * (unsigned)in->kind);
    r->time_ns = in->now_ns;
    operation_flatten((enum operation)in->kind, &in->u, &r->u.of);
}

bool record_take_input(const struct record *r, struct arena *a, struct input *in_p)
{
    in_p->kind = (enum input_kind)operation_of(r->kind);
    in_p->now_ns = r->time_ns;
    return operation_take(operation_of(r->kind), &r->u.of, a, &in_p->u);
}

/* ---- writing --------------------------------------------------------------------------------- */

void record_write(struct record_writer *w, const struct record *r, struct buf *out)
{
    const struct operation_row *row = record_row(r->kind);
    uint64_t now = r->time_ns > w->last_ns ? r->time_ns : w->last_ns;
    size_t head, body;

    if (!w->begun)
        buf_put(out, magic, MAGIC_LEN);
    w->begun = true;
    head = buf_len(out);
    buf_put(out, "\0\0\0\0", HEAD_LEN);
    buf_byte(out, (char)r->kind);
    parts_put_uint(out, now - w->last_ns);
    parts_write(row->parts, row->nparts, &r->u, out);
    w->last_ns = now;
    if (!buf_ok(out))
        return;
    body = buf_len(out) - head - HEAD_LEN;
    if (body > LIMIT_TRACE_RECORD) {
        out->error = BUF_TOO_LONG;
        return;
    }
    for (int i = 0; i < HEAD_LEN; i++)
        out->mem[out->start + head + (size_t)i] = (char)(body >> (8 * i));
}

/* ---- reading --------------------------------------------------------------------------------- */

void record_reader_init(struct record_reader *r)
{
    memset(r, 0, sizeof *r);
    buf_init(&r->in, SIZE_MAX / 2);
    arena_init(&r->arena, (size_t)LIMIT_TRACE_RECORD * 4);
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

uint64_t record_reader_position(const struct record_reader *r, struct slice bytes)
{
    return r->at - r->taken + (uint64_t)(bytes.ptr - buf_slice(&r->in).ptr);
}

static int bad(struct record_reader *r, struct errmsg *err, const char *why)
{
    r->bad = true;
    return errmsg_set(err, RECORD_BAD, "%s (at byte %llu)", why, (unsigned long long)r->at);
}

static int read_body(struct record_reader *r, struct slice body, struct record *r_p,
                     struct errmsg *err)
{
    enum record_kind kind = (enum record_kind)(unsigned char)body.ptr[0];
    const struct operation_row *row = record_row(kind);
    struct slice rest = slice_skip(body, 1);
    uint64_t since;

    memset(r_p, 0, sizeof *r_p);
    if (!row->name)
        return bad(r, err, "a record of a kind that this version does not know");
    if (!parts_get_uint(&rest, &since) || since > UINT64_MAX - r->last_ns)
        return bad(r, err, "a record without a time");
    r_p->kind = kind;
    if (!parts_read(row->parts, row->nparts, rest, &r->arena, &r_p->u))
        return bad(r, err, "a record whose parts do not fit its length");
    if ((kind == RECORD_begin) != (r->at == MAGIC_LEN))
        return bad(r, err, "a trace has one beginning, as its first record");
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
        return bad(
            r, err,
            other ? "this trace file has the format of another version: read it with that version"
                  : "this is not a trace file");
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
        return bad(r, err, "this trace file is damaged");
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
    if (len < 2 || len > LIMIT_TRACE_RECORD)
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
