/* rights.h - the requests of a process that lacks the rights of the user who started it.
 *
 * A rank inherits its connection from the launcher, and may then run as another user (su, sudo, a
 * set-uid program). It goes on taking part in its job: it puts, gets, fences, and ends.  Requests
 * that the process manager would carry out with the rights of the launcher's user, or among that
 * user's other jobs (events too), are refused.
 */
#ifndef WIREUP_SERVER_RIGHTS_H
#define WIREUP_SERVER_RIGHTS_H

#include <stdbool.h>

struct request;

/* The request needs the rights of the launcher's user. */
bool rights_needed(const struct request *rq);

#endif
