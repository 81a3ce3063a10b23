/* pmix_unpack.c - see pmix_unpack.h: reading.
 *
 * The mirror of pmix_pack.c: functions made from the tables for variable width, descriptors for
 * fixed width; runs of n items of one encoding.  Every function takes the place to read at and
 * returns the place after the bytes read, or NULL when the reader has failed; it is never called
 * with NULL. Every item lands in zeroed memory, so that items read before an error can be released
 * by the same descriptors.
 */
#include "wire/pmix_unpack.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/pmix_fields.h"
#include "wire/pmix_float.h"
#include "wire/pmix_mem.h"

static const uint8_t *get_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                char *at, size_t n);

static const uint8_t *fail(struct punpack *r, enum ptype_error error)
{
    if (r->error == PTYPE_FINE)
        r->error = error;
    return NULL;
}

/* Where an encoding is a constant, nothing of the others may stay in the function. */
#define INLINE static inline __attribute__((always_inline))

static inline size_t left(const struct punpack *r, const uint8_t *p)
{
    return (size_t)(r->end - p);
}

/* After the next n bytes. */
static inline const uint8_t *pass(struct punpack *r, const uint8_t *p, size_t n)
{
    return n <= left(r, p) ? p + n : fail(r, PTYPE_CUT);
}

/* --- numbers --- */

/* Groups of seven bits, one per byte, to their places: in three steps, all at once. */
static inline uint64_t gather(uint64_t x)
{
    x = (x & UINT64_C(0x7f007f007f007f00)) >> 1 | (x & UINT64_C(0x007f007f007f007f));
    x = (x & UINT64_C(0x3fff00003fff0000)) >> 2 | (x & UINT64_C(0x00003fff00003fff));
    return (x & UINT64_C(0x0fffffff00000000)) >> 4 | (x & UINT64_C(0x000000000fffffff));
}

/* At p there are nine bytes. */
static inline const uint8_t *base128_ample(const uint8_t *p, uint64_t *v_p)
{
    uint64_t x, stops;

    memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    if (!(x & 0x80)) {
        *v_p = x & 0x7f;
        return p + 1;
    }
    if (!(x & 0x8000)) {
        *v_p = (x & 0x7f) | (x >> 1 & 0x3f80);
        return p + 2;
    }
    if (!(x & 0x800000)) {
        *v_p = (x & 0x7f) | (x >> 1 & 0x3f80) | (x >> 2 & 0x1fc000);
        return p + 3;
    }
    stops = ~x & UINT64_C(0x8080808080808080);
    if (!stops) {
        *v_p = gather(x) | (uint64_t)p[8] << 56;
        return p + 9;
    }
    *v_p = gather(x & (stops ^ (stops - 1)));
    return p + __builtin_ctzll(stops) / 8 + 1;
}

static __attribute__((noinline)) const uint8_t *base128_long(struct punpack *r, const uint8_t *p,
                                                             uint64_t *v_p)
{
    uint64_t v = 0;

    if (left(r, p) >= 9 && *p >= 0x80)
        return base128_ample(p, v_p);
    for (unsigned i = 0; i < 9; i++) {
        if (p == r->end)
            return fail(r, PTYPE_CUT);
        if (i == 8) {
            *v_p = v | (uint64_t)*p << 56;
            return p + 1;
        }
        v |= (uint64_t)(*p & 0x7f) << 7 * i;
        if (!(*p++ & 0x80))
            break;
    }
    *v_p = v;
    return p;
}

/* Mostly they are small: one byte. */
INLINE const uint8_t *base128(struct punpack *r, const uint8_t *p, uint64_t *v_p)
{
    if (p < r->end && *p < 0x80) {
        *v_p = *p;
        return p + 1;
    }
    return base128_long(r, p, v_p);
}

static inline const uint8_t *big(struct punpack *r, const uint8_t *p, unsigned width, uint64_t *v_p)
{
    uint64_t v = 0;

    if (left(r, p) < width)
        return fail(r, PTYPE_CUT);
    for (unsigned i = 0; i < width; i++)
        v = v << 8 | p[i];
    *v_p = v;
    return p + width;
}

static inline int64_t unzigzag(uint64_t u)
{
    return (int64_t)(u >> 1 ^ (0 - (u & 1)));
}

