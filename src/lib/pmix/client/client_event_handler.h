/* client_event_handler.h - event handlers of this process: the events of each, and their
 * calling order. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_HANDLER_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_EVENT_HANDLER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "pmix.h"

/* The calling order. */
enum handler_category { FIRST_OF_ALL, ONE_CODE, SOME_CODES, ALL_CODES, LAST_OF_ALL, OBSERVERS };

/* The library's own handlers: called after all others, also when one of these ends the chain. */
#define HANDLER_OBSERVES "wireup.event.observes"

/* Within a category. */
enum handler_place { PLACE_FIRST, PLACE_ANY, PLACE_LAST };

struct handler {
    struct list link; /* in struct handlers, in calling order */
    size_t ref;
    enum handler_category category; /* where it is called … */
    size_t ncodes;                  /* … and its codes: 0: all */
    pmix_status_t *codes;
    enum handler_place place;
    char *name, *before, *after;
    bool append; /* in its category: behind all others, not in front of them */
    bool one_shot;
    pmix_data_range_t range;
    pmix_proc_t *sources, *affected;
    size_t nsources, naffected;
    void *object;
    pmix_notification_fn_t fn;
    bool armed;   /* its registration is complete */
    bool removed; /* not called any more; freed when no call of it is under way */
    size_t busy;  /* calls under way */
};

struct handlers {
    struct list all;
    size_t next_ref;
};

/* An event, as a handler is given it. */
struct client_event {
    pmix_status_t code;
    pmix_proc_t source;
    pmix_info_t *infos;
    size_t ninfos;
};

/* PMIX_ERR_BAD_PARAM: an info has a wrong type, or an unknown range; PMIX_ERR_NOMEM. */
pmix_status_t handler_new(const pmix_status_t *codes, size_t ncodes, const pmix_info_t *infos,
                          size_t ninfos, struct handler **h_p);
void handler_free(struct handler *h); /* harmless on NULL; in a list or not */

/* Infos of a registration that the library handles itself: they are not for the server. */
bool handler_key_stays(const char *key);

/* Numbers it, and gives it its place: by itself, in front of all of its category, as with OpenPMIx.
 * PMIX_ERR_EVENT_REGISTRATION: another one has that place, or the one that it names as its
 * neighbour is not registered in its category. */
pmix_status_t handlers_insert(struct handlers *all, struct handler *h);
/* One that is not removed; NULL: none. */
struct handler *handlers_find(struct handlers *all, size_t ref);

/* Is it registered for this event?  me: this process. */
bool handler_wants(const struct handler *h, const struct client_event *e, const pmix_proc_t *me);

#endif
