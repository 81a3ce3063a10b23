/* pmix_unpack.c - see pmix_unpack.h: the interpreter that reads.
 *
 * The mirror of pmix_pack.c: runs of n items of one spelling.  Every item lands in zeroed memory,
 * so that what was read before an error can be released by the same descriptors.
 */
#include "wire/pmix_unpack.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/pmix_float.h"
#include "wire/pmix_mem.h"

static void get_items(struct punpack *r, const struct ptype *t, char *at, size_t n);

static void fail(struct punpack *r, enum ptype_error error)
{
    if (r->error == PTYPE_FINE)
        r->error = error;
}

/* The next n bytes, or NULL. */
static const uint8_t *lend(struct punpack *r, size_t n)
{
    const uint8_t *at = r->at;

    if (r->error != PTYPE_FINE || n > punpack_left(r)) {
        fail(r, PTYPE_CUT);
        return NULL;
    }
    r->at += n;
    return at;
}

/* --- numbers: each reads at *p, never beyond end, and tells by an error what stopped it --- */

static inline enum ptype_error base128(const uint8_t **p, const uint8_t *end, uint64_t *v_p)
{
    const uint8_t *q = *p;
    uint64_t v = 0;

    if (q < end && *q < 0x80) { /* the common case */
        *v_p = *q;
        *p = q + 1;
        return PTYPE_FINE;
    }
    for (unsigned i = 0; i < 8; i++) {
        if (q == end)
            return PTYPE_CUT;
        v |= (uint64_t)(*q & 0x7f) << 7 * i;
        if (!(*q++ & 0x80))
            goto done;
    }
    if (q == end)
        return PTYPE_CUT;
    v |= (uint64_t)*q++ << 56;
done:
    *v_p = v;
    *p = q;
    return PTYPE_FINE;
}

static inline enum ptype_error big(const uint8_t **p, const uint8_t *end, unsigned width,
                                   uint64_t *v_p)
{
    uint64_t v = 0;

    if ((size_t)(end - *p) < width)
        return PTYPE_CUT;
    for (unsigned i = 0; i < width; i++)
        v = v << 8 | (*p)[i];
    *p += width;
    *v_p = v;
    return PTYPE_FINE;
}

static inline int64_t unzigzag(uint64_t u)
{
    return (int64_t)(u >> 1 ^ (0 - (u & 1)));
}

/* A number of `width` bytes, signed or not, as its 64 bits (sign-extended). */
static inline enum ptype_error number(bool fixed, const uint8_t **p, const uint8_t *end,
                                      unsigned width, bool has_sign, uint64_t *v_p)
{
    unsigned unused = 64 - 8 * width;
    enum ptype_error error;
    uint64_t v;

    if (fixed) {
        error = big(p, end, width, &v);
        if (has_sign && error == PTYPE_FINE)
            v = (uint64_t)((int64_t)(v << unused) >> unused);
    } else {
        error = base128(p, end, &v);
        if (error == PTYPE_FINE && width < 8 && v >> 8 * width)
            error = PTYPE_MALFORMED;
        if (has_sign && error == PTYPE_FINE)
            v = (uint64_t)unzigzag(v);
    }
    if (error == PTYPE_FINE)
        *v_p = v;
    return error;
}

static enum ptype_error timeval(bool fixed, const uint8_t **p, const uint8_t *end,
                                struct timeval *tv)
{
    uint64_t sec, usec;
    enum ptype_error error = number(fixed, p, end, 8, true, &sec);

    if (!error)
        error = number(fixed, p, end, 8, true, &usec);
    if (!error)
        *tv = (struct timeval){ .tv_sec = (time_t)sec, .tv_usec = (suseconds_t)usec };
    return error;
}

#define EACH(ctype, read)                                                                          \
    for (; n && !error; n--, at += stride) {                                                       \
        error = (read);                                                                            \
        if (!error)                                                                                \
            *(ctype *)(void *)at = (ctype)v;                                                       \
    }                                                                                              \
    break

