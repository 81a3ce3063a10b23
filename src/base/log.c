/* log.c - see log.h.  Control bytes in what others sent us are shown as dots, so that a client
 * cannot write escape sequences to the user's terminal through our messages. */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINE_MAX = 4096 };

static void make_printable(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            text[i] = '.';
    }
}

void log_vline(const struct log *log, enum log_level level, const char *format, va_list args)
{
    char line[LOG_LINE_MAX];
    int head, body, saved = errno;
    size_t len;

    if (!log || log->fd < 0 || level > log->most)
        return;
    head = snprintf(line, sizeof line, "%s: ", log->who ? log->who : "");
    if (head < 0 || (size_t)head >= sizeof line - 1)
        return;
    body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    if (body < 0)
        return;
    len = strlen(line + head);
    make_printable(line + head, len);
    len += (size_t)head;
    line[len++] = '\n';
    if (write(log->fd, line, len) < 0) {
        /* Nobody to tell: the place for telling is the one that failed. */
    }
    errno = saved;
}

void log_line(const struct log *log, enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_vline(log, level, format, args);
    va_end(args);
}
