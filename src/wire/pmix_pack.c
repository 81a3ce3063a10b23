/* pmix_pack.c - see pmix_pack.h: writing.
 *
 * In variable width, which all current peers use, the tables are compiled: one function per type,
 * without run-time look-ups of its fields (see "Items"). Fixed width, for old peers, goes through
 * the descriptors.
 *
 * Every function takes the place to write at and returns the place after the bytes written, or NULL
 * when the writer has failed: so the place stays in a register, and the buffer is updated once per
 * unit (or when it has to grow).
 *
 * A "run" is n items of one encoding, stride bytes apart: a plain array, or one field of one struct
 * (n = 1). Numbers are written in chunks, so that room is requested once per chunk and the loop
 * over an array of numbers does nothing but write.  Byte order is made by shifts, independent of
 * the machine's.
 */
#include "wire/pmix_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/pmix_fields.h"
#include "wire/pmix_float.h"

enum { CHUNK = 256, NUMBER_MAX = 18 /* a time in base 128: twice nine */ };

static uint8_t *put_items(struct ppack *w, uint8_t *p, const struct ptype *t, const char *at,
                          size_t n);

/* The writer has failed: nothing more is written. */
static uint8_t *fail(struct ppack *w, enum ptype_error error)
{
    if (w->error == PTYPE_FINE)
        w->error = error;
    w->limit = NULL;
    return NULL;
}

/* The end of the writable memory; one byte is reserved for the buffer's own NUL. */
static uint8_t *limit_of(const struct buf *b)
{
    size_t most = b->cap - 1;

    if (most - b->start > b->max)
        most = b->start + b->max;
    return (uint8_t *)b->mem + most;
}

/* A public buffer with room for n more bytes after its first `used` ones. */
static bool grow_public(pmix_data_buffer_t *b, size_t used, size_t n)
{
    enum { LEAST = 512, SMALL = 1 << 15, MOVED_BY_PAGES = 1 << 17 };
    size_t read = b->base_ptr && b->unpack_ptr ? (size_t)(b->unpack_ptr - b->base_ptr) : 0;
    size_t cap = LEAST;
    char *mem;

    if (n > PTRDIFF_MAX / 4 - used)
        return false;
    while (cap < used + n)
        cap *= 2;
    if (cap > LEAST && cap <= SMALL) /* where the next step would cost more than the bytes */
        cap *= 2;
    /* For small blocks malloc is faster than realloc, which bypasses the thread's own list. */
    mem = used < MOVED_BY_PAGES ? malloc(cap) : realloc(b->base_ptr, cap);
    if (!mem)
        return false;
    if (used < MOVED_BY_PAGES) {
        if (used)
            memcpy(mem, b->base_ptr, used);
        free(b->base_ptr);
    }
    b->base_ptr = mem;
    b->unpack_ptr = mem + read;
    b->pack_ptr = mem + b->bytes_used;
    b->bytes_allocated = cap;
    return true;
}

static __attribute__((noinline)) uint8_t *grow(struct ppack *w, const uint8_t *p, size_t n)
{
    struct buf *b = w->out;
    char *more;

    if (w->error != PTYPE_FINE)
        return NULL;
    if (!b) {
        size_t used = p ? (size_t)((const char *)p - w->public->base_ptr) : 0;
        if (!grow_public(w->public, used, n))
            return fail(w, PTYPE_NO_MEMORY);
        w->limit = (uint8_t *)w->public->base_ptr + w->public->bytes_allocated;
        return (uint8_t *)w->public->base_ptr + used;
    }
    if (p)
        b->end = (size_t)((const char *)p - b->mem);
    more = buf_room(b, n);
    if (!more)
        return fail(w, b->error == BUF_NO_MEMORY ? PTYPE_NO_MEMORY : PTYPE_TOO_LONG);
    w->limit = limit_of(b);
    return (uint8_t *)more;
}

/* Room for n more bytes at p, which may move; NULL when there is none. */
static inline uint8_t *room(struct ppack *w, uint8_t *p, size_t n)
{
    if (__builtin_expect((size_t)(w->limit - p) >= n, 1))
        return p;
    return grow(w, p, n);
}

