/* sim_store.h - the simulated processes meet at the store of their job, as PyTorch's processes do
 * in their barrier.  Internal to the simulator (sim.h).
 *
 * Each process adds one to a key; the last one sets another, for which all wait.  The node of each
 * asks the top by the code of a daemon (rpc.h), and the top has the store of a launcher
 * (core/key_store.h).
 *
 * Invariants: each query of a living node is answered once; no two processes get the same sum; a
 * wait ends when all have added, and not before; if no node is lost, all processes meet each time;
 * the top keeps no query of a lost node, and none that is answered.
 */
#ifndef WIREUP_CLUSTER_SIM_STORE_H
#define WIREUP_CLUSTER_SIM_STORE_H

#include "cluster/sim_net.h"

struct op_answer;
struct op_store_query;

/* False: no memory. */
bool sim_store_open(struct sim *s);
void sim_store_close(struct sim *s);

/* The processes begin, at times chosen by the seed. */
void sim_store_begin(struct sim *s);
/* SIM_STORE: those of a node begin. */
void sim_store_happen(struct sim_node *n);

/* The top: a query of another node. */
void sim_store_query(struct sim *s, const struct op_store_query *q);
/* An answer of the top; false: it is no answer of the store. */
bool sim_store_answer(struct sim_node *n, const struct op_answer *a);

/* How many queries of that node are not answered. */
uint32_t sim_store_waits(const struct sim_node *n);
/* At the end: what is wrong with a living node; NULL: nothing. */
const char *sim_store_wrong(const struct sim_node *n);

#endif
