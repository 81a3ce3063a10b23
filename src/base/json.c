/* json.c - see json.h.  Every value begins with begin_value(), which writes the separator before it
 * and checks that a value is allowed there. */
#include "base/json.h"

#include <math.h>
#include <string.h>

static void malformed(struct json *j)
{
    if (buf_ok(j->out))
        j->out->error = BUF_MALFORMED;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The character at the front of s and its length, 0 if the bytes are not UTF-8: too short, longer
 * than needed, a surrogate, or beyond U+10FFFF. */
static size_t utf8_next(struct slice s, uint32_t *character_p)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {
        { 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 }
    };
    const unsigned char *at = (const unsigned char *)s.ptr;
    size_t n = 1;
    uint32_t c;

    while (n <= 4 && (at[0] & forms[n - 1].mask) != forms[n - 1].lead)
        n++;
    if (n > 4 || n > s.len)
        return 0;
    c = at[0] & (unsigned char)~forms[n - 1].mask;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < forms[n - 1].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *character_p = c;
    return n;
}

static bool is_control(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0);
}

static void put_string(struct buf *b, struct slice s, bool utf8)
{
    buf_byte(b, '"');
    while (s.len && buf_ok(b)) {
        uint32_t c = (unsigned char)s.ptr[0];
        size_t n = c < 0x80 ? 1 : utf8 ? utf8_next(s, &c) : 0;

        if (n == 0 || is_control(c)) /* c is the byte, or U+0080 to U+009F */
            buf_printf(b, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (int)c);
        else
            buf_put(b, s.ptr, n);
        s = slice_skip(s, n ? n : 1);
    }
    buf_byte(b, '"');
}

/* ---- separators before a value --------------------------------------------------------------- */

static bool in_object(const struct json *j)
{
    uint32_t level = j->depth - 1;

    return j->depth && (j->objects[level / 64] >> level % 64 & 1);
}

static void separate(struct json *j)
{
    if (j->state == JSON_NEXT)
        buf_str(j->out, j->spaced && !j->break_next ? ", " : ",");
    if (j->break_next) {
        buf_byte(j->out, '\n');
        for (uint32_t i = 0; i < j->depth; i++)
            buf_byte(j->out, ' ');
    }
    j->break_next = false;
}

void json_key(struct json *j, struct slice key)
{
    if (!in_object(j) || j->state == JSON_VALUE)
        malformed(j);
    separate(j);
    put_string(j->out, key, true);
    buf_str(j->out, j->spaced ? ": " : ":");
    j->state = JSON_VALUE;
}

static void begin_value(struct json *j, const char *key)
{
    if (key)
        json_key(j, slice_str(key));
    else if (j->state == JSON_DONE || (in_object(j) && j->state != JSON_VALUE))
        malformed(j);
    else if (j->state != JSON_VALUE)
        separate(j);
    j->state = j->depth ? JSON_NEXT : JSON_DONE;
}

void json_break(struct json *j)
{
    j->break_next = true;
}

/* ---- objects and arrays ---------------------------------------------------------------------- */

static void begin(struct json *j, const char *key, bool object)
{
    uint64_t bit = 1ull << j->depth % 64, *word = &j->objects[j->depth / 64];

    begin_value(j, key);
    if (j->depth == JSON_DEPTH_MAX) {
        malformed(j);
        return;
    }
    *word = object ? *word | bit : *word & ~bit;
    j->depth++;
    j->state = JSON_FIRST;
    buf_byte(j->out, object ? '{' : '[');
}

static void end(struct json *j, bool object)
{
    if (j->depth == 0 || in_object(j) != object || j->state == JSON_VALUE) {
        malformed(j);
        return;
    }
    j->depth--;
    j->state = j->depth ? JSON_NEXT : JSON_DONE;
    buf_byte(j->out, object ? '}' : ']');
}

void json_object(struct json *j, const char *key)
{
    begin(j, key, true);
}

void json_object_end(struct json *j)
{
    end(j, true);
}

void json_array(struct json *j, const char *key)
{
    begin(j, key, false);
}

void json_array_end(struct json *j)
{
    end(j, false);
}

void json_init(struct json *j, struct buf *out)
{
    memset(j, 0, sizeof *j);
    j->out = out;
}

void json_init_spaced(struct json *j, struct buf *out)
{
    json_init(j, out);
    j->spaced = true;
}

void json_done(struct json *j)
{
    if (j->state != JSON_DONE)
        malformed(j);
}

/* ---- values ---------------------------------------------------------------------------------- */

void json_text(struct json *j, const char *key, struct slice text)
{
    begin_value(j, key);
    put_string(j->out, text, true);
}

void json_str(struct json *j, const char *key, const char *text)
{
    if (text)
        json_text(j, key, slice_str(text));
    else
        json_null(j, key);
}

void json_bytes(struct json *j, const char *key, struct slice bytes)
{
    begin_value(j, key);
    put_string(j->out, bytes, false);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
    begin_value(j, key);
    buf_u64(j->out, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
    begin_value(j, key);
    buf_i64(j->out, v);
}

void json_decimal(struct json *j, const char *key, double v, int digits)
{
    if (!isfinite(v)) {
        json_null(j, key);
        return;
    }
    begin_value(j, key);
    buf_printf(j->out, "%.*f", digits, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
    begin_value(j, key);
    buf_str(j->out, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    begin_value(j, key);
    buf_str(j->out, "null");
}

void json_items(struct json *j, struct slice items)
{
    if (j->depth == 0)
        malformed(j);
    if (items.len == 0)
        return;
    begin_value(j, NULL);
    buf_slice_put(j->out, items);
}
