/* err.h - errors that say who must act.
 *
 * Negative (-errno): the machine or we are broken; pass it up unchanged.
 * Positive: a condition that the module documents; its caller handles it and never forwards it.
 * Zero: done.
 *
 * Where a person will read the reason, a struct errmsg travels beside the code: one sentence
 * (what, where, what to do), without a final newline.
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

/* The text of -errno (or errno); never NULL; from static storage. */
const char *err_text(int rc);

#endif
