/* dispatch.h - the part of one node in jobs over several nodes: effects of its core become messages
 * to other nodes, messages of other nodes become calls of its core.
 *
 * Sans-IO: the daemon (daemon/cluster_io.h), the simulator (sim.h) and tests (tests/cluster.h) run
 * it.  Decided here: to which node a request goes and to whom its answer returns (rpc.h),
 * who gets an event (events.h) or output (iof_forward.h), which messages are sent at once and which
 * are collected (send_queue.h), which nodes take part in a collective (collectives.h), which
 * changes of jobs are announced (job_states.h).
 */
#ifndef WIREUP_CLUSTER_DISPATCH_H
#define WIREUP_CLUSTER_DISPATCH_H

#include "cluster/core_calls.h"
#include "cluster/events.h"
#include "cluster/iof_forward.h"
#include "cluster/rpc.h"

struct dispatch_config {
    const struct core *core; /* where jobs are looked up */
    struct router *router;   /* both may be opened later */
    struct membership *member;
    uint32_t me;
    const struct log *log;
    struct core_calls core_calls;
    void *core_arg; /* of these calls */
    struct rpc_calls rpc_calls;
    /* After messages about processes of that job. */
    void (*on_proc_states)(void *arg, struct job *j);
    /* dispatch_tick() is wanted after that time. */
    void (*wake)(void *arg, uint32_t ms);
    void *arg; /* of the other calls */
};

struct dispatch {
    struct dispatch_config config;
    struct core_context context;
    struct send_queue queue;
    struct node_map map;
    struct rpc rpc;
    struct events events;
    struct iof_forward iof;
};

/* Its address must not change. */
void dispatch_open(struct dispatch *d, const struct dispatch_config *config);
void dispatch_close(struct dispatch *d); /* harmless twice, and on zeroed memory */

/* An effect of the core that concerns other nodes.  False: it is none of these. */
bool dispatch_effect(struct dispatch *d, const struct effect *e, uint64_t now_ns);

/* A message of another node; of a lost one it is dropped.  False: it does not concern the core; the
 * host handles it. */
bool dispatch_message(struct dispatch *d, const struct msg *m, uint64_t now_ns);

/* The end of every event, and the time of the last `wake`. */
void dispatch_settle(struct dispatch *d);
void dispatch_tick(struct dispatch *d);

/* That daemon is lost. */
void dispatch_lost(struct dispatch *d, uint32_t position);

#endif
