/* pending.h - requests that are not answered yet and are not collectives: requester, object, and
 * time.
 *
 * For reports only (who.h): nothing is decided by it, so a request for which there is no memory is
 * merely not reported.
 */
#ifndef WIREUP_CORE_PENDING_H
#define WIREUP_CORE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"

enum { PENDING_NOBODY = UINT32_MAX };

struct pending {
    struct list link; /* in struct pending_list, oldest first */
    uint64_t ticket, since_ns;
    uint32_t job, rank;             /* the requester */
    uint32_t kind;                  /* enum request_kind */
    uint32_t owner_job, owner_rank; /* the process that could answer, or PENDING_NOBODY */
    uint64_t count;                 /* REQ_spawn: processes */
    struct slice name;              /* the object: key, service, program; may be cut */
    char text[];
};

struct pending_list {
    struct map by_ticket;
    struct list all;
};

void pendings_init(struct pending_list *w, uint64_t seed);
void pendings_free(struct pending_list *w);

/* *what without link and text; its name is copied. */
void pendings_add(struct pending_list *w, const struct pending *what);
void pendings_done(struct pending_list *w, uint64_t ticket); /* harmless when it is unknown */
/* It waits for another object now, the name and the owner of *what; harmless when it is unknown. */
void pendings_change(struct pending_list *w, uint64_t ticket, const struct pending *what);
/* Drops these requests: nobody wants their answers any more. */
void pendings_drop(struct pending_list *w, uint64_t first_ticket, uint64_t last_ticket);

#endif