/* fixed is a constant in both callers. */
static inline __attribute__((always_inline)) enum ptype_error
numbers(bool fixed, const uint8_t **from, const uint8_t *end, uint8_t op, char *at, size_t stride,
        size_t n)
{
    const uint8_t *cursor = *from, **p = &cursor;
    enum ptype_error error = PTYPE_FINE;
    uint64_t v = 0;

    switch (op) {
    case PTYPE_BYTE: EACH(uint8_t, number(true, p, end, 1, false, &v));
    case PTYPE_BOOL: EACH(bool, number(true, p, end, 1, false, &v));
    case PTYPE_I16: EACH(int16_t, number(fixed, p, end, 2, true, &v));
    case PTYPE_U16: EACH(uint16_t, number(fixed, p, end, 2, false, &v));
    case PTYPE_I32: EACH(int32_t, number(fixed, p, end, 4, true, &v));
    case PTYPE_U32: EACH(uint32_t, number(fixed, p, end, 4, false, &v));
    case PTYPE_I64: EACH(int64_t, number(fixed, p, end, 8, true, &v));
    case PTYPE_U64: EACH(uint64_t, number(fixed, p, end, 8, false, &v));
    case PTYPE_INT: EACH(int32_t, number(fixed, p, end, 4, true, &v));
    case PTYPE_SIZE: EACH(size_t, number(fixed, p, end, sizeof(size_t), false, &v));
    case PTYPE_FLAGS:
        EACH(uint32_t, (error = number(fixed, p, end, 4, false, &v), v &= PTYPE_FLAGS_SENT, error));
    case PTYPE_TIMEVAL:
        for (; n && !error; n--, at += stride)
            error = timeval(fixed, p, end, (void *)at);
        break;
    default: break;
    }
    *from = cursor;
    return error;
}

/* One number of a type that the sender named, as op wants it. */
static enum ptype_error tagged_number(struct punpack *r, uint16_t tag, uint8_t op, char *at)
{
    static const struct {
        uint8_t width;
        bool has_sign;
    } facts[] = {
        [PMIX_INT8] = { 1, true },    [PMIX_INT16] = { 2, true },   [PMIX_INT32] = { 4, true },
        [PMIX_INT64] = { 8, true },   [PMIX_UINT8] = { 1, false },  [PMIX_UINT16] = { 2, false },
        [PMIX_UINT32] = { 4, false }, [PMIX_UINT64] = { 8, false },
    };
    enum ptype_error error;
    bool bytes, negative;
    uint64_t v;

    if (tag >= sizeof facts / sizeof facts[0] || !facts[tag].width)
        return PTYPE_MALFORMED;
    bytes = facts[tag].width == 1; /* which are bytes in every encoding */
    error =
        number(r->as->fixed || bytes, &r->at, r->end, facts[tag].width, facts[tag].has_sign, &v);
    if (error)
        return error;
    negative = facts[tag].has_sign && (int64_t)v < 0;
    if (op == PTYPE_SIZE) {
        if (negative || v > SIZE_MAX)
            return PTYPE_MALFORMED;
        *(size_t *)(void *)at = (size_t)v;
        return PTYPE_FINE;
    }
    /* an int, an unsigned int or a pid: any 32 bits */
    if (negative ? (int64_t)v < INT32_MIN : v > UINT32_MAX)
        return PTYPE_MALFORMED;
    *(uint32_t *)(void *)at = (uint32_t)v;
    return PTYPE_FINE;
}

static void get_numbers(struct punpack *r, uint8_t op, char *at, size_t stride, size_t n);

/* Numbers whose width is the sender's business: their type stands before the first. */
static void get_tagged(struct punpack *r, uint8_t op, char *at, size_t stride, size_t n)
{
    enum ptype_error error = PTYPE_FINE;
    uint16_t tag = 0;

    get_numbers(r, PTYPE_U16, (char *)&tag, 0, 1);
    if (r->error != PTYPE_FINE)
        return;
    for (; n && !error; n--, at += stride)
        error = tagged_number(r, tag, op, at);
    if (error)
        fail(r, error);
}

static void get_numbers(struct punpack *r, uint8_t op, char *at, size_t stride, size_t n)
{
    enum ptype_error error;

    if (r->error != PTYPE_FINE)
        return;
    if (op == PTYPE_PTR) { /* one byte for all of them, and an address means nothing here */
        lend(r, 1);
        memset(at, 0, n * sizeof(void *));
        return;
    }
    if (op == PTYPE_BYTE && stride == 1 && n <= punpack_left(r)) {
        memcpy(at, r->at, n);
        r->at += n;
        return;
    }
    if (op == PTYPE_PID || (r->as->fixed && (op == PTYPE_INT || op == PTYPE_SIZE))) {
        get_tagged(r, op, at, stride, n);
        return;
    }
    if (r->as->fixed)
        error = numbers(true, &r->at, r->end, op, at, stride, n);
    else
        error = numbers(false, &r->at, r->end, op, at, stride, n);
    if (error)
        fail(r, error);
}