/* A number of `width` bytes, signed or not, as its 64 bits (sign-extended). */
INLINE const uint8_t *number(struct punpack *r, bool fixed, const uint8_t *p, unsigned width,
                             bool has_sign, uint64_t *v_p)
{
    unsigned unused = 64 - 8 * width;

    if (fixed) {
        p = big(r, p, width, v_p);
        if (p && has_sign)
            *v_p = (uint64_t)((int64_t)(*v_p << unused) >> unused);
        return p;
    }
    p = base128(r, p, v_p);
    if (!p)
        return NULL;
    if (width < 8 && *v_p >> 8 * width)
        return fail(r, PTYPE_MALFORMED);
    if (has_sign)
        *v_p = (uint64_t)unzigzag(*v_p);
    return p;
}

static const uint8_t *timeval(struct punpack *r, bool fixed, const uint8_t *p, struct timeval *tv)
{
    uint64_t sec, usec;

    p = number(r, fixed, p, 8, true, &sec);
    if (p)
        p = number(r, fixed, p, 8, true, &usec);
    if (p)
        *tv = (struct timeval){ .tv_sec = (time_t)sec, .tv_usec = (suseconds_t)usec };
    return p;
}

#define EACH(ctype, read)                                                                          \
    for (; n && p; n--, at += stride) {                                                            \
        p = (read);                                                                                \
        if (p)                                                                                     \
            *(ctype *)(void *)at = (ctype)v;                                                       \
    }                                                                                              \
    break

/* fixed is a constant in all callers. */
INLINE const uint8_t *numbers(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op, char *at,
                              size_t stride, size_t n)
{
    uint64_t v = 0;

    switch (op) {
    case PTYPE_BYTE: EACH(uint8_t, number(r, true, p, 1, false, &v));
    case PTYPE_BOOL: EACH(bool, number(r, true, p, 1, false, &v));
    case PTYPE_I16: EACH(int16_t, number(r, fixed, p, 2, true, &v));
    case PTYPE_U16: EACH(uint16_t, number(r, fixed, p, 2, false, &v));
    case PTYPE_I32: EACH(int32_t, number(r, fixed, p, 4, true, &v));
    case PTYPE_U32: EACH(uint32_t, number(r, fixed, p, 4, false, &v));
    case PTYPE_I64: EACH(int64_t, number(r, fixed, p, 8, true, &v));
    case PTYPE_U64: EACH(uint64_t, number(r, fixed, p, 8, false, &v));
    case PTYPE_INT: EACH(int32_t, number(r, fixed, p, 4, true, &v));
    case PTYPE_SIZE: EACH(size_t, number(r, fixed, p, sizeof(size_t), false, &v));
    case PTYPE_FLAGS:
        EACH(uint32_t, (p = number(r, fixed, p, 4, false, &v), v &= PTYPE_FLAGS_SENT, p));
    case PTYPE_TIMEVAL:
        for (; n && p; n--, at += stride)
            p = timeval(r, fixed, p, (void *)at);
        break;
    default: break;
    }
    return p;
}

/* One number of a type given by the sender, converted to op. */
static const uint8_t *tagged_number(struct punpack *r, const uint8_t *p, uint16_t tag, uint8_t op,
                                    char *at)
{
    static const struct {
        uint8_t width;
        bool has_sign;
    } facts[] = {
        [PMIX_INT8] = { 1, true },    [PMIX_INT16] = { 2, true },   [PMIX_INT32] = { 4, true },
        [PMIX_INT64] = { 8, true },   [PMIX_UINT8] = { 1, false },  [PMIX_UINT16] = { 2, false },
        [PMIX_UINT32] = { 4, false }, [PMIX_UINT64] = { 8, false },
    };
    bool bytes, negative;
    uint64_t v;

    if (tag >= sizeof facts / sizeof facts[0] || !facts[tag].width)
        return fail(r, PTYPE_MALFORMED);
    bytes = facts[tag].width == 1; /* which are bytes in every encoding */
    p = number(r, r->as->fixed || bytes, p, facts[tag].width, facts[tag].has_sign, &v);
    if (!p)
        return NULL;
    negative = facts[tag].has_sign && (int64_t)v < 0;
    if (op == PTYPE_SIZE) {
        if (negative || v > SIZE_MAX)
            return fail(r, PTYPE_MALFORMED);
        *(size_t *)(void *)at = (size_t)v;
        return p;
    }
    /* an int, an unsigned int or a pid: any 32 bits */
    if (negative ? (int64_t)v < INT32_MIN : v > UINT32_MAX)
        return fail(r, PTYPE_MALFORMED);
    *(uint32_t *)(void *)at = (uint32_t)v;
    return p;
}

