/* ondemand.h - values that a fence leaves on the nodes of the processes that have put them, and how
 * the other nodes get them.
 *
 * In a job over several nodes whose connectivity is not `all`, a fence of the whole job brings to
 * all nodes only what somebody may hold an older value of (a key that was put again), and entries
 * of further key-value spaces.  Each node sends the rest ahead to the nodes of its ranks'
 * neighbours, and keeps it for those that ask: for one process, or (extent) for more of its node.
 *
 * A request asks another node for all that it has at that moment, and is always answered, by
 * EFFECT_modex_reply with its number.  Values asked for before a fence can be older than it: their
 * answers are dropped, and who waits for one asks again.
 */
#ifndef WIREUP_CORE_ONDEMAND_H
#define WIREUP_CORE_ONDEMAND_H

#include "core/job.h"

/* Whose values an answer has: of the process, of all processes of its node, of those of them that
 * are of its application; of the whole job, which no single node can tell. */
enum ondemand_extent { ONDEMAND_PROC, ONDEMAND_NODE, ONDEMAND_APP, ONDEMAND_JOB, ONDEMAND_EXTENTS };

/* The hint of a get: "proc", "node", "app", "job".  False: it is none. */
bool ondemand_extent_of(struct slice word, enum ondemand_extent *extent_p);

/* In the place of a request's number: all of those that ondemand_ask_all() makes. */
#define ONDEMAND_ALL UINT64_MAX

bool ondemand_open(struct job *j); /* false: no memory */
void ondemand_free(struct job *j);

/* Fences of this job leave values on their nodes. */
bool ondemand_withholds(const struct job *j);

/* There may be values on other nodes that a fence should have brought here. */
bool ondemand_may_lack(const struct job *j);

/* This node's part of a fence of the whole job is complete: its new values for the nodes of its
 * ranks' neighbours.  Without memory these have to ask. */
void ondemand_send_ahead(struct job *j, const struct collective *c);

/* A fence of the whole job is over. */
void ondemand_fence_over(struct job *j);

/* Asks the node of a rank, which is another one.  The number of the request; 0: no memory. */
uint64_t ondemand_ask(struct job *j, uint32_t rank, enum ondemand_extent extent);
/* Asks all other nodes, unless that is under way; false: no memory. */
bool ondemand_ask_all(struct job *j);

/* For a get with a hint: asks for the values of the rank, and for those around it that the hint
 * names, also on further nodes.  What is under way is not asked for again.  *number_p: the request
 * that brings those of the rank; ONDEMAND_ALL; 0: they are here.  False: no memory. */
bool ondemand_prefetch(struct job *j, uint32_t rank, enum ondemand_extent extent,
                       uint64_t *number_p);

/* Not all of this has been answered. */
bool ondemand_is_asked(const struct job *j, uint64_t number);
/* A request has been answered, and the values are in the store. */
void ondemand_answered(struct job *j, uint64_t number, enum answer_status status);
/* Why a value that did not come with ONDEMAND_ALL is not here: NOT_FOUND, or NO_MEMORY. */
enum answer_status ondemand_verdict(const struct job *j);

/* The request of another node: EFFECT_modex_reply. */
void ondemand_serve(struct job *j, uint32_t rank, enum ondemand_extent extent, uint64_t number,
                    uint64_t asker);

#endif