/* One number: a field of a struct, or an item alone. */
static void get_number(struct punpack *r, uint8_t op, char *at)
{
    enum ptype_error error;

    if (r->as->fixed || op >= PTYPE_PID || r->error != PTYPE_FINE) {
        get_numbers(r, op, at, 0, 1);
        return;
    }
    error = numbers(false, &r->at, r->end, op, at, 0, 1);
    if (error)
        fail(r, error);
}

/* Numbers of the codec's own: types, lengths, counts.  Mostly they are small: one byte. */
static inline bool in_one_byte(const struct punpack *r)
{
    return !r->as->fixed && r->error == PTYPE_FINE && r->at < r->end && *r->at < 0x80;
}

static inline uint16_t get_type(struct punpack *r)
{
    uint16_t v = 0;

    if (in_one_byte(r))
        return *r->at++;
    get_numbers(r, PTYPE_U16, (char *)&v, 0, 1);
    return v;
}

static __attribute__((noinline)) size_t get_long_count(struct punpack *r, uint8_t op)
{
    size_t n = 0;
    int32_t v = 0;

    if (op == PTYPE_SIZE) {
        get_numbers(r, op, (char *)&n, 0, 1);
        return n;
    }
    get_numbers(r, op, (char *)&v, 0, 1);
    if (v < 0)
        fail(r, PTYPE_MALFORMED);
    return v < 0 ? 0 : (size_t)v;
}

static inline size_t get_count(struct punpack *r, uint8_t op)
{
    if (in_one_byte(r)) {
        if (op == PTYPE_SIZE)
            return *r->at++;
        if (!(*r->at & 1)) /* zigzagged: no negative one */
            return *r->at++ >> 1;
    }
    return get_long_count(r, op);
}

/* --- bytes and texts --- */

/* A text without its NUL; ptr NULL for a NULL text or an error.  A NUL in its middle ends it. */
static struct slice lend_text(struct punpack *r)
{
    size_t n = get_count(r, PTYPE_I32);
    const uint8_t *at = n ? lend(r, n) : NULL;

    if (!at)
        return SLICE_NULL;
    if (at[n - 1] != '\0') {
        fail(r, PTYPE_MALFORMED);
        return SLICE_NULL;
    }
    return slice_mem(at, n - 1);
}

static char *copy_bytes(struct punpack *r, const void *from, size_t n)
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

static char *get_str(struct punpack *r)
{
    struct slice text = lend_text(r);

    return text.ptr ? copy_bytes(r, text.ptr, text.len) : NULL;
}

/* Into an array in place, which is zero; it keeps its final NUL. */
static void get_text(struct punpack *r, char *at, size_t size)
{
    struct slice text = lend_text(r);

    text.len = text.ptr ? strnlen(text.ptr, text.len) : 0;
    if (text.len >= size)
        fail(r, PTYPE_TOO_LONG);
    else if (text.len)
        memcpy(at, text.ptr, text.len);
}

static double get_float(struct punpack *r, float *single_p)
{
    struct slice text = lend_text(r);
    double v = 0;
    bool good = true;

    if (text.ptr)
        good = single_p ? pfloat_get_single(text, single_p) : pfloat_get(text, &v);
    if (!good)
        fail(r, PTYPE_MALFORMED);
    return v;
}

static char *get_regex(struct punpack *r)
{
    size_t n = ptype_regex_len(slice_mem(r->at, punpack_left(r)));
    const uint8_t *at;

    if (!n) {
        fail(r, PTYPE_CUT);
        return NULL;
    }
    at = lend(r, n);
    return at ? copy_bytes(r, at, n - 1 + (at[n - 1] != '\0')) : NULL;
}

/* --- lists --- */

/* calloc takes small blocks from the arena instead of the thread's own list, where they go back to;
 * not inlined, or the compiler makes a calloc of this. */
static __attribute__((noinline)) void *take(size_t n)
{
    return malloc(n);
}

static void *take_zeroed(size_t n, size_t size)
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

/* Memory for n items, grown only as they come when the count alone is no reason to believe it. */
static char *get_growing(struct punpack *r, const struct ptype *t, size_t n)
{
    size_t have = 0, cap = 0;
    char *items = NULL;

    while (have < n && r->error == PTYPE_FINE) {
        size_t want = cap ? cap * 2 : LIMIT_PMIX_TRUST / t->size + 1;
        char *more;
        if (want > n || want < cap)
            want = n;
        more = want <= SIZE_MAX / t->size ? realloc(items, want * t->size) : NULL;
        if (!more) {
            fail(r, PTYPE_NO_MEMORY);
            break;
        }
        items = more;
        memset(items + cap * t->size, 0, (want - cap) * t->size);
        cap = want;
        get_items(r, t, items + have * t->size, cap - have);
        have = cap;
    }
    if (r->error == PTYPE_FINE)
        return items;
    pmem_free(t, items, cap, r->foreign);
    free(items);
    return NULL;
}

