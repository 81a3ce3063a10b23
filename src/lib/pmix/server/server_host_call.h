/* server_host_call.h - the commands of clients that the host carries out: how the message of each
 * is read, and which function of the host is called. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_HOST_CALL_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_HOST_CALL_H

#include "lib/pmix/server/server_ask.h"

/* The row of a command; the server passes only commands of host_call_mask(). */
const struct ask_kind *host_call_of(unsigned command);

/* The commands that the host carries out: a bit for each. */
uint64_t host_call_mask(const struct pserver *s);

#endif