/* Base 128, low groups first; a ninth byte is plain, so nine hold 64 bits.  May write nine bytes
 * whatever the number: there must be room for them.
 *
 * The groups of seven bits move to their bytes in three steps, all at once: no branch depends on
 * the number's length, which could not be predicted.
 */
static inline uint8_t *base128_long(uint8_t *p, uint64_t v)
{
    static const struct {
        uint8_t len[64]; /* by the number of the highest bit */
        uint64_t more[10];
    } by = {
        { 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4,
          4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7,
          7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9 },
        { 0, 0, 0x80, 0x8080, 0x808080, 0x80808080, 0x8080808080, 0x808080808080, 0x80808080808080,
          0x8080808080808080 },
    };
    unsigned len = by.len[63u - (unsigned)__builtin_clzll(v | 1)];
    uint64_t x = v & UINT64_C(0x00ffffffffffffff);

    x = (x & UINT64_C(0x00fffffff0000000)) << 4 | (x & UINT64_C(0x000000000fffffff));
    x = (x & UINT64_C(0x0fffc0000fffc000)) << 2 | (x & UINT64_C(0x00003fff00003fff));
    x = (x & UINT64_C(0x3f803f803f803f80)) << 1 | (x & UINT64_C(0x007f007f007f007f));
    x |= by.more[len];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(p, &x, sizeof x);
    p[8] = (uint8_t)(v >> 56);
    return p + len;
}

static inline uint8_t *base128(uint8_t *p, uint64_t v)
{
    if (v < 1u << 7) {
        *p = (uint8_t)v;
        return p + 1;
    }
    if (v < 1u << 14) {
        p[0] = (uint8_t)(v | 0x80);
        p[1] = (uint8_t)(v >> 7);
        return p + 2;
    }
    if (v < 1u << 21) {
        p[0] = (uint8_t)(v | 0x80);
        p[1] = (uint8_t)(v >> 7 | 0x80);
        p[2] = (uint8_t)(v >> 14);
        return p + 3;
    }
    return base128_long(p, v);
}

static inline uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline uint8_t *big16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
    return p + 2;
}

static inline uint8_t *big32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
    return p + 4;
}

static inline uint8_t *big64(uint8_t *p, uint64_t v)
{
    return big32(big32(p, (uint32_t)(v >> 32)), (uint32_t)v);
}

/* Single numbers of the codec's own: counts, lengths, types.  "fixed" is a constant where speed
 * matters. */
static inline uint8_t *count32(bool fixed, uint8_t *p, int32_t v)
{
    return fixed ? big32(p, (uint32_t)v) : base128(p, zigzag(v));
}

static inline uint8_t *number16(bool fixed, uint8_t *p, uint16_t v)
{
    return fixed ? big16(p, v) : base128(p, v);
}

static inline uint8_t *number_size(bool fixed, uint8_t *p, uint64_t v)
{
    return fixed ? big64(big16(p, PMIX_UINT64), v) : base128(p, v);
}

static inline uint8_t *number_int(bool fixed, uint8_t *p, int32_t v)
{
    return fixed ? big32(big16(p, PMIX_INT32), (uint32_t)v) : base128(p, zigzag(v));
}

#define EACH(ctype, code)                                                                          \
    for (size_t i = 0; i < n; i++, at += stride) {                                                 \
        ctype v;                                                                                   \
        memcpy(&v, at, sizeof v);                                                                  \
        code;                                                                                      \
    }                                                                                              \
    break

