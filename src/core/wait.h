/* wait.h - requests that are not answered yet and are no collectives: who asked for what, and since
 * when.
 *
 * For people alone (who.h): nothing is decided by it, so a request for which there is no memory is
 * merely not told.
 */
#ifndef WIREUP_CORE_WAIT_H
#define WIREUP_CORE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "core/request.h"

enum { WAIT_NOBODY = UINT32_MAX };

struct wait {
    struct list link; /* in struct waits, oldest first */
    uint64_t ticket, since_ns;
    uint32_t job, rank; /* who asked */
    enum request_kind kind;
    uint32_t owner_job, owner_rank; /* who could answer, or WAIT_NOBODY */
    uint64_t count;                 /* REQ_SPAWN: processes */
    struct slice name;              /* what is wanted: key, service, program; may be cut */
    char text[];
};

struct waits {
    struct map by_ticket;
    struct list all;
};

void waits_init(struct waits *w, uint64_t seed);
void waits_free(struct waits *w);

/* *what without link and text; its name is copied. */
void waits_add(struct waits *w, const struct wait *what);
void waits_done(struct waits *w, uint64_t ticket); /* harmless when it is unknown */
/* Nobody wants these answers any more. */
void waits_drop(struct waits *w, uint64_t first_ticket, uint64_t last_ticket);

#endif
