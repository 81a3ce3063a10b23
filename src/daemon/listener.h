/* listener.h - the connections of a node (io/peer_conn.h): the daemon's functions for them, and its
 * port for clients that connect by themselves (PMI_PORT, PMIx clients and tools); those that use
 * our library come by the control socket where they can. */
#ifndef WIREUP_DAEMON_LISTENER_H
#define WIREUP_DAEMON_LISTENER_H

#include "daemon/store_callers.h"
#include "io/peer_conn.h"

struct local_jobs;
struct node_context;

struct listener {
    const struct node_context *context;
    const struct local_jobs *jobs;
    struct peer_conns conns;     /* of processes and tools */
    struct peer_conn *singleton; /* of a process that is not our child; NULL: none */
    uint32_t *port_ids;          /* PMI_ID by rank of the first job */
    struct peer_conn **claims;   /* whose number was that of a rank first */
    struct acceptor stores;      /* for clients of the jobs' stores (core/key_store.h) */
    struct store_callers callers;
    uint16_t store_port; /* 0: it is not open */
};

/* quota: of unauthenticated connections at all listeners.  0 or -errno. */
int listener_open(struct listener *s, const struct node_context *c, const struct local_jobs *jobs,
                  struct quota *quota);
void listener_close(struct listener *s); /* harmless on zeroed memory */

/* A connection to the control socket goes on as one of a PMIx client or tool, which waits for the
 * go-ahead.  Takes over the descriptor. */
#define LISTENER_GO_AHEAD "pmix\n"
void listener_take(struct listener *s, int fd);

/* PMI_ID for that many ranks: unguessable numbers.  0 or -errno. */
int listener_make_ids(struct listener *s, uint32_t count);

/* The port for clients of the jobs' stores, which is opened with the first call; 0: it cannot be.
 */
uint16_t listener_store_port(struct listener *s);

#endif