static inline uint8_t *numbers_fixed(uint8_t *p, uint8_t op, const char *at, size_t stride,
                                     size_t n)
{
    switch (op) {
    case PTYPE_BYTE: EACH(uint8_t, *p++ = v);
    case PTYPE_BOOL: EACH(uint8_t, *p++ = v != 0);
    case PTYPE_I16:
    case PTYPE_U16: EACH(uint16_t, p = big16(p, v));
    case PTYPE_I32:
    case PTYPE_U32: EACH(uint32_t, p = big32(p, v));
    case PTYPE_I64:
    case PTYPE_U64: EACH(uint64_t, p = big64(p, v));
    case PTYPE_INT: EACH(uint32_t, p = big32(p, v));
    case PTYPE_SIZE: EACH(size_t, p = big64(p, v));
    case PTYPE_PID: EACH(pid_t, p = big32(p, (uint32_t)v));
    case PTYPE_FLAGS: EACH(uint32_t, p = big32(p, v & PTYPE_FLAGS_SENT));
    case PTYPE_TIMEVAL:
        EACH(struct timeval, p = big64(p, (uint64_t)v.tv_sec); p = big64(p, (uint64_t)v.tv_usec));
    default: break;
    }
    return p;
}

static inline uint8_t *numbers_base128(uint8_t *p, uint8_t op, const char *at, size_t stride,
                                       size_t n)
{
    switch (op) {
    case PTYPE_BYTE: EACH(uint8_t, *p++ = v);
    case PTYPE_BOOL: EACH(uint8_t, *p++ = v != 0);
    case PTYPE_I16: EACH(int16_t, p = base128(p, zigzag(v)));
    case PTYPE_U16: EACH(uint16_t, p = base128(p, v));
    case PTYPE_INT:
    case PTYPE_I32: EACH(int32_t, p = base128(p, zigzag(v)));
    case PTYPE_U32: EACH(uint32_t, p = base128(p, v));
    case PTYPE_I64: EACH(int64_t, p = base128(p, zigzag(v)));
    case PTYPE_U64: EACH(uint64_t, p = base128(p, v));
    case PTYPE_SIZE: EACH(size_t, p = base128(p, v));
    case PTYPE_PID: EACH(pid_t, p = base128(p, (uint32_t)v));
    case PTYPE_FLAGS: EACH(uint32_t, p = base128(p, v & PTYPE_FLAGS_SENT));
    case PTYPE_TIMEVAL:
        EACH(struct timeval, p = base128(p, zigzag(v.tv_sec)); p = base128(p, zigzag(v.tv_usec)));
    default: break;
    }
    return p;
}

/* Types whose width depends on the machine are preceded once, before the first number, by the type
 * used. */
static inline uint8_t *put_tag(bool fixed, uint8_t *p, uint8_t op)
{
    if (op == PTYPE_PID)
        return number16(fixed, p, PMIX_UINT32);
    if (fixed && op == PTYPE_INT)
        return number16(fixed, p, PMIX_INT32);
    if (fixed && op == PTYPE_SIZE)
        return number16(fixed, p, PMIX_UINT64);
    return p;
}

/* One number, or all of a run. */
static inline uint8_t *put_run(bool fixed, uint8_t *p, uint8_t op, const char *at, size_t stride,
                               size_t n)
{
    return fixed ? numbers_fixed(p, op, at, stride, n) : numbers_base128(p, op, at, stride, n);
}

static uint8_t *put_numbers(struct ppack *w, uint8_t *p, uint8_t op, const char *at, size_t stride,
                            size_t n)
{
    p = room(w, p, NUMBER_MAX);
    if (!p)
        return NULL;
    if (op == PTYPE_PTR) { /* one byte for all of them */
        *p = 1;
        return p + 1;
    }
    p = put_tag(w->as->fixed, p, op);
    while (n) {
        size_t part = n < CHUNK ? n : CHUNK;
        p = room(w, p, part * NUMBER_MAX);
        if (!p)
            return NULL;
        p = put_run(w->as->fixed, p, op, at, stride, part);
        at += part * stride;
        n -= part;
    }
    return p;
}

static inline uint8_t *put_number(struct ppack *w, bool fixed, uint8_t *p, uint8_t op,
                                  const char *at)
{
    p = room(w, p, 2 * NUMBER_MAX); /* its tag as well */
    if (!p)
        return NULL;
    if (op == PTYPE_PTR) {
        *p = 1;
        return p + 1;
    }
    return put_run(fixed, put_tag(fixed, p, op), op, at, 0, 1);
}

