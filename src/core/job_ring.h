/* job_ring.h - the ring: every process leaves a value for each neighbour and gets theirs. */
#ifndef WIREUP_CORE_JOB_RING_H
#define WIREUP_CORE_JOB_RING_H

#include "core/job.h"

/* Leaves a value for both neighbours.  ANSWER_LATER: the ticket comes back in an
 * EFFECT_answer with the place in the ring and the values of the neighbours. */
enum answer_status job_ring(struct job *j, uint32_t rank, struct slice left, struct slice right,
                            uint64_t ticket, uint64_t now_ns);
/* Several nodes: all of them have contributed the values for their neighbours. */
void job_ring_over(struct job *j, uint64_t generation, enum answer_status status,
                   const struct slice *blocks, uint32_t nblocks);

#endif
