/* pmix_unpack.c - see pmix_unpack.h: units of items, and the parts of messages. */
#include "wire/pmix_unpack.h"

#include <string.h>

#include "wire/pmix_items.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_reader.h"
#include "wire/pmix_skip.h"

/* The head of a unit: how many items, and that they are of this type. */
PREADER_INLINE const uint8_t *get_head(struct punpack *r, bool fixed, const uint8_t *p,
                                       uint16_t type, size_t *n_p)
{
    uint16_t declared;

    *n_p = 0;
    if (r->described) {
        p = preader_type(r, fixed, p, &declared);
        if (!p || declared != PMIX_INT32)
            return preader_fail(r, PTYPE_MISMATCH);
    }
    p = preader_count(r, fixed, p, PTYPE_I32, n_p);
    if (p && r->described) {
        p = preader_type(r, fixed, p, &declared);
        if (p && declared != type)
            return preader_fail(r, PTYPE_MISMATCH);
    }
    return p;
}

/* The place to begin: none, after an error.  An empty input has a place too. */
static inline const uint8_t *begin(struct punpack *r)
{
    static const uint8_t nothing;

    if (r->error != PTYPE_FINE)
        return NULL;
    if (!r->at)
        r->at = r->end = &nothing;
    return r->at;
}

/* The head of a unit of exactly one item. */
static const uint8_t *get_head_of_one(struct punpack *r, uint16_t type)
{
    const uint8_t *p = begin(r);
    size_t n;

    if (p)
        p = get_head(r, r->as->fixed, p, type, &n);
    if (p && n > 1)
        return preader_fail(r, PTYPE_NO_ROOM);
    if (p && n < 1)
        return preader_fail(r, PTYPE_CUT);
    return p;
}

/* On an error the reader returns to the begin of the unit. */
static inline void settle(struct punpack *r, const uint8_t *p)
{
    if (p && r->error == PTYPE_FINE)
        r->at = p;
}

/* A pointer or a struct of four words is wiped in fewer instructions than a call takes. */
static inline void wipe(void *items, size_t n)
{
    if (n == sizeof(void *))
        memset(items, 0, sizeof(void *));
    else if (n == sizeof(pmix_value_t))
        memset(items, 0, sizeof(pmix_value_t));
    else
        memset(items, 0, n);
}

static void get_unit(struct punpack *r, void *dst, int32_t *n_p, uint16_t type)
{
    const struct ptype *t = ptype_find(type);
    const uint8_t *p = begin(r);
    size_t room = *n_p < 0 ? 0 : (size_t)*n_p, all, n;

    if (*n_p < 0 || (room && !dst))
        p = preader_fail(r, PTYPE_BAD_PARAM);
    else if (!t || !ptype_known(r->as, t))
        p = preader_fail(r, PTYPE_UNKNOWN);
    *n_p = 0;
    if (p)
        p = get_head(r, r->as->fixed, p, type, &all);
    if (!p)
        return;
    n = all < room ? all : room;
    if (!t->run)
        wipe(dst, n * t->size);
    p = pitem_get(r, p, t, dst, n);
    if (!p) {
        pmem_free(t, dst, n, r->foreign);
        return;
    }
    *n_p = (int32_t)n;
    if (all > room)
        preader_fail(r, PTYPE_NO_ROOM); /* those that fit are the caller's */
    settle(r, p);
}

enum ptype_error punpack(struct punpack *r, void *dst, int32_t *n_p, uint16_t type)
{
    get_unit(r, dst, n_p, type);
    return r->error;
}

/* The head of a unit of one item, when it is not described; zigzagged. */
enum { ONE_ITEM = 2 };

