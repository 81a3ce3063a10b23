/* server_conn.h - the connections of a server (io/peer_conn.h): functions of a PMIx server for
 * them.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_CONN_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_CONN_H

#include "lib/pmix/server/server.h"

struct local;

int sconn_listen(struct pserver *s, uint16_t port);

/* A connection that the host has accepted (listener); the descriptor is ours. */
void sconn_called(struct pserver *s, int fd); /* 0 or -errno */
/* The connection of a process of another user, which is given the other end.  NULL: no memory. */
struct peer_conn *sconn_new_for(struct pserver *s, int fd, const struct local *l);
void sconn_close_of(struct pserver *s, const struct job *job, uint32_t rank); /* or of all ranks */
/* A process says goodbye. */
void sconn_leaves(struct pserver *s, struct peer *p);
struct peer_cred *sconn_cred(const struct peer *p);
/* True if no other connection is that process: it, or a child of it, may connect again. */
bool sconn_may_join(const struct pserver *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank);
const struct peer *sconn_own(const struct pserver *s); /* the host's own connection; NULL: none */

#endif
