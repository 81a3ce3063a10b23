/* cospawn.h - a spawn request that becomes two jobs: the applications that are to be beside the job
 * (PMIX_COSPAWN_APP) are one of their own, and do not count among its processes.
 *
 * The requester is answered once, when both have been tried, with the name of the first.  When one
 * of them has failed, so has the request, and the other one is to be ended. */
#ifndef WIREUP_DAEMON_COSPAWN_H
#define WIREUP_DAEMON_COSPAWN_H

#include "base/err.h"
#include "base/list.h"
#include "core/answer.h"
#include "core/spawn.h"

struct cospawn {
    struct list link;
    uint64_t ticket;
    uint32_t waiting;           /* for so many of the two */
    enum spawn_failure failure; /* the first one */
    char *name;                 /* of the first job; NULL: none yet */
    uint32_t jobs[2], njobs;    /* those that have been started */
};

/* Whether an application of the request is to be beside the others. */
bool cospawn_is_wanted(const struct spawn_request *rq);
/* The two requests, which borrow from the one.  0; SPAWN_BAD_REQUEST with a sentence: nothing is
 * left for the job; -ENOMEM. */
int cospawn_split(struct spawn_request *rq, struct spawn_request parts[2], struct errmsg *err);

struct cospawn *cospawn_new(struct list *all, uint64_t ticket); /* NULL: no memory */
void cospawn_free(struct cospawn *k);
/* One of them has been tried; `name_it`: the job itself.  job: its number, or JOB_NO_RANK: there is
 * none.  True: so has the other, and the request can be answered. */
bool cospawn_tried(struct cospawn *k, bool name_it, uint32_t job, const struct answer *a);
/* The answer, which borrows from it. */
struct answer cospawn_answer(const struct cospawn *k);

#endif
