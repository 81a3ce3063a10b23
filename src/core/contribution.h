/* contribution.h - the contribution of one node to a collective of several nodes. */
#ifndef WIREUP_CORE_CONTRIBUTION_H
#define WIREUP_CORE_CONTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/coll_id.h"

/* A participant of a collective: a process, or (rank REQUEST_ALL_RANKS) a whole job. */
struct party {
    uint32_t job, rank;
};

/* One node of a job, by its index in the job's plan. */
struct place {
    uint32_t job, node;
};

/* This node's contribution to a collective of several nodes. */
struct contribution {
    struct coll_id id;
    char *group;   /* id.group */
    bool collect;  /* a participant wants the others' data: a fence with data */
    bool ordered;  /* the result comes in order with the other messages of the root */
    char ways[64]; /* exchange methods, separated by commas; empty: the nodes choose */
    struct party *parties;
    uint32_t nparties;
    struct buf block; /* empty: an arrival without data */
};

struct contribution *contribution_new(const struct coll_id *id, bool collect,
                                      uint32_t nparties);       /* NULL: no memory */
struct contribution *contribution_free(struct contribution *c); /* returns NULL; NULL is harmless */

#endif