static inline uint8_t *put_raw(struct ppack *w, uint8_t *p, const void *bytes, size_t n)
{
    if (!n)
        return p;
    p = room(w, p, n);
    if (!p)
        return NULL;
    memcpy(p, bytes, n);
    return p + n;
}

/* A text of len bytes and a NUL. */
static inline uint8_t *put_text(struct ppack *w, bool fixed, uint8_t *p, const char *text,
                                size_t len)
{
    if (len >= INT32_MAX)
        return fail(w, PTYPE_TOO_LONG);
    p = room(w, p, len + 1 + NUMBER_MAX);
    if (!p)
        return NULL;
    p = count32(fixed, p, (int32_t)(len + 1));
    memcpy(p, text, len);
    p[len] = '\0';
    return p + len + 1;
}

static inline uint8_t *put_no_text(struct ppack *w, bool fixed, uint8_t *p)
{
    p = room(w, p, NUMBER_MAX);
    return p ? count32(fixed, p, 0) : NULL;
}

static inline uint8_t *put_str(struct ppack *w, bool fixed, uint8_t *p, const char *text)
{
    return text ? put_text(w, fixed, p, text, strlen(text)) : put_no_text(w, fixed, p);
}

static uint8_t *put_float(struct ppack *w, uint8_t *p, double v)
{
    char text[PFLOAT_MAX];

    return put_text(w, w->as->fixed, p, text, pfloat_put(text, v));
}

static inline uint8_t *put_size(struct ppack *w, bool fixed, uint8_t *p, size_t v)
{
    p = room(w, p, NUMBER_MAX);
    return p ? number_size(fixed, p, v) : NULL;
}

static inline uint8_t *put_type(struct ppack *w, bool fixed, uint8_t *p, uint16_t type)
{
    p = room(w, p, NUMBER_MAX);
    return p ? number16(fixed, p, type) : NULL;
}

static inline uint8_t *put_argv(struct ppack *w, bool fixed, uint8_t *p, uint8_t op,
                                char *const *argv)
{
    size_t n = 0;

    while (argv && argv[n])
        n++;
    if (n > INT32_MAX)
        return fail(w, PTYPE_TOO_LONG);
    p = room(w, p, NUMBER_MAX);
    if (!p)
        return NULL;
    p = op == PTYPE_ARGC ? number_int(fixed, p, (int32_t)n) : count32(fixed, p, (int32_t)n);
    for (size_t i = 0; i < n && p; i++)
        p = put_str(w, fixed, p, argv[i]);
    return p;
}

static inline uint8_t *put_list(struct ppack *w, bool fixed, uint8_t *p, uint16_t type,
                                const void *items, size_t n)
{
    if (n && !items)
        return fail(w, PTYPE_BAD_PARAM);
    p = put_size(w, fixed, p, n);
    if (!p || !n)
        return p;
    return type == PMIX_BYTE ? put_raw(w, p, items, n)
                             : put_items(w, p, ptype_find(type), items, n);
}

static uint8_t *put_array(struct ppack *w, uint8_t *p, const pmix_data_array_t *a)
{
    const struct ptype *t = ptype_find(a->type);
    bool fixed = w->as->fixed;

    p = put_type(w, fixed, p, a->type);
    if (a->type == PMIX_UNDEF)
        return put_size(w, fixed, p, 0);
    if (!t || !ptype_known(w->as, t))
        return fail(w, PTYPE_UNKNOWN);
    if (w->depth == LIMIT_PMIX_DEPTH)
        return fail(w, PTYPE_TOO_DEEP);
    w->depth++;
    p = put_list(w, fixed, p, a->type, a->array, a->size);
    w->depth--;
    return p;
}

static uint8_t *put_regex(struct ppack *w, uint8_t *p, const char *regex)
{
    return regex ? put_raw(w, p, regex, ptype_regex_size(regex)) : fail(w, PTYPE_BAD_PARAM);
}

/* In a value, peers of v51 and later write nothing after the type of an empty array of undefined
 * type, and read it so. */