/* n items in new memory; NULL when there are none, or in error. */
static void *get_list(struct punpack *r, const struct ptype *t, size_t n)
{
    size_t least;
    char *items;

    if (!n || r->error != PTYPE_FINE)
        return NULL;
    if (t->number == PMIX_BYTE) {
        const uint8_t *at = lend(r, n);
        return at ? copy_bytes(r, at, n) : NULL;
    }
    if (n > LIMIT_PMIX_TRUST / t->size) {
        least = ptype_least(r->as, t);
        if (n > punpack_left(r) / least) {
            fail(r, PTYPE_CUT);
            return NULL;
        }
        if (t->size > 8 * least)
            return get_growing(r, t, n);
    }
    items = take_zeroed(n, t->size);
    if (!items) {
        fail(r, PTYPE_NO_MEMORY);
        return NULL;
    }
    get_items(r, t, items, n);
    if (r->error == PTYPE_FINE)
        return items;
    pmem_free(t, items, n, r->foreign);
    free(items);
    return NULL;
}

/* NULL for no texts at all.  A NULL among them would end the list early: nobody sends that. */
static char **get_argv(struct punpack *r, uint8_t op)
{
    size_t n = get_count(r, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32);
    char **argv;

    if (!n || r->error != PTYPE_FINE)
        return NULL;
    if (n > punpack_left(r)) {
        fail(r, PTYPE_CUT);
        return NULL;
    }
    argv = take_zeroed(n + 1, sizeof *argv);
    if (!argv)
        fail(r, PTYPE_NO_MEMORY);
    for (size_t i = 0; i < n && r->error == PTYPE_FINE; i++) {
        argv[i] = get_str(r);
        if (!argv[i])
            fail(r, PTYPE_MALFORMED);
    }
    if (r->error == PTYPE_FINE)
        return argv;
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
    return NULL;
}

/* --- what is recursive --- */

static bool deeper(struct punpack *r)
{
    if (r->depth == LIMIT_PMIX_DEPTH)
        fail(r, PTYPE_TOO_DEEP);
    r->depth++;
    return r->error == PTYPE_FINE;
}

/* What takes more memory than the bytes that ask for it: so many of them, and no more. */
static bool charge(struct punpack *r, size_t n, size_t most)
{
    size_t share = LIMIT_PMIX_TRUST / most; /* of what all kinds together may take */

    if (n > (LIMIT_PMIX_TRUST - r->unpaid) / share) {
        fail(r, PTYPE_TOO_LONG);
        return false;
    }
    r->unpaid += (uint32_t)(n * share);
    return true;
}

static void get_array(struct punpack *r, uint16_t type, pmix_data_array_t *a)
{
    const struct ptype *t = ptype_find(type);
    size_t n;

    if (type != PMIX_UNDEF && (!t || !ptype_known(r->as, t))) {
        fail(r, PTYPE_UNKNOWN);
        return;
    }
    n = get_count(r, PTYPE_SIZE);
    a->type = type;
    if (!t)
        return; /* of nothing: whatever the count, no bytes follow */
    if (t->run == PTYPE_PTR && !charge(r, n, LIMIT_PMIX_POINTERS))
        return;
    if (deeper(r))
        a->array = get_list(r, t, n);
    r->depth--;
    if (a->array)
        a->size = n;
}

static void get_pointed(struct punpack *r, const struct ptype *t, pmix_value_t *v)
{
    uint16_t type = PMIX_UNDEF;

    if (t->number == PMIX_DATA_ARRAY) {
        type = get_type(r);
        if (r->error != PTYPE_FINE || (type == PMIX_UNDEF && r->as->short_null))
            return; /* no array */
    }
    v->data.ptr = take_zeroed(1, t->size);
    if (!v->data.ptr)
        fail(r, PTYPE_NO_MEMORY);
    else if (t->number == PMIX_DATA_ARRAY)
        get_array(r, type, v->data.darray);
    else
        get_items(r, t, v->data.ptr, 1);
}

static void get_value_of(struct punpack *r, uint16_t type, pmix_value_t *v)
{
    const struct ptype *t = ptype_find(type);
    const uint8_t *before = r->at;

    if (r->error != PTYPE_FINE || type == PMIX_UNDEF)
        return;
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t)) {
        fail(r, PTYPE_UNKNOWN);
        return;
    }
    v->type = type;
    if (t->run) {
        get_number(r, t->run, (char *)&v->data);
        return;
    }
    if (deeper(r)) {
        if (t->place == PTYPE_INLINE)
            get_items(r, t, (char *)&v->data, 1);
        else
            get_pointed(r, t, v);
    }
    r->depth--;
    if (type == PMIX_REGEX && r->error == PTYPE_FINE)
        v->data.bo.size = (size_t)(r->at - before); /* a value has it as a byte object */
}