/* Numbers whose width depends on the sender: their type precedes the first. */
static const uint8_t *get_tagged(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                                 size_t stride, size_t n)
{
    uint64_t tag = 0;

    p = number(r, r->as->fixed, p, 2, false, &tag);
    for (; n && p; n--, at += stride)
        p = tagged_number(r, p, (uint16_t)tag, op, at);
    return p;
}

static inline bool is_tagged(bool fixed, uint8_t op)
{
    return op == PTYPE_PID || (fixed && (op == PTYPE_INT || op == PTYPE_SIZE));
}

/* The front of an array of numbers, as long as there are nine bytes to read. */
static inline const uint8_t *signs_ample(const struct punpack *r, const uint8_t *p, int32_t *to,
                                         size_t *n_p)
{
    size_t n = *n_p;
    uint64_t v;

    for (; n && left(r, p) >= 9; n--, to++) {
        const uint8_t *next = base128_ample(p, &v);
        if (v >> 32)
            break; /* malformed: the careful path reports it */
        *to = (int32_t)unzigzag(v);
        p = next;
    }
    *n_p = n;
    return p;
}

static inline const uint8_t *wides_ample(const struct punpack *r, const uint8_t *p, uint64_t *to,
                                         size_t *n_p)
{
    size_t n = *n_p;

    for (; n && left(r, p) >= 9; n--, to++)
        p = base128_ample(p, to);
    *n_p = n;
    return p;
}

static const uint8_t *get_numbers(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                                  size_t stride, size_t n)
{
    size_t rest = n;

    if (op == PTYPE_PTR) { /* one byte for all of them, and an address is meaningless here */
        memset(at, 0, n * sizeof(void *));
        return pass(r, p, 1);
    }
    if (op == PTYPE_BYTE && stride == 1 && n <= left(r, p)) {
        memcpy(at, p, n);
        return p + n;
    }
    if (is_tagged(r->as->fixed, op))
        return get_tagged(r, p, op, at, stride, n);
    if (r->as->fixed)
        return numbers(r, true, p, op, at, stride, n);
    if ((op == PTYPE_I32 || op == PTYPE_INT) && stride == sizeof(int32_t))
        p = signs_ample(r, p, (void *)at, &rest);
    else if ((op == PTYPE_U64 || op == PTYPE_SIZE) && stride == sizeof(uint64_t))
        p = wides_ample(r, p, (void *)at, &rest);
    return numbers(r, false, p, op, at + (n - rest) * stride, stride, rest);
}

/* One number: a field of a struct, or an item alone. */
INLINE const uint8_t *get_number(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                                 char *at)
{
    if (op == PTYPE_PTR) {
        memset(at, 0, sizeof(void *));
        return pass(r, p, 1);
    }
    if (is_tagged(fixed, op))
        return get_tagged(r, p, op, at, 0, 1);
    return numbers(r, fixed, p, op, at, 0, 1);
}

/* Numbers of the codec's own: types, lengths, counts. */
INLINE const uint8_t *get_type(struct punpack *r, bool fixed, const uint8_t *p, uint16_t *type_p)
{
    uint64_t v = 0;

    p = number(r, fixed, p, 2, false, &v);
    *type_p = (uint16_t)v;
    return p;
}

/* 0 with an error. */
INLINE const uint8_t *get_count(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                                size_t *n_p)
{
    uint64_t v = 0;
    int32_t tagged = 0;

    if (!fixed && op != PTYPE_SIZE && p < r->end && !(*p & 0x81)) { /* mostly: small, no sign */
        *n_p = *p >> 1;
        return p + 1;
    }
    *n_p = 0;
    if (op == PTYPE_SIZE && fixed)
        return get_tagged(r, p, op, (char *)n_p, 0, 1);
    if (op == PTYPE_SIZE) {
        p = number(r, false, p, sizeof(size_t), false, &v);
    } else if (is_tagged(fixed, op)) {
        p = get_tagged(r, p, op, (char *)&tagged, 0, 1);
        v = (uint64_t)(int64_t)tagged;
    } else {
        p = number(r, fixed, p, 4, true, &v);
    }
    if (!p)
        return NULL;
    if (op != PTYPE_SIZE && (int64_t)v < 0)
        return fail(r, PTYPE_MALFORMED);
    *n_p = (size_t)v;
    return p;
}

