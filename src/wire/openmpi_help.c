/* openmpi_help.c - see openmpi_help.h.
 *
 * Each item is a count (always 1, 32 bits, most significant byte first) and the value: a text is
 * its length with the final NUL, and the bytes; the flag is one byte.  With types, one byte before
 * the count tells that it is a 32-bit number, and one before the value gives its type.
 */
#include "wire/openmpi_help.h"

#include <stdint.h>

enum { TYPE_STRING = 3, TYPE_INT8 = 7, TYPE_INT32 = 9 };

struct reader {
    struct slice rest;
    bool typed, bad;
};

static uint8_t take_byte(struct reader *r)
{
    uint8_t byte;

    if (r->rest.len == 0) {
        r->bad = true;
        return 0;
    }
    byte = (uint8_t)r->rest.ptr[0];
    r->rest = slice_skip(r->rest, 1);
    return byte;
}

static uint32_t take_u32(struct reader *r)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++)
        n = n << 8 | take_byte(r);
    return n;
}

/* The part before a value. */
static void take_head(struct reader *r, uint8_t type)
{
    if (r->typed && take_byte(r) != TYPE_INT32)
        r->bad = true;
    if (take_u32(r) != 1)
        r->bad = true;
    if (r->typed && take_byte(r) != type)
        r->bad = true;
}

static struct slice take_text(struct reader *r)
{
    struct slice text;
    uint32_t len;

    take_head(r, TYPE_STRING);
    len = take_u32(r);
    if (r->bad || len > r->rest.len || (len && r->rest.ptr[len - 1] != '\0')) {
        r->bad = true;
        return SLICE_NULL;
    }
    text = slice_head(r->rest, len ? len - 1 : 0);
    r->rest = slice_skip(r->rest, len);
    if (slice_find(text, '\0') < text.len)
        r->bad = true;
    return text;
}

static bool read_form(struct slice bytes, bool typed, struct openmpi_help *h)
{
    struct reader r = { .rest = bytes, .typed = typed };
    uint8_t has_text;

    h->file = take_text(&r);
    h->topic = take_text(&r);
    take_head(&r, TYPE_INT8);
    has_text = take_byte(&r);
    h->text = has_text ? take_text(&r) : SLICE_NULL;
    return !r.bad && r.rest.len == 0 && h->file.len && h->topic.len;
}

bool openmpi_help_read(struct slice bytes, struct openmpi_help *help_p)
{
    return read_form(bytes, false, help_p) || read_form(bytes, true, help_p);
}