static void get_value(struct punpack *r, pmix_value_t *v)
{
    get_value_of(r, get_type(r), v);
}

/* --- what is not ours --- */

static void get_cpuset(struct punpack *r, pmix_cpuset_t *set)
{
    struct slice text = lend_text(r);
    int error;

    if (!text.ptr)
        return;
    if (!charge(r, 1, LIMIT_PMIX_CPUSETS))
        return;
    error = r->foreign ? r->foreign->cpuset_parse(text.ptr, set) : PTYPE_NOT_SUPPORTED;
    if (error)
        fail(r, (enum ptype_error)error);
}

static void get_topo(struct punpack *r, pmix_topology_t *topo)
{
    struct slice xml = lend_text(r);
    const uint8_t *support;
    int error;

    if (!xml.ptr)
        return;
    if (!r->foreign) {
        fail(r, PTYPE_NOT_SUPPORTED);
        return;
    }
    support = lend(r, r->foreign->support_size());
    if (!support)
        return;
    error = r->foreign->topo_parse(xml.ptr, support, topo);
    if (error)
        fail(r, (enum ptype_error)error);
}

static void get_dbuf(struct punpack *r, pmix_data_buffer_t *b)
{
    size_t n = get_count(r, PTYPE_SIZE);

    b->base_ptr = get_list(r, ptype_find(PMIX_BYTE), n);
    if (!b->base_ptr)
        return;
    b->unpack_ptr = b->base_ptr;
    b->pack_ptr = b->base_ptr + n;
    b->bytes_used = n;
    b->bytes_allocated = n;
}

#define STORE(ctype, at) (*(ctype *)(void *)(at))

/* One item of a spelling that is no number; obj is the struct that has the field, zeroed. */
static void get_one(struct punpack *r, const struct ptype_field *f, char *obj)
{
    char *at = obj + f->offset;

    switch (f->op) {
    case PTYPE_STR: STORE(char *, at) = get_str(r); break;
    case PTYPE_TEXT: get_text(r, at, f->size); break;
    case PTYPE_FLT: get_float(r, (void *)at); break;
    case PTYPE_DBL: STORE(double, at) = get_float(r, NULL); break;
    case PTYPE_ARGV:
    case PTYPE_ARGC: STORE(char **, at) = get_argv(r, f->op); break;
    case PTYPE_LIST: {
        size_t n = get_count(r, PTYPE_SIZE);
        STORE(void *, at) = get_list(r, ptype_find(f->elem), n);
        STORE(size_t, obj + f->count) = STORE(void *, at) ? n : 0;
        break;
    }
    case PTYPE_NEST: get_items(r, ptype_find(f->elem), at, 1); break;
    case PTYPE_VALUE: get_value(r, (void *)at); break;
    case PTYPE_ARRAY: get_array(r, get_type(r), (void *)at); break;
    case PTYPE_REGEX: STORE(char *, at) = get_regex(r); break;
    case PTYPE_CPUSET: get_cpuset(r, (void *)at); break;
    case PTYPE_TOPO: get_topo(r, (void *)at); break;
    case PTYPE_DBUF: get_dbuf(r, (void *)at); break;
    default: break;
    }
}

static void get_struct(struct punpack *r, const struct ptype *t, char *obj)
{
    const struct ptype_field *f = t->fields, *end = f + t->nfields;

    for (; f < end && r->error == PTYPE_FINE; f++) {
        if (f->local)
            continue;
        if (PTYPE_IS_NUMBER(f->op))
            get_number(r, f->op, obj + f->offset);
        else
            get_one(r, f, obj);
    }
    /* Who owns a value is a matter of this process: what was just read is ours. */
    if (t->number == PMIX_INFO)
        ((pmix_info_t *)(void *)obj)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
}

static void get_items(struct punpack *r, const struct ptype *t, char *at, size_t n)
{
    if (t->run) {
        if (n == 1)
            get_number(r, t->run, at);
        else
            get_numbers(r, t->run, at, t->size, n);
        return;
    }
    for (; n && r->error == PTYPE_FINE; n--, at += t->size) {
        if (t->single)
            get_one(r, t->fields, at);
        else
            get_struct(r, t, at);
    }
}

