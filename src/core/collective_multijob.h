/* collective_multijob.h - a collective whose members belong to several jobs (PMIx connect,
 * disconnect, groups, and fences that name other namespaces).
 *
 * Its group (coll_id.h) is named by its purpose and the sorted list of members as they were named.
 */
#ifndef WIREUP_CORE_COLLECTIVE_MULTIJOB_H
#define WIREUP_CORE_COLLECTIVE_MULTIJOB_H

#include "core/core.h"

struct member;
struct request_collective;

/* LATER, OK for the last arrival,
 * FAILED when one of the members has ended (of a flexible kind, it is left out) or its whole job is
 * over, RESTARTED once after each start of a process of its job, NOT_FOUND for an unknown job or
 * rank, BAD_KEY when the requester is not a member.  Every
 * answer has the number of the collective, which no other collective across jobs has; the last
 * arrival's is core_meetings(c). */
enum answer_status collective_multijob_enter(struct core *c, struct job *j, uint32_t rank,
                                             const struct request_collective *rq, uint64_t ticket,
                                             uint64_t now_ns);

/* Answers arrivals whose deadline has passed; returns the next deadline, or UINT64_MAX. */
uint64_t collective_multijob_tick(struct core *c, uint64_t now_ns);

/* The job of one of these members is over: no collective that names them can be completed. */
bool collective_multijob_is_over(const struct core *c, const struct member *members,
                                 uint32_t count);

/* The process has ended: flexible collectives go on without it. */
void collective_multijob_gone(struct core *c, struct job *j, uint32_t rank);

/* The job is forgotten, on all nodes at the same place in the order of the results: collectives
 * with processes of it, of a flexible kind too, fail for all who wait, since nobody can call them
 * any more. */
void collective_multijob_forget(struct core *c, const struct job *j);

/* A process of the job is started again, on all nodes at the same place in the order of the results
 * (job_restart.h): collectives with processes of the job end with RESTARTED for all who wait. */
void collective_multijob_restarted(struct core *c, struct job *j);

/* EFFECT_collective_query, on the node asked: whether this node has contributed or still will.  The
 * round of a flexible kind is begun here for this, so that the process is left out of it. */
bool collective_multijob_asked(struct core *c, const struct job *j, uint32_t rank,
                               const struct coll_id *id);

/* The members on other nodes have arrived too, or (status) some never will.  The number of a
 * collective of several nodes is made by the first of them (by job and node), and is its
 * contribution; of a flexible kind each node makes one, and the least counts; groups have more
 * (group_record.h), which is kept under that number (group_store.h). */
void collective_multijob_over(struct core *c, const struct coll_id *id, enum answer_status status,
                              const struct slice *blocks, uint32_t nblocks);

/* A member that has ended has not contributed: answers the waiting members. */
void collective_multijob_fail(struct core *c, const struct coll_id *id);

#endif
