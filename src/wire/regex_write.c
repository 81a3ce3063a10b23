/* regex_write.c - see regex_write.h.
 *
 * A name is split at its last run of digits: the parts before and after it are the same for all
 * members of a group, and so is the number of digits.  Only neighbours are grouped, because the
 * order of the nodes matters.
 */
#include "wire/regex_write.h"

enum { DIGITS_MAX = 18 /* every such number fits into 64 bits; longer ones stay literal */ };

struct name {
    struct slice head, tail; /* around the number */
    uint64_t number;
    size_t digits; /* 0: no number; the name is head */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct name split(struct slice text)
{
    struct name n = { .head = text };
    size_t end = text.len, start;

    while (end && !is_digit(text.ptr[end - 1]))
        end--;
    for (start = end; start && is_digit(text.ptr[start - 1]); start--)
        ;
    if (start == end || end - start > DIGITS_MAX)
        return n;
    n.head = slice_head(text, start);
    n.tail = slice_skip(text, end);
    n.digits = end - start;
    for (size_t i = start; i < end; i++)
        n.number = n.number * 10 + (uint64_t)(text.ptr[i] - '0');
    return n;
}

static bool same_group(const struct name *a, const struct name *b)
{
    return a->digits && a->digits == b->digits && slice_eq(a->head, b->head) &&
           slice_eq(a->tail, b->tail);
}

/* One item of a range list. */
static void put_range(struct buf *out, uint64_t first, uint64_t last)
{
    buf_u64(out, first);
    if (last != first) {
        buf_byte(out, '-');
        buf_u64(out, last);
    }
}

static void put_group_head(struct buf *out, const struct name *n)
{
    buf_slice_put(out, n->head);
    if (n->digits) {
        buf_byte(out, '[');
        buf_u64(out, n->digits);
        buf_byte(out, ':');
    }
}

static void put_group_end(struct buf *out, const struct name *n, uint64_t first)
{
    if (!n->digits)
        return;
    put_range(out, first, n->number);
    buf_byte(out, ']');
    buf_slice_put(out, n->tail);
}

/* The names after the first, each joined to the previous one: in its range, its group, or
 * neither. */
static void put_names(struct buf *out, struct slice rest)
{
    struct name before = split(slice_cut(&rest, ','));
    uint64_t first = before.number;

    put_group_head(out, &before);
    while (rest.ptr && rest.len) {
        struct name n = split(slice_cut(&rest, ','));
        if (!same_group(&before, &n)) {
            put_group_end(out, &before, first);
            buf_byte(out, ',');
            put_group_head(out, &n);
            first = n.number;
        } else if (n.number != before.number + 1) {
            put_range(out, first, before.number);
            buf_byte(out, ',');
            first = n.number;
        }
        before = n;
    }
    put_group_end(out, &before, first);
}

/* Names that the short form cannot hold: brackets are part of its syntax, and empty ones would
 * be lost. */
static bool has_native_form(struct slice input)
{
    char before = ',';

    for (size_t i = 0; i < input.len; i++) {
        char c = input.ptr[i];
        if (c == '[' || c == ']' || (c == ',' && before == ','))
            return false;
        before = c;
    }
    return before != ',';
}

static void put_raw(struct buf *out, struct slice input)
{
    buf_str(out, "raw:");
    buf_slice_put(out, input);
}

void regex_write_nodes(struct buf *out, struct slice input)
{
    if (!has_native_form(input)) {
        put_raw(out, input);
        return;
    }
    buf_str(out, "pmix[");
    put_names(out, input);
    buf_byte(out, ']');
}

/* A number without leading zeros, at the start of *rest. */
static bool take_rank(struct slice *rest, uint32_t *rank_p)
{
    uint64_t v = 0;
    size_t n = 0;

    while (n < rest->len && n < 10 && is_digit(rest->ptr[n]))
        v = v * 10 + (uint64_t)(rest->ptr[n++] - '0');
    if (!n || v > UINT32_MAX || (n > 1 && rest->ptr[0] == '0'))
        return false;
    *rest = slice_skip(*rest, n);
    *rank_p = (uint32_t)v;
    return true;
}

/* The short form of the ranks; false when they hold anything but plain numbers. */
static bool put_ranks(struct buf *out, struct slice rest)
{
    uint32_t first = 0, last = 0, rank;
    bool open = false; /* a range has begun */

    while (rest.len) {
        char c = rest.ptr[0];
        if (c == ';') {
            if (open)
                put_range(out, first, last);
            open = false;
            buf_byte(out, ';');
            rest = slice_skip(rest, 1);
            continue;
        }
        if (c == ',' && open)
            rest = slice_skip(rest, 1);
        else if (open)
            return false;
        if (!take_rank(&rest, &rank))
            return false;
        if (open && rank == last + 1 && rank) {
            last = rank;
            continue;
        }
        if (open) {
            put_range(out, first, last);
            buf_byte(out, ',');
        }
        first = last = rank;
        open = true;
    }
    if (open)
        put_range(out, first, last);
    return true;
}

void regex_write_ranks(struct buf *out, struct slice input)
{
    struct buf native = BUF_NULL(input.len); /* not longer than the input, or not at all */

    buf_str(&native, "pmix[");
    if (put_ranks(&native, input))
        buf_byte(&native, ']');
    else
        native.error = BUF_TOO_LONG;
    if (buf_ok(&native) && input.len)
        buf_slice_put(out, buf_slice(&native));
    else if (native.error == BUF_NO_MEMORY)
        out->error = BUF_NO_MEMORY;
    else
        put_raw(out, input);
    buf_free(&native);
}
