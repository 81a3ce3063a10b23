/* output_format.h - `%r` and the like in labels and file names of output.
 *
 *   %r rank   %g job number   %n namespace   %h host   %p node number   %l local rank
 *   %i process id (0 before the start)   %t seconds since the start
 *   %% a percent sign
 *
 * Anything else after a percent sign is kept as it is.
 */
#ifndef WIREUP_DAEMON_OUTPUT_FORMAT_H
#define WIREUP_DAEMON_OUTPUT_FORMAT_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/job.h"

/* Appends; running out of memory poisons the buffer. */
void output_format_fill(const char *pattern, const struct job *job, uint32_t rank, uint64_t seconds,
                        struct buf *out);

/* True when the text changes with time. */
bool output_format_ticks(const char *pattern);

#endif
