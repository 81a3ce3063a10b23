/* tool_doc.h - documentation of the PMIx tools from their table: help, manual, completion.
 *
 * The manual docs/man/pmix-tools.1 has a marked part, and the completion is a file, as those of
 * `wireup` (launch/options_doc.h).
 */
#ifndef WIREUP_TOOLS_PMIX_TOOL_DOC_H
#define WIREUP_TOOLS_PMIX_TOOL_DOC_H

#include "base/buf.h"
#include "tools/pmix/tool_options.h"

void tool_doc_help(struct buf *out, enum tool_id tool);
void tool_doc_help_option(struct buf *out, enum tool_id tool, enum tool_option o);
void tool_doc_man(struct buf *out);          /* mdoc: each tool with its own options */
void tool_doc_man_common(struct buf *out);   /* mdoc: the options that all of them have */
void tool_doc_man_synopsis(struct buf *out); /* mdoc: one line for each tool */
void tool_doc_completion(struct buf *out);

#endif
