/* munge.c - see munge.h. */
#include "io/munge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/dynlib.h"
#include "base/limit.h"

DYNLIB_NOTE(SONAME_MUNGE, "munge", "Credentials of the site's munge service");

/* As in munge's own header, which may be missing. */
struct munge {
    void *library;
    int (*encode)(char **cred, void *ctx, const void *buf, int len);
    int (*decode)(const char *cred, void *ctx, void **buf, int *len, uid_t *uid, gid_t *gid);
    const char *(*strerror)(int code);
};

enum { MUNGE_GOOD = 0 };

static const struct dynlib_function functions[] = {
    { "munge_encode", offsetof(struct munge, encode) },
    { "munge_decode", offsetof(struct munge, decode) },
    { "munge_strerror", offsetof(struct munge, strerror) },
};

static int munge_open(struct munge *m, struct errmsg *err)
{
    return dynlib_open(SONAME_MUNGE, functions, sizeof functions / sizeof *functions, m,
                       &m->library, err)
               ? -ENOTSUP
               : 0;
}

int munge_make(char **text_p, struct errmsg *err)
{
    struct munge m;
    int rc = munge_open(&m, err), code;

    if (rc < 0)
        return rc;
    code = m.encode(text_p, NULL, NULL, 0);
    if (code != MUNGE_GOOD || !*text_p)
        rc = errmsg_set(err, -EACCES, "%s", code ? m.strerror(code) : "it does not work");
    dynlib_close(&m.library);
    return rc;
}

int munge_check(struct slice text, uid_t *uid_p, gid_t *gid_p)
{
    struct munge m;
    void *data = NULL;
    char *copy;
    int len = 0, rc = munge_open(&m, NULL);

    if (rc < 0)
        return rc;
    rc = -EACCES;
    copy = strndup(text.ptr, text.len <= LIMIT_CREDENTIAL ? text.len : 0);
    if (!copy)
        rc = -ENOMEM;
    else if (*copy && m.decode(copy, NULL, &data, &len, uid_p, gid_p) == MUNGE_GOOD)
        rc = 0;
    free(data);
    free(copy);
    dynlib_close(&m.library);
    return rc;
}
