/* log.c - see log.h.  Control bytes in received data are shown as dots, so that a client cannot
 * write escape sequences to the user's terminal through our messages.
 */
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

static void put(const struct log *log, const char *text, size_t len)
{
    if (log->out) {
        log->out->put(log->out, text, len);
        return;
    }
    while (len) {
        ssize_t n = write(log->fd, text, len);
        if (n < 0 && errno != EINTR)
            return; /* nothing to do: the log itself has failed */
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

static int put_head(const struct log *log, enum log_level level, char *line, size_t room)
{
    static const char *const colours[] = { [LOG_ERROR] = "\033[1;31m",
                                           [LOG_WARN] = "\033[1;33m",
                                           [LOG_INFO] = "\033[36m",
                                           [LOG_DEBUG] = "\033[2m" };
    const char *who = log->who ? log->who : "";

    if (log->colour)
        return snprintf(line, room, "%s%s:\033[0m ", colours[level], who);
    return snprintf(line, room, "%s: ", who);
}

void log_vline(const struct log *log, enum log_level level, const char *format, va_list args)
{
    char line[LOG_LINE_MAX];
    int head, body, saved = errno;
    size_t len;

    if (!log || log->fd < 0 || level > log->most)
        return;
    head = put_head(log, level, line, sizeof line);
    if (head < 0 || (size_t)head >= sizeof line - 1)
        return;
    body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    if (body < 0)
        return;
    len = strlen(line + head);
    make_printable(line + head, len);
    len += (size_t)head;
    line[len++] = '\n';
    put(log, line, len);
    errno = saved;
}

void log_text(const struct log *log, struct slice text)
{
    if (log && log->fd >= 0)
        put(log, text.ptr, text.len);
}

void log_line(const struct log *log, enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_vline(log, level, format, args);
    va_end(args);
}

void log_remarks(const struct log *log, struct slice lines)
{
    while (lines.len) {
        struct slice line = slice_cut(&lines, '\n');
        log_warn(log, SLICE_FMT, SLICE_ARG(line));
    }
}
