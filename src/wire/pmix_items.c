/* pmix_items.c - see pmix_items.h: the mirror of pmix_pack.c. */
#include "wire/pmix_items.h"

#include <stdlib.h>

#include "wire/pmix_fields.h"
#include "wire/pmix_float.h"
#include "wire/pmix_mem.h"

/* --- texts --- */

/* Into an array in place, which is zero; it keeps its final NUL. */
PREADER_INLINE const uint8_t *get_text(struct punpack *r, bool fixed, const uint8_t *p, char *at,
                                       size_t size)
{
    struct slice text;

    p = preader_text(r, fixed, p, &text);
    if (!text.ptr)
        return p;
    text.len = strnlen(text.ptr, text.len);
    if (text.len >= size)
        return preader_fail(r, PTYPE_TOO_LONG);
    memcpy(at, text.ptr, text.len);
    return p;
}

static const uint8_t *get_float(struct punpack *r, const uint8_t *p, float *single_p,
                                double *double_p)
{
    struct slice text;

    p = preader_text(r, r->as->fixed, p, &text);
    if (!text.ptr)
        return p;
    if (single_p ? pfloat_get_single(text, single_p) : pfloat_get(text, double_p))
        return p;
    return preader_fail(r, PTYPE_MALFORMED);
}

static const uint8_t *get_regex(struct punpack *r, const uint8_t *p, char **regex_p)
{
    size_t n = ptype_regex_len(slice_mem(p, preader_left(r, p)));

    if (!n || n > preader_left(r, p))
        return preader_fail(r, PTYPE_CUT);
    *regex_p = pitem_copy(r, p, n - 1 + (p[n - 1] != '\0'));
    return *regex_p ? p + n : NULL;
}

/* --- lists --- */

/* calloc takes small blocks from the arena instead of the thread's own list, to which they return;
 * not inlined, or the compiler makes a calloc of this. */
static __attribute__((noinline)) void *take(size_t n)
{
    return malloc(n);
}

static inline void *take_zeroed(size_t n, size_t size)
{
    enum { SMALL = 1024 };
    void *mem;

    if (n > SMALL / size)
        return calloc(n, size);
    mem = take(n * size);
    if (mem)
        memset(mem, 0, n * size);
    return mem;
}

/* Memory for n items, grown only as they arrive when the count alone is not plausible enough. */
static const uint8_t *get_growing(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                  size_t n, void **items_p)
{
    size_t have = 0, cap = 0;
    char *items = NULL;

    while (have < n && p) {
        size_t want = cap ? cap * 2 : LIMIT_PMIX_TRUST / t->size + 1;
        char *more;
        if (want > n || want < cap)
            want = n;
        more = want <= SIZE_MAX / t->size ? realloc(items, want * t->size) : NULL;
        if (!more) {
            p = preader_fail(r, PTYPE_NO_MEMORY);
            break;
        }
        items = more;
        memset(items + cap * t->size, 0, (want - cap) * t->size);
        cap = want;
        p = pitem_get(r, p, t, items + have * t->size, cap - have);
        have = cap;
    }
    if (p) {
        *items_p = items;
        return p;
    }
    pmem_free(t, items, cap, r->foreign);
    free(items);
    return NULL;
}

/* n items in new memory; NULL when there are none, or in error. */
const uint8_t *pitem_list(struct punpack *r, const uint8_t *p, const struct ptype *t, size_t n,
                          void **items_p)
{
    size_t least;
    char *items;

    if (!n)
        return p;
    if (t->number == PMIX_BYTE) {
        if (n > preader_left(r, p))
            return preader_fail(r, PTYPE_CUT);
        *items_p = pitem_copy(r, p, n);
        return *items_p ? p + n : NULL;
    }
    if (n > LIMIT_PMIX_TRUST / t->size) {
        least = ptype_least(r->as, t);
        if (n > preader_left(r, p) / least)
            return preader_fail(r, PTYPE_CUT);
        if (t->size > 8 * least)
            return get_growing(r, p, t, n, items_p);
    }
    items = t->run ? malloc(n * t->size) : take_zeroed(n, t->size);
    if (!items)
        return preader_fail(r, PTYPE_NO_MEMORY);
    p = pitem_get(r, p, t, items, n);
    if (p) {
        *items_p = items;
        return p;
    }
    if (!t->run)
        pmem_free(t, items, n, r->foreign);
    free(items);
    return NULL;
}

/* A list with its count; both are members. */
PREADER_INLINE const uint8_t *get_counted(struct punpack *r, bool fixed, const uint8_t *p,
                                          uint16_t elem, void **items_p, size_t *count_p)
{
    size_t n;

    p = preader_count(r, fixed, p, PTYPE_SIZE, &n);
    if (!p || !n)
        return p;
    p = pitem_list(r, p, ptype_find(elem), n, items_p);
    if (p)
        *count_p = n;
    return p;
}

