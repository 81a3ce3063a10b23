/* collective_multijob.h - a fence whose members belong to several jobs (PMIx connect, disconnect,
 * and fences that name other namespaces).
 *
 * Its identity (coll_id.h) is the purpose and the sorted list of members as they were named.
 */
#ifndef WIREUP_CORE_COLLECTIVE_MULTIJOB_H
#define WIREUP_CORE_COLLECTIVE_MULTIJOB_H

#include "core/core.h"

/* rq: key is the purpose, members and count who takes part.  LATER, OK for the last one in,
 * FAILED when one of the members has ended, NOT_FOUND for an unknown job or rank, BAD_KEY when the
 * asker is no member.  Everybody's answer has the number of the meeting, which no other
 * meeting has; the last one's is core_meetings(c). */
enum answer_status collective_multijob_enter(struct core *c, struct job *j, uint32_t rank,
                                             const struct request *rq, uint64_t ticket,
                                             uint64_t now_ns);

/* Answers those whose time is over; when the next one's will be, or UINT64_MAX. */
uint64_t collective_multijob_tick(struct core *c, uint64_t now_ns);

/* The members on other nodes have come too, or (status) some never will.  The number of a meeting
 * of several nodes is made by the first of them (by job and node), and is its contribution: 'M' and
 * the number. */
void collective_multijob_over(struct core *c, struct slice name, uint64_t generation,
                              enum answer_status status, const struct slice *blocks,
                              uint32_t nblocks);

/* A member that has ended has not contributed: who waits is answered. */
void collective_multijob_fail(struct core *c, struct slice name, uint64_t generation);

#endif
