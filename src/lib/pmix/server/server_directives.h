/* server_directives.h - the infos with which a host's function for a collective is called: those
 * that the participants of this node gave, and what the server knows itself. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_DIRECTIVES_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_DIRECTIVES_H

#include "lib/pmix/server/server_ask.h"

struct contribution;

/* With the lock, while the collective waits for the host.  a->all_here is set.  False: no memory.
 */
bool directives_add(struct ask *a, struct pserver *s, const struct contribution *c);

#endif
