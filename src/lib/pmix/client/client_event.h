/* client_event.h - event handlers of this process, and the chains of handlers that an event passes.
 *
 * Handlers are called one after the other: the first one, those for one code, those for several,
 * those for all codes, the last one; by its completion callback each passes the event on or ends
 * the chain.  Chains do not overlap with other callbacks, but a handler may complete later, from
 * any thread; meanwhile other callbacks run.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/slice.h"
#include "lib/pmix/client/client_event_codes.h"
#include "lib/pmix/client/client_event_handler.h"

struct client;
struct server_link;

struct client_events {
    struct handlers handlers;
    struct event_codes codes; /* registered with the server */
    struct list waiting;      /* events for handlers that are not (completely) registered */
    size_t nwaiting;
    struct list called; /* events whose handler is being called */
};

void events_init(struct client_events *e);
void events_free(struct client *c);

/* Handles a server's message.  Unreadable ones are dropped. */
void event_arrived(struct client *c, struct server_link *s, struct slice bytes);

/* The server is gone: raises PMIX_ERR_LOST_CONNECTION. */
void event_lost(struct client *c, struct server_link *s);

/* Raises PMIX_MODEL_DECLARED in this process, if infos of an init name a programming model. */
void event_declare_model(struct client *c, const pmix_info_t *infos, size_t n);

#endif