static uint8_t *put_array_in_value(struct ppack *w, uint8_t *p, const pmix_data_array_t *a)
{
    static const pmix_data_array_t none = { .type = PMIX_UNDEF };

    if (!a)
        a = &none;
    if (a->type == PMIX_UNDEF && w->as->short_null)
        return put_type(w, w->as->fixed, p, PMIX_UNDEF);
    return put_array(w, p, a);
}

static inline uint8_t *put_value(struct ppack *w, bool fixed, uint8_t *p, const pmix_value_t *v)
{
    const struct ptype *t = ptype_find(v->type);

    p = put_type(w, fixed, p, v->type);
    if (!p || v->type == PMIX_UNDEF)
        return p;
    if (v->type == PMIX_STRING &&
        w->depth < LIMIT_PMIX_DEPTH) /* most of the values that are not numbers */
        return put_str(w, fixed, p, v->data.string);
    if (t && t->run && ptype_known(w->as, t))
        return put_number(w, fixed, p, t->run, (const char *)&v->data);
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(w->as, t))
        return fail(w, PTYPE_UNKNOWN);
    if (w->depth == LIMIT_PMIX_DEPTH)
        return fail(w, PTYPE_TOO_DEEP);
    w->depth++;
    if (v->type == PMIX_DATA_ARRAY)
        p = put_array_in_value(w, p, v->data.darray);
    else if (t->place == PTYPE_INLINE)
        p = put_items(w, p, t, (const char *)&v->data, 1);
    else if (v->data.ptr)
        p = put_items(w, p, t, v->data.ptr, 1);
    else
        p = fail(w, PTYPE_BAD_PARAM);
    w->depth--;
    return p;
}

static uint8_t *put_cpuset(struct ppack *w, uint8_t *p, const pmix_cpuset_t *set)
{
    char *text = NULL;
    int error;

    if (!set->bitmap)
        return put_no_text(w, w->as->fixed, p);
    error = w->foreign ? w->foreign->cpuset_text(set, &text) : PTYPE_NOT_SUPPORTED;
    p = error ? fail(w, (enum ptype_error)error) : put_str(w, w->as->fixed, p, text);
    free(text);
    return p;
}

static uint8_t *put_topo(struct ppack *w, uint8_t *p, const pmix_topology_t *topo)
{
    char *xml = NULL, *support = NULL;
    size_t n = 0;
    int error = PTYPE_NOT_SUPPORTED;

    if (!topo->topology)
        return put_no_text(w, w->as->fixed, p);
    if (w->foreign) {
        n = w->foreign->support_size();
        support = malloc(n + 1);
        error = support ? w->foreign->topo_text(topo, &xml, support) : PTYPE_NO_MEMORY;
    }
    if (error)
        p = fail(w, (enum ptype_error)error);
    else
        p = put_raw(w, put_str(w, w->as->fixed, p, xml), support, n);
    free(xml);
    free(support);
    return p;
}

#define LOAD(ctype, at) (*(ctype const *)(const void *)(at))

/* ---- Items ---- */

static inline uint8_t *put_dbuf(struct ppack *w, bool fixed, uint8_t *p,
                                const pmix_data_buffer_t *b)
{
    return put_list(w, fixed, p, PMIX_BYTE, b->base_ptr, b->bytes_used);
}

/* One item of any encoding but LIST, at its place; size: of a TEXT's array. */
static inline __attribute__((always_inline)) uint8_t *put_one(struct ppack *w, bool fixed,
                                                              uint8_t *p, uint8_t op, uint16_t elem,
                                                              const char *at, size_t size)
{
    switch (op) {
    case PTYPE_STR: return put_str(w, fixed, p, LOAD(char *, at));
    case PTYPE_TEXT: return put_text(w, fixed, p, at, strnlen(at, size - 1));
    case PTYPE_FLT: return put_float(w, p, (double)LOAD(float, at));
    case PTYPE_DBL: return put_float(w, p, LOAD(double, at));
    case PTYPE_ARGV:
    case PTYPE_ARGC: return put_argv(w, fixed, p, op, LOAD(char **, at));
    case PTYPE_NEST: return put_items(w, p, ptype_find(elem), at, 1);
    case PTYPE_VALUE: return put_value(w, fixed, p, (const void *)at);
    case PTYPE_ARRAY: return put_array(w, p, (const void *)at);
    case PTYPE_REGEX: return put_regex(w, p, LOAD(char *, at));
    case PTYPE_CPUSET: return put_cpuset(w, p, (const void *)at);
    case PTYPE_TOPO: return put_topo(w, p, (const void *)at);
    case PTYPE_DBUF: return put_dbuf(w, fixed, p, (const void *)at);
    case PTYPE_NONE: return p;
    default: return put_number(w, fixed, p, op, at);
    }
}

