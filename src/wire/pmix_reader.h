/* pmix_reader.h - the basis of all reading of PMIx data: errors, numbers, counts, texts.
 *
 * Every function takes the place to read at and returns the place after the bytes read, or NULL
 * when the reader has failed; it is never called with NULL.
 */
#ifndef WIREUP_WIRE_PMIX_READER_H
#define WIREUP_WIRE_PMIX_READER_H

#include <string.h>

#include "base/limit.h"
#include "wire/pmix_unpack.h"

static inline const uint8_t *preader_fail(struct punpack *r, enum ptype_error error)
{
    if (r->error == PTYPE_FINE)
        r->error = error;
    return NULL;
}

/* Where an encoding is a constant, nothing of the others may stay in the function. */
#define PREADER_INLINE static inline __attribute__((always_inline))

static inline size_t preader_left(const struct punpack *r, const uint8_t *p)
{
    return (size_t)(r->end - p);
}

/* After the next n bytes. */
static inline const uint8_t *preader_pass(struct punpack *r, const uint8_t *p, size_t n)
{
    return n <= preader_left(r, p) ? p + n : preader_fail(r, PTYPE_CUT);
}

/* Groups of seven bits, one per byte, to their places: in three steps, all at once. */
static inline uint64_t preader_gather(uint64_t x)
{
    x = (x & UINT64_C(0x7f007f007f007f00)) >> 1 | (x & UINT64_C(0x007f007f007f007f));
    x = (x & UINT64_C(0x3fff00003fff0000)) >> 2 | (x & UINT64_C(0x00003fff00003fff));
    return (x & UINT64_C(0x0fffffff00000000)) >> 4 | (x & UINT64_C(0x000000000fffffff));
}

/* At p there are nine bytes. */
static inline const uint8_t *preader_base128_ample(const uint8_t *p, uint64_t *v_p)
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
        *v_p = preader_gather(x) | (uint64_t)p[8] << 56;
        return p + 9;
    }
    *v_p = preader_gather(x & (stops ^ (stops - 1)));
    return p + __builtin_ctzll(stops) / 8 + 1;
}

/* One that is not small, or near the end of the input. */
const uint8_t *preader_base128_long(struct punpack *r, const uint8_t *p, uint64_t *v_p);

/* Mostly they are small: one byte. */
PREADER_INLINE const uint8_t *preader_base128(struct punpack *r, const uint8_t *p, uint64_t *v_p)
{
    if (p < r->end && *p < 0x80) {
        *v_p = *p;
        return p + 1;
    }
    return preader_base128_long(r, p, v_p);
}

static inline const uint8_t *preader_big(struct punpack *r, const uint8_t *p, unsigned width,
                                         uint64_t *v_p)
{
    uint64_t v = 0;

    if (preader_left(r, p) < width)
        return preader_fail(r, PTYPE_CUT);
    for (unsigned i = 0; i < width; i++)
        v = v << 8 | p[i];
    *v_p = v;
    return p + width;
}

static inline int64_t preader_unzigzag(uint64_t u)
{
    return (int64_t)(u >> 1 ^ (0 - (u & 1)));
}

/* A number of `width` bytes, signed or not, as its 64 bits (sign-extended). */
PREADER_INLINE const uint8_t *preader_number(struct punpack *r, bool fixed, const uint8_t *p,
                                             unsigned width, bool has_sign, uint64_t *v_p)
{
    unsigned unused = 64 - 8 * width;

    if (fixed) {
        p = preader_big(r, p, width, v_p);
        if (p && has_sign)
            *v_p = (uint64_t)((int64_t)(*v_p << unused) >> unused);
        return p;
    }
    p = preader_base128(r, p, v_p);
    if (!p)
        return NULL;
    if (width < 8 && *v_p >> 8 * width)
        return preader_fail(r, PTYPE_MALFORMED);
    if (has_sign)
        *v_p = (uint64_t)preader_unzigzag(*v_p);
    return p;
}

static inline const uint8_t *preader_timeval(struct punpack *r, bool fixed, const uint8_t *p,
                                             struct timeval *tv)
{
    uint64_t sec, usec;

    p = preader_number(r, fixed, p, 8, true, &sec);
    if (p)
        p = preader_number(r, fixed, p, 8, true, &usec);
    if (p)
        *tv = (struct timeval){ .tv_sec = (time_t)sec, .tv_usec = (suseconds_t)usec };
    return p;
}

#define PREADER_EACH(ctype, read)                                                                  \
    for (; n && p; n--, at += stride) {                                                            \
        p = (read);                                                                                \
        if (p)                                                                                     \
            *(ctype *)(void *)at = (ctype)v;                                                       \
    }                                                                                              \
    break

