/* client_event_chain.h - events on their way through the handlers. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_CHAIN_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_CHAIN_H

#include "lib/pmix/client/client_event_handler.h"

struct client;

/* Starts it; the infos are taken over.  kept: if no handler is registered for it, it waits for one.
 */
void chain_start(struct client *c, pmix_status_t code, const pmix_proc_t *source,
                 pmix_info_t *infos, size_t n, bool kept);

/* A registration is complete: events that waited for it go on. */
void chains_retry(struct client *c);
/* The client ends; a handler that completes later finds no client. */
void chains_end(struct client *c);

/* The handler is not called from now on. */
void chain_remove_handler(struct client *c, struct handler *h);

#endif
