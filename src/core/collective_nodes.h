/* collective_nodes.h - reports of other nodes about a collective: its result, and whether one that
 * misses a process will still complete.  It goes to the module of that kind of collective. */
#ifndef WIREUP_CORE_COLLECTIVE_NODES_H
#define WIREUP_CORE_COLLECTIVE_NODES_H

#include "core/core.h"

/* All other nodes have contributed (OK), or some never will. */
void collective_nodes_completed(struct core *c, const struct coll_id *id, enum answer_status status,
                                const struct slice *blocks, uint32_t nblocks);

/* EFFECT_collective_query, on the node asked: whether this node has contributed or still will. */
bool collective_nodes_will_complete(struct core *c, const struct job *j, uint32_t rank,
                                    const struct coll_id *id);

/* The answer to EFFECT_collective_query. */
void collective_nodes_receive(struct core *c, struct job *j, uint32_t rank,
                              const struct coll_id *id, bool will_complete);

#endif
