/* places.h - where the processes of jobs are: positions by the nodes of each job's plan. */
#ifndef WIREUP_WIREUPD_PLACES_H
#define WIREUP_WIREUPD_PLACES_H

#include "core/plan.h"
#include "wireupd/share.h"

/* Where the nodes of a job are. */
struct placement {
    struct list link;
    uint32_t job, nnodes;
    uint32_t positions[]; /* by the plan's node */
};

/* Of all nodes of a plan, in its arena; NULL with a sentence: one of them is none of ours. */
uint32_t *places_of_plan(const struct share *s, struct plan *p, struct errmsg *err);
/* Which of a plan's nodes is at a position; JOB_NONE_HERE: none. */
uint32_t places_here(const uint32_t *positions, uint32_t n, uint32_t position);

bool places_keep(struct share *s, uint32_t job, const uint32_t *positions, uint32_t n);
void places_drop(struct share *s, uint32_t job);
void places_free(struct share *s);

/* Where a node of a job's plan is; our own position when nothing is known of it. */
uint32_t places_position(const struct share *s, uint32_t job, uint32_t node);
/* Which node of the job's plan is there; JOB_NONE_HERE: none. */
uint32_t places_node(const struct share *s, const struct job *j, uint32_t position);
/* Where the rank runs. */
uint32_t places_rank(const struct share *s, const struct job *j, uint32_t rank);

#endif
