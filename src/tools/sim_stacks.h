/* sim_stacks.h - the stacks of `wireup who --stacks`, of many simulated nodes: made-up stacks,
 * which the nodes send to the launcher (struct sim_inquiry) and which are merged as real ones are.
 *
 * Most ranks wait in MPI_Recv, one in sixteen in MPI_Barrier, by calls of their own program that
 * are as deep as usual; one rank computes.
 */
#ifndef WIREUP_TOOLS_SIM_STACKS_H
#define WIREUP_TOOLS_SIM_STACKS_H

#include "base/buf.h"
#include "cluster/sim.h"

struct sim_stacks {
    uint32_t nodes, ranks; /* ranks of each node */
    struct buf *parts;     /* of each node, as they arrive */
    uint64_t merge_ns;     /* time that merging took on this machine */
    uint32_t merged;       /* stacks */
    uint32_t groups;       /* of ranks that are in the same call */
    uint32_t odd;          /* the rank of the smallest group */
};

/* False: no memory. */
bool sim_stacks_init(struct sim_stacks *t, uint32_t nodes, uint32_t ranks);
void sim_stacks_free(struct sim_stacks *t); /* harmless on zeroed memory */

/* What the nodes are asked; valid as long as t. */
struct sim_inquiry sim_stacks_inquiry(struct sim_stacks *t);

/* All answers into one tree and its text, as the launcher does.  False: no memory, or one is
 * malformed. */
bool sim_stacks_merge(struct sim_stacks *t);

#endif
