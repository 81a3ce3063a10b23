/* err.c - see err.h. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

int errmsg_set(struct errmsg *err, int rc, const char *format, ...)
{
    va_list args;

    if (!err)
        return rc;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return rc;
}

const char *err_text(int rc)
{
    const char *text = strerrordesc_np(rc < 0 ? -rc : rc);

    return text ? text : "unknown error";
}