enum ptype_error punpack_public(pmix_data_buffer_t *b, const struct ptype_flavour *as,
                                const struct ptype_foreign *foreign, void *dst, int32_t *n_p,
                                uint16_t type)
{
    const uint8_t *base = (const uint8_t *)b->base_ptr, *end = base, *at = base;
    const struct ptype *t;
    struct punpack r;

    if (base) {
        end = base + b->bytes_used;
        if (b->unpack_ptr)
            at = (const uint8_t *)b->unpack_ptr;
        if (at > end)
            at = end;
    }
    r.at = at;
    r.end = end;
    r.as = as;
    r.foreign = foreign;
    r.described = false;
    r.depth = 0;
    r.unpaid = 0;
    r.error = PTYPE_FINE;
    /* Mostly it is one item, of a known type, and there is room for it. */
    t = ptype_find(type);
    if (t && as->level == PTYPE_OWN && *n_p > 0 && dst && at < end && *at == ONE_ITEM) {
        if (!t->run)
            wipe(dst, t->size);
        at = pitem_variable[type](&r, at + 1, dst);
        if (at) {
            b->unpack_ptr = b->base_ptr + (at - base);
            *n_p = 1;
            return PTYPE_FINE;
        }
        if (!t->run)
            pmem_free(t, dst, 1, foreign);
        *n_p = 0;
        return r.error;
    }
    get_unit(&r, dst, n_p, type);
    if (r.error == PTYPE_FINE)
        b->unpack_ptr = b->base_ptr + (r.at - base);
    return r.error;
}

int32_t punpack_peek(const struct punpack *r, uint16_t *type_p)
{
    struct punpack look = *r;
    bool fixed = r->as->fixed;
    const uint8_t *p = begin(&look);
    uint16_t declared;
    size_t n = 0;

    *type_p = PMIX_UNDEF;
    if (p && look.described) {
        p = preader_type(&look, fixed, p, &declared);
        if (!p || declared != PMIX_INT32)
            return -1;
    }
    if (p)
        p = preader_count(&look, fixed, p, PTYPE_I32, &n);
    if (p && look.described)
        p = preader_type(&look, fixed, p, type_p);
    return p ? (int32_t)n : -1;
}

/* One flat item, zero in error. */
static void get_flat(struct punpack *r, void *v_p, uint16_t type)
{
    const uint8_t *p = get_head_of_one(r, type);

    if (p)
        settle(r, pitem_get(r, p, ptype_find(type), v_p, 1));
}

uint8_t punpack_byte(struct punpack *r, uint16_t type)
{
    uint8_t v = 0;

    get_flat(r, &v, type);
    return v;
}

pmix_status_t punpack_status(struct punpack *r)
{
    pmix_status_t v = 0;

    get_flat(r, &v, PMIX_STATUS);
    return v;
}

size_t punpack_size(struct punpack *r)
{
    size_t v = 0;

    get_flat(r, &v, PMIX_SIZE);
    return v;
}

uint32_t punpack_u32(struct punpack *r, uint16_t type)
{
    uint32_t v = 0;

    get_flat(r, &v, type);
    return v;
}

char *punpack_str(struct punpack *r)
{
    char *v = NULL;

    get_flat(r, &v, PMIX_STRING);
    return v;
}

struct slice punpack_text(struct punpack *r)
{
    const uint8_t *p = get_head_of_one(r, PMIX_STRING);
    struct slice text = SLICE_NULL;

    if (p)
        settle(r, preader_text(r, r->as->fixed, p, &text));
    return text;
}

/* A count and that many bytes, lent. */
static const uint8_t *lend_counted(struct punpack *r, const uint8_t *p, struct slice *bytes_p)
{
    size_t n;

    *bytes_p = SLICE_NULL;
    p = preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p || !preader_pass(r, p, n))
        return NULL;
    *bytes_p = slice_mem(p, n);
    return p + n;
}

struct slice punpack_bytes(struct punpack *r)
{
    const uint8_t *p = get_head_of_one(r, PMIX_BYTE_OBJECT);
    struct slice bytes = SLICE_NULL;

    if (p)
        settle(r, lend_counted(r, p, &bytes));
    return bytes;
}

void *punpack_list(struct punpack *r, uint16_t type, size_t *n_p)
{
    const uint8_t *before = r->at, *p;
    const struct ptype *t = ptype_find(type);
    size_t n = punpack_size(r), declared;
    void *items = NULL;

    *n_p = 0;
    if (!t || !ptype_known(r->as, t))
        preader_fail(r, PTYPE_UNKNOWN);
    p = begin(r);
    if (p && n) {
        p = get_head(r, r->as->fixed, p, type, &declared);
        if (p && declared != n)
            p = preader_fail(r, PTYPE_MALFORMED);
        if (p)
            p = pitem_list(r, p, t, n, &items);
        settle(r, p);
    }
    if (items)
        *n_p = n;
    if (r->error != PTYPE_FINE)
        r->at = before;
    return items;
}

