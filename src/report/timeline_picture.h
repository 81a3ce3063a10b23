/* timeline_picture.h - a timeline as text, SVG, one HTML page, or a trace for chrome://tracing and
 * Perfetto.
 *
 * Up to TIMELINE_ROWS_OF_RANKS ranks have a row each.  Of more, each node has one row that shows
 * what most of its ranks did at each moment, the slowest node first; of more than
 * TIMELINE_ROWS_OF_NODES nodes, the rest shares rows.  The page needs nothing from elsewhere; it
 * follows the light or dark setting of the reader, and can be moved and enlarged with the keyboard.
 */
#ifndef WIREUP_REPORT_TIMELINE_PICTURE_H
#define WIREUP_REPORT_TIMELINE_PICTURE_H

#include "base/buf.h"
#include "report/timeline.h"

enum { TIMELINE_ROWS_OF_RANKS = 128, TIMELINE_ROWS_OF_NODES = 96, TIMELINE_WIDTH = 1000 };

/* The timeline is settled.  Running out of memory poisons the buffer. */
void timeline_text(const struct timeline *t, struct buf *out);
void timeline_svg(const struct timeline *t, struct buf *out);
void timeline_html(const struct timeline *t, struct buf *out);
void timeline_json(const struct timeline *t, struct buf *out);

#endif
