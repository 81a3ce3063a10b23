/* trace_file.h - reads the file of a trace, piece by piece. */
#ifndef WIREUP_TOOLS_TRACE_FILE_H
#define WIREUP_TOOLS_TRACE_FILE_H

#include "base/log.h"
#include "base/slice.h"

/* For messages: `-` is standard input. */
const char *trace_file_name(const char *path);

/* Passes the file to `take` piece by piece, until that returns non-zero.  Returns its result, or 2,
 * after a message, if the file cannot be read. */
int trace_file_read(const struct log *log, const char *path,
                    int (*take)(void *arg, struct slice bytes), void *arg);

#endif
