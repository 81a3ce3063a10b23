/* listener.h - the listening socket of the first job, for clients that connect by themselves
 * (PMI_PORT, PMIx clients and tools), and their authentication; those that use our library come by
 * the control socket where they can. */
#ifndef WIREUP_WIREUPD_LISTENER_H
#define WIREUP_WIREUPD_LISTENER_H

#include "wireupd/node_priv.h"

int listener_open(struct node *n); /* 0 or -errno */
void listener_close(struct node *n);

/* On the first data of an unauthenticated connection: whether it belongs to our own user and to the
 * process that had it when it was accepted.  If not, the refusal has been logged. */
bool listener_proves(struct link *l);

/* Data of a connection, before and after the server has it.  False: all connections that have not
 * been let in have sent too much, which has been logged; to be closed. */
bool listener_hears(struct link *l, size_t bytes);
void listener_heard(struct link *l);

/* A connection to the control socket goes on as one of a PMIx client or tool, which waits for the
 * go-ahead.  Takes over the descriptor. */
#define LISTENER_GO_AHEAD "pmix\n"
void listener_take(struct node *n, int fd);

/* PMI_ID for that many ranks: unguessable numbers.  0 or -errno. */
int listener_make_ids(struct node *n, uint32_t count);

#endif
