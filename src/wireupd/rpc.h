/* rpc.h - what nodes ask each other: cards, names, spawns, rounds, and who is missing.
 *
 * A daemon's questions carry its own tickets.  The launcher gives its server, or the planner of
 * spawns, a ticket of ours instead (MULTINODE_TICKET), and sends the answer back under theirs.
 */
#ifndef WIREUP_WIREUPD_RPC_H
#define WIREUP_WIREUPD_RPC_H

#include "wireupd/multinode.h"

/* EFFECT_MODEX_REQUEST, _CARDS, _REPLY, _NAMES, _ROUND or _SPAWN. */
void rpc_effect(struct multinode *s, const struct effect *e);

/* MSG_modex_request, _cards, _name, _spawn, _answer, _who, _round or _heard. */
void rpc_hear(struct multinode *s, const struct msg *m);

/* Launcher: everybody is asked who is missing; pending_query_heard() is told. */
void rpc_who(struct multinode *s, uint64_t ticket, struct slice job);

/* Launcher: the answer to a spawn that another node asked for.  False: it was not another's. */
bool rpc_answer(struct multinode *s, uint64_t ticket, const struct answer *a);

void rpc_free(struct multinode *s);

#endif
