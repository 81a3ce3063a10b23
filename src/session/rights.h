/* rights.h - what a process may ask for that has not the rights of who has started it.
 *
 * A rank inherits its connection from the launcher, and may then run as somebody else (su, sudo, a
 * set-uid program).  It goes on taking part in its job: it puts, gets, meets, and ends.  What the
 * process manager would do for it with the rights of the launcher's user, or among that user's
 * other jobs, is refused.
 */
#ifndef WIREUP_SESSION_RIGHTS_H
#define WIREUP_SESSION_RIGHTS_H

#include <stdbool.h>

#include "core/request.h"

/* The request needs the rights of the launcher's user. */
bool rights_needed(const struct request *rq);

#endif
