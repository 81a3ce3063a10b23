/* svg.h - parts that all pictures have: the beginning of the document, its colours for light and
 * dark screens, texts. */
#ifndef WIREUP_BASE_SVG_H
#define WIREUP_BASE_SVG_H

#include "base/buf.h"

/* The text, with the characters that mean something in XML and HTML escaped, and without control
 * characters. */
void svg_escaped(struct buf *out, const char *text);

/* The same of a buffer, which is freed; if it has failed, so does out. */
void svg_take(struct buf *out, struct buf *text);

/* "<svg ...": as large as its units say, unless a page says otherwise.  class: CSS; more: further
 * attributes, or "". */
void svg_begin(struct buf *out, const char *class, uint32_t width, uint32_t height,
               const char *more);

/* A fill for each of n classes "k0", "k1" ... (prefix "k"), for light and dark screens.  Rules are
 * CSS. */
struct svg_colour {
    const char *light, *dark;
};
void svg_style(struct buf *out, const char *rules, const char *dark_rules, char prefix,
               const struct svg_colour *colours, int n);

/* <text>: attributes besides the place, or "".  The text is freed. */
void svg_text(struct buf *out, uint32_t x, uint32_t y, const char *attributes, struct buf *text);

#endif
