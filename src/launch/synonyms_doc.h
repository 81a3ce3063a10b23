/* synonyms_doc.h - the pages docs/coming-from-*.md: what each word of another launcher means here,
 * from the rows of synonyms.def.  tests/check-docs compares the pages with these functions (through
 * wireup-doc), and renews them.
 */
#ifndef WIREUP_LAUNCH_SYNONYMS_DOC_H
#define WIREUP_LAUNCH_SYNONYMS_DOC_H

#include "base/buf.h"

void synonyms_page_hydra(struct buf *out);
void synonyms_page_mpirun(struct buf *out);
void synonyms_page_srun(struct buf *out);
void synonyms_page_torchrun(struct buf *out);

#endif
