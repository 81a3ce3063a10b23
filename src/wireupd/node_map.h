/* node_map.h - where the processes of jobs run: positions by the nodes of each job's plan. */
#ifndef WIREUP_WIREUPD_NODE_MAP_H
#define WIREUP_WIREUPD_NODE_MAP_H

#include "core/job_map.h"
#include "wireupd/multinode.h"

/* The positions of a job's nodes. */
struct placement {
    struct list link;
    uint32_t job, nnodes;
    uint32_t positions[]; /* by the plan's node */
};

/* The positions of all nodes of a plan, in its arena; NULL with a sentence: one of them is not in
 * this DVM. */
uint32_t *node_map_of_plan(const struct multinode *s, struct job_map *p, struct errmsg *err);
/* The plan's node at a position; JOB_NONE_HERE: none. */
uint32_t node_map_here(const uint32_t *positions, uint32_t n, uint32_t position);

bool node_map_keep(struct multinode *s, uint32_t job, const uint32_t *positions, uint32_t n);
void node_map_drop(struct multinode *s, uint32_t job);
void node_map_free(struct multinode *s);

/* The position of a node of a job's plan; our own position if the job is unknown. */
uint32_t node_map_position(const struct multinode *s, uint32_t job, uint32_t node);
/* The node of the job's plan at that position; JOB_NONE_HERE: none. */
uint32_t node_map_node(const struct multinode *s, const struct job *j, uint32_t position);
/* The position where the rank runs. */
uint32_t node_map_rank(const struct multinode *s, const struct job *j, uint32_t rank);

#endif
