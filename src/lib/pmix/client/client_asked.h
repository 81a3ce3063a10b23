/* client_asked.h - a tool that is a scheduler (PMIX_SERVER_SCHEDULER): requests for allocations
 * that its server sends, for the function `allocate` of the tool's module
 * (PMIx_tool_set_server_module). */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_ASKED_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_ASKED_H

#include "lib/pmix/client/client.h"

/* With the lock.  The function is called in the thread that runs callbacks; without one the request
 * is refused. */
void request_arrived(struct client *c, struct server_link *s, struct frame *f);

#endif
