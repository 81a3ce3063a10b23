/* log_format.c - see log_format.h. */
#include "daemon/log_format.h"

#include <time.h>

#include "core/control.h"

static void put_time(const struct log_format *f, struct buf *out)
{
    time_t seconds = (time_t)f->time_s;
    char text[64];
    struct tm t;

    if (!localtime_r(&seconds, &t) || strftime(text, sizeof text, "%FT%T%z", &t) == 0)
        text[0] = '\0'; /* a year that no date has */
    buf_str(out, text);
}

static void put_prefix(const struct log_format *f, struct buf *out)
{
    if (f->format & CONTROL_LOG_TIME) {
        buf_byte(out, '[');
        put_time(f, out);
        buf_str(out, "] ");
    }
    if (f->format & CONTROL_LOG_TAG) {
        buf_byte(out, '<');
        buf_slice_put(out, f->channel);
        buf_str(out, ">: ");
    }
}

static void put_lines(const struct log_format *f, struct slice text, struct buf *out)
{
    do {
        size_t n = slice_find(text, '\n');
        n += n < text.len; /* with its end */
        put_prefix(f, out);
        buf_slice_put(out, slice_head(text, n));
        text = slice_mem(text.ptr + n, text.len - n);
    } while (text.len);
}

/* Bytes that XML forbids are left out. */
static void put_escaped(struct slice text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '<')
            buf_str(out, "&lt;");
        else if (c == '>')
            buf_str(out, "&gt;");
        else if (c == '&')
            buf_str(out, "&amp;");
        else if (c == '"')
            buf_str(out, "&quot;");
        else if (c >= ' ' || c == '\t' || c == '\n')
            buf_byte(out, (char)c);
    }
}

static void put_xml(const struct log_format *f, struct slice text, struct buf *out)
{
    buf_byte(out, '<');
    buf_slice_put(out, f->channel);
    buf_str(out, " nspace=\"");
    put_escaped(slice_str(f->nspace), out);
    buf_printf(out, "\" rank=\"%u\"", f->rank);
    if (f->format & CONTROL_LOG_TIME) {
        buf_str(out, " time=\"");
        put_time(f, out);
        buf_byte(out, '"');
    }
    buf_byte(out, '>');
    put_escaped(text, out);
    buf_str(out, "</");
    buf_slice_put(out, f->channel);
    buf_str(out, ">\n");
}

void log_format_write(const struct log_format *f, struct slice text, struct buf *out)
{
    if (f->format & CONTROL_LOG_XML)
        put_xml(f, text, out);
    else
        put_lines(f, text, out);
}
