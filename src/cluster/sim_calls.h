/* sim_calls.h - the simulated program's requests between nodes, events, process states and output,
 * and a core that answers them.  Internal to the simulator (sim.h).
 *
 * Each node has the dispatcher of a daemon (dispatch.h).  One job with one process per node is
 * known to all; the core behind the dispatcher is a few counters here, which check that
 * a request reaches the node of its process, and is answered once unless that node is lost; the
 * launcher keeps no request of a lost node; values that a node sends to its neighbours before a
 * fence arrive once, and before the end of that fence if no node and no link is lost; exits reach
 * each subscriber from the first one on, in order, and nobody else; states of processes come before
 * later messages; a subscriber to output gets all of it, in order.
 */
#ifndef WIREUP_CLUSTER_SIM_CALLS_H
#define WIREUP_CLUSTER_SIM_CALLS_H

#include "cluster/sim_net.h"

enum { SIM_REQUESTS_MAX = 60 };

/* The job; false: no memory. */
bool sim_calls_open(struct sim *s);
void sim_calls_close(struct sim *s);
bool sim_calls_open_node(struct sim_node *n);

/* Each node makes its requests at times chosen by the seed. */
void sim_calls_begin(struct sim *s);

/* SIM_REQUEST, SIM_REPLY, SIM_BATCH, SIM_INQUIRE and SIM_ANSWER. */
void sim_calls_happen(struct sim_node *n, const struct sim_event *e);

/* The node enters a fence of the first set: its ranks' bytes for the nodes of their neighbours. */
void sim_calls_send_ahead(struct sim_node *n);
/* That fence is over. */
void sim_calls_fence_over(struct sim_node *n);

/* Sends an event of an invitation to all nodes. */
void sim_calls_notify(struct sim_node *n, uint32_t code);

/* A daemon is lost. */
void sim_calls_lost(struct sim_node *n, uint32_t position);

/* At the end: whether a living node violates one of these rules; then why says which. */
bool sim_calls_wrong(const struct sim_node *n, char *why, size_t room);

/* A broadcast event of that node has arrived.  (sim.c) */
void sim_broadcast_arrives(struct sim_node *n, uint32_t from, uint32_t number);

#endif
