/* transcript_files.h - golden transcripts of a folder: FOLDER/pmi1/NAME.txt, pmi2 and pmix, as the
 * text that transcripts_begin() reads. */
#ifndef WIREUP_TOOLS_CONFORM_TRANSCRIPT_FILES_H
#define WIREUP_TOOLS_CONFORM_TRANSCRIPT_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* False, with a sentence in err: there is none, or one cannot be read or played. */
bool transcript_files_read(const char *folder, struct buf *text, struct errmsg *err);

#endif