/* Variable width: the rows of the tables as functions. */
#define STRUCT(type)                                                                               \
    static __attribute__((unused))                                                                 \
    uint8_t *fields_##type(struct ppack *w, uint8_t *p, const char *obj)                           \
    {
#define FIELD(type, kind, member)                                                                  \
    p = put_one(w, false, p, OP_##kind, ELEM_##kind, obj + offsetof(c_##type, member),             \
                PTYPE_SIZE_OF(type, member));                                                      \
    if (!p)                                                                                        \
        return NULL;
#define LOCAL(type, kind, member)
#define ARRAY(type, kind, member, count)                                                           \
    p = put_list(w, false, p, ELEM_##kind, LOAD(void *, obj + offsetof(c_##type, member)),         \
                 LOAD(size_t, obj + offsetof(c_##type, count)));                                   \
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
    static uint8_t *item_##name(struct ppack *w, uint8_t *p, const char *at)                       \
    {                                                                                              \
        return put_one(w, false, p, PTYPE_##op, PMIX_##name, at, sizeof(c_##name));                \
    }
#define WIRE_STRUCT(name, fields, place, first, last)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT

typedef uint8_t *put_item(struct ppack *w, uint8_t *p, const char *at);

static put_item *const variable[PTYPE_NUMBERS] = {
#define WIRE(name, op, place, first, last)            [PMIX_##name] = item_##name,
#define WIRE_STRUCT(name, fields, place, first, last) [PMIX_##name] = fields_##fields,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

/* Fixed width: by the descriptor. */
static uint8_t *put_fields(struct ppack *w, uint8_t *p, const struct ptype *t, const char *obj)
{
    const struct ptype_field *end = t->fields + t->nfields;

    for (const struct ptype_field *f = t->fields; f < end && p; f++) {
        const char *at = obj + f->offset;
        if (f->local)
            continue;
        if (f->op == PTYPE_LIST)
            p = put_list(w, true, p, f->elem, LOAD(void *, at), LOAD(size_t, obj + f->count));
        else
            p = put_one(w, true, p, f->op, f->elem, at, f->size);
    }
    return p;
}

static uint8_t *put_items(struct ppack *w, uint8_t *p, const struct ptype *t, const char *at,
                          size_t n)
{
    put_item *put = variable[t->number];

    if (t->run && n != 1)
        return put_numbers(w, p, t->run, at, t->size, n);
    if (w->as->fixed)
        for (; n && p; n--, at += t->size)
            p = put_fields(w, p, t, at);
    else
        for (; n && p; n--, at += t->size)
            p = put(w, p, at);
    return p;
}

/* ---- Units ---- */

/* The place where a unit begins. */
static uint8_t *begin(struct ppack *w)
{
    const struct buf *b = w->out;

    w->limit = NULL;
    if (w->error != PTYPE_FINE || b->error != BUF_FINE || !b->mem)
        return NULL; /* nothing yet, or nothing more */
    w->limit = limit_of(b);
    return (uint8_t *)b->mem + b->end;
}

/* The head of a unit: the count, and the type when it is described. */
static inline uint8_t *put_head(struct ppack *w, uint8_t *p, int32_t n, uint16_t type)
{
    p = room(w, p, 3 * NUMBER_MAX);
    if (!p)
        return NULL;
    if (w->described)
        p = number16(w->as->fixed, p, PMIX_INT32);
    p = count32(w->as->fixed, p, n);
    return w->described ? number16(w->as->fixed, p, type) : p;
}

/* The unit ends here.  Nothing half-written stays: back to its begin. */
static enum ptype_error settle(struct ppack *w, const uint8_t *p, size_t before)
{
    if (w->error != PTYPE_FINE)
        buf_cut(w->out, before);
    else
        w->out->end = (size_t)((const char *)p - w->out->mem);
    return w->error;
}

/* A whole unit at p. */
static inline uint8_t *put_unit(struct ppack *w, uint8_t *p, const void *src, int32_t n,
                                uint16_t type)
{
    const struct ptype *t = ptype_find(type);

    if (n < 0 || (n > 0 && !src))
        return fail(w, PTYPE_BAD_PARAM);
    if (!t || !ptype_known(w->as, t))
        return fail(w, PTYPE_UNKNOWN);
    p = put_head(w, p, n, type);
    return p ? put_items(w, p, t, src, (size_t)n) : NULL;
}

enum ptype_error ppack(struct ppack *w, const void *src, int32_t n, uint16_t type)
{
    size_t before = buf_len(w->out);

    return settle(w, put_unit(w, begin(w), src, n, type), before);
}

enum ptype_error ppack_public(pmix_data_buffer_t *b, const struct ptype_flavour *as,
                              const struct ptype_foreign *foreign, const void *src, int32_t n,
                              uint16_t type)
{
    struct ppack w;
    uint8_t *p = NULL;

    w.out = NULL;
    w.public = b;
    w.as = as;
    w.foreign = foreign;
    w.limit = NULL;
    w.described = false;
    w.depth = 0;
    w.error = PTYPE_FINE;
    if (b->base_ptr) {
        p = (uint8_t *)b->base_ptr + b->bytes_used;
        w.limit =
            b->bytes_allocated > b->bytes_used ? (uint8_t *)b->base_ptr + b->bytes_allocated : p;
    }
    p = put_unit(&w, p, src, n, type);
    if (!p)
        return w.error;
    b->pack_ptr = (char *)p;
    b->bytes_used = (size_t)((char *)p - b->base_ptr);
    return PTYPE_FINE;
}

void ppack_byte(struct ppack *w, uint16_t type, uint8_t v)
{
    ppack(w, &v, 1, type);
}

void ppack_status(struct ppack *w, pmix_status_t v)
{
    ppack(w, &v, 1, PMIX_STATUS);
}

void ppack_size(struct ppack *w, size_t v)
{
    ppack(w, &v, 1, PMIX_SIZE);
}

void ppack_u32(struct ppack *w, uint16_t type, uint32_t v)
{
    ppack(w, &v, 1, type);
}

void ppack_str(struct ppack *w, const char *text)
{
    ppack(w, &text, 1, PMIX_STRING);
}

void ppack_text(struct ppack *w, struct slice text)
{
    size_t before = buf_len(w->out);
    uint8_t *p = put_head(w, begin(w), 1, PMIX_STRING);

    p = text.ptr ? put_text(w, w->as->fixed, p, text.ptr, text.len)
                 : put_no_text(w, w->as->fixed, p);
    settle(w, p, before);
}

void ppack_bytes(struct ppack *w, struct slice bytes)
{
    size_t before = buf_len(w->out);
    uint8_t *p = put_head(w, begin(w), 1, PMIX_BYTE_OBJECT);

    settle(w, put_list(w, w->as->fixed, p, PMIX_BYTE, bytes.ptr, bytes.len), before);
}

void ppack_kval(struct ppack *w, const char *key, const pmix_value_t *value)
{
    size_t before = buf_len(w->out);
    uint8_t *p = put_head(w, begin(w), 1, PMIX_KVAL);

    settle(w, put_value(w, w->as->fixed, put_str(w, w->as->fixed, p, key), value), before);
}

void ppack_buffer(struct ppack *w, bool described, struct slice bytes)
{
    size_t before = buf_len(w->out);
    uint8_t form = described ? 2 : 1;
    uint8_t *p = put_head(w, begin(w), 1, PMIX_BUFFER);

    p = put_raw(w, p, &form, 1);
    settle(w, put_list(w, w->as->fixed, p, PMIX_BYTE, bytes.ptr, bytes.len), before);
}