/* --- bytes and texts --- */

/* A text without its NUL; ptr NULL for a NULL text or an error.  A NUL in its middle ends it. */
INLINE const uint8_t *lend_text(struct punpack *r, bool fixed, const uint8_t *p,
                                struct slice *text_p)
{
    const uint8_t *at;
    size_t n;

    *text_p = SLICE_NULL;
    at = get_count(r, fixed, p, PTYPE_I32, &n);
    if (!at || !n)
        return at;
    p = pass(r, at, n);
    if (!p)
        return NULL;
    if (p[-1] != '\0')
        return fail(r, PTYPE_MALFORMED);
    *text_p = slice_mem(at, n - 1);
    return p;
}

static inline char *copy_bytes(struct punpack *r, const void *from, size_t n)
{
    char *copy = malloc(n + 1);

    if (!copy) {
        fail(r, PTYPE_NO_MEMORY);
        return NULL;
    }
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

INLINE const uint8_t *get_str(struct punpack *r, bool fixed, const uint8_t *p, char **str_p)
{
    struct slice text;

    p = lend_text(r, fixed, p, &text);
    if (!text.ptr)
        return p;
    *str_p = copy_bytes(r, text.ptr, text.len);
    return *str_p ? p : NULL;
}

/* Into an array in place, which is zero; it keeps its final NUL. */
INLINE const uint8_t *get_text(struct punpack *r, bool fixed, const uint8_t *p, char *at,
                               size_t size)
{
    struct slice text;

    p = lend_text(r, fixed, p, &text);
    if (!text.ptr)
        return p;
    text.len = strnlen(text.ptr, text.len);
    if (text.len >= size)
        return fail(r, PTYPE_TOO_LONG);
    memcpy(at, text.ptr, text.len);
    return p;
}

static const uint8_t *get_float(struct punpack *r, const uint8_t *p, float *single_p,
                                double *double_p)
{
    struct slice text;

    p = lend_text(r, r->as->fixed, p, &text);
    if (!text.ptr)
        return p;
    if (single_p ? pfloat_get_single(text, single_p) : pfloat_get(text, double_p))
        return p;
    return fail(r, PTYPE_MALFORMED);
}

static const uint8_t *get_regex(struct punpack *r, const uint8_t *p, char **regex_p)
{
    size_t n = ptype_regex_len(slice_mem(p, left(r, p)));

    if (!n || n > left(r, p))
        return fail(r, PTYPE_CUT);
    *regex_p = copy_bytes(r, p, n - 1 + (p[n - 1] != '\0'));
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
            p = fail(r, PTYPE_NO_MEMORY);
            break;
        }
        items = more;
        memset(items + cap * t->size, 0, (want - cap) * t->size);
        cap = want;
        p = get_items(r, p, t, items + have * t->size, cap - have);
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
static const uint8_t *get_list(struct punpack *r, const uint8_t *p, const struct ptype *t, size_t n,
                               void **items_p)
{
    size_t least;
    char *items;

    if (!n)
        return p;
    if (t->number == PMIX_BYTE) {
        if (n > left(r, p))
            return fail(r, PTYPE_CUT);
        *items_p = copy_bytes(r, p, n);
        return *items_p ? p + n : NULL;
    }
    if (n > LIMIT_PMIX_TRUST / t->size) {
        least = ptype_least(r->as, t);
        if (n > left(r, p) / least)
            return fail(r, PTYPE_CUT);
        if (t->size > 8 * least)
            return get_growing(r, p, t, n, items_p);
    }
    items = t->run ? malloc(n * t->size) : take_zeroed(n, t->size);
    if (!items)
        return fail(r, PTYPE_NO_MEMORY);
    p = get_items(r, p, t, items, n);
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
INLINE const uint8_t *get_counted(struct punpack *r, bool fixed, const uint8_t *p, uint16_t elem,
                                  void **items_p, size_t *count_p)
{
    size_t n;

    p = get_count(r, fixed, p, PTYPE_SIZE, &n);
    if (!p || !n)
        return p;
    p = get_list(r, p, ptype_find(elem), n, items_p);
    if (p)
        *count_p = n;
    return p;
}

/* NULL for no texts at all.  A NULL among them would end the list early: no sender writes that. */
INLINE const uint8_t *get_argv(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                               char ***argv_p)
{
    char **argv;
    size_t n;

    p = get_count(r, fixed, p, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32, &n);
    if (!p || !n)
        return p;
    if (n > left(r, p))
        return fail(r, PTYPE_CUT);
    argv = malloc((n + 1) * sizeof *argv);
    if (!argv)
        return fail(r, PTYPE_NO_MEMORY);
    *argv_p = argv; /* on an error this is released with the struct, up to the first NULL */
    for (size_t i = 0; i < n && p; i++) {
        argv[i] = NULL;
        p = get_str(r, fixed, p, &argv[i]);
        if (p && !argv[i])
            p = fail(r, PTYPE_MALFORMED);
    }
    if (p)
        argv[n] = NULL;
    return p;
}

/* --- what is recursive --- */

static bool deeper(struct punpack *r)
{
    if (r->depth == LIMIT_PMIX_DEPTH)
        fail(r, PTYPE_TOO_DEEP);
    r->depth++;
    return r->error == PTYPE_FINE;
}

/* Items that take more memory than their bytes: only a limited number of them. */
static bool charge(struct punpack *r, size_t n, size_t most)
{
    size_t share = LIMIT_PMIX_TRUST / most; /* of the limit for all kinds together */

    if (n > (LIMIT_PMIX_TRUST - r->unpaid) / share) {
        fail(r, PTYPE_TOO_LONG);
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
        return fail(r, PTYPE_UNKNOWN);
    p = get_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p)
        return NULL;
    a->type = type;
    if (!t)
        return p; /* of undefined type: whatever the count, no bytes follow */
    if (t->run == PTYPE_PTR && !charge(r, n, LIMIT_PMIX_POINTERS))
        return NULL;
    p = deeper(r) ? get_list(r, p, t, n, &a->array) : NULL;
    r->depth--;
    if (a->array)
        a->size = n;
    return p;
}

static const uint8_t *get_whole_array(struct punpack *r, const uint8_t *p, pmix_data_array_t *a)
{
    uint16_t type;

    p = get_type(r, r->as->fixed, p, &type);
    return p ? get_array(r, p, type, a) : NULL;
}

static const uint8_t *get_pointed(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                  pmix_value_t *v)
{
    uint16_t type = PMIX_UNDEF;

    if (t->number == PMIX_DATA_ARRAY) {
        p = get_type(r, r->as->fixed, p, &type);
        if (!p || (type == PMIX_UNDEF && r->as->short_null))
            return p; /* not an array */
    }
    v->data.ptr = take_zeroed(1, t->size);
    if (!v->data.ptr)
        return fail(r, PTYPE_NO_MEMORY);
    if (t->number == PMIX_DATA_ARRAY)
        return get_array(r, p, type, v->data.darray);
    return get_items(r, p, t, v->data.ptr, 1);
}

INLINE const uint8_t *get_value_of(struct punpack *r, bool fixed, const uint8_t *p, uint16_t type,
                                   pmix_value_t *v)
{
    const struct ptype *t = ptype_find(type);
    const uint8_t *before = p;

    if (type == PMIX_UNDEF)
        return p;
    if (type == PMIX_STRING &&
        r->depth < LIMIT_PMIX_DEPTH) { /* most of the values that are not numbers */
        v->type = type;
        return get_str(r, fixed, p, &v->data.string);
    }
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t))
        return fail(r, PTYPE_UNKNOWN);
    v->type = type;
    if (t->run)
        return get_items(r, p, t, (char *)&v->data, 1);
    if (!deeper(r))
        p = NULL;
    else if (t->place == PTYPE_INLINE)
        p = get_items(r, p, t, (char *)&v->data, 1);
    else
        p = get_pointed(r, p, t, v);
    r->depth--;
    if (type == PMIX_REGEX && p)
        v->data.bo.size = (size_t)(p - before); /* a value has it as a byte object */
    return p;
}

