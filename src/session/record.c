/* record.c - see record.h. */
#include "session/record.h"

#include <errno.h>
#include <string.h>

#include "base/limit.h"

#define RECORD(id, name)             static const struct part parts_##id[] = {
#define PART(id, kind, member, name) { name, PART_##kind, offsetof(struct record, u.id.member) },
/* An extra, unused row keeps records without parts from being empty arrays. */
#define DONE(id)                                                                                   \
    {                                                                                              \
        NULL, PART_UINT, 0                                                                         \
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

enum { MAGIC_LEN = sizeof magic - 1, HEAD_LEN = 4 };

int record_find(struct slice name)
{
    for (int i = 0; i < RECORD_KINDS; i++) {
        if (slice_is(name, record_rows[i].name))
            return i;
    }
    return -1;
}

/* ---- writing --------------------------------------------------------------------------------- */

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
    parts_put_uint(out, now - w->last_ns);
    parts_write(row->parts, row->nparts, r, out);
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

/* ---- reading --------------------------------------------------------------------------------- */

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

static int bad(struct record_reader *r, struct errmsg *err, const char *why)
{
    r->bad = true;
    return errmsg_set(err, RECORD_BAD, "%s (at byte %llu)", why, (unsigned long long)r->at);
}

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
    if (!parts_get_uint(&rest, &since) || since > UINT64_MAX - r->last_ns)
        return bad(r, err, "a record without a time");
    r_p->kind = (enum record_kind)kind;
    if (!parts_read(row->parts, row->nparts, rest, &r->arena, r_p))
        return bad(r, err, "a record whose parts do not fit its length");
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