/* --- passing over items without taking them --- */

static void skip_items(struct punpack *r, const struct ptype *t, size_t n);

static void skip_list(struct punpack *r, const struct ptype *t, size_t n)
{
    if (t->number == PMIX_BYTE)
        lend(r, n);
    else if (n > punpack_left(r) / ptype_least(r->as, t))
        fail(r, PTYPE_CUT);
    else
        skip_items(r, t, n);
}

static void skip_argv(struct punpack *r, uint8_t op)
{
    size_t n = get_count(r, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32);

    while (n-- && r->error == PTYPE_FINE)
        lend_text(r);
}

static void skip_array(struct punpack *r, bool in_value)
{
    uint16_t type = get_type(r);
    const struct ptype *t = ptype_find(type);
    size_t n;

    if (in_value && type == PMIX_UNDEF && r->as->short_null)
        return;
    if (type != PMIX_UNDEF && (!t || !ptype_known(r->as, t)))
        fail(r, PTYPE_UNKNOWN);
    n = get_count(r, PTYPE_SIZE);
    if (!t)
        return;
    if (deeper(r))
        skip_list(r, t, n);
    r->depth--;
}

static void skip_value_of(struct punpack *r, uint16_t type)
{
    const struct ptype *t = ptype_find(type);

    if (r->error != PTYPE_FINE || type == PMIX_UNDEF)
        return;
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t)) {
        fail(r, PTYPE_UNKNOWN);
        return;
    }
    if (deeper(r)) {
        if (type == PMIX_DATA_ARRAY)
            skip_array(r, true);
        else
            skip_items(r, t, 1);
    }
    r->depth--;
}

static void skip_topo(struct punpack *r)
{
    if (lend_text(r).ptr) {
        if (r->foreign)
            lend(r, r->foreign->support_size());
        else
            fail(r, PTYPE_NOT_SUPPORTED);
    }
}

static void skip_one(struct punpack *r, const struct ptype_field *f)
{
    size_t n;

    switch (f->op) {
    case PTYPE_STR:
    case PTYPE_TEXT:
    case PTYPE_FLT:
    case PTYPE_DBL:
    case PTYPE_CPUSET: lend_text(r); break;
    case PTYPE_ARGV:
    case PTYPE_ARGC: skip_argv(r, f->op); break;
    case PTYPE_LIST:
        n = get_count(r, PTYPE_SIZE);
        skip_list(r, ptype_find(f->elem), n);
        break;
    case PTYPE_NEST: skip_items(r, ptype_find(f->elem), 1); break;
    case PTYPE_VALUE: skip_value_of(r, get_type(r)); break;
    case PTYPE_ARRAY: skip_array(r, false); break;
    case PTYPE_REGEX:
        n = ptype_regex_len(slice_mem(r->at, punpack_left(r)));
        if (!n)
            fail(r, PTYPE_CUT);
        lend(r, n);
        break;
    case PTYPE_TOPO: skip_topo(r); break;
    case PTYPE_DBUF: lend(r, get_count(r, PTYPE_SIZE)); break;
    default: break;
    }
}

static void skip_items(struct punpack *r, const struct ptype *t, size_t n)
{
    const struct ptype_field *f, *end = t->fields + t->nfields;
    char number[sizeof(struct timeval)];

    if (t->run == PTYPE_PTR) { /* one byte, however many */
        lend(r, 1);
        return;
    }
    if (t->run) {
        get_numbers(r, t->run, number, 0, n);
        return;
    }
    for (; n && r->error == PTYPE_FINE; n--) {
        for (f = t->fields; f < end && r->error == PTYPE_FINE; f++) {
            if (PTYPE_IS_NUMBER(f->op) && !f->local)
                get_numbers(r, f->op, number, 0, 1);
            else if (!f->local)
                skip_one(r, f);
        }
    }
}

/* --- units --- */

/* The head of a unit: how many items, and that they are of this type. */
static inline size_t get_head(struct punpack *r, uint16_t type)
{
    size_t n;

    if (r->described && get_type(r) != PMIX_INT32)
        fail(r, PTYPE_MISMATCH);
    n = get_count(r, PTYPE_I32);
    if (r->described && get_type(r) != type)
        fail(r, PTYPE_MISMATCH);
    return r->error == PTYPE_FINE ? n : 0;
}

/* The head of a unit of exactly one item. */
static void get_head_of_one(struct punpack *r, uint16_t type)
{
    size_t n = get_head(r, type);

    if (n > 1)
        fail(r, PTYPE_NO_ROOM);
    else if (n < 1)
        fail(r, PTYPE_CUT);
}

