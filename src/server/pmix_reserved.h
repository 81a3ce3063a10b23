/* pmix_reserved.h - reserved keys that clients get on request: they change, are rarely read, or
 * depend on who asks. */
#ifndef WIREUP_SERVER_PMIX_RESERVED_H
#define WIREUP_SERVER_PMIX_RESERVED_H

#include "server/pmix_session.h"

/* Answers a get of one about the requester's own job.  False: the key is none of them, or it has no
 * value; nothing was sent. */
bool pmix_reply_reserved(struct command *c, const struct pmsg_get *m);

#endif
