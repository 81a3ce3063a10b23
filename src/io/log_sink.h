/* log_sink.h - writes log lines among the output of processes, without blocking.
 *
 * Standard error may be a terminal that was stopped or a pipe that nobody reads.  Lines are queued
 * in the sink, as output is; when LIMIT_LOG_QUEUE bytes of them have been queued since it was
 * empty, further lines are dropped and counted, and the next line that is written, or the end,
 * reports the count.
 */
#ifndef WIREUP_IO_LOG_SINK_H
#define WIREUP_IO_LOG_SINK_H

#include "base/log.h"
#include "io/streams.h"

struct log_sink {
    struct log_out out; /* for struct log */
    struct sink *sink;
    const char *who;
    size_t bytes; /* bytes since the sink was empty */
    unsigned long long suppressed;
};

/* log goes to the sink from now on, until log_sink_close(). */
void log_sink_open(struct log_sink *s, struct sink *sink, struct log *log);
/* Reports the dropped lines; copies of the log must not be used any more. */
void log_sink_close(struct log_sink *s, struct log *log);

#endif
