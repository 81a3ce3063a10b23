/* log_sink.h - lines of the log among what processes write, without anybody's waiting for them.
 *
 * Standard error may be a terminal that was stopped or a pipe that nobody reads.  Lines wait in the
 * sink, as output does; when LIMIT_LOG_QUEUE bytes of them have been said since it was empty, the
 * next ones are left out, counted, and told of by the next line that is written, or at the end.
 */
#ifndef WIREUP_IO_LOG_SINK_H
#define WIREUP_IO_LOG_SINK_H

#include "base/log.h"
#include "io/streams.h"

struct log_sink {
    struct log_out out; /* for struct log */
    struct sink *sink;
    const char *who;
    size_t said; /* bytes since the sink was empty */
    unsigned long long unsaid;
};

/* log goes to the sink from now on, until log_sink_close(). */
void log_sink_open(struct log_sink *s, struct sink *sink, struct log *log);
/* Tells what was left out; copies of the log must not be used any more. */
void log_sink_close(struct log_sink *s, struct log *log);

#endif
