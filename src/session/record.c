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

/* Format 1 had one kind of record for all effects. */
static const char magic[] = "WIREUP-RECORD 2\n";

/* In a file the effects are numbered from here. */
enum { MAGIC_LEN = sizeof magic - 1, HEAD_LEN = 4, EFFECTS_AT = 128 };

static const unsigned first_effect = RECORD_effect_answer;

_Static_assert((int)RECORD_effect_answer + (int)EFFECT_KINDS == (int)RECORD_KINDS,
               "the effects come last");
_Static_assert((int)RECORD_effect_answer <= (int)EFFECTS_AT &&
                   (int)EFFECTS_AT + (int)EFFECT_KINDS <= 256,
               "kinds fit a byte");

static unsigned number_in_file(enum record_kind kind)
{
    return kind < first_effect ? kind : (unsigned)kind - first_effect + EFFECTS_AT;
}

/* RECORD_KINDS: this version has none of that number. */
static unsigned kind_of_number(unsigned number)
{
    unsigned kind = number < EFFECTS_AT ? number : number - EFFECTS_AT + first_effect;

    return number < EFFECTS_AT && number >= first_effect ? RECORD_KINDS : kind;
}

int record_find(struct slice name)
{
    for (int i = 0; i < RECORD_KINDS; i++) {
        if (slice_is(name, record_rows[i].name))
            return i;
    }
    return -1;
}

const char *record_effect_name(enum record_kind kind)
{
    return kind >= first_effect ? record_rows[kind].name + sizeof "effect" : NULL;
}

bool record_number(const struct record *r, const char *name, int64_t *n_p)
{
    const struct record_row *row = &record_rows[r->kind];

    for (uint32_t i = 0; i < row->nparts; i++) {
        const struct part *p = &row->parts[i];
        if ((p->kind == PART_UINT || p->kind == PART_INT) && !strcmp(p->name, name)) {
            *n_p = *(const int64_t *)(const void *)((const char *)r + p->offset);
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
    const struct record_row *row = &record_rows[a->kind];
    bool same = a->kind == b->kind;

    for (uint32_t i = 0; same && i < row->nparts; i++) {
        size_t at = row->parts[i].offset;
        same = same_part(row->parts[i].kind, (const char *)a + at, (const char *)b + at);
    }
    return same;
}

/* ---- effects --------------------------------------------------------------------------------- */

static int64_t signed_id(uint32_t id)
{
    return id == UINT32_MAX ? -1 : (int64_t)id;
}

static struct slice first_program(const struct spawn_request *rq)
{
    return rq && rq->ncommands ? slice_str(rq->commands[0].program) : SLICE_NULL;
}

/* A member m of the effect e, as parts of the record d. */
#define FILL_ID_OF(m, id)                                                                          \
    d->m##_kind = slice_str(coll_kind_name((id).kind));                                            \
    d->m##_job = (id).job;                                                                         \
    d->m##_group = (id).group;                                                                     \
    d->m##_generation = (id).generation;
#define FILL_NUMBER(m)     d->m = (uint64_t)e->m;
#define FILL_ID(m)         d->m = signed_id(e->m);
#define FILL_SIGNED(m)     d->m = e->m;
#define FILL_JOB(m)        FILL_ID(m)
#define FILL_RANK(m)       FILL_ID(m)
#define FILL_TICKET(m)     d->m##_connection = e->m >> 32, d->m##_token = e->m & UINT32_MAX;
#define FILL_U64(m)        FILL_NUMBER(m)
#define FILL_U32(m)        FILL_NUMBER(m)
#define FILL_U16(m)        FILL_NUMBER(m)
#define FILL_U8(m)         FILL_NUMBER(m)
#define FILL_I64(m)        FILL_SIGNED(m)
#define FILL_INT(m)        FILL_SIGNED(m)
#define FILL_BOOL(m)       FILL_NUMBER(m)
#define FILL_STATUS(m)     d->m = slice_str(answer_word(e->m));
#define FILL_PROC_EVENT(m) d->m = slice_str(proc_event_name(e->m));
#define FILL_PID(m)
#define FILL_TEXT(m) d->m = e->m;
#define FILL_WHY(m)  d->m = e->m;
#define FILL_SECRET(m)
#define FILL_COLL_ID(m) FILL_ID_OF(m, e->m)
#define FILL_SPAWN(m)                                                                              \
    d->m##_processes = e->m ? spawn_nprocs(e->m) : 0;                                              \
    d->m##_program = first_program(e->m);
#define FILL_QUERY(m)                                                                              \
    if (e->m) {                                                                                    \
        d->m##_op = slice_str(nameservice_op_name(e->m->op));                                      \
        d->m##_service = e->m->service;                                                            \
        d->m##_port = e->m->port;                                                                  \
    }
#define FILL_CONTRIBUTION(m)                                                                       \
    if (e->m) {                                                                                    \
        FILL_ID_OF(m, e->m->id)                                                                    \
        d->m##_collect = e->m->collect;                                                            \
        d->m##_block = buf_slice(&e->m->block);                                                    \
    }

/* One function per effect: fill_ and its id. */
#define EFFECT(id, name)                                                                           \
    static void fill_##id(const struct effect_##id *e, struct record_effect_##id *d)               \
    {
#define EFFECT_MEMBER(id, KIND, member, name) FILL_##KIND(member)
#define EFFECT_DONE(id)                       }
#include "proto/operations.def"

void record_effect(const struct effect *e, struct record *r)
{
    memset(r, 0, sizeof *r);
    r->kind = (enum record_kind)(first_effect + (unsigned)e->kind);
    switch (e->kind) {
#define EFFECT(id, name)                                                                           \
    case EFFECT_##id:                                                                              \
        fill_##id(&e->u.id, &r->u.effect_##id);                                                    \
        break;
#define EFFECT_MEMBER(id, KIND, member, name)
#define EFFECT_DONE(id)
#include "proto/operations.def"
    case EFFECT_KINDS: break;
    }
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
    buf_byte(out, (char)number_in_file(r->kind));
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
    unsigned kind = kind_of_number((unsigned char)body.ptr[0]);
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