/* Errors take the reader back to where the unit began. */
static void settle(struct punpack *r, const uint8_t *before)
{
    if (r->error != PTYPE_FINE)
        r->at = before;
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

enum ptype_error punpack(struct punpack *r, void *dst, int32_t *n_p, uint16_t type)
{
    const struct ptype *t = ptype_find(type);
    const uint8_t *before = r->at;
    size_t room = *n_p < 0 ? 0 : (size_t)*n_p, n = 0, all;

    if (*n_p < 0 || (room && !dst))
        fail(r, PTYPE_BAD_PARAM);
    else if (!t || !ptype_known(r->as, t))
        fail(r, PTYPE_UNKNOWN);
    all = get_head(r, type);
    if (r->error == PTYPE_FINE) {
        n = all < room ? all : room;
        if (!t->run)
            wipe(dst, n * t->size);
        get_items(r, t, dst, n);
        if (r->error != PTYPE_FINE) {
            pmem_free(t, dst, n, r->foreign);
            n = 0;
        } else if (all > room) {
            fail(r, PTYPE_NO_ROOM); /* those that fit are the caller's */
        }
    }
    *n_p = (int32_t)n;
    settle(r, before);
    return r->error;
}

/* One number alone: where it ends, or NULL when it takes the longer way. */
static inline const uint8_t *lone_number(const uint8_t *at, const uint8_t *end, void *dst,
                                         uint16_t type)
{
    static const uint8_t one = 2; /* zigzagged */
    const struct ptype *t = ptype_find(type);

    if (!t || t->run == PTYPE_NONE || t->run >= PTYPE_PID || at == end || *at++ != one)
        return NULL;
    return numbers(false, &at, end, t->run, dst, 0, 1) == PTYPE_FINE ? at : NULL;
}

enum ptype_error punpack_public(pmix_data_buffer_t *b, const struct ptype_flavour *as,
                                const struct ptype_foreign *foreign, void *dst, int32_t *n_p,
                                uint16_t type)
{
    const uint8_t *base = (const uint8_t *)b->base_ptr, *end = base, *at = base, *behind;
    struct punpack r;

    if (base) {
        end = base + b->bytes_used;
        if (b->unpack_ptr)
            at = (const uint8_t *)b->unpack_ptr;
        if (at > end)
            at = end;
    }
    if (*n_p > 0 && dst && !as->fixed) {
        behind = lone_number(at, end, dst, type);
        if (behind) {
            b->unpack_ptr = b->base_ptr + (behind - base);
            *n_p = 1;
            return PTYPE_FINE;
        }
    }
    r = (struct punpack){ .at = at, .end = end, .as = as, .foreign = foreign };
    punpack(&r, dst, n_p, type);
    if (r.error == PTYPE_FINE)
        b->unpack_ptr = b->base_ptr + (r.at - base);
    return r.error;
}

int32_t punpack_peek(const struct punpack *r, uint16_t *type_p)
{
    struct punpack look = *r;
    size_t n;

    *type_p = PMIX_UNDEF;
    if (look.described && get_type(&look) != PMIX_INT32)
        return -1;
    n = get_count(&look, PTYPE_I32);
    if (look.described)
        *type_p = get_type(&look);
    return look.error == PTYPE_FINE ? (int32_t)n : -1;
}

/* One flat item, zero in error. */
static void get_unit(struct punpack *r, void *v_p, uint16_t type)
{
    const uint8_t *before = r->at;

    get_head_of_one(r, type);
    if (r->error == PTYPE_FINE)
        get_items(r, ptype_find(type), v_p, 1);
    settle(r, before);
}

uint8_t punpack_byte(struct punpack *r, uint16_t type)
{
    uint8_t v = 0;

    get_unit(r, &v, type);
    return v;
}

pmix_status_t punpack_status(struct punpack *r)
{
    pmix_status_t v = 0;

    get_unit(r, &v, PMIX_STATUS);
    return v;
}

size_t punpack_size(struct punpack *r)
{
    size_t v = 0;

    get_unit(r, &v, PMIX_SIZE);
    return v;
}

uint32_t punpack_u32(struct punpack *r, uint16_t type)
{
    uint32_t v = 0;

    get_unit(r, &v, type);
    return v;
}

char *punpack_str(struct punpack *r)
{
    char *v = NULL;

    get_unit(r, &v, PMIX_STRING);
    return v;
}

struct slice punpack_text(struct punpack *r)
{
    const uint8_t *before = r->at;
    struct slice text = SLICE_NULL;

    get_head_of_one(r, PMIX_STRING);
    text = lend_text(r);
    settle(r, before);
    return text;
}

/* A count and that many bytes, lent. */
static struct slice lend_counted(struct punpack *r)
{
    size_t n = get_count(r, PTYPE_SIZE);
    const uint8_t *at = lend(r, n);

    return at ? slice_mem(at, n) : SLICE_NULL;
}

struct slice punpack_bytes(struct punpack *r)
{
    const uint8_t *before = r->at;
    struct slice bytes;

    get_head_of_one(r, PMIX_BYTE_OBJECT);
    bytes = lend_counted(r);
    settle(r, before);
    return bytes;
}

void *punpack_list(struct punpack *r, uint16_t type, size_t *n_p)
{
    const uint8_t *before = r->at;
    const struct ptype *t = ptype_find(type);
    size_t n = punpack_size(r);
    void *items = NULL;

    *n_p = 0;
    if (!t || !ptype_known(r->as, t))
        fail(r, PTYPE_UNKNOWN);
    if (n && r->error == PTYPE_FINE && get_head(r, type) != n)
        fail(r, PTYPE_MALFORMED);
    if (n)
        items = get_list(r, t, n);
    if (items)
        *n_p = n;
    settle(r, before);
    return items;
}

struct slice punpack_kval(struct punpack *r, pmix_value_t *value_p)
{
    const uint8_t *before = r->at;
    struct slice key;

    memset(value_p, 0, sizeof *value_p);
    get_head_of_one(r, PMIX_KVAL);
    key = lend_text(r);
    if (!key.ptr)
        fail(r, PTYPE_MALFORMED);
    get_value(r, value_p);
    if (r->error != PTYPE_FINE) {
        pmem_value_free(value_p, r->foreign);
        key = SLICE_NULL;
    }
    settle(r, before);
    return key;
}

/* A text and a value's bytes; flagged: an info's directives stand between them. */
static struct slice get_raw_pair(struct punpack *r, bool flagged, uint16_t *type_p,
                                 struct slice *value_p)
{
    struct slice key = lend_text(r);
    const uint8_t *from;
    uint32_t flags;

    if (flagged)
        get_numbers(r, PTYPE_FLAGS, (char *)&flags, 0, 1);
    *type_p = get_type(r);
    from = r->at;
    skip_value_of(r, *type_p);
    *value_p = slice_mem(from, (size_t)(r->at - from));
    if (!key.ptr)
        fail(r, PTYPE_MALFORMED);
    if (r->error == PTYPE_FINE)
        return key;
    *type_p = PMIX_UNDEF;
    *value_p = SLICE_NULL;
    return SLICE_NULL;
}

struct slice punpack_kval_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p)
{
    const uint8_t *before = r->at;
    struct slice key;

