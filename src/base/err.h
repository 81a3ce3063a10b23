/* err.h - error codes that show who must act.
 *
 * Negative (-errno): the machine or this program is broken; pass it up unchanged.
 * Positive: a condition that the module documents; its caller handles it and never forwards it.
 * Zero: success.
 *
 * Where a person will read the reason, a struct errmsg travels with the code: one sentence (what,
 * where, what to do), without a final newline.
 */
#ifndef WIREUP_BASE_ERR_H
#define WIREUP_BASE_ERR_H

#include <stdarg.h>

enum { ERRMSG_MAX = 1024 };

struct errmsg {
    char text[ERRMSG_MAX];
};

/* Writes the sentence (cut at ERRMSG_MAX) and returns rc, for `return errmsg_set(...)`.
 * err may be NULL. */
int errmsg_set(struct errmsg *err, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The text of -errno (or errno), with the limit that it is about; never NULL; from static storage.
 */
const char *err_text(int rc);

/* The same of a process or a thread that could not be started. */
const char *err_text_of_start(int rc);

#endif
