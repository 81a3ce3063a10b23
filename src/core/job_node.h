/* job_node.h - attributes of nodes: values in the job's store, under names that no client can send,
 * so that Wireup's own clients can look them up there; early gets wait (nodeattr.h).
 *
 * An attribute whose key begins with "connected:" is one of all jobs that are connected to the one
 * whose process has put it (job_is_related()), as far as they have processes on the node: a get
 * looks into the own job first, then into those. */
#ifndef WIREUP_CORE_JOB_NODE_H
#define WIREUP_CORE_JOB_NODE_H

#include "core/job.h"

/* Attributes of the rank's node.  A put replaces, is visible at once and completes
 * waiting gets. */
enum answer_status job_node_put(struct job *j, uint32_t rank, struct slice key, struct slice value);

struct node_get {
    struct slice key;
    bool wait; /* until it is put */
    bool idle; /* the process sends nothing before it has the answer */
    uint64_t ticket;
};

/* A get that waits: ANSWER_LATER; the ticket comes back in an EFFECT_answer.  NOT_FOUND: no
 * other process of the node is left.  FAILED: those that could are idle in such gets themselves;
 * the text names them. */
enum answer_status job_node_get(struct job *j, uint32_t rank, const struct node_get *g,
                                struct answer *a_p);
/* Something happened to this rank: answers the gets of its node (NOT_FOUND) that no other process
 * could put an attribute for any more. */
void job_node_ended(struct job *j, uint32_t rank);
/* The rank is started again: its gets that wait are answered (NOT_FOUND). */
void job_node_forget(struct job *j, uint32_t rank);
/* It is connected to fewer jobs now: the same for attributes that connected jobs could put. */
void job_node_apart(struct job *j);

#endif
