/* listener.h - the connections of a node (io/peer_conn.h): what the daemon does about them, and its
 * port for clients that connect by themselves (PMI_PORT, PMIx clients and tools); those that use
 * our library come by the control socket where they can. */
#ifndef WIREUP_DAEMON_LISTENER_H
#define WIREUP_DAEMON_LISTENER_H

#include "daemon/node_priv.h"

int listener_open(struct node *n); /* 0 or -errno */

/* A connection to the control socket goes on as one of a PMIx client or tool, which waits for the
 * go-ahead.  Takes over the descriptor. */
#define LISTENER_GO_AHEAD "pmix\n"
void listener_take(struct node *n, int fd);

/* PMI_ID for that many ranks: unguessable numbers.  0 or -errno. */
int listener_make_ids(struct node *n, uint32_t count);

#endif
