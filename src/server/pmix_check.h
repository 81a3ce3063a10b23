/* pmix_check.h - the check of a request against the table of its call, before it is handled. */
#ifndef WIREUP_SERVER_PMIX_CHECK_H
#define WIREUP_SERVER_PMIX_CHECK_H

#include "server/pmix_session.h"

/* That of the first info that its call refuses (pmix_calls.h).  PMIX_SUCCESS: there is none, the
 * command has no infos, or it cannot be read, which its handler notices; PMIX_ERR_NOMEM;
 * PMIX_ERR_NO_PERMISSIONS: it must be done as a user or group that the client is not.  Nothing
 * is refused on behalf of another process manager: it gets the infos, and knows what it honours. */
pmix_status_t pmix_check(const struct command *c);

/* The same of a request that its handler has read, m; false: a refusal has been replied.  For the
 * handlers of frequent commands (pmix.c marks them), whose requests are not read twice. */
bool pmix_check_read(const struct command *c, const void *m);

#endif
