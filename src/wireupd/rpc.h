/* rpc.h - requests between nodes: modex, names, spawns, collective queries, and who is missing.
 *
 * A daemon's requests carry its own tickets.  The launcher gives its server, or the spawn planner,
 * a ticket of ours instead (MULTINODE_TICKET), and returns the answer under the daemon's.
 */
#ifndef WIREUP_WIREUPD_RPC_H
#define WIREUP_WIREUPD_RPC_H

#include "wireupd/multinode.h"

struct effect;

/* EFFECT_modex_request, _modex_reply, _reply, _names, _collective_query or _spawn. */
void rpc_effect(struct multinode *s, const struct effect *e);

/* MSG_modex_request, _modex_reply, _name, _spawn, _answer, _who, _collective_query or _heard. */
void rpc_hear(struct multinode *s, const struct msg *m);

/* Launcher: asks all daemons who is missing; pending_query_heard() gets the answers. */
void rpc_who(struct multinode *s, uint64_t ticket, struct slice job);

/* Launcher: the answer to a spawn request of another node.  False: the ticket is not such a
 * request. */
bool rpc_answer(struct multinode *s, uint64_t ticket, const struct answer *a);

void rpc_free(struct multinode *s);

#endif
