/* pmix_message.c - see pmix_message.h.  Reading order: the descriptors; reading; releasing;
 * writing. */
#include "wire/pmix_message.h"

#include <stdlib.h>
#include <string.h>

#include "wire/pmix_mem.h"

/* ---- the descriptors ------------------------------------------------------------------------- */

enum { FIRST_ANY = 0 };
#define LAST_ANY                 UINT32_MAX
#define FIRST_R(major, minor, r) PMSG_RELEASE(major, minor, r)
#define LAST_R(major, minor, r)  PMSG_RELEASE(major, minor, r)

#define FLAG_ONE(id, member)     0
#define FLAG_TEXT(id, member)    0
#define FLAG_BYTES(id, member)   0
#define FLAG_SECRET(id, member)  0
#define FLAG_LIST(id, member)    0
#define FLAG_EACH(id, member)    0
#define FLAG_TEXTS(id, member)   0
#define FLAG_MAYBE(id, member)   offsetof(struct pmsg_##id, member.is)
#define FLAG_BUFFER(id, member)  0
#define FLAG_ALL(id, member)     0
#define FLAG_KVALS(id, member)   0
#define FLAG_PARTS(id, member)   0
#define FLAG_OBJECTS(id, member) 0

/* The types of items are data types, but those of parts are messages. */
#define ITEM_ONE(type)     PMSG_TYPE_##type
#define ITEM_TEXT(type)    PMSG_TYPE_##type
#define ITEM_BYTES(type)   PMSG_TYPE_##type
#define ITEM_SECRET(type)  PMSG_TYPE_##type
#define ITEM_LIST(type)    PMSG_TYPE_##type
#define ITEM_EACH(type)    PMSG_TYPE_##type
#define ITEM_TEXTS(type)   PMSG_TYPE_##type
#define ITEM_MAYBE(type)   PMSG_TYPE_##type
#define ITEM_ALL(type)     PMSG_TYPE_##type
#define ITEM_KVALS(type)   PMSG_TYPE_##type
#define ITEM_BUFFER(part)  PMSG_##part
#define ITEM_PARTS(part)   PMSG_##part
#define ITEM_OBJECTS(part) PMSG_##part

