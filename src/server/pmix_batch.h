/* pmix_batch.h - several requests of one message, answered by one reply. */
#ifndef WIREUP_SERVER_PMIX_BATCH_H
#define WIREUP_SERVER_PMIX_BATCH_H

#include "server/pmix_session.h"

struct pmix_batch {
    uint32_t left;
    bool refused; /* part of it was refused */
    enum answer_status worst;
    pmix_pdata_t *found;  /* the names of a lookup */
    size_t nfound, bytes; /* of their values */
};

/* NULL: no memory, which is recorded in c. */
struct pmix_batch *pmix_batch_new(struct command *c);

/* One more request of the command.  NULL: no memory. */
struct pmix_pending *pmix_batch_ask(struct command *c, struct pmix_batch *b, struct request rq);

/* All have been asked; without any request no answer will come, and this is the reply. */
void pmix_batch_end(struct command *c, struct pmix_batch *b, pmix_status_t if_none);

/* One of its requests is over.  False: others are left, or b is NULL; true: the batch is freed. */
bool pmix_batch_leave(struct pmix_batch *b);

/* The reply is the worst answer. */
pmix_replier pmix_reply_batch;

#endif
