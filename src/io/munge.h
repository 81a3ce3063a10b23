/* munge.h - credentials of the site's munge service, if it has one.
 *
 * The library is loaded on demand: sites without munge do not need it.
 */
#ifndef WIREUP_IO_MUNGE_H
#define WIREUP_IO_MUNGE_H

#include <sys/types.h>

#include "base/slice.h"

/* A credential of this process's user: malloc'ed text. 0; -ENOTSUP: there is no munge; -EACCES: it
 * does not answer. */
int munge_make(char **text_p);

/* The user and group that made it.  0; -ENOTSUP; -EACCES: it is not valid (any more). */
int munge_check(struct slice text, uid_t *uid_p, gid_t *gid_p);

#endif