#define COMMAND(NAME, number, name, who, request, reply, since)
#define MSG(id) static const struct pmsg_field fields_##id[] = {
#define FIELD(id, shape, type, member, need, first, last)                                          \
    { #member,                                                                                     \
      PMSG_##shape,                                                                                \
      PMSG_##need,                                                                                 \
      ITEM_##shape(type),                                                                          \
      offsetof(struct pmsg_##id, member),                                                          \
      FLAG_##shape(id, member),                                                                    \
      FIRST_##first,                                                                               \
      LAST_##last },
#define END(id)                                                                                    \
    {                                                                                              \
        ""                                                                                         \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/pmix_commands.def"
#undef MSG
#undef FIELD
#undef END

/* Whether a field of this shape may own memory. */
#define OWNS_ONE     UINT32_C(1)
#define OWNS_TEXT    UINT32_C(0)
#define OWNS_BYTES   UINT32_C(0)
#define OWNS_SECRET  UINT32_C(0)
#define OWNS_LIST    UINT32_C(1)
#define OWNS_EACH    UINT32_C(1)
#define OWNS_TEXTS   UINT32_C(1)
#define OWNS_MAYBE   UINT32_C(1)
#define OWNS_BUFFER  UINT32_C(0)
#define OWNS_ALL     UINT32_C(0)
#define OWNS_KVALS   UINT32_C(0)
#define OWNS_PARTS   UINT32_C(0)
#define OWNS_OBJECTS UINT32_C(0)

const struct pmsg pmsg_rows[PMSG_COUNT] = {
#define MSG(id)                                           [PMSG_##id] = { #id, fields_##id, PMSG_FIELDS_##id, sizeof(struct pmsg_##id), 0
#define FIELD(id, shape, type, member, need, first, last) | OWNS_##shape << PMSG_AT_##id##_##member
#define END(id)                                                                                    \
    }                                                                                              \
    ,
#include "proto/pmix_commands.def"
#undef MSG
#undef FIELD
#undef END
};
#define FIELD(id, shape, type, member, need, first, last)
#define END(id)
#undef COMMAND

const struct pmsg_command pmsg_commands[PMSG_COMMANDS] = {
#define MSG(id)
#define COMMAND(NAME, number, text, sender, request_id, reply_id, first)                           \
    [number] = { .name = (text),                                                                   \
                 .request = &pmsg_rows[PMSG_##request_id],                                         \
                 .reply = &pmsg_rows[PMSG_##reply_id],                                             \
                 .since = FIRST_##first,                                                           \
                 .who = PMSG_##sender },
#include "proto/pmix_commands.def"
#undef COMMAND
#undef MSG
#undef FIELD
#undef END
};

enum { NO_PART = -1 };

/* The next part of a version, whose first byte is `before` (0: none); one that is too big stays so.
 */
static int take_part(const char **at, char before)
{
    const char *p = *at + (before != 0);
    int n = 0;

    if ((before && **at != before) || *p < '0' || *p > '9')
        return NO_PART;
    for (; *p >= '0' && *p <= '9'; p++)
        n = n > UINT8_MAX ? n : n * 10 + (*p - '0');
    *at = p;
    return n;
}

uint32_t pmsg_release(const char *version)
{
    const char *at = version + (*version == 'v');
    int major = take_part(&at, 0), minor = take_part(&at, '.'), release = take_part(&at, '.');

    if (release == NO_PART)
        release = 0;
    if (major == NO_PART || minor == NO_PART || major > UINT8_MAX || minor > UINT8_MAX ||
        release > UINT8_MAX)
        return 0;
    return PMSG_RELEASE(major, minor, release);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The layout of LIST, EACH and TEXTS, whatever their items are. */
struct item_list {
    size_t n;
    void *items;
};

static struct item_list get_list(const char *at)
{
    struct item_list l;

    memcpy(&l.n, at, sizeof l.n);
    memcpy(&l.items, at + sizeof l.n, sizeof l.items);
    return l;
}

static void set_list(char *at, struct item_list l)
{
    memcpy(at, &l.n, sizeof l.n);
    memcpy(at + sizeof l.n, &l.items, sizeof l.items);
}

/* A unit of exactly one.  True: there is an item, even if the unit had more. */
static bool read_one(struct punpack *r, uint16_t type, void *to)
{
    int32_t n = 1;

    if (punpack(r, to, &n, type) == PTYPE_FINE && n != 1)
        r->error = PTYPE_MALFORMED;
    return n == 1;
}

/* A unit takes at least a byte, so more of them than bytes cannot come. */
static size_t read_count(struct punpack *r)
{
    size_t n = punpack_size(r);

    if (punpack_ok(r) && n > punpack_left(r))
        r->error = PTYPE_CUT;
    return punpack_ok(r) ? n : 0;
}

/* Room for one more item; memory grows as items arrive. */
static void *grow(struct punpack *r, struct item_list *l, size_t size)
{
    if ((l->n & (l->n - 1)) == 0) {
        void *more = realloc(l->items, (l->n ? l->n * 2 : 1) * size);
        if (!more) {
            r->error = PTYPE_NO_MEMORY;
            return NULL;
        }
        l->items = more;
    }
    return (char *)l->items + l->n * size;
}

static bool read_text(struct punpack *r, struct slice *to)
{
    *to = punpack_text(r);
    return punpack_ok(r);
}

/* Units of one item each; texts are lent. */
static void read_each(struct punpack *r, uint16_t type, bool texts, char *at)
{
    size_t n = read_count(r), size = texts ? sizeof(struct slice) : ptype_find(type)->size;
    struct item_list l = { 0, NULL };

    while (l.n < n && punpack_ok(r)) {
        void *to = grow(r, &l, size);
        if (!to)
            break;
        l.n += texts ? read_text(r, to) : read_one(r, type, to);
    }
    set_list(at, l);
}

static void read_buffer(struct punpack *r, struct pmsg_buffer *b)
{
    b->bytes = punpack_buffer(r, &b->described);
}

/* True: something of it is there, even in error. */
static bool read_field(const struct pmsg_field *f, struct punpack *r, char *m)
{
    void *at = m + f->offset;
    struct item_list l;

    switch (f->shape) {
    case PMSG_ONE: return read_one(r, f->type, at);
    case PMSG_TEXT: *(struct slice *)at = punpack_text(r); break;
    case PMSG_BYTES:
    case PMSG_SECRET: *(struct slice *)at = punpack_bytes(r); break;
    case PMSG_LIST:
        l.items = punpack_list(r, f->type, &l.n);
        set_list(at, l);
        break;
    case PMSG_EACH:
    case PMSG_TEXTS: read_each(r, f->type, f->shape == PMSG_TEXTS, at); return true;
    case PMSG_MAYBE:
        *(bool *)(m + f->flag) = punpack_byte(r, PMIX_BOOL) != 0;
        return *(bool *)(m + f->flag) ? read_one(r, f->type, at) : punpack_ok(r);
    case PMSG_BUFFER: read_buffer(r, at); break;
    default: /* to the end */
        *(struct slice *)at = slice_mem(r->at, punpack_left(r));
        r->at = r->end;
        break;
    }
    return punpack_ok(r);
}

/* The status of a reply is its first field. */
static bool may_end(const struct pmsg *row, const struct pmsg_field *f, const char *m)
{
    pmix_status_t status;

    if (f->need != PMSG_GOOD)
        return f->need == PMSG_OPT;
    memcpy(&status, m + row->fields[0].offset, sizeof status);
    return status != PMIX_SUCCESS;
}

static void read_fields(const struct pmsg *row, unsigned from, struct punpack *r, uint32_t release,
                        char *m, bool tries)
{
    uint32_t *has = (uint32_t *)(void *)m;

    for (unsigned i = from; i < row->nfields && punpack_ok(r); i++) {
        const struct pmsg_field *f = &row->fields[i];
        if (!pmsg_in(f, release) || (f->need == PMSG_TRY && !tries) ||
            (!punpack_left(r) && may_end(row, f, m)))
            continue;
        if (read_field(f, r, m))
            *has |= UINT32_C(1) << i;
    }
}

static bool fits(const struct punpack *r)
{
    return punpack_ok(r) && !punpack_left(r);
}

static bool has_try(const struct pmsg *row)
{
    for (unsigned i = 0; i < row->nfields; i++) {
        if (row->fields[i].need == PMSG_TRY)
            return true;
    }
    return false;
}

enum ptype_error pmsg_read(const struct pmsg *row, struct punpack *r, uint32_t release, void *m)
{
    const struct punpack before = *r;

    memset(m, 0, row->size);
    read_fields(row, 0, r, release, m, true);
    for (bool tries = false; !fits(r) && has_try(row); tries = true) {
        pmsg_free(row, m, r->foreign);
        memset(m, 0, row->size);
        *r = before;
        read_fields(row, 0, r, release, m, tries);
        if (tries) /* neither fits */
            break;
    }
    return r->error;
}

enum ptype_error pmsg_read_tail(const struct pmsg *row, struct punpack *r, uint32_t release,
                                pmix_status_t status, void *m)
{
    memset(m, 0, row->size);
    memcpy((char *)m + row->fields[0].offset, &status, sizeof status);
    read_fields(row, 1, r, release, m, true);
    return r->error;
}

/* ---- fields that last to the end: reading ---------------------------------------------------- */

struct punpack pmsg_inside(const struct punpack *r, struct slice bytes)
{
    struct punpack in;

    punpack_init(&in, bytes, r->as);
    in.foreign = r->foreign;
    in.described = r->described;
    return in;
}

struct punpack pmsg_inside_buffer(const struct punpack *r, const struct pmsg_buffer *b)
{
    struct punpack in = pmsg_inside(r, b->bytes);

    in.described = b->described;
    return in;
}

static bool read_part(const struct pmsg *row, struct punpack *r, uint32_t release, void *part)
{
    if (pmsg_read(row, r, release, part) != PTYPE_FINE)
        pmsg_free(row, part, r->foreign);
    return punpack_ok(r);
}

bool pmsg_next(const struct pmsg_field *f, struct punpack *all, uint32_t release, void *item)
{
    struct punpack in;

    if (!punpack_ok(all) || !punpack_left(all))
        return false;
    if (f->shape == PMSG_PARTS)
        return read_part(&pmsg_rows[f->type], all, release, item);
    if (f->shape == PMSG_ALL)
        return read_one(all, f->type, item) && punpack_ok(all);
    in = pmsg_inside(all, punpack_bytes(all));
    if (punpack_ok(all) && !read_part(&pmsg_rows[f->type], &in, release, item))
        all->error = in.error;
    return punpack_ok(all);
}

/* ---- releasing ------------------------------------------------------------------------------- */

static void free_field(const struct pmsg_field *f, char *m, const struct ptype_foreign *foreign)
{
    const struct ptype *t = ptype_find(f->type);
    char *at = m + f->offset;
    struct item_list l;

    if (f->shape == PMSG_TEXTS) {
        free(((struct pmsg_texts *)(void *)at)->items);
    } else if (f->shape == PMSG_LIST || f->shape == PMSG_EACH) {
        l = get_list(at);
        pmem_release(t, l.items, l.n, foreign);
        free(l.items);
    } else if (!ptype_flat(t)) {
        pmem_release(t, at, 1, foreign);
    }
}

void pmsg_free(const struct pmsg *row, void *m, const struct ptype_foreign *foreign)
{
    uint32_t left;

    memcpy(&left, m, sizeof left);
    memset(m, 0, sizeof left);
    for (left &= row->owners; left; left &= left - 1)
        free_field(&row->fields[__builtin_ctz(left)], m, foreign);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_list(struct ppack *w, uint16_t type, struct item_list l)
{
    ppack_size(w, l.n);
    if (l.n > INT32_MAX)
        w->error = PTYPE_TOO_LONG;
    else if (l.n)
        ppack(w, l.items, (int32_t)l.n, type);
}

static void write_each(struct ppack *w, uint16_t type, struct item_list l)
{
    ppack_size(w, l.n);
    for (size_t i = 0; i < l.n; i++)
        ppack(w, (const char *)l.items + i * ptype_find(type)->size, 1, type);
}

static void write_texts(struct ppack *w, const struct pmsg_texts *t)
{
    ppack_size(w, t->n);
    for (size_t i = 0; i < t->n; i++)
        ppack_text(w, t->items[i]);
}

static void write_maybe(struct ppack *w, uint16_t type, bool is, const void *value)
{
    ppack_byte(w, PMIX_BOOL, is);
    if (is)
        ppack(w, value, 1, type);
}

static void write_buffer(struct ppack *w, const struct pmsg_buffer *b)
{
    ppack_buffer(w, b->described, b->bytes);
}

static void write_field(const struct pmsg_field *f, struct ppack *w, const char *m)
{
    const void *at = m + f->offset;

    switch (f->shape) {
    case PMSG_ONE: ppack(w, at, 1, f->type); break;
    case PMSG_TEXT: ppack_text(w, *(const struct slice *)at); break;
    case PMSG_BYTES:
    case PMSG_SECRET: ppack_bytes(w, *(const struct slice *)at); break;
    case PMSG_LIST: write_list(w, f->type, get_list(at)); break;
    case PMSG_EACH: write_each(w, f->type, get_list(at)); break;
    case PMSG_TEXTS: write_texts(w, at); break;
    case PMSG_MAYBE: write_maybe(w, f->type, *(const bool *)(m + f->flag), at); break;
    case PMSG_BUFFER: write_buffer(w, at); break;
    default: buf_slice_put(w->out, *(const struct slice *)at); break;
    }
}

void pmsg_write_from(const struct pmsg *row, unsigned from, struct ppack *w, uint32_t release,
                     const void *m)
{
    uint32_t has;

    memcpy(&has, m, sizeof has);
    for (unsigned i = from; i < row->nfields; i++) {
        const struct pmsg_field *f = &row->fields[i];
        if (pmsg_in(f, release) && (f->need == PMSG_REQ || has >> i & 1))
            write_field(f, w, m);
    }
}

struct ppack pmsg_part(const struct ppack *w, struct buf *out)
{
    struct ppack part;

    ppack_init(&part, out, w->as);
    part.foreign = w->foreign;
    part.described = w->described;
    return part;
}

void pmsg_add_object(struct ppack *w, struct ppack *part)
{
    if (ppack_ok(w) && !ppack_ok(part))
        w->error = part->error;
    else if (ppack_ok(w) && !buf_ok(part->out))
        w->error = PTYPE_NO_MEMORY;
    else
        ppack_bytes(w, buf_slice(part->out));
    buf_clear(part->out);
}