/* NULL for no texts at all.  A NULL among them would end the list early: no sender writes that. */
PREADER_INLINE const uint8_t *get_argv(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                                       char ***argv_p)
{
    char **argv;
    size_t n;

    p = preader_count(r, fixed, p, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32, &n);
    if (!p || !n)
        return p;
    if (n > preader_left(r, p))
        return preader_fail(r, PTYPE_CUT);
    argv = malloc((n + 1) * sizeof *argv);
    if (!argv)
        return preader_fail(r, PTYPE_NO_MEMORY);
    *argv_p = argv; /* on an error this is released with the struct, up to the first NULL */
    for (size_t i = 0; i < n && p; i++) {
        argv[i] = NULL;
        p = pitem_str(r, fixed, p, &argv[i]);
        if (p && !argv[i])
            p = preader_fail(r, PTYPE_MALFORMED);
    }
    if (p)
        argv[n] = NULL;
    return p;
}

/* --- recursive types --- */

/* Items that take more memory than their bytes: only a limited number of them. */
static bool charge(struct punpack *r, size_t n, size_t most)
{
    size_t share = LIMIT_PMIX_TRUST / most; /* of the limit for all kinds together */

    if (n > (LIMIT_PMIX_TRUST - r->unpaid) / share) {
        preader_fail(r, PTYPE_TOO_LONG);
        return false;
    }
    r->unpaid += (uint32_t)(n * share);
    return true;
}

/* An array after its type. */
static const uint8_t *get_array(struct punpack *r, const uint8_t *p, uint16_t type,
                                pmix_data_array_t *a)
{
    const struct ptype *t = ptype_find(type);
    size_t n;

    if (type != PMIX_UNDEF && (!t || !ptype_known(r->as, t)))
        return preader_fail(r, PTYPE_UNKNOWN);
    p = preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p)
        return NULL;
    a->type = type;
    if (!t)
        return p; /* of undefined type: whatever the count, no bytes follow */
    if (t->run == PTYPE_PTR && !charge(r, n, LIMIT_PMIX_POINTERS))
        return NULL;
    p = preader_deeper(r) ? pitem_list(r, p, t, n, &a->array) : NULL;
    r->depth--;
    if (a->array)
        a->size = n;
    return p;
}

static const uint8_t *get_whole_array(struct punpack *r, const uint8_t *p, pmix_data_array_t *a)
{
    uint16_t type;

    p = preader_type(r, r->as->fixed, p, &type);
    return p ? get_array(r, p, type, a) : NULL;
}

const uint8_t *pitem_pointed(struct punpack *r, const uint8_t *p, const struct ptype *t,
                             pmix_value_t *v)
{
    uint16_t type = PMIX_UNDEF;

    if (t->number == PMIX_DATA_ARRAY) {
        p = preader_type(r, r->as->fixed, p, &type);
        if (!p || (type == PMIX_UNDEF && r->as->short_null))
            return p; /* not an array */
    }
    v->data.ptr = take_zeroed(1, t->size);
    if (!v->data.ptr)
        return preader_fail(r, PTYPE_NO_MEMORY);
    if (t->number == PMIX_DATA_ARRAY)
        return get_array(r, p, type, v->data.darray);
    return pitem_get(r, p, t, v->data.ptr, 1);
}

/* --- hwloc's objects --- */

static const uint8_t *get_cpuset(struct punpack *r, const uint8_t *p, pmix_cpuset_t *set)
{
    struct slice text;
    int error;

    p = preader_text(r, r->as->fixed, p, &text);
    if (!text.ptr)
        return p;
    if (!charge(r, 1, LIMIT_PMIX_CPUSETS))
        return NULL;
    error = r->foreign ? r->foreign->cpuset_parse(text.ptr, set) : PTYPE_NOT_SUPPORTED;
    return error ? preader_fail(r, (enum ptype_error)error) : p;
}

static const uint8_t *get_topo(struct punpack *r, const uint8_t *p, pmix_topology_t *topo)
{
    const uint8_t *support;
    struct slice xml;
    int error;

    support = preader_text(r, r->as->fixed, p, &xml);
    if (!xml.ptr)
        return support;
    if (!r->foreign)
        return preader_fail(r, PTYPE_NOT_SUPPORTED);
    p = preader_pass(r, support, r->foreign->support_size());
    if (!p)
        return NULL;
    error = r->foreign->topo_parse(xml.ptr, support, topo);
    return error ? preader_fail(r, (enum ptype_error)error) : p;
}

static const uint8_t *get_dbuf(struct punpack *r, const uint8_t *p, pmix_data_buffer_t *b)
{
    void *bytes = NULL;
    size_t n = 0;

    p = get_counted(r, r->as->fixed, p, PMIX_BYTE, &bytes, &n);
    if (!bytes)
        return p;
    b->base_ptr = bytes;
    b->unpack_ptr = b->base_ptr;
    b->pack_ptr = b->base_ptr + n;
    b->bytes_used = n;
    b->bytes_allocated = n;
    return p;
}