INLINE const uint8_t *get_value(struct punpack *r, bool fixed, const uint8_t *p, pmix_value_t *v)
{
    uint16_t type;

    p = get_type(r, fixed, p, &type);
    return p ? get_value_of(r, fixed, p, type, v) : NULL;
}

/* --- hwloc's objects --- */

static const uint8_t *get_cpuset(struct punpack *r, const uint8_t *p, pmix_cpuset_t *set)
{
    struct slice text;
    int error;

    p = lend_text(r, r->as->fixed, p, &text);
    if (!text.ptr)
        return p;
    if (!charge(r, 1, LIMIT_PMIX_CPUSETS))
        return NULL;
    error = r->foreign ? r->foreign->cpuset_parse(text.ptr, set) : PTYPE_NOT_SUPPORTED;
    return error ? fail(r, (enum ptype_error)error) : p;
}

static const uint8_t *get_topo(struct punpack *r, const uint8_t *p, pmix_topology_t *topo)
{
    const uint8_t *support;
    struct slice xml;
    int error;

    support = lend_text(r, r->as->fixed, p, &xml);
    if (!xml.ptr)
        return support;
    if (!r->foreign)
        return fail(r, PTYPE_NOT_SUPPORTED);
    p = pass(r, support, r->foreign->support_size());
    if (!p)
        return NULL;
    error = r->foreign->topo_parse(xml.ptr, support, topo);
    return error ? fail(r, (enum ptype_error)error) : p;
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
INLINE const uint8_t *get_one(struct punpack *r, bool fixed, const uint8_t *p, uint8_t op,
                              uint16_t elem, char *at, size_t size)
{
    switch (op) {
    case PTYPE_STR: return get_str(r, fixed, p, (void *)at);
    case PTYPE_TEXT: return get_text(r, fixed, p, at, size);
    case PTYPE_FLT: return get_float(r, p, (void *)at, NULL);
    case PTYPE_DBL: return get_float(r, p, NULL, (void *)at);
    case PTYPE_ARGV:
    case PTYPE_ARGC: return get_argv(r, fixed, p, op, (void *)at);
    case PTYPE_NEST: return get_items(r, p, ptype_find(elem), at, 1);
    case PTYPE_VALUE: return get_value(r, fixed, p, (void *)at);
    case PTYPE_ARRAY: return get_whole_array(r, p, (void *)at);
    case PTYPE_REGEX: return get_regex(r, p, (void *)at);
    case PTYPE_CPUSET: return get_cpuset(r, p, (void *)at);
    case PTYPE_TOPO: return get_topo(r, p, (void *)at);
    case PTYPE_DBUF: return get_dbuf(r, p, (void *)at);
    case PTYPE_NONE: return p;
    default: return get_number(r, fixed, p, op, at);
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

typedef const uint8_t *get_item(struct punpack *r, const uint8_t *p, char *at);

static get_item *const variable[PTYPE_NUMBERS] = {
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

static const uint8_t *get_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                char *at, size_t n)
{
    get_item *get = variable[t->number];

    if (is_run(t, r->as->fixed, n))
        return get_numbers(r, p, t->run, at, t->size, n);
    if (r->as->fixed)
        for (; n && p; n--, at += t->size)
            p = get_fields(r, p, t, at);
    else
        for (; n && p; n--, at += t->size)
            p = get(r, p, at);
    return p;
}

/* --- passing over items without taking them --- */

static const uint8_t *skip_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                 size_t n);

static const uint8_t *skip_text(struct punpack *r, const uint8_t *p)
{
    struct slice text;

    return lend_text(r, r->as->fixed, p, &text);
}

static const uint8_t *skip_list(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                size_t n)
{
    if (t->number == PMIX_BYTE)
        return pass(r, p, n);
    if (n > left(r, p) / ptype_least(r->as, t))
        return fail(r, PTYPE_CUT);
    return skip_items(r, p, t, n);
}

static const uint8_t *skip_counted(struct punpack *r, const uint8_t *p, uint16_t elem)
{
    size_t n;

    p = get_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    return p ? skip_list(r, p, ptype_find(elem), n) : NULL;
}

static const uint8_t *skip_argv(struct punpack *r, const uint8_t *p, uint8_t op)
{
    size_t n;

    p = get_count(r, r->as->fixed, p, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32, &n);
    while (p && n--)
        p = skip_text(r, p);
    return p;
}

static const uint8_t *skip_array(struct punpack *r, const uint8_t *p, bool in_value)
{
    const struct ptype *t;
    uint16_t type;
    size_t n;

    p = get_type(r, r->as->fixed, p, &type);
    if (!p || (in_value && type == PMIX_UNDEF && r->as->short_null))
        return p;
    t = ptype_find(type);
    if (type != PMIX_UNDEF && (!t || !ptype_known(r->as, t)))
        return fail(r, PTYPE_UNKNOWN);
    p = get_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p || !t)
        return p;
    p = deeper(r) ? skip_list(r, p, t, n) : NULL;
    r->depth--;
    return p;
}

static const uint8_t *skip_value_of(struct punpack *r, const uint8_t *p, uint16_t type)
{
    const struct ptype *t = ptype_find(type);

    if (type == PMIX_UNDEF)
        return p;
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t))
        return fail(r, PTYPE_UNKNOWN);
    if (!deeper(r))
        p = NULL;
    else if (type == PMIX_DATA_ARRAY)
        p = skip_array(r, p, true);
    else
        p = skip_items(r, p, t, 1);
    r->depth--;
    return p;
}

