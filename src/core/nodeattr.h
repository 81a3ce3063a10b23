/* nodeattr.h - gets that wait for an attribute of a node.
 *
 * The values are in the job's store (job_node_put); this keeps the gets that came before the put.
 * Names are the store's: node and key in one.
 */
#ifndef WIREUP_CORE_NODEATTR_H
#define WIREUP_CORE_NODEATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/slice.h"

enum { NODEATTR_ANY_RANK = UINT32_MAX };

struct nodeattr_wait {
    uint64_t ticket;
    uint32_t rank;
    bool idle; /* the process sends nothing before it has the answer */
};

/* One name that gets wait for. */
struct nodeattr {
    char *name;
    size_t name_len;
    struct nodeattr_wait *waits; /* oldest first */
    uint32_t n, room;
};

struct nodeattrs {
    struct map by_name;
};

void nodeattrs_init(struct nodeattrs *a, uint64_t seed);
void nodeattrs_free(struct nodeattrs *a);

/* Keeps the get until the name is put.  0 or -ENOMEM. */
int nodeattrs_wait(struct nodeattrs *a, struct slice name, struct nodeattr_wait wait);

/* All waiting gets of the name, now the caller's (nodeattr_free); NULL: none. */
struct nodeattr *nodeattrs_take(struct nodeattrs *a, struct slice name);

/* Takes one get of that rank (NODEATTR_ANY_RANK: of any), for a name that begins like this.  False:
 * there is none. */
bool nodeattrs_take_one(struct nodeattrs *a, struct slice prefix, uint32_t rank,
                        struct nodeattr_wait *wait_p);

struct nodeattr *nodeattr_free(struct nodeattr *n); /* returns NULL; NULL is harmless */

#endif
