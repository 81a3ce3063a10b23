/* node_map.h - where the processes of jobs run: positions by the nodes of each job's plan. */
#ifndef WIREUP_CLUSTER_NODE_MAP_H
#define WIREUP_CLUSTER_NODE_MAP_H

#include "base/err.h"
#include "base/list.h"
#include "core/job.h"
#include "wire/parts.h"

struct router;

/* The positions of a job's nodes. */
struct placement {
    struct list link;
    uint32_t job, nnodes;
    bool replaces;        /* lost nodes of it may be replaced: the launcher decides what is lost */
    uint32_t positions[]; /* by the plan's node */
};

struct node_map {
    uint32_t me; /* our own position: that of every job that is not known here */
    struct list placed;
};

void node_map_open(struct node_map *m, uint32_t me);
void node_map_close(struct node_map *m); /* harmless twice, and on zeroed memory */

/* The positions of all nodes of a plan by their names, in its arena; names: of the nodes, by
 * position, or NULL.  NULL with a sentence: one of them is not in this DVM, or is lost. */
uint32_t *node_map_of_plan(const struct router *c, const char *const *names, struct job_map *p,
                           struct errmsg *err);
/* The plan's node at a position; JOB_NONE_HERE: none. */
uint32_t node_map_here(const uint32_t *positions, uint32_t n, uint32_t position);

/* replaces: as in struct placement.  False: no memory. */
bool node_map_keep(struct node_map *m, uint32_t job, const uint32_t *positions, uint32_t n,
                   bool replaces);
/* That node of the plan is at this position from now on. */
void node_map_move(struct node_map *m, uint32_t job, uint32_t node, uint32_t position);
bool node_map_replaces(const struct node_map *m, uint32_t job);
/* Of all its nodes; empty: the job is unknown.  Valid until it is dropped. */
struct part_uints node_map_positions(const struct node_map *m, uint32_t job);
void node_map_drop(struct node_map *m, uint32_t job);

/* The position of a node of a job's plan; our own position if the job is unknown. */
uint32_t node_map_position(const struct node_map *m, uint32_t job, uint32_t node);
/* The node of the job's plan at that position; JOB_NONE_HERE: none. */
uint32_t node_map_node(const struct node_map *m, const struct job *j, uint32_t position);
/* The position where the rank runs. */
uint32_t node_map_rank(const struct node_map *m, const struct job *j, uint32_t rank);

#endif
