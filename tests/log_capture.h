/* log_capture.h - a log of which a test reads the last text. */
#ifndef WIREUP_TESTS_LOG_CAPTURE_H
#define WIREUP_TESTS_LOG_CAPTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"

struct log_capture {
    struct log log;
    struct log_out out;
    char text[200]; /* empty: nothing has been logged */
    unsigned count; /* of texts */
};

static void log_capture_put(struct log_out *out, const char *text, size_t len)
{
    struct log_capture *c = LIST_OF(out, struct log_capture, out);

    snprintf(c->text, sizeof c->text, "%.*s", (int)len, text);
    c->count++;
    printf("# logged: %.*s", (int)len, text);
}

/* Errors; the address must not change. */
static inline const struct log *log_capture_open(struct log_capture *c)
{
    memset(c, 0, sizeof *c);
    c->out.put = log_capture_put;
    c->log = (struct log){ STDERR_FILENO, LOG_ERROR, "test", &c->out };
    return &c->log;
}

#endif
