/* core_calls.h - what messages of other nodes call in the core of this node, and what all modules
 * that exchange such messages share.
 *
 * A host implements the calls by those of its server (session/server.h), which has them traced.
 */
#ifndef WIREUP_CLUSTER_CORE_CALLS_H
#define WIREUP_CLUSTER_CORE_CALLS_H

#include "cluster/node_map.h"
#include "cluster/send_queue.h"
#include "core/core.h"
#include "core/effect.h"

/* An exit event that the core has kept. */
typedef void core_exit_fn(void *arg, const struct msg_event *e);
/* Output of a process that the core has kept; empty: its end. */
typedef void core_output_fn(void *arg, uint32_t rank, uint16_t channel, struct slice bytes);

/* The jobs and ranks of all calls are known to the core. */
struct core_calls {
    /* Collectives: the blocks of all nodes, or why there are none. */
    void (*completed)(void *arg, const struct coll_id *id, enum answer_status status,
                      const struct slice *blocks, uint32_t n);
    /* Whether that rank has contributed to a collective or still can; and another node's answer. */
    bool (*round)(void *arg, struct job *j, uint32_t rank, const struct coll_id *id);
    void (*round_heard)(void *arg, struct job *j, uint32_t rank, const struct coll_id *id,
                        bool will);
    /* Modex: a request of another node, which EFFECT_modex_reply with that ticket answers; and
     * another node's answer. */
    void (*fetch)(void *arg, struct job *j, uint32_t rank, struct slice key, uint64_t timeout_ns,
                  uint64_t ticket, uint64_t now_ns);
    void (*fetched)(void *arg, struct job *j, uint32_t rank, enum answer_status status,
                    struct slice block);
    /* Launcher: a name; EFFECT_reply with that ticket answers. */
    void (*ask)(void *arg, struct job *j, const struct nameservice_query *q, uint64_t ticket,
                uint64_t now_ns);
    /* The launcher's answer to EFFECT_names or EFFECT_spawn. */
    void (*answer)(void *arg, uint64_t ticket, const struct answer *a);
    /* Jobs and their processes. */
    void (*proc_state)(void *arg, struct job *j, uint32_t rank, enum proc_event event, int code);
    void (*abort)(void *arg, struct job *j, uint32_t culprit, int code, struct slice reason);
    void (*tied)(void *arg, struct job *j, uint32_t other, bool on);
    void (*bonded)(void *arg, struct slice bond, bool on);
    void (*space_gone)(void *arg, struct job *j, struct slice name);
    /* Events. */
    void (*notify)(void *arg, const struct msg_event *e);
    void (*kept_exits)(void *arg, core_exit_fn *fn, void *fn_arg);
    /* Output: what has been kept of it; and output of another node for a subscriber here. */
    void (*recall)(void *arg, struct slice nspace, uint32_t rank, core_output_fn *fn, void *fn_arg);
    void (*overheard)(void *arg, const struct msg_iof_data *m);
};

struct core_context {
    const struct core *core;
    struct send_queue *queue;
    const struct node_map *map;
    struct core_calls calls;
    void *arg;
};

/* NULL: no such job. */
static inline struct job *core_context_job(const struct core_context *x, uint64_t id)
{
    return id < UINT32_MAX ? core_job(x->core, (uint32_t)id) : NULL;
}

/* The job, if it has that rank. */
static inline struct job *core_context_job_with(const struct core_context *x, uint64_t id,
                                                uint64_t rank)
{
    struct job *j = core_context_job(x, id);

    return j && rank < j->plan.nprocs ? j : NULL;
}

#endif
