/* munge.h - credentials of the site's munge service, if it has one.
 *
 * The library is opened on demand (base/dynlib.h): sites without munge do not need it.
 */
#ifndef WIREUP_IO_MUNGE_H
#define WIREUP_IO_MUNGE_H

#include <sys/types.h>

#include "base/err.h"
#include "base/slice.h"

/* A credential of this process's user: malloc'ed text. 0; -ENOTSUP: there is no munge; -EACCES: it
 * does not answer.  *err, which may be NULL, has the reason. */
int munge_make(char **text_p, struct errmsg *err);

/* The user and group that made it.  0; -ENOTSUP; -EACCES: it is not valid (any more). */
int munge_check(struct slice text, uid_t *uid_p, gid_t *gid_p);

#endif
