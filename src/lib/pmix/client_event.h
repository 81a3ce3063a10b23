/* client_event.h - event handlers of this process, and the chains of them that an event runs
 * through.
 *
 * Handlers are called one after the other: the one declared first, those for one code, those for
 * several, those for all, the one declared last; each says by its completion callback that the next
 * may come (or that nobody else needs to).  Chains do not overlap with other callbacks, but a
 * handler may complete later, from any thread; meanwhile others go on.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_EVENT_H
#define WIREUP_LIB_PMIX_CLIENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/slice.h"
#include "pmix_common.h"

struct client;
struct server_link;

/* A code that the server sends us, because so many handlers want it; DEFAULT: all codes. */
struct event_code {
    pmix_status_t code;
    size_t handlers;
};

struct events {
    struct list handlers; /* in the order in which they are called */
    size_t next_ref;
    struct event_code *codes; /* that the server was asked for */
    size_t ncodes;
    size_t defaults;     /* handlers for all codes */
    struct list waiting; /* events for handlers whose registration is not complete */
    struct list called;  /* events that a handler has just now */
};

void events_init(struct events *e);
void events_free(struct events *e);

/* A message of the server's.  What cannot be read is dropped. */
void event_arrived(struct client *c, struct server_link *s, struct slice bytes);

/* The server is gone: PMIX_ERR_LOST_CONNECTION, for whom it may concern. */
void event_lost(struct client *c, struct server_link *s);

#endif
