/* server_identity.h - the user and group of a requester, which every call of the host carries. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_IDENTITY_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_IDENTITY_H

#include "lib/pmix/server/server_ask.h"

/* Adds user and group of the requester (PMIX_USERID, PMIX_GRPID), as proven: the user by the
 * kernel, the group by the host, which has started the process, or by the kernel.  A client's
 * claims about itself are dropped.  False: no memory. */
bool identity_prove(struct ask *a, const struct peer *p);

#endif
