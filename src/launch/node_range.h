/* node_range.h - how many nodes a job uses (-nnodes MIN:MAX), and which are left of them when it
 * starts again (-restart-job): nodes that were lost, or did not come up, are left out then.
 */
#ifndef WIREUP_LAUNCH_NODE_RANGE_H
#define WIREUP_LAUNCH_NODE_RANGE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "launch/hosts.h"

struct node_range {
    uint32_t min, max; /* max 0: not given, all nodes are used */
};

enum { NODE_RANGE_BAD = 1, NODE_RANGE_CANNOT };

/* "N" or "MIN:MAX".  0; NODE_RANGE_BAD: they are not such numbers. */
int node_range_read(struct slice text, struct node_range *r_p);

/* The names of nodes that are not used any more. */
struct node_names {
    struct arena arena;
    const char **items;
    uint32_t count, room;
};

void node_names_init(struct node_names *n);
void node_names_free(struct node_names *n);

/* Copies the name.  Without memory it is not noted, and the next start tries that node again. */
void node_names_add(struct node_names *n, const char *name);

/* Leaves the entries of the first max nodes that are none of those (lost may be NULL).  Entries of
 * one name are one node.  0; NODE_RANGE_CANNOT: fewer than min are left, with the sentence;
 * -ENOMEM. */
int node_range_choose(const struct node_range *r, const struct node_names *lost,
                      struct host_list *list, struct errmsg *err);

#endif