    get_head_of_one(r, PMIX_KVAL);
    key = get_raw_pair(r, false, type_p, value_p);
    settle(r, before);
    return key;
}

size_t punpack_size_bare(struct punpack *r)
{
    const uint8_t *before = r->at;
    size_t n = get_count(r, PTYPE_SIZE);

    settle(r, before);
    return r->error == PTYPE_FINE ? n : 0;
}

enum ptype_error punpack_value(struct punpack *r, uint16_t type, pmix_value_t *value_p)
{
    const uint8_t *before = r->at;

    memset(value_p, 0, sizeof *value_p);
    get_value_of(r, type, value_p);
    if (punpack_left(r))
        fail(r, PTYPE_MALFORMED);
    if (r->error != PTYPE_FINE)
        pmem_value_free(value_p, r->foreign);
    settle(r, before);
    return r->error;
}

size_t punpack_infos_head(struct punpack *r)
{
    const uint8_t *before = r->at;
    uint16_t type = get_type(r);
    size_t n = 0;

    if (type != PMIX_INFO)
        fail(r, PTYPE_MISMATCH);
    else
        n = get_count(r, PTYPE_SIZE);
    settle(r, before);
    return r->error == PTYPE_FINE ? n : 0;
}

struct slice punpack_info_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p)
{
    const uint8_t *before = r->at;
    struct slice key = get_raw_pair(r, true, type_p, value_p);

    settle(r, before);
    return key;
}

struct slice punpack_buffer(struct punpack *r, bool *described_p)
{
    const uint8_t *before = r->at, *form;
    struct slice bytes;

    get_head_of_one(r, PMIX_BUFFER);
    form = lend(r, 1);
    *described_p = form && *form == 2;
    if (form && *form != 1 && *form != 2)
        fail(r, PTYPE_MALFORMED);
    bytes = lend_counted(r);
    settle(r, before);
    return bytes;
}
