/* iof_xml.c - see iof_xml.h. */
#include "server/iof_xml.h"

static void put_text(struct slice text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '&')
            buf_str(out, "&amp;");
        else if (c == '<')
            buf_str(out, "&lt;");
        else if (c == '>')
            buf_str(out, "&gt;");
        else if (c < ' ' || c == 0x7f)
            buf_printf(out, "&#%03u;", c);
        else
            buf_byte(out, (char)c);
    }
}

void iof_xml_line(const struct iof_xml *x, struct slice line, struct buf *out)
{
    buf_printf(out, "<%s nspace=\"", x->name);
    put_text(slice_str(x->nspace), out);
    buf_printf(out, "\" rank=\"%u\"", x->rank);
    if (x->wall_ns) {
        buf_str(out, " timestamp=\"");
        buf_time(out, x->wall_ns);
        buf_byte(out, '"');
    }
    buf_byte(out, '>');
    put_text(line, out);
    buf_printf(out, "</%s>\n", x->name);
}
