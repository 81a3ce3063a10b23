/* server_calls.h - the calls of messages from other nodes (cluster/core_calls.h), made to a server:
 * in the daemon as in tests. */
#ifndef WIREUP_DAEMON_SERVER_CALLS_H
#define WIREUP_DAEMON_SERVER_CALLS_H

#include "cluster/core_calls.h"

/* Their argument is the server. */
struct core_calls server_calls(void);

#endif
