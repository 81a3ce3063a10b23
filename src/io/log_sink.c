/* log_sink.c - see log_sink.h. */
#include "io/log_sink.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"

static void report_suppressed(struct log_sink *s)
{
    char line[200];

    if (s->suppressed == 0)
        return;
    snprintf(line, sizeof line,
             "%s: %llu further lines were not written, because nobody has read those before them\n",
             s->who, s->suppressed);
    s->suppressed = 0;
    sink_print(s->sink, slice_str(line));
}

static void put(struct log_out *out, const char *text, size_t len)
{
    struct log_sink *s = (void *)((char *)out - offsetof(struct log_sink, out));

    if (sink_idle(s->sink))
        s->bytes = 0;
    if (s->bytes + len > LIMIT_LOG_QUEUE) {
        s->suppressed++;
        return;
    }
    report_suppressed(s);
    s->bytes += len;
    sink_print(s->sink, slice_mem(text, len));
}

void log_sink_open(struct log_sink *s, struct sink *sink, struct log *log)
{
    *s = (struct log_sink){ .out = { put }, .sink = sink, .who = log->who };
    log->out = &s->out;
}

void log_sink_close(struct log_sink *s, struct log *log)
{
    if (log->out != &s->out)
        return;
    report_suppressed(s);
    log->out = NULL;
}
