/* job_restart.h - processes that have failed and are started again, with their rank, in a job that
 * goes on after failures.
 *
 * The controlling node decides.  Each start begins an epoch of the job: on all nodes, at the same
 * place in the order of the controlling node's reports and of the results of fences, the fences,
 * rings and collectives across jobs with this one that are pending end with ANSWER_RESTARTED, and
 * those that follow are counted anew.  A process of the job that waits in none gets that answer to
 * its next one.  So each process learns once of each start, all members are of one epoch, and the
 * one that was started takes part from then on.
 *
 * A process that has not joined the job is started again by its node alone (daemon/process.c): no
 * other one knows of it yet.
 *
 * Once the job has been asked to end, all nodes know of it, and none starts anything again.
 */
#ifndef WIREUP_CORE_JOB_RESTART_H
#define WIREUP_CORE_JOB_RESTART_H

#include "core/job.h"

/* A node of the plan whose machine is lost, and another that takes its place. */
struct node_replacement {
    uint32_t node;
    struct slice name;             /* of the other machine */
    bool here;                     /* it is this one */
    const uint32_t *ranks, *times; /* that are started again, and how often each is by then */
    uint32_t count;
};

/* This one is started again if it fails now. */
bool job_may_restart(const struct job *j, uint32_t rank);

/* Those of a lost node that have not ended, and how often each will have been started again; there
 * is room for all of that node, or both are NULL: they are counted.  False: one may not be. */
bool job_list_moving(const struct job *j, uint32_t node, uint32_t *ranks, uint32_t *times,
                     uint32_t *n_p);

/* A process that is GONE is started again, for that time: EFFECT_restart on its node.
 * (collective_multijob_restarted() follows.) */
void job_restart(struct job *j, uint32_t rank, uint32_t times);

/* The same for processes of a node that is another machine from now on (job_event.h): they begin
 * together, as one epoch. */
void job_restart_node(struct job *j, const struct node_replacement *n);

/* The job is new here, and elsewhere in that epoch: this node has no process of it. */
void job_restart_join(struct job *j, uint32_t epoch);

/* The generation of the first round in that epoch, of a collective across jobs in so many epochs of
 * all of them: the same on all nodes, and above those of earlier epochs. */
static inline uint64_t job_restart_first_round(uint64_t epochs)
{
    enum { BITS = 40 }; /* so many rounds of one group may be in an epoch */

    return epochs << BITS;
}

/* The process enters a fence, ring or collective across jobs: true, once: of a start it does not
 * know yet, which is its answer. */
bool job_restart_is_news(struct job *j, uint32_t rank);

#endif
