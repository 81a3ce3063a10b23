/* listener.h - the port of the first job: those who come by themselves (PMI_PORT, PMIx clients and
 * tools), and who of them is let in. */
#ifndef WIREUP_WIREUPD_LISTENER_H
#define WIREUP_WIREUPD_LISTENER_H

#include "wireupd/node_priv.h"

int listener_open(struct node *n); /* 0 or -errno */
void listener_close(struct node *n);

/* Something has arrived on a connection that is not proven yet: whether it is of our own user, and
 * of who was there when it was accepted.  If not, that has been said. */
bool listener_proves(struct link *l);

/* PMI_ID of so many ranks: numbers that nobody guesses.  0 or -errno. */
int listener_make_ids(struct node *n, uint32_t count);

#endif
