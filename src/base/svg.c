/* svg.c - see svg.h. */
#include "base/svg.h"

void svg_escaped(struct buf *out, const char *text)
{
    for (const char *s = text; *s; s++) {
        switch (*s) {
        case '<': buf_str(out, "&lt;"); break;
        case '>': buf_str(out, "&gt;"); break;
        case '&': buf_str(out, "&amp;"); break;
        case '"': buf_str(out, "&quot;"); break;
        default:
            if ((unsigned char)*s >= ' ')
                buf_byte(out, *s);
        }
    }
}

void svg_take(struct buf *out, struct buf *text)
{
    const char *s = buf_cstr(text);

    if (s)
        svg_escaped(out, s);
    else
        out->error = BUF_NO_MEMORY;
    buf_free(text);
}

void svg_begin(struct buf *out, const char *class, uint32_t width, uint32_t height,
               const char *more)
{
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" role=\"img\" width=\"%u\" "
               "height=\"%u\" viewBox=\"0 0 %u %u\"%s>\n",
               class, width, height, width, height, more);
}

void svg_style(struct buf *out, const char *rules, const char *dark_rules, char prefix,
               const struct svg_colour *colours, int n)
{
    buf_printf(out, "<style>%s", rules);
    for (int k = 0; k < n; k++)
        buf_printf(out, ".%c%d{fill:%s}", prefix, k, colours[k].light);
    buf_printf(out, "@media(prefers-color-scheme:dark){%s", dark_rules);
    for (int k = 0; k < n; k++)
        buf_printf(out, ".%c%d{fill:%s}", prefix, k, colours[k].dark);
    buf_str(out, "}</style>\n");
}

void svg_text(struct buf *out, uint32_t x, uint32_t y, const char *attributes, struct buf *text)
{
    buf_printf(out, "<text x=\"%u\" y=\"%u\"%s>", x, y, attributes);
    svg_take(out, text);
    buf_str(out, "</text>\n");
}
