/* pmix_reader.c - see pmix_reader.h. */
#include "wire/pmix_reader.h"

const uint8_t *preader_base128_long(struct punpack *r, const uint8_t *p, uint64_t *v_p)
{
    uint64_t v = 0;

    if (preader_left(r, p) >= 9 && *p >= 0x80)
        return preader_base128_ample(p, v_p);
    for (unsigned i = 0; i < 9; i++) {
        if (p == r->end)
            return preader_fail(r, PTYPE_CUT);
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
        return preader_fail(r, PTYPE_MALFORMED);
    bytes = facts[tag].width == 1; /* which are bytes in every encoding */
    p = preader_number(r, r->as->fixed || bytes, p, facts[tag].width, facts[tag].has_sign, &v);
    if (!p)
        return NULL;
    negative = facts[tag].has_sign && (int64_t)v < 0;
    if (op == PTYPE_SIZE) {
        if (negative || v > SIZE_MAX)
            return preader_fail(r, PTYPE_MALFORMED);
        *(size_t *)(void *)at = (size_t)v;
        return p;
    }
    /* an int, an unsigned int or a pid: any 32 bits */
    if (negative ? (int64_t)v < INT32_MIN : v > UINT32_MAX)
        return preader_fail(r, PTYPE_MALFORMED);
    *(uint32_t *)(void *)at = (uint32_t)v;
    return p;
}

/* Numbers whose width depends on the sender: their type precedes the first. */
const uint8_t *preader_tagged(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                              size_t stride, size_t n)
{
    uint64_t tag = 0;

    p = preader_number(r, r->as->fixed, p, 2, false, &tag);
    for (; n && p; n--, at += stride)
        p = tagged_number(r, p, (uint16_t)tag, op, at);
    return p;
}

/* The front of an array of numbers, as long as there are nine bytes to read. */
static inline const uint8_t *signs_ample(const struct punpack *r, const uint8_t *p, int32_t *to,
                                         size_t *n_p)
{
    size_t n = *n_p;
    uint64_t v;

    for (; n && preader_left(r, p) >= 9; n--, to++) {
        const uint8_t *next = preader_base128_ample(p, &v);
        if (v >> 32)
            break; /* malformed: the careful path reports it */
        *to = (int32_t)preader_unzigzag(v);
        p = next;
    }
    *n_p = n;
    return p;
}

static inline const uint8_t *wides_ample(const struct punpack *r, const uint8_t *p, uint64_t *to,
                                         size_t *n_p)
{
    size_t n = *n_p;

    for (; n && preader_left(r, p) >= 9; n--, to++)
        p = preader_base128_ample(p, to);
    *n_p = n;
    return p;
}

const uint8_t *preader_numbers(struct punpack *r, const uint8_t *p, uint8_t op, char *at,
                               size_t stride, size_t n)
{
    size_t rest = n;

    if (op == PTYPE_PTR) { /* one byte for all of them, and an address is meaningless here */
        memset(at, 0, n * sizeof(void *));
        return preader_pass(r, p, 1);
    }
    if (op == PTYPE_BYTE && stride == 1 && n <= preader_left(r, p)) {
        memcpy(at, p, n);
        return p + n;
    }
    if (preader_is_tagged(r->as->fixed, op))
        return preader_tagged(r, p, op, at, stride, n);
    if (r->as->fixed)
        return preader_some(r, true, p, op, at, stride, n);
    if ((op == PTYPE_I32 || op == PTYPE_INT) && stride == sizeof(int32_t))
        p = signs_ample(r, p, (void *)at, &rest);
    else if ((op == PTYPE_U64 || op == PTYPE_SIZE) && stride == sizeof(uint64_t))
        p = wides_ample(r, p, (void *)at, &rest);
    return preader_some(r, false, p, op, at + (n - rest) * stride, stride, rest);
}
