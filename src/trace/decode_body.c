/* decode_body.c - the fields of a PMIx message, by proto/pmix_commands.def.
 *
 * The message is read with the reader that clients and servers use (wire/pmix_message.h), and its
 * fields are shown with their names in the table.  The part that cannot be read stays bytes, named
 * "rest".
 */
#include <string.h>

#include "trace/decode_priv.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"

struct body {
    struct decode *d;
    bool in_rank;      /* within a message rank_values, which has no other in it */
    const char *why;   /* something could not be read */
    struct slice left; /* the bytes from there on */
};

static const char *reason(enum ptype_error error)
{
    switch (error) {
    case PTYPE_CUT: return "the message is cut short";
    case PTYPE_UNKNOWN: return "a data type that this encoding does not have";
    case PTYPE_TOO_DEEP: return "values are nested too deep";
    default: return "the message is malformed";
    }
}

/* The first thing that cannot be read; false: no memory. */
static bool stop(struct body *b, const struct punpack *r)
{
    if (!punpack_ok(r) && !b->why) {
        b->why = reason(r->error);
        b->left = slice_mem(r->at, punpack_left(r));
    }
    return r->error != PTYPE_NO_MEMORY;
}

/* ---- fields that last to the end ------------------------------------------------------------- */

static bool put_message(struct body *b, const struct pmsg *row, struct punpack *r);

/* A message within the message, as a group. */
static bool put_part(struct body *b, struct slice name, const struct pmsg *row, struct punpack *r)
{
    return decode_open(b->d, name, DECODE_GROUP) && put_message(b, row, r) && decode_close(b->d);
}

static bool put_kval(struct body *b, const struct punpack *r, struct slice key,
                     const pmix_value_t *v)
{
    const pmix_byte_object_t *bo = &v->data.bo;
    struct punpack in;
    bool good;

    if (b->in_rank || !slice_is(key, PMSG_RANK_VALUES) || v->type != PMIX_BYTE_OBJECT)
        return decode_put_keyed(b->d, key, 0, v);
    in = pmsg_inside(r, slice_mem(bo->bytes, bo->size));
    b->in_rank = true;
    good = put_part(b, SLICE(PMSG_RANK_VALUES), &pmsg_rows[PMSG_rank_values], &in);
    b->in_rank = false;
    return good;
}

