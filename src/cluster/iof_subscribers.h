/* iof_subscribers.h - the clients on other nodes that subscribe to the output of processes here.
 *
 * Each entry is one subscription of one client, under the id that its node gave it; it stays until
 * that node cancels it or is lost.
 */
#ifndef WIREUP_CLUSTER_IOF_SUBSCRIBERS_H
#define WIREUP_CLUSTER_IOF_SUBSCRIBERS_H

#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"

struct iof_subscription {
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

/* NULL: no memory; that client receives nothing. */
const struct iof_subscription *iof_subscribers_add(struct iof_subscribers *e, uint32_t position,
                                                   uint64_t id, struct slice nspace, uint32_t rank,
                                                   uint16_t channels);
void iof_subscribers_drop(struct iof_subscribers *e, uint32_t position, uint64_t id);
void iof_subscribers_lost(struct iof_subscribers *e, uint32_t position);

/* The subscriptions to that process: the first (last NULL) or the one after last; NULL: no more.  A
 * subscription that names the process twice is returned once. */
const struct iof_subscription *iof_subscribers_next(const struct iof_subscribers *e,
                                                    const struct iof_subscription *last,
                                                    const char *nspace, uint32_t rank);

#endif