static const uint8_t *skip_value(struct punpack *r, const uint8_t *p)
{
    uint16_t type;

    p = get_type(r, r->as->fixed, p, &type);
    return p ? skip_value_of(r, p, type) : NULL;
}

static const uint8_t *skip_regex(struct punpack *r, const uint8_t *p)
{
    size_t n = ptype_regex_len(slice_mem(p, left(r, p)));

    return n ? pass(r, p, n) : fail(r, PTYPE_CUT);
}

static const uint8_t *skip_topo(struct punpack *r, const uint8_t *p)
{
    struct slice xml;

    p = lend_text(r, r->as->fixed, p, &xml);
    if (!xml.ptr)
        return p;
    return r->foreign ? pass(r, p, r->foreign->support_size()) : fail(r, PTYPE_NOT_SUPPORTED);
}

static const uint8_t *skip_one(struct punpack *r, const uint8_t *p, const struct ptype_field *f)
{
    char number[sizeof(struct timeval)];

    switch (f->op) {
    case PTYPE_STR:
    case PTYPE_TEXT:
    case PTYPE_FLT:
    case PTYPE_DBL:
    case PTYPE_CPUSET: return skip_text(r, p);
    case PTYPE_ARGV:
    case PTYPE_ARGC: return skip_argv(r, p, f->op);
    case PTYPE_LIST: return skip_counted(r, p, f->elem);
    case PTYPE_NEST: return skip_items(r, p, ptype_find(f->elem), 1);
    case PTYPE_VALUE: return skip_value(r, p);
    case PTYPE_ARRAY: return skip_array(r, p, false);
    case PTYPE_REGEX: return skip_regex(r, p);
    case PTYPE_TOPO: return skip_topo(r, p);
    case PTYPE_DBUF: return skip_counted(r, p, PMIX_BYTE);
    case PTYPE_NONE: return p;
    default: return get_numbers(r, p, f->op, number, 0, 1);
    }
}