/* --- items --- */

/* One item of any encoding but LIST, to its place, which is zero; size: of a TEXT's array. */
PREADER_INLINE const uint8_t *get_one(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                                      uint16_t elem, char *at, size_t size)
{
    switch (op) {
    case PTYPE_STR: return pitem_str(r, fixed, p, (void *)at);
    case PTYPE_TEXT: return get_text(r, fixed, p, at, size);
    case PTYPE_FLT: return get_float(r, p, (void *)at, NULL);
    case PTYPE_DBL: return get_float(r, p, NULL, (void *)at);
    case PTYPE_ARGV:
    case PTYPE_ARGC: return get_argv(r, fixed, p, op, (void *)at);
    case PTYPE_NEST: return pitem_get(r, p, ptype_find(elem), at, 1);
    case PTYPE_VALUE: return pitem_value(r, fixed, p, (void *)at);
    case PTYPE_ARRAY: return get_whole_array(r, p, (void *)at);
    case PTYPE_REGEX: return get_regex(r, p, (void *)at);
    case PTYPE_CPUSET: return get_cpuset(r, p, (void *)at);
    case PTYPE_TOPO: return get_topo(r, p, (void *)at);
    case PTYPE_DBUF: return get_dbuf(r, p, (void *)at);
    case PTYPE_NONE: return p;
    default: return preader_one(r, fixed, p, op, at);
    }
}

/* Variable width: the rows of the tables as functions. */
#define STRUCT(type)                                                                               \
    static __attribute__((unused))                                                                 \
    const uint8_t *fields_##type(struct punpack *r, const uint8_t *p, char *obj)                   \
    {
#define FIELD(type, kind, member)                                                                  \
    p = get_one(r, false, p, OP_##kind, ELEM_##kind, obj + offsetof(c_##type, member),             \
                PTYPE_SIZE_OF(type, member));                                                      \
    if (!p)                                                                                        \
        return NULL;
#define LOCAL(type, kind, member)
#define ARRAY(type, kind, member, count)                                                           \
    p = get_counted(r, false, p, ELEM_##kind, (void *)(obj + offsetof(c_##type, member)),          \
                    (void *)(obj + offsetof(c_##type, count)));                                    \
    if (!p)                                                                                        \
        return NULL;
#define END(type)                                                                                  \
    return p;                                                                                      \
    }
#include "proto/pmix_structs.def"
#undef STRUCT
#undef FIELD
#undef LOCAL
#undef ARRAY
#undef END

#define WIRE(name, op, place, first, last)                                                         \
    static const uint8_t *item_##name(struct punpack *r, const uint8_t *p, char *at)               \
    {                                                                                              \
        return get_one(r, false, p, PTYPE_##op, PMIX_##name, at, sizeof(c_##name));                \
    }
#define WIRE_STRUCT(name, fields, place, first, last)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT

pitem_reader *const pitem_variable[PTYPE_NUMBERS] = {
#define WIRE(name, op, place, first, last)            [PMIX_##name] = item_##name,
#define WIRE_STRUCT(name, fields, place, first, last) [PMIX_##name] = fields_##fields,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

/* Fixed width: by the descriptor. */
static const uint8_t *get_fields(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                 char *obj)
{
    const struct ptype_field *end = t->fields + t->nfields;

    for (const struct ptype_field *f = t->fields; f < end && p; f++) {
        char *at = obj + f->offset;
        if (f->local)
            continue;
        if (f->op == PTYPE_LIST)
            p = get_counted(r, true, p, f->elem, (void *)at, (void *)(obj + f->count));
        else
            p = get_one(r, true, p, f->op, f->elem, at, f->size);
    }
    return p;
}

/* Whether n items are read as a run: a few plain numbers are read one by one, which takes no
 * preparation; those that stand for each other (PTR) or share a tag (PID) are not. */
static inline bool is_run(const struct ptype *t, bool fixed, size_t n)
{
    enum { FEW = 8 };

    return t->run && n != 1 && (fixed || n > FEW || t->run >= PTYPE_PID);
}

const uint8_t *pitem_get(struct punpack *r, const uint8_t *p, const struct ptype *t, char *at,
                         size_t n)
{
    pitem_reader *get = pitem_variable[t->number];

    if (is_run(t, r->as->fixed, n))
        return preader_numbers(r, p, t->run, at, t->size, n);
    if (r->as->fixed)
        for (; n && p; n--, at += t->size)
            p = get_fields(r, p, t, at);
    else
        for (; n && p; n--, at += t->size)
            p = get(r, p, at);
    return p;
}
