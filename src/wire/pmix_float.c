/* pmix_float.c - see pmix_float.h. */
#include "wire/pmix_float.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define MILLION UINT64_C(1000000)

/* |v| * 10^6 rounded half to even, exactly, where that is cheap: v is m * 2^e with a mantissa of 53
 * bits, so m * 10^6 has at most 73. */
static bool in_millionths(double v, uint64_t *n_p)
{
    uint64_t bits, m;
    int e;
    u128 all, rest, half;

    memcpy(&bits, &v, sizeof bits);
    m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    e = (int)(bits >> 52 & 0x7ff) - 1075;
    *n_p = 0;
    if (e < -120) /* below 2^-67, including zero and subnormal numbers: no millionth */
        return true;
    if (e > -11) /* from 2^42 on, infinities and NaN: left to libc */
        return false;
    all = (u128)m * MILLION;
    half = (u128)1 << (-e - 1);
    rest = all & ((half << 1) - 1);
    all >>= -e;
    if (rest > half || (rest == half && (all & 1)))
        all++;
    *n_p = (uint64_t)all;
    return true;
}

/* Locales change the decimal point, and peers read a point. */
static size_t put_slowly(char *out, double v)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
    int n;

    before = uselocale(plain); /* without a plain locale (no memory) this only queries */
    n = snprintf(out, PFLOAT_MAX, "%f", v);
    uselocale(before);
    if (plain)
        freelocale(plain);
    return n > 0 && n < PFLOAT_MAX ? (size_t)n : 0;
}

size_t pfloat_put(char out[PFLOAT_MAX], double v)
{
    char digits[32];
    size_t at = sizeof digits, n = 0, len;
    uint64_t whole, part;

    if (!in_millionths(v, &whole))
        return put_slowly(out, v);
    part = whole % MILLION;
    whole /= MILLION;
    for (int i = 0; i < 6; i++) {
        digits[--at] = (char)('0' + part % 10);
        part /= 10;
    }
    digits[--at] = '.';
    do {
        digits[--at] = (char)('0' + whole % 10);
        whole /= 10;
    } while (whole);
    if (signbit(v))
        out[n++] = '-';
    len = sizeof digits - at;
    memcpy(out + n, digits + at, len);
    n += len;
    out[n] = '\0';
    return n;
}

/* Plain decimals whose digits are exact in a double: one division by an exact power of ten, which
 * IEEE rounds correctly. */
static bool get_quickly(struct slice text, double *v_p)
{
    static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
    uint64_t all = 0;
    size_t i = 0, decimals = 0, digits = 0;
    bool minus = text.len && text.ptr[0] == '-', point = false;

    for (i = minus; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !point) {
            point = true;
        } else if (c >= '0' && c <= '9' && digits < 18) {
            all = all * 10 + (uint64_t)(c - '0');
            digits++;
            decimals += point;
        } else {
            return false;
        }
    }
    if (!digits || decimals > 6 || all > UINT64_C(1) << 53)
        return false;
    *v_p = (double)all / tens[decimals];
    if (minus)
        *v_p = -*v_p;
    return true;
}

static bool get_slowly(struct slice text, double *v_p, float *single_p)
{
    char copy[PFLOAT_MAX], *end;
    locale_t plain;

    if (!text.len || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    if (single_p)
        *single_p = strtof_l(copy, &end, plain);
    else
        *v_p = strtod_l(copy, &end, plain);
    freelocale(plain);
    return end == copy + text.len;
}

bool pfloat_get(struct slice text, double *v_p)
{
    return get_quickly(text, v_p) || get_slowly(text, v_p, NULL);
}

bool pfloat_get_single(struct slice text, float *v_p)
{
    double v;

    /* Rounded twice, but with the effect of once: below 2^34 a number of millionths is either
     * exactly between two floats, and then a double too, or further from there than a double's
     * error. */
    if (get_quickly(text, &v) && v > -9e9 && v < 9e9) {
        *v_p = (float)v;
        return true;
    }
    return get_slowly(text, NULL, v_p);
}
