/* privilege.h - whether this process has privileges that the user who started it does not have.
 *
 * The launcher starts the programs that its user names, as itself: installed set-uid, set-gid or
 * with capabilities it would pass these on to anybody.
 */
#ifndef WIREUP_BASE_PRIVILEGE_H
#define WIREUP_BASE_PRIVILEGE_H

#include <stdbool.h>

#include "base/err.h"

/* 0: no extra privileges; -EPERM with a sentence. */
int privilege_check(struct errmsg *err);

/* The environment comes from another user than the privileges: files that it names must not be run
 * or opened (by the same test as secure_getenv()). */
bool privilege_is_lent(void);

#endif