static const uint8_t *skip_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                 size_t n)
{
    const struct ptype_field *f, *end = t->fields + t->nfields;
    char number[sizeof(struct timeval)];

    if (t->run == PTYPE_PTR) /* one byte, however many */
        return pass(r, p, 1);
    if (t->run)
        return get_numbers(r, p, t->run, number, 0, n);
    for (; n && p; n--)
        for (f = t->fields; f < end && p; f++)
            if (!f->local)
                p = skip_one(r, p, f);
    return p;
}

/* --- units --- */

/* The head of a unit: how many items, and that they are of this type. */
INLINE const uint8_t *get_head(struct punpack *r, bool fixed, const uint8_t *p, uint16_t type,
                               size_t *n_p)
{
    uint16_t said;

    *n_p = 0;
    if (r->described) {
        p = get_type(r, fixed, p, &said);
        if (!p || said != PMIX_INT32)
            return fail(r, PTYPE_MISMATCH);
    }
    p = get_count(r, fixed, p, PTYPE_I32, n_p);
    if (p && r->described) {
        p = get_type(r, fixed, p, &said);
        if (p && said != type)
            return fail(r, PTYPE_MISMATCH);
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
        return fail(r, PTYPE_NO_ROOM);
    if (p && n < 1)
        return fail(r, PTYPE_CUT);
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
        p = fail(r, PTYPE_BAD_PARAM);
    else if (!t || !ptype_known(r->as, t))
        p = fail(r, PTYPE_UNKNOWN);
    *n_p = 0;
    if (p)
        p = get_head(r, r->as->fixed, p, type, &all);
    if (!p)
        return;
    n = all < room ? all : room;
    if (!t->run)
        wipe(dst, n * t->size);
    p = get_items(r, p, t, dst, n);
    if (!p) {
        pmem_free(t, dst, n, r->foreign);
        return;
    }
    *n_p = (int32_t)n;
    if (all > room)
        fail(r, PTYPE_NO_ROOM); /* those that fit are the caller's */
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
        at = variable[type](&r, at + 1, dst);
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
    uint16_t said;
    size_t n = 0;

    *type_p = PMIX_UNDEF;
    if (p && look.described) {
        p = get_type(&look, fixed, p, &said);
        if (!p || said != PMIX_INT32)
            return -1;
    }
    if (p)
        p = get_count(&look, fixed, p, PTYPE_I32, &n);
    if (p && look.described)
        p = get_type(&look, fixed, p, type_p);
    return p ? (int32_t)n : -1;
}

/* One flat item, zero in error. */
static void get_flat(struct punpack *r, void *v_p, uint16_t type)
{
    const uint8_t *p = get_head_of_one(r, type);

    if (p)
        settle(r, get_items(r, p, ptype_find(type), v_p, 1));
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
        settle(r, lend_text(r, r->as->fixed, p, &text));
    return text;
}

/* A count and that many bytes, lent. */
static const uint8_t *lend_counted(struct punpack *r, const uint8_t *p, struct slice *bytes_p)
{
    size_t n;

    *bytes_p = SLICE_NULL;
    p = get_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p || !pass(r, p, n))
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
    size_t n = punpack_size(r), said;
    void *items = NULL;

    *n_p = 0;
    if (!t || !ptype_known(r->as, t))
        fail(r, PTYPE_UNKNOWN);
    p = begin(r);
    if (p && n) {
        p = get_head(r, r->as->fixed, p, type, &said);
        if (p && said != n)
            p = fail(r, PTYPE_MALFORMED);
        if (p)
            p = get_list(r, p, t, n, &items);
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
        p = lend_text(r, r->as->fixed, p, &key);
    if (p && !key.ptr)
        p = fail(r, PTYPE_MALFORMED);
    if (p)
        p = get_value(r, r->as->fixed, p, value_p);
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

    p = lend_text(r, r->as->fixed, p, key_p);
    if (p && flagged)
        p = get_numbers(r, p, PTYPE_FLAGS, (char *)&flags, 0, 1);
    from = p ? get_type(r, r->as->fixed, p, type_p) : NULL;
    p = from ? skip_value_of(r, from, *type_p) : NULL;
    if (p && !key_p->ptr)
        p = fail(r, PTYPE_MALFORMED);
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
        settle(r, get_count(r, r->as->fixed, p, PTYPE_SIZE, &n));
    return r->error == PTYPE_FINE ? n : 0;
}

enum ptype_error punpack_value(struct punpack *r, uint16_t type, pmix_value_t *value_p)
{
    const uint8_t *p = begin(r);

    memset(value_p, 0, sizeof *value_p);
    if (p)
        p = get_value_of(r, r->as->fixed, p, type, value_p);
    if (p && left(r, p))
        p = fail(r, PTYPE_MALFORMED);
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
        p = get_type(r, r->as->fixed, p, &type);
    if (p && type != PMIX_INFO)
        p = fail(r, PTYPE_MISMATCH);
    if (p)
        settle(r, get_count(r, r->as->fixed, p, PTYPE_SIZE, &n));
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

    p = p ? pass(r, p, 1) : NULL;
    *described_p = p && *form == 2;
    if (p && *form != 1 && *form != 2)
        p = fail(r, PTYPE_MALFORMED);
    if (p)
        settle(r, lend_counted(r, p, &bytes));
    return r->error == PTYPE_FINE ? bytes : SLICE_NULL;
}
