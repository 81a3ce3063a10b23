/* log.h - messages for people, one line each, to one descriptor.
 *
 * Each module that may write messages holds a struct log; there is no global one.  Each line goes
 * out in one write, prefixed by the name of the program.  Client libraries use it only on request
 * (PMI_DEBUG); programs use it for their messages.
 */
#ifndef WIREUP_BASE_LOG_H
#define WIREUP_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/slice.h"

enum log_level { LOG_ERROR = 0, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Output for lines that must not wait for their reader (io/log_sink.h). */
struct log_out {
    void (*put)(struct log_out *out, const char *text, size_t len);
};

struct log {
    int fd;              /* -1: silent */
    enum log_level most; /* lines above this level are not written */
    const char *who;     /* "wireup"; static storage */
    struct log_out *out; /* NULL: straight to fd, which may block */
    bool colour;         /* the program's name tells the level, too; for terminals */
};

#define LOG_SILENT ((struct log){ -1, LOG_ERROR, "", NULL })

/* log may be NULL: silent. */
void log_line(const struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void log_vline(const struct log *log, enum log_level level, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Text that is already divided into lines. */
void log_text(const struct log *log, struct slice text);

/* Each line of a text as a warning. */
void log_remarks(const struct log *log, struct slice lines);

#define log_error(log, ...) log_line((log), LOG_ERROR, __VA_ARGS__)
#define log_warn(log, ...)  log_line((log), LOG_WARN, __VA_ARGS__)
#define log_info(log, ...)  log_line((log), LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_line((log), LOG_DEBUG, __VA_ARGS__)

#endif
