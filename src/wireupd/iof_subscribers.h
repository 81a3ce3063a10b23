/* iof_subscribers.h - who on other nodes listens to the processes of this one.
 *
 * An ear is one demand of one client, by the name that its node has for it; it stays until that
 * node says otherwise, or is lost.
 */
#ifndef WIREUP_WIREUPD_IOF_SUBSCRIBERS_H
#define WIREUP_WIREUPD_IOF_SUBSCRIBERS_H

#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"

struct ear {
    struct list link;
    uint32_t position;
    uint64_t id;
    uint32_t rank; /* JOB_NO_RANK: all of the job */
    uint16_t channels;
    char nspace[];
};

struct iof_subscribers {
    struct list all;
};

void iof_subscribers_init(struct iof_subscribers *e);
void iof_subscribers_free(struct iof_subscribers *e); /* harmless on zeroed memory */

/* NULL: no memory; that client hears nothing. */
const struct ear *iof_subscribers_add(struct iof_subscribers *e, uint32_t position, uint64_t id,
                                      struct slice nspace, uint32_t rank, uint16_t channels);
void iof_subscribers_drop(struct iof_subscribers *e, uint32_t position, uint64_t id);
void iof_subscribers_lost(struct iof_subscribers *e, uint32_t position);

/* The ears for that process: the first (last NULL) or the one behind last; NULL: no more.  A demand
 * that names the process twice comes once. */
const struct ear *iof_subscribers_next(const struct iof_subscribers *e, const struct ear *last,
                                       const char *nspace, uint32_t rank);

#endif
