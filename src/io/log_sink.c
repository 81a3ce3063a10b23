/* log_sink.c - see log_sink.h. */
#include "io/log_sink.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"

static void tell_unsaid(struct log_sink *s)
{
    char line[200];

    if (s->unsaid == 0)
        return;
    snprintf(line, sizeof line,
             "%s: %llu further lines were not written, because nobody has read those before them\n",
             s->who, s->unsaid);
    s->unsaid = 0;
    sink_say(s->sink, slice_str(line));
}

static void put(struct log_out *out, const char *text, size_t len)
{
    struct log_sink *s = (void *)((char *)out - offsetof(struct log_sink, out));

    if (sink_idle(s->sink))
        s->said = 0;
    if (s->said + len > LIMIT_LOG_QUEUE) {
        s->unsaid++;
        return;
    }
    tell_unsaid(s);
    s->said += len;
    sink_say(s->sink, slice_mem(text, len));
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
    tell_unsaid(s);
    log->out = NULL;
}
