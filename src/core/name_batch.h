/* name_batch.h - look-ups of several keys by one process that together wait for some of them.
 *
 * Each key is a look-up of its own.  The batch counts them: when as many as the process needs have
 * been found, the others wait no more.  It exists from the first look-up until all are decided.
 */
#ifndef WIREUP_CORE_NAME_BATCH_H
#define WIREUP_CORE_NAME_BATCH_H

#include "core/nameservice.h"

struct name_batch {
    struct list link;
    uint32_t job, rank; /* the requester */
    uint64_t id;        /* of the requester */
    uint32_t needed, found;
    uint32_t left; /* not decided yet */
};

/* The batch of this look-up is there, if it has one.  0 or -ENOMEM. */
int name_batch_open(struct list *all, const struct nameservice_query *q);

/* This look-up is decided. */
void name_batch_count(struct list *all, const struct nameservice_query *q, bool found);

/* Enough has been found. */
bool name_batch_is_over(const struct list *all, const struct nameservice_query *q);

/* Those of this process (JOB_NO_RANK: of any process of the job). */
void name_batch_drop(struct list *all, uint32_t job, uint32_t rank);

#endif
