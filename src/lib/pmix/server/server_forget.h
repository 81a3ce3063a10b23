/* server_forget.h - codes of events that no process of this node awaits any more: the host need not
 * send them (deregister_events). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_FORGET_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_FORGET_H

#include "lib/pmix/server/server.h"

/* A client awaits these no more; those that others than `but` (or NULL) still await are left out.
 */
void forget_events(struct pserver *s, const pmix_status_t *codes, size_t n, const struct peer *but);

/* The same of all codes of a client whose connection is closed. */
void forget_events_of(struct pserver *s, const struct peer *p);

#endif
