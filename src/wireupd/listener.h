/* listener.h - the port of the first job: those who come by themselves (PMI_PORT, PMIx clients and
 * tools), and who of them is let in. */
#ifndef WIREUP_WIREUPD_LISTENER_H
#define WIREUP_WIREUPD_LISTENER_H

#include "wireupd/node_priv.h"

int listener_open(struct node *n); /* 0 or -errno */
void listener_close(struct node *n);

/* PMI_ID of so many ranks: numbers that nobody guesses.  0 or -errno. */
int listener_make_ids(struct node *n, uint32_t count);

#endif
