/* rpc.h - requests between nodes and their answers: modex, names, spawns, collective queries, and
 * pending operations.
 *
 * A daemon's requests carry its own tickets.  The launcher gives its server, or the planner of
 * spawns, a ticket of ours instead (RPC_TICKET), and returns the answer under the daemon's.  A
 * request for modex values that goes to a daemon which is lost is answered here: it has none.
 * Others are answered by the core, which knows that its processes are gone.  An answer for a lost
 * daemon is dropped.
 */
#ifndef WIREUP_CLUSTER_RPC_H
#define WIREUP_CLUSTER_RPC_H

#include "cluster/core_calls.h"

struct op_allocate;
struct op_foreign_connect;
struct op_spawn;

/* Marks our own tickets, for requests of other nodes. */
#define RPC_TICKET (UINT64_C(1) << 62)

/* Functions of the host that requests call. */
struct rpc_calls {
    /* Launcher: plan that spawn; rpc_answer() follows with its ticket. */
    void (*spawn)(void *arg, const struct op_spawn *e);
    /* Appends this node's part of a report of pending operations; usage: a short look is enough. */
    void (*pending)(void *arg, struct slice job, bool usage, struct buf *part);
    /* Launcher: the part of another node, for rpc_query(). */
    void (*part)(void *arg, uint32_t from, uint64_t ticket, struct slice part);
    /* Appends what this node knows for a query (server/node_part.h). */
    void (*node_part)(void *arg, uint32_t parts, struct buf *part);
    /* What another node knows, for rpc_node_parts(); empty: it had no memory for it. */
    void (*node_part_here)(void *arg, uint32_t from, uint64_t number, struct slice part);
    /* Takes the stacks of this node's processes; rpc_part() follows. */
    void (*stacks)(void *arg, uint32_t from, uint64_t ticket, struct slice job);
    /* Launcher: reserve nodes; rpc_answer() follows with its ticket. */
    void (*allocate)(void *arg, const struct op_allocate *e);
    /* Launcher: connect with processes of another one; likewise. */
    void (*foreign_connect)(void *arg, const struct op_foreign_connect *e);
};

struct rpc {
    const struct core_context *context;
    struct rpc_calls calls;
    void *arg;             /* of these calls */
    struct list questions; /* struct question: requests of other nodes that wait for an answer */
    struct number_map by_ticket; /* the same by our tickets */
    struct list asked;           /* struct asked: ours for modex values */
    uint64_t last;               /* number of the last ticket of ours */
    struct buf scratch;
};

void rpc_open(struct rpc *r, const struct core_context *x, struct rpc_calls calls, void *arg);
void rpc_close(struct rpc *r); /* harmless twice, and on zeroed memory */

/* EFFECT_modex_request, _modex_reply, _modex_ahead, _reply, _names, _collective_query, _allocate,
 * _group_bootstrap, _foreign_connect, _store_query or _spawn. */
void rpc_effect(struct rpc *r, const struct effect *e);

/* MSG_modex_request, _modex_reply, _names, _group_bootstrap, _foreign_connect, _spawn_request,
 * _allocate, _answer, _who, _collective_query, _node_part_request, _node_part, _store_query or
 * _bundle (of the last and _answer). */
void rpc_receive(struct rpc *r, const struct msg *m, uint64_t now_ns);

enum rpc_query_kind {
    RPC_QUERY_PENDING, /* their pending operations */
    RPC_QUERY_USAGE,   /* the same, and of the processes no more than what they use */
    RPC_QUERY_STACKS   /* the stacks of their processes */
};

/* Launcher: asks all daemons; `part` brings the answers. */
void rpc_query(struct rpc *r, uint64_t ticket, struct slice job, enum rpc_query_kind kind);

/* The answer to a query. */
void rpc_part(struct rpc *r, uint32_t to, uint64_t ticket, struct slice part);

/* Asks all other nodes what they know; `node_part_here` brings the answers. */
void rpc_node_parts(struct rpc *r, uint64_t number, uint32_t parts);

/* Launcher: the answer to a request to spawn or to allocate.  False: the ticket is not one of
 * another node. */
bool rpc_answer(struct rpc *r, uint64_t ticket, const struct answer *a);

/* That daemon is lost: nobody waits for its answers. */
void rpc_lost(struct rpc *r, uint32_t position);

/* How many requests of that daemon wait for an answer. */
uint32_t rpc_questions(const struct rpc *r, uint32_t position);

#endif
