/* exchange_data.h - a job whose processes are on several nodes: the data that leaves this node, and
 * the data that arrives.
 *
 * A contribution is a block (block.h) of its members' fresh data (modex_keys.h): all that PMI
 * processes have put, and, in a fence with data, the modex entries of PMIx processes whose scope is
 * not local.  (Or a part of it: ondemand.h.)
 */
#ifndef WIREUP_CORE_EXCHANGE_DATA_H
#define WIREUP_CORE_EXCHANGE_DATA_H

#include "core/job.h"

/* The round is complete here: pushes EFFECT_contribute and keeps the round for its completion.
 * False: no memory; the round is untouched. */
bool exchange_data_fence(struct job *j, struct collective *c);

/* Stores the contributions of other nodes and answers the gets that waited for them.  Values of
 * this node's ranks are skipped.  OK, BAD_VALUE (not a block: the records before are kept),
 * NO_MEMORY. */
enum answer_status exchange_data_store(struct job *j, struct slice blocks);
/* The same, but what is here already stays: it may be newer. */
enum answer_status exchange_data_add(struct job *j, struct slice blocks);

#endif
