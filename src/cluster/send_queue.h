/* send_queue.h - messages of this node to other nodes, with process states in batches.
 *
 * Messages to one daemon go by the router, those to everybody by the membership.  Process states of
 * one job are collected until another message has to go after them, one of them is urgent, or a
 * while has passed.
 */
#ifndef WIREUP_CLUSTER_SEND_QUEUE_H
#define WIREUP_CLUSTER_SEND_QUEUE_H

#include "cluster/bundles.h"
#include "cluster/membership.h"
#include "core/core.h"

struct msg;
struct op_proc_state;

struct send_queue_config {
    const struct log *log;
    const struct core *core; /* its jobs tell which process states are urgent */
    struct router *router;
    struct membership *member;
    /* send_queue_tick() is wanted after that time. */
    void (*wake)(void *arg, uint32_t ms);
    void *arg;
};

struct send_queue {
    struct send_queue_config config;
    uint32_t job; /* of the process states that are not yet sent: those in the buffers below */
    struct buf ranks, events, codes, pids;
    struct bundles bundles;
    bool urgent; /* a request may wait for one of those processes */
    bool woken;  /* `wake` has been called, and its time has not come */
};

void send_queue_open(struct send_queue *q, const struct send_queue_config *config);
void send_queue_close(struct send_queue *q); /* harmless twice, and on zeroed memory */

/* To a position, or to all (MSG_EVERYBODY); after the batch.  A message that cannot be sent is a
 * loss that is reported as such elsewhere; here it is only logged. */
void send_queue_to(struct send_queue *q, struct msg *m, uint32_t to);

/* The same for queries of the job's store and their answers (bundles.h): at the end of the event,
 * or before the next other message. */
void send_queue_bundled(struct send_queue *q, struct msg *m, uint32_t to);

/* A process state, for the batch. */
void send_queue_state(struct send_queue *q, const struct op_proc_state *e);

/* The end of every event: bundles are sent, the batch if it is urgent, and a while later if it is
 * not. */
void send_queue_settle(struct send_queue *q);
void send_queue_tick(struct send_queue *q);

/* We are the launcher. */
static inline bool send_queue_is_root(const struct send_queue *q)
{
    return q->config.router->config.me == 0;
}

static inline bool send_queue_is_lost(const struct send_queue *q, uint32_t position)
{
    return router_is_lost(q->config.router, position);
}

#endif
