/* log_format.h - how a text that a process logs looks: as it is, or with what the process has asked
 * for (CONTROL_LOG_... of core/control.h).
 *
 *   [1970-01-02T00:00:00+0000] <stderr>: text            before each line: the time, the channel
 *   <stderr nspace="NS" rank="0" time="...">text</stderr>     as XML
 */
#ifndef WIREUP_DAEMON_LOG_FORMAT_H
#define WIREUP_DAEMON_LOG_FORMAT_H

#include "base/buf.h"

struct log_format {
    unsigned format;
    int64_t time_s; /* since 1970; shown in local time */
    struct slice channel;
    const char *nspace;
    uint32_t rank;
};

/* Appends; running out of memory poisons the buffer. */
void log_format_write(const struct log_format *f, struct slice text, struct buf *out);

#endif
