/* err.c - see err.h. */
#include "base/err.h"

#include <errno.h>
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
    const char *text;

    switch (rc < 0 ? -rc : rc) {
    case EMFILE: return "Too many open files (ulimit -n)";
    case ENFILE: return "Too many open files on this machine (/proc/sys/fs/file-max)";
    case EFBIG: return "File too large (ulimit -f)";
    }
    text = strerrordesc_np(rc < 0 ? -rc : rc);
    return text ? text : "unknown error";
}

const char *err_text_of_start(int rc)
{
    if (rc == EAGAIN || rc == -EAGAIN)
        return "the limit of processes is reached (ulimit -u, or pids.max of the control group)";
    return err_text(rc);
}
