/* exchange_data.h - a job whose processes are on several nodes: the data that leaves this node, and
 * the data that arrives.
 *
 * What a process puts is fresh until a fence of the whole job has brought it to the other nodes.  A
 * contribution is a block (block.h) of its members' fresh data: all that PMI processes have put,
 * and, in a fence with data, the modex entries of PMIx processes whose scope is not local.
 */
#ifndef WIREUP_CORE_EXCHANGE_DATA_H
#define WIREUP_CORE_EXCHANGE_DATA_H

#include "core/contribution.h"
#include "core/core.h"

/* A key that the process has put, or put again; its bytes lie in the store.  0 or -ENOMEM. */
int exchange_data_note(struct job *j, uint32_t rank, struct slice key);

/* The identity of a round of the job, or of several jobs. */
struct coll_id exchange_data_id(const struct job *j, const struct collective *c);

/* The round is complete here: pushes EFFECT_contribute and keeps the round for its completion.
 * False: no memory; the round is untouched. */
bool exchange_data_fence(struct job *j, struct collective *c);

/* Appends what one process has put for other nodes.  Out of memory poisons the buffer. */
void exchange_data_cards(const struct job *j, uint32_t rank, struct buf *out);

/* Stores what other nodes have contributed and answers the gets that waited for it.  What ranks of
 * this node have put is skipped.  OK, BAD_VALUE (not a block: what was good is kept), NO_MEMORY. */
enum answer_status exchange_data_store(struct job *j, struct slice blocks);

/* All other nodes have contributed (OK), or some never will. */
void exchange_data_completed(struct core *c, const struct coll_id *id, enum answer_status status,
                             const struct slice *blocks, uint32_t nblocks);

/* EFFECT_collective_query, on the node asked: whether this node has contributed or still will. */
bool exchange_data_round(const struct core *c, const struct job *j, uint32_t rank,
                         const struct coll_id *id);
void exchange_data_round_heard(struct core *c, struct job *j, uint32_t rank,
                               const struct coll_id *id, bool will_complete);

/* The participating nodes, each once, ascending by job and node: malloc'ed; 0 or -ENOMEM. An
 * unknown job is left out. */
int exchange_data_places(const struct core *c, const struct contribution *k,
                         struct place **places_p, uint32_t *n_p);

#endif