struct slice punpack_kval(struct punpack *r, pmix_value_t *value_p)
{
    const uint8_t *p = get_head_of_one(r, PMIX_KVAL);
    struct slice key = SLICE_NULL;

    memset(value_p, 0, sizeof *value_p);
    if (p)
        p = preader_text(r, r->as->fixed, p, &key);
    if (p && !key.ptr)
        p = preader_fail(r, PTYPE_MALFORMED);
    if (p)
        p = pitem_value(r, r->as->fixed, p, value_p);
    if (!p) {
        pmem_value_free(value_p, r->foreign);
        return SLICE_NULL;
    }
    settle(r, p);
    return key;
}

/* A text and a value's bytes; flagged: an info's directives are between them. */
static const uint8_t *get_raw_pair(struct punpack *r, const uint8_t *p, bool flagged,
                                   struct slice *key_p, uint16_t *type_p, struct slice *value_p)
{
    const uint8_t *from;
    uint32_t flags;

    p = preader_text(r, r->as->fixed, p, key_p);
    if (p && flagged)
        p = preader_numbers(r, p, PTYPE_FLAGS, (char *)&flags, 0, 1);
    from = p ? preader_type(r, r->as->fixed, p, type_p) : NULL;
    p = from ? pskip_value_of(r, from, *type_p) : NULL;
    if (p && !key_p->ptr)
        p = preader_fail(r, PTYPE_MALFORMED);
    if (p)
        *value_p = slice_mem(from, (size_t)(p - from));
    return p;
}

static struct slice raw_pair(struct punpack *r, const uint8_t *p, bool flagged, uint16_t *type_p,
                             struct slice *value_p)
{
    struct slice key;

    *value_p = SLICE_NULL;
    if (p)
        p = get_raw_pair(r, p, flagged, &key, type_p, value_p);
    settle(r, p);
    if (p)
        return key;
    *type_p = PMIX_UNDEF;
    return SLICE_NULL;
}

struct slice punpack_kval_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p)
{
    return raw_pair(r, get_head_of_one(r, PMIX_KVAL), false, type_p, value_p);
}

size_t punpack_size_bare(struct punpack *r)
{
    const uint8_t *p = begin(r);
    size_t n = 0;

    if (p)
        settle(r, preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n));
    return r->error == PTYPE_FINE ? n : 0;
}

enum ptype_error punpack_value(struct punpack *r, uint16_t type, pmix_value_t *value_p)
{
    const uint8_t *p = begin(r);

    memset(value_p, 0, sizeof *value_p);
    if (p)
        p = pitem_value_of(r, r->as->fixed, p, type, value_p);
    if (p && preader_left(r, p))
        p = preader_fail(r, PTYPE_MALFORMED);
    if (!p)
        pmem_value_free(value_p, r->foreign);
    settle(r, p);
    return r->error;
}

size_t punpack_infos_head(struct punpack *r)
{
    const uint8_t *p = begin(r);
    uint16_t type;
    size_t n = 0;

    if (p)
        p = preader_type(r, r->as->fixed, p, &type);
    if (p && type != PMIX_INFO)
        p = preader_fail(r, PTYPE_MISMATCH);
    if (p)
        settle(r, preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n));
    return r->error == PTYPE_FINE ? n : 0;
}

struct slice punpack_info_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p)
{
    return raw_pair(r, begin(r), true, type_p, value_p);
}

struct slice punpack_buffer(struct punpack *r, bool *described_p)
{
    const uint8_t *p = get_head_of_one(r, PMIX_BUFFER), *form = p;
    struct slice bytes = SLICE_NULL;

    p = p ? preader_pass(r, p, 1) : NULL;
    *described_p = p && *form == 2;
    if (p && *form != 1 && *form != 2)
        p = preader_fail(r, PTYPE_MALFORMED);
    if (p)
        settle(r, lend_counted(r, p, &bytes));
    return r->error == PTYPE_FINE ? bytes : SLICE_NULL;
}
