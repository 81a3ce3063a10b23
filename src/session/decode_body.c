/* decode_body.c - the fields of a PMIx message, by proto/pmix_commands.def.
 *
 * The message is read with the reader that clients and servers use (wire/pmix_message.h), and its
 * fields are shown with their names in the table.  What cannot be read stays bytes, named "rest".
 */
#include <string.h>

#include "session/decode_priv.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"

/* The key of job information under which the values of one process are packed. */
#define PROC_BLOB "pmix.pblob"

struct body {
    struct decode *d;
    const struct punpack *r; /* of the message: its encoding */
    const char *why;         /* something could not be read */
    struct slice left;       /* the bytes from there on */
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

static struct punpack inner(const struct body *b, struct slice bytes, bool described)
{
    struct punpack r;

    punpack_init(&r, bytes, b->r->as);
    r.foreign = b->r->foreign;
    r.described = described;
    return r;
}

/* ---- units to the end of the message --------------------------------------------------------- */

static bool put_kvals(struct body *b, struct punpack *r, bool blobs);

/* A rank, and its values. */
static bool put_blob(struct body *b, struct slice key, struct slice bytes)
{
    struct punpack r = inner(b, bytes, b->r->described);
    uint32_t rank = punpack_u32(&r, PMIX_PROC_RANK);

    return arena_ok(&b->d->arena) && decode_open(b->d, key, DECODE_GROUP) &&
           decode_add_number(b->d, "rank", rank) &&
           decode_open(b->d, SLICE("values"), DECODE_LIST) && put_kvals(b, &r, false) &&
           decode_close(b->d) && decode_close(b->d);
}

static bool put_kval(struct body *b, struct slice key, const pmix_value_t *v, bool blobs)
{
    const pmix_byte_object_t *bo = &v->data.bo;

    if (blobs && slice_is(key, PROC_BLOB) && v->type == PMIX_BYTE_OBJECT)
        return put_blob(b, SLICE(PROC_BLOB), slice_mem(bo->bytes, bo->size));
    return decode_put_keyed(b->d, key, 0, v);
}

/* KVALs to the end; with blobs, those of processes in it are read too. */
static bool put_kvals(struct body *b, struct punpack *r, bool blobs)
{
    bool good = true;

    while (good && punpack_left(r) && punpack_ok(r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(r, &v);
        if (!punpack_ok(r))
            break;
        good = put_kval(b, key, &v, blobs);
        pmem_value_free(&v, r->foreign);
    }
    return good && stop(b, r);
}

static bool put_bundle(struct body *b, struct punpack *r)
{
    uint8_t scope = punpack_byte(r, PMIX_SCOPE);
    bool described;
    struct slice bytes = punpack_buffer(r, &described);
    struct punpack in = inner(b, bytes, described);

    if (!punpack_ok(r))
        return true;
    return decode_open(b->d, SLICE_NULL, DECODE_GROUP) && decode_add_number(b->d, "scope", scope) &&
           decode_open(b->d, SLICE("values"), DECODE_LIST) && put_kvals(b, &in, false) &&
           decode_close(b->d) && decode_close(b->d);
}

/* The owner of the values: a process, or a namespace. */
static bool put_owner(struct body *b, struct punpack *r, uint16_t type)
{
    pmix_proc_t proc;
    int32_t one = 1;

    if (type == PMSG_TYPE_JOB)
        return decode_add_text(b->d, "nspace", punpack_text(r));
    punpack(r, &proc, &one, PMIX_PROC);
    return !punpack_ok(r) || one != 1 ||
           decode_put_item(b->d, SLICE("owner"), ptype_find(PMIX_PROC), &proc);
}

static bool put_object(struct body *b, struct punpack *r, uint16_t type)
{
    struct punpack in = inner(b, punpack_bytes(r), b->r->described);

    if (!punpack_ok(r))
        return true;
    return decode_open(b->d, SLICE_NULL, DECODE_GROUP) && put_owner(b, &in, type) &&
           decode_open(b->d, SLICE("values"), DECODE_LIST) && put_kvals(b, &in, true) &&
           decode_close(b->d) && decode_close(b->d);
}

static bool put_unit(struct body *b, struct punpack *r, uint16_t type)
{
    const struct ptype *t = ptype_find(type);
    union {
        pmix_info_t info;
        pmix_status_t status;
    } item;
    int32_t n = 1;
    bool good = true;

    if (punpack(r, &item, &n, type) == PTYPE_FINE && n == 0)
        r->error = PTYPE_MALFORMED;
    if (punpack_ok(r))
        good = decode_put_item(b->d, SLICE_NULL, t, &item);
    if (n > 0)
        pmem_free(t, &item, (size_t)n, r->foreign);
    return good;
}

static bool put_all(struct body *b, const struct pmsg_field *f, struct slice bytes)
{
    struct punpack r = inner(b, bytes, b->r->described);
    bool good = decode_open(b->d, slice_str(f->name), DECODE_LIST);

    if (good && f->type == PMSG_TYPE_KVAL)
        good = put_kvals(b, &r, true);
    while (good && punpack_left(&r) && punpack_ok(&r)) {
        if (f->type == PMSG_TYPE_BUNDLE)
            good = put_bundle(b, &r);
        else if (f->type == PMSG_TYPE_OWNED || f->type == PMSG_TYPE_JOB)
            good = put_object(b, &r, f->type);
        else
            good = put_unit(b, &r, f->type);
    }
    return good && stop(b, &r) && decode_close(b->d);
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

static bool put_field(struct body *b, const struct pmsg_field *f, const char *m)
{
    const char *at = m + f->offset;
    struct slice name = slice_str(f->name);

    switch (f->shape) {
    case PMSG_ONE: return put_one(b->d, f, at);
    case PMSG_TEXT: return put_text(b->d, name, *(const struct slice *)(const void *)at);
    case PMSG_BYTES:
        return decode_add_bytes(b->d, f->name, *(const struct slice *)(const void *)at);
    case PMSG_LIST:
    case PMSG_EACH: return put_list(b->d, f, at);
    case PMSG_TEXTS: return put_texts(b->d, name, (const void *)at);
    case PMSG_MAYBE:
        return *(const bool *)(m + f->flag) ? put_one(b->d, f, at)
                                            : put_text(b->d, name, SLICE_NULL);
    default: return put_all(b, f, *(const struct slice *)(const void *)at);
    }
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

bool decode_body(struct decode *d, const struct pmsg *row, struct punpack *r, struct decoded *m_p)
{
    struct body b = { .d = d, .r = r };
    union pmsg_any m;
    bool good;

    r->foreign = foreign_of(row, r);
    good = pmsg_read(row, r, d->release, &m) != PTYPE_NO_MEMORY;
    for (unsigned i = 0; i < row->nfields && good; i++) {
        if (m.has >> i & 1)
            good = put_field(&b, &row->fields[i], (const char *)&m);
    }
    pmsg_free(row, &m, r->foreign);
    good = good && stop(&b, r);
    if (!good)
        return false;
    if (!b.why && punpack_left(r)) {
        b.why = "the message has more than this command's";
        b.left = slice_mem(r->at, punpack_left(r));
    }
    if (b.why)
        m_p->fault = b.why;
    return !b.left.len || decode_add_bytes(d, "rest", b.left);
}
