/* exchange_data.h - a job whose processes are on several nodes: what leaves this one, and what
 * comes in.
 *
 * What a process puts is fresh until a fence of everybody has brought it to the other nodes.  A
 * contribution is a block (block.h) of what its members have fresh: all that PMI processes have
 * put, and, in a fence with data, the cards of PMIx processes that are not for their own node
 * alone.
 *
 * Identities of collectives are those of coll_id.h, as text.
 */
#ifndef WIREUP_CORE_EXCHANGE_DATA_H
#define WIREUP_CORE_EXCHANGE_DATA_H

#include "core/core.h"

/* A key that the process has put, or put again; its bytes lie in the store.  0 or -ENOMEM. */
int exchange_data_note(struct job *j, uint32_t rank, struct slice key);

/* Appends the identity of a fence or of the ring of the job; false: no memory. */
bool exchange_data_identity(const struct job *j, const struct collective_group *g, struct buf *out);

/* The round is complete here: pushes EFFECT_CONTRIBUTE and keeps the round for its completion.
 * False: no memory; the round is untouched. */
bool exchange_data_fence(struct job *j, struct collective *c);

/* Appends what one process has put for other nodes.  Out of memory poisons the buffer. */
void exchange_data_cards(const struct job *j, uint32_t rank, struct buf *out);

/* Puts what other nodes have contributed into the job's store and wakes who waited for it.  What
 * ranks of this node have put is skipped.  OK, BAD_VALUE (not a block: what was good is kept),
 * NO_MEMORY. */
enum answer_status exchange_data_store(struct job *j, struct slice blocks);

/* All other nodes have contributed (OK), or some never will. */
void exchange_data_completed(struct core *c, struct slice identity, uint64_t generation,
                             enum answer_status status, const struct slice *blocks,
                             uint32_t nblocks);

/* EFFECT_COLLECTIVE_QUERY, at the other end: whether this node has contributed or still will. */
bool exchange_data_round(const struct core *c, const struct job *j, uint32_t rank,
                         struct slice identity, uint64_t generation);
void exchange_data_round_heard(struct core *c, struct job *j, uint32_t rank, struct slice identity,
                               uint64_t generation, bool will_complete);

/* The nodes that take part, each once, ascending by job and node: malloc'ed; 0 or -ENOMEM.  A job
 * that is not known is left out. */
int exchange_data_places(const struct core *c, const struct contribution *k,
                         struct place **places_p, uint32_t *n_p);

#endif
