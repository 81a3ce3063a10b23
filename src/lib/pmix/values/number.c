/* number.c - converts any number in a value to any other number type, when it fits.
 *
 * Not a matrix of conversions: the value is widened once, to a sign and 64 bits or to a double, and
 * narrowed once with its range checked.
 */
#include <math.h>

#include "lib/pmix/values/value.h"

enum class { NO_NUMBER = 0, SIGNED, UNSIGNED, FLOATING };

static const struct numeric {
    uint8_t class, size;
} numerics[] = {
    [PMIX_SIZE] = { UNSIGNED, sizeof(size_t) },
    [PMIX_PID] = { SIGNED, sizeof(pid_t) },
    [PMIX_INT] = { SIGNED, sizeof(int) },
    [PMIX_INT8] = { SIGNED, 1 },
    [PMIX_INT16] = { SIGNED, 2 },
    [PMIX_INT32] = { SIGNED, 4 },
    [PMIX_INT64] = { SIGNED, 8 },
    [PMIX_UINT] = { UNSIGNED, sizeof(unsigned) },
    [PMIX_UINT8] = { UNSIGNED, 1 },
    [PMIX_UINT16] = { UNSIGNED, 2 },
    [PMIX_UINT32] = { UNSIGNED, 4 },
    [PMIX_UINT64] = { UNSIGNED, 8 },
    [PMIX_FLOAT] = { FLOATING, sizeof(float) },
    [PMIX_DOUBLE] = { FLOATING, sizeof(double) },
    [PMIX_TIME] = { SIGNED, sizeof(time_t) },
    [PMIX_STATUS] = { SIGNED, sizeof(pmix_status_t) },
    [PMIX_PROC_RANK] = { UNSIGNED, sizeof(pmix_rank_t) },
};

struct wide {
    enum class class;
    int64_t i;  /* SIGNED */
    uint64_t u; /* UNSIGNED */
    double d;   /* FLOATING */
};

static struct numeric find(pmix_data_type_t type)
{
    return type < sizeof numerics / sizeof *numerics ? numerics[type] : (struct numeric){ 0 };
}

static struct wide widen(const pmix_value_t *v, struct numeric as)
{
    struct wide w = { .class = (enum class)as.class };

    if (w.class == FLOATING)
        w.d = as.size == sizeof(float) ? (double)v->data.fval : v->data.dval;
    else if (w.class == UNSIGNED)
        w.u = as.size == 1   ? v->data.uint8
              : as.size == 2 ? v->data.uint16
              : as.size == 4 ? v->data.uint32
                             : v->data.uint64;
    else
        w.i = as.size == 1   ? v->data.int8
              : as.size == 2 ? v->data.int16
              : as.size == 4 ? v->data.int32
                             : v->data.int64;
    return w;
}

/* The integer part as a sign and a magnitude; false when it does not fit into 64 bits. */
static bool whole(struct wide w, bool *negative_p, uint64_t *magnitude_p)
{
    if (w.class == FLOATING) {
        double part = trunc(w.d);
        if (!(fabs(part) < 0x1p64)) /* NaN fails as well */
            return false;
        *negative_p = part < 0;
        *magnitude_p = (uint64_t)fabs(part);
    } else {
        *negative_p = w.class == SIGNED && w.i < 0;
        *magnitude_p = w.class == UNSIGNED ? w.u : *negative_p ? -(uint64_t)w.i : (uint64_t)w.i;
    }
    return true;
}

static pmix_status_t to_float(struct wide w, void *dest, struct numeric as)
{
    double d = w.class == FLOATING ? w.d : w.class == SIGNED ? (double)w.i : (double)w.u;
    float f = (float)d;

    if (as.size == sizeof(double))
        memcpy(dest, &d, sizeof d);
    else if (isfinite(d) && !isfinite(f))
        return PMIX_ERR_LOST_PRECISION;
    else
        memcpy(dest, &f, sizeof f);
    return PMIX_SUCCESS;
}

static pmix_status_t to_integer(struct wide w, void *dest, struct numeric as)
{
    unsigned bits = as.size * 8u - (as.class == SIGNED);
    uint64_t magnitude, limit = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, stored;
    bool negative;

    if (!whole(w, &negative, &magnitude))
        return PMIX_ERR_LOST_PRECISION;
    if (negative && as.class == UNSIGNED)
        return PMIX_ERR_CHANGE_SIGN;
    if (magnitude > limit + (negative ? 1 : 0))
        return PMIX_ERR_LOST_PRECISION;
    stored = negative ? -magnitude : magnitude;
    /* The low bytes, whatever the byte order: */
    switch (as.size) {
    case 1: *(uint8_t *)dest = (uint8_t)stored; break;
    case 2: memcpy(dest, &(uint16_t){ (uint16_t)stored }, 2); break;
    case 4: memcpy(dest, &(uint32_t){ (uint32_t)stored }, 4); break;
    default: memcpy(dest, &stored, 8); break;
    }
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Value_get_number(const pmix_value_t *value, void *dest, pmix_data_type_t type)
{
    struct numeric from, to = find(type);
    struct wide w;

    if (value == NULL || dest == NULL)
        return PMIX_ERR_BAD_PARAM;
    from = find(value->type);
    if (from.class == NO_NUMBER || to.class == NO_NUMBER)
        return PMIX_ERR_BAD_PARAM;
    w = widen(value, from);
    return to.class == FLOATING ? to_float(w, dest, to) : to_integer(w, dest, to);
}
