/* doc_text.h - running text of the tables of options, as help and as a manual. */
#ifndef WIREUP_TOOLS_DOC_TEXT_H
#define WIREUP_TOOLS_DOC_TEXT_H

#include "base/buf.h"

enum { DOC_WIDTH = 78 };

void doc_spaces(struct buf *out, size_t n);

/* Wraps text between the indent and the width; the cursor is at the indent. */
void doc_wrap(struct buf *out, const char *text, size_t indent);

/* For mdoc: lines below the width, and a new one for each sentence, as it requires.  Dashes of
 * options stay dashes, and nothing is taken for a macro. */
void doc_man(struct buf *out, const char *text);

#endif