static bool put_kvals(struct body *b, struct punpack *r)
{
    bool good = true;

    while (good && punpack_left(r) && punpack_ok(r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(r, &v);
        if (!punpack_ok(r))
            break;
        good = put_kval(b, r, key, &v);
        pmem_value_free(&v, r->foreign);
    }
    return good;
}

static bool put_unit(struct body *b, const struct pmsg_field *f, struct punpack *r)
{
    const struct ptype *t = ptype_find(f->type);
    union {
        pmix_info_t info;
        pmix_status_t status;
    } item;
    bool good;

    if (!pmsg_next(f, r, b->d->release, &item))
        return true;
    good = decode_put_item(b->d, SLICE_NULL, t, &item);
    pmem_free(t, &item, 1, r->foreign);
    return good;
}

static bool put_object(struct body *b, const struct pmsg_field *f, struct punpack *r)
{
    struct punpack in = pmsg_inside(r, punpack_bytes(r));

    return !punpack_ok(r) || put_part(b, SLICE_NULL, &pmsg_rows[f->type], &in);
}

static bool put_all(struct body *b, const struct pmsg_field *f, struct punpack *r)
{
    bool good = decode_open(b->d, slice_str(f->name), DECODE_LIST);

    while (good && punpack_left(r) && punpack_ok(r)) {
        switch (f->shape) {
        case PMSG_KVALS: good = put_kvals(b, r); break;
        case PMSG_PARTS: good = put_part(b, SLICE_NULL, &pmsg_rows[f->type], r); break;
        case PMSG_OBJECTS: good = put_object(b, f, r); break;
        default: good = put_unit(b, f, r); break;
        }
    }
    return good && stop(b, r) && decode_close(b->d);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool put_text(struct decode *d, struct slice name, struct slice text)
{
    struct decode_field f = { .name = name, .kind = text.ptr ? DECODE_TEXT : DECODE_NULL };

    f.text = text;
    return decode_add(d, f);
}

static bool put_texts(struct decode *d, struct slice name, const struct pmsg_texts *t)
{
    bool good = decode_open(d, name, DECODE_LIST);

    for (size_t i = 0; i < t->n && good; i++)
        good = put_text(d, SLICE_NULL, t->items[i]);
    return good && decode_close(d);
}

static bool put_list(struct decode *d, const struct pmsg_field *f, const char *at)
{
    const void *items;
    size_t n;

    memcpy(&n, at, sizeof n);
    memcpy(&items, at + sizeof n, sizeof items);
    return decode_put_items(d, slice_str(f->name), ptype_find(f->type), items, n);
}

static bool put_one(struct decode *d, const struct pmsg_field *f, const char *at)
{
    const pmix_info_t *info = (const void *)at;
    struct slice name = slice_str(f->name);

    if (f->type == PMIX_INFO)
        return decode_open(d, name, DECODE_LIST) &&
               decode_put_keyed(d, slice_str(info->key), info->flags, &info->value) &&
               decode_close(d);
    return decode_put_item(d, name, ptype_find(f->type), at);
}

static bool put_field(struct body *b, const struct pmsg_field *f, const struct punpack *r,
                      const char *m)
{
    const char *at = m + f->offset;
    struct slice name = slice_str(f->name);
    struct punpack in;

    switch (f->shape) {
    case PMSG_ONE: return put_one(b->d, f, at);
    case PMSG_TEXT: return put_text(b->d, name, *(const struct slice *)(const void *)at);
    case PMSG_BYTES:
        return decode_add_bytes(b->d, f->name, *(const struct slice *)(const void *)at);
    case PMSG_SECRET: return decode_add_secret(b->d, name, *(const struct slice *)(const void *)at);
    case PMSG_LIST:
    case PMSG_EACH: return put_list(b->d, f, at);
    case PMSG_TEXTS: return put_texts(b->d, name, (const void *)at);
    case PMSG_MAYBE:
        return *(const bool *)(m + f->flag) ? put_one(b->d, f, at)
                                            : put_text(b->d, name, SLICE_NULL);
    case PMSG_BUFFER: /* its fields are shown as ours */
        in = pmsg_inside_buffer(r, (const void *)at);
        return put_message(b, &pmsg_rows[f->type], &in);
    default:
        in = pmsg_inside(r, *(const struct slice *)(const void *)at);
        return put_all(b, f, &in);
    }
}

/* The fields that can be read. */
static bool put_message(struct body *b, const struct pmsg *row, struct punpack *r)
{
    union pmsg_any m;
    bool good = pmsg_read(row, r, b->d->release, &m) != PTYPE_NO_MEMORY;

    for (unsigned i = 0; i < row->nfields && good; i++) {
        if (m.has >> i & 1)
            good = put_field(b, &row->fields[i], r, (const char *)&m);
    }
    pmsg_free(row, &m, r->foreign);
    return good && stop(b, r);
}

bool decode_body_rest(struct decode *d, const struct punpack *r, const char *why,
                      struct decoded *m_p)
{
    m_p->fault = why;
    return decode_add_bytes(d, "rest", slice_mem(r->at, punpack_left(r)));
}

/* A topology ends with flags whose number depends on the sender's hwloc. */
static const struct ptype_foreign *foreign_of(const struct pmsg *row, const struct punpack *r)
{
    for (int i = 0; i < DECODE_FOREIGN && row == &pmsg_rows[PMSG_distances]; i++) {
        struct punpack look = *r;
        struct pmsg_distances m;
        bool fits;
        look.foreign = &decode_foreign[i];
        fits = pmsg_read_distances(&look, 0, &m) == PTYPE_FINE && !punpack_left(&look);
        pmsg_free_distances(&m, look.foreign);
        if (fits)
            return look.foreign;
    }
    return &decode_foreign[0];
}

static bool has_secret(const struct pmsg *row)
{
    for (unsigned i = 0; i < row->nfields; i++) {
        if (row->fields[i].shape == PMSG_SECRET)
            return true;
    }
    return false;
}

bool decode_body(struct decode *d, const struct pmsg *row, struct punpack *r, struct decoded *m_p)
{
    struct body b = { .d = d };

    r->foreign = foreign_of(row, r);
    if (!put_message(&b, row, r))
        return false;
    if (!b.why && punpack_left(r)) {
        b.why = "the message has more than this command's";
        b.left = slice_mem(r->at, punpack_left(r));
    }
    if (b.why)
        m_p->fault = b.why;
    if (has_secret(row)) /* perhaps in the part that could not be read */
        return !b.left.len || decode_add_secret(d, SLICE("rest"), b.left);
    return !b.left.len || decode_add_bytes(d, "rest", b.left);
}