/* fixed is a constant in all callers. */
PREADER_INLINE const uint8_t *preader_some(struct punpack *r, bool fixed, const uint8_t *p,
                                           uint8_t op, char *at, size_t stride, size_t n)
{
    uint64_t v = 0;

    switch (op) {
    case PTYPE_BYTE: PREADER_EACH(uint8_t, preader_number(r, true, p, 1, false, &v));
    case PTYPE_BOOL: PREADER_EACH(bool, preader_number(r, true, p, 1, false, &v));
    case PTYPE_I16: PREADER_EACH(int16_t, preader_number(r, fixed, p, 2, true, &v));
    case PTYPE_U16: PREADER_EACH(uint16_t, preader_number(r, fixed, p, 2, false, &v));
    case PTYPE_I32: PREADER_EACH(int32_t, preader_number(r, fixed, p, 4, true, &v));
    case PTYPE_U32: PREADER_EACH(uint32_t, preader_number(r, fixed, p, 4, false, &v));
    case PTYPE_I64: PREADER_EACH(int64_t, preader_number(r, fixed, p, 8, true, &v));
    case PTYPE_U64: PREADER_EACH(uint64_t, preader_number(r, fixed, p, 8, false, &v));
    case PTYPE_INT: PREADER_EACH(int32_t, preader_number(r, fixed, p, 4, true, &v));
    case PTYPE_SIZE: PREADER_EACH(size_t, preader_number(r, fixed, p, sizeof(size_t), false, &v));
    case PTYPE_FLAGS:
        PREADER_EACH(uint32_t,
                     (p = preader_number(r, fixed, p, 4, false, &v), v &= PTYPE_FLAGS_SENT, p));
    case PTYPE_TIMEVAL:
        for (; n && p; n--, at += stride)
            p = preader_timeval(r, fixed, p, (void *)at);
        break;
    default: break;
    }
    return p;
}

/* Numbers whose width depends on the sender: their type precedes the first. */
const uint8_t *preader_tagged(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                              size_t stride, size_t n);

static inline bool preader_is_tagged(bool fixed, uint8_t op)
{
    return op == PTYPE_PID || (fixed && (op == PTYPE_INT || op == PTYPE_SIZE));
}

/* n numbers, each `stride` bytes after the other; those that stand for each other (PTR) too. */
const uint8_t *preader_numbers(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                               size_t stride, size_t n);

/* One number: a field of a struct, or an item alone. */
PREADER_INLINE const uint8_t *preader_one(struct punpack *r, bool fixed, const uint8_t *p,
                                          uint8_t op, char *at)
{
    if (op == PTYPE_PTR) {
        memset(at, 0, sizeof(void *));
        return preader_pass(r, p, 1);
    }
    if (preader_is_tagged(fixed, op))
        return preader_tagged(r, p, op, at, 0, 1);
    return preader_some(r, fixed, p, op, at, 0, 1);
}

/* Numbers of the codec's own: types, lengths, counts. */
PREADER_INLINE const uint8_t *preader_type(struct punpack *r, bool fixed, const uint8_t *p,
                                           uint16_t *type_p)
{
    uint64_t v = 0;

    p = preader_number(r, fixed, p, 2, false, &v);
    *type_p = (uint16_t)v;
    return p;
}

/* 0 with an error. */
PREADER_INLINE const uint8_t *preader_count(struct punpack *r, bool fixed, const uint8_t *p,
                                            uint8_t op, size_t *n_p)
{
    uint64_t v = 0;
    int32_t tagged = 0;

    if (!fixed && op != PTYPE_SIZE && p < r->end && !(*p & 0x81)) { /* mostly: small, no sign */
        *n_p = *p >> 1;
        return p + 1;
    }
    *n_p = 0;
    if (op == PTYPE_SIZE && fixed)
        return preader_tagged(r, p, op, (char *)n_p, 0, 1);
    if (op == PTYPE_SIZE) {
        p = preader_number(r, false, p, sizeof(size_t), false, &v);
    } else if (preader_is_tagged(fixed, op)) {
        p = preader_tagged(r, p, op, (char *)&tagged, 0, 1);
        v = (uint64_t)(int64_t)tagged;
    } else {
        p = preader_number(r, fixed, p, 4, true, &v);
    }
    if (!p)
        return NULL;
    if (op != PTYPE_SIZE && (int64_t)v < 0)
        return preader_fail(r, PTYPE_MALFORMED);
    *n_p = (size_t)v;
    return p;
}

/* A text without its NUL; ptr NULL for a NULL text or an error.  A NUL in its middle ends it. */
PREADER_INLINE const uint8_t *preader_text(struct punpack *r, bool fixed, const uint8_t *p,
                                           struct slice *text_p)
{
    const uint8_t *at;
    size_t n;

    *text_p = SLICE_NULL;
    at = preader_count(r, fixed, p, PTYPE_I32, &n);
    if (!at || !n)
        return at;
    p = preader_pass(r, at, n);
    if (!p)
        return NULL;
    if (p[-1] != '\0')
        return preader_fail(r, PTYPE_MALFORMED);
    *text_p = slice_mem(at, n - 1);
    return p;
}

/* One level of arrays and values down; the caller goes up again, by r->depth. */
static inline bool preader_deeper(struct punpack *r)
{
    if (r->depth == LIMIT_PMIX_DEPTH)
        preader_fail(r, PTYPE_TOO_DEEP);
    r->depth++;
    return r->error == PTYPE_FINE;
}

#endif
