/* client_event_codes.h - the codes of events that the server sends us: those for which there are
 * handlers. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_CODES_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_CODES_H

#include "lib/pmix/client/client_op.h"

struct handler;

/* A code that the server sends us, and the number of its handlers. */
struct event_code {
    pmix_status_t code;
    size_t handlers;
};

struct event_codes {
    struct event_code *all;
    size_t n;
    size_t defaults; /* handlers for all codes */
};

/* Counts the handler; *news_p are the codes that no handler had before (malloc'ed).  False: no
 * memory. */
bool event_codes_add(struct event_codes *e, const struct handler *h, pmix_status_t **news_p,
                     size_t *n_p);
/* A handler whose registration has failed. */
void event_codes_drop(struct event_codes *e, const struct handler *h);

/* Begins the message that asks the server for codes. */
pmix_status_t event_codes_begin(struct client *c, struct message *m, const pmix_status_t *codes,
                                size_t ncodes, const pmix_info_t *infos, size_t ninfos);
/* The handler is removed: the server need not send its codes any more, if no other has them. */
void event_codes_remove(struct client *c, const struct handler *h);

/* A process that was alone has a server now: registers all codes that it has handlers for. */
void event_codes_register_all(struct client *c);

#endif
