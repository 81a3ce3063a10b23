/* privilege.h - whether this process has powers that whoever started it has not.
 *
 * The launcher starts what its user says, as itself: installed set-uid, set-gid or with
 * capabilities it would hand those to anybody.
 */
#ifndef WIREUP_BASE_PRIVILEGE_H
#define WIREUP_BASE_PRIVILEGE_H

#include <stdbool.h>

#include "base/err.h"

/* -EPERM with a sentence; 0: it has none. */
int privilege_check(struct errmsg *err);

/* The environment is somebody else's, and the powers are not: what it names is not to be run, nor
 * opened (as secure_getenv() judges it). */
bool privilege_is_lent(void);

#endif
