/* job_fence.h - the fences of a job.
 *
 * A group is written `WORLD:tag`, `NODE:tag` or `r1,r2,...:tag`; an empty text means `WORLD:0`. The
 * same members and tag are the same fence, in whatever order they are listed; NODE means the
 * caller's node, so its number is appended to the name.
 */
#ifndef WIREUP_CORE_JOB_FENCE_H
#define WIREUP_CORE_JOB_FENCE_H

#include "core/job.h"

/* A collective waits for a process that will not come: unless the job goes on after failures, that
 * ends it, and the reason tells how the process ended.  ANSWER_FAILED. */
enum answer_status job_miss(struct job *j, uint32_t rank);
/* A member on this node that the rank would wait for in vain in its next round: the one whose
 * failure counts, if it is one of them, else the lowest; JOB_NO_RANK: none.  Whether a member on
 * another node has come before it ended that node knows. */
uint32_t job_missing(const struct job *j, const struct collective_group *g, uint32_t rank);
/* The round has just begun: asks the nodes of members that have ended. */
void job_ask_about_lost(struct job *j, const struct collective *c);

/* Rank enters a fence.  ANSWER_LATER: the ticket is kept and comes back in an EFFECT_answer; the
 * last rank gets ANSWER_OK at once. */
enum answer_status job_fence(struct job *j, uint32_t rank, struct slice group, bool collect,
                             uint64_t ticket, uint64_t now_ns);
/* The same, waiting until deadline_ns at most (UINT64_MAX: for ever): then ANSWER_TIMEOUT comes
 * back, and the fence misses the rank again. */
enum answer_status job_fence_until(struct job *j, uint32_t rank, struct slice group, bool collect,
                                   struct slice ways, uint64_t ticket, uint64_t now_ns,
                                   uint64_t deadline_ns);
/* Answers fences whose deadline has passed; returns the next deadline, or UINT64_MAX. */
uint64_t job_fences_tick(struct job *j, uint64_t now_ns);
/* The other nodes have contributed too (exchange_data.h): answers the members on this node. */
void job_fence_over(struct job *j, struct slice group, uint64_t generation,
                    enum answer_status status);
/* The answer about a rank that will not come any more: it has contributed to the round, or not. */
void job_fence_receive(struct job *j, uint32_t rank, struct slice group, uint64_t generation,
                       bool will_complete);
/* Withdraws the arrivals of a process that has ended from fences that are not over; any holder of
 * its socket is answered. */
void job_fence_forget(struct job *j, uint32_t rank);
/* Asks about this rank, which is on another node and will not come, for every fence that waits for
 * it. */
void job_fence_ask(struct job *j, uint32_t rank);
/* Answers all participants of a fence on this node. */
void job_answer_round(struct job *j, const struct collective *c, enum answer_status status);

#endif
