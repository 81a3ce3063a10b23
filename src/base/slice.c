/* slice.c - see slice.h.  Pure functions on borrowed bytes. */
#include "base/slice.h"

#include <ctype.h>
#include <limits.h>

size_t slice_find(struct slice a, char c)
{
    const char *hit = a.len ? memchr(a.ptr, c, a.len) : NULL;
    return hit ? (size_t)(hit - a.ptr) : a.len;
}

struct slice slice_cut(struct slice *rest, char c)
{
    size_t at = slice_find(*rest, c);
    struct slice head = slice_head(*rest, at);

    *rest = at < rest->len ? slice_skip(*rest, at + 1) : slice_skip(*rest, rest->len);
    return head;
}

bool slice_has_item(struct slice list, struct slice item)
{
    while (list.len) {
        if (slice_eq(slice_cut(&list, ','), item))
            return true;
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

struct slice slice_trim(struct slice a)
{
    while (a.len && is_blank(a.ptr[0]))
        a = slice_skip(a, 1);
    while (a.len && is_blank(a.ptr[a.len - 1]))
        a.len--;
    return a;
}

int slice_cmp(struct slice a, struct slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool slice_u64(struct slice a, uint64_t *value_p)
{
    uint64_t v = 0;

    if (a.len == 0)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        unsigned digit = (unsigned)(unsigned char)a.ptr[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value_p = v;
    return true;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

unsigned char slice_hex_byte(char high, char low)
{
    return (unsigned char)(hex_digit(high) * 16 + hex_digit(low));
}

bool slice_u32(struct slice a, uint32_t *value_p)
{
    uint64_t v;

    if (!slice_u64(a, &v) || v > UINT32_MAX)
        return false;
    *value_p = (uint32_t)v;
    return true;
}

bool slice_i64(struct slice a, int64_t *value_p)
{
    bool minus = a.len && a.ptr[0] == '-';
    uint64_t v;

    if (!slice_u64(minus ? slice_skip(a, 1) : a, &v) || v > (uint64_t)INT64_MAX + (minus ? 1 : 0))
        return false;
    *value_p = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

struct slice slice_digits(char memory[SLICE_DIGITS_MAX], uint64_t value)
{
    size_t at = SLICE_DIGITS_MAX;

    do {
        memory[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return slice_mem(memory + at, SLICE_DIGITS_MAX - at);
}

bool slice_int(struct slice a, int *value_p)
{
    int64_t v;

    if (!slice_i64(a, &v) || v < INT_MIN || v > INT_MAX)
        return false;
    *value_p = (int)v;
    return true;
}

uint64_t slice_hash(struct slice a, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325u ^ seed ^ a.len, word;
    size_t at = 0;

    for (; a.len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, a.ptr + at, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    for (; at < a.len; at++)
        h = (h ^ (unsigned char)a.ptr[at]) * 0x100000001b3u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
}

unsigned slice_distance(struct slice a, struct slice b)
{
    unsigned row[34], left, old;

    if (a.len > 32 || b.len > 32)
        return 99;
    for (unsigned j = 0; j <= b.len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        left = i;
        old = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned best = old + (a.ptr[i - 1] != b.ptr[j - 1]);
            old = row[j];
            if (old + 1 < best)
                best = old + 1;
            if (left + 1 < best)
                best = left + 1;
            row[j] = left = best;
        }
    }
    return row[b.len];
}
