/* core_calls.h - functions of this node's core that messages of other nodes call, and the
 * context that all modules with such messages share.
 *
 * A host implements the calls by its server (server/server.h).
 */
#ifndef WIREUP_CLUSTER_CORE_CALLS_H
#define WIREUP_CLUSTER_CORE_CALLS_H

#include "cluster/node_map.h"
#include "cluster/send_queue.h"
#include "core/core.h"

struct answer;
struct effect;
struct input;
struct op_event;

/* An exit event that the core has kept. */
typedef void core_exit_fn(void *arg, const struct op_event *e);
/* Output of a process that the core has kept; empty: its end. */
typedef void core_output_fn(void *arg, uint32_t rank, uint16_t channel, struct slice bytes);

struct core_calls {
    /* As server_deliver(): a message of another node, as an input of the core.  False: it names
     * a process or job that is not here. */
    bool (*deliver)(void *arg, const struct input *in);
    /* The exit events that have been kept. */
    void (*kept_exits)(void *arg, core_exit_fn *fn, void *fn_arg);
    /* The output that has been kept of a rank, or (JOB_NO_RANK) of all of the job. */
    void (*recall)(void *arg, struct slice nspace, uint32_t rank, core_output_fn *fn, void *fn_arg);
};

struct core_context {
    const struct core *core;
    struct send_queue *queue;
    const struct node_map *map;
    struct core_calls calls;
    void *arg;
};

/* NULL: no such job. */
static inline struct job *core_context_job(const struct core_context *x, uint32_t id)
{
    return core_job(x->core, id);
}

/* A message of another node, as an input; by the row of both. */
bool core_context_deliver(const struct core_context *x, const struct msg *m, uint64_t now_ns);

#endif
