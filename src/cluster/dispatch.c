/* dispatch.c - see dispatch.h. */
#include "cluster/dispatch.h"

#include "cluster/collectives.h"
#include "cluster/job_states.h"
#include "cluster/msg.h"
#include "core/effect.h"

bool dispatch_effect(struct dispatch *d, const struct effect *e, uint64_t now_ns)
{
    switch (e->kind) {
    case EFFECT_contribute:
        collectives_contribute(&d->context, e->u.contribute.contribution, now_ns);
        return true;
    case EFFECT_modex_request:
    case EFFECT_modex_reply:
    case EFFECT_modex_ahead:
    case EFFECT_reply:
    case EFFECT_names:
    case EFFECT_store_query:
    case EFFECT_collective_query:
    case EFFECT_collective_reply:
    case EFFECT_allocate:
    case EFFECT_group_bootstrap:
    case EFFECT_foreign_connect:
    case EFFECT_spawn: rpc_effect(&d->rpc, e); return true;
    case EFFECT_event:
    case EFFECT_subscribe_exits: events_effect(&d->events, e); return true;
    case EFFECT_iof_subscribe: iof_forward_effect(&d->iof, e); return true;
    case EFFECT_proc_state:
    case EFFECT_abort:
    case EFFECT_job_connect:
    case EFFECT_kvs_delete:
    case EFFECT_pset_define:
    case EFFECT_proc_connect: job_states_effect(&d->context, e); return true;
    default: return false;
    }
}

static void on_states(struct dispatch *d, const struct op_proc_states *m)
{
    struct job *changed = job_states_receive(&d->context, m);

    if (changed && d->config.on_proc_states)
        d->config.on_proc_states(d->config.arg, changed);
}

/* A message from a lost daemon that arrives after its loss comes too late: the core has been told
 * that its processes are gone. */
bool dispatch_message(struct dispatch *d, const struct msg *m, uint64_t now_ns)
{
    if (router_is_lost(d->config.router, m->from))
        return true;
    switch (m->kind) {
    case MSG_modex_request:
    case MSG_names:
    case MSG_store_query:
    case MSG_bundle:
    case MSG_spawn_request:
    case MSG_allocate:
    case MSG_group_bootstrap:
    case MSG_foreign_connect:
    case MSG_answer:
    case MSG_who:
    case MSG_node_part_request:
    case MSG_node_part:
    case MSG_modex_reply:
    case MSG_collective_query: rpc_receive(&d->rpc, m, now_ns); return true;
    case MSG_subscribe_exits: events_receive(&d->events, m->from); return true;
    case MSG_iof_subscribe: iof_forward_receive(&d->iof, m->from, &m->u.iof_subscribe); return true;
    case MSG_proc_states: on_states(d, &m->u.proc_states); return true;
    case MSG_modex_ahead:
    case MSG_collective_reply:
    case MSG_event:
    case MSG_iof_data:
    case MSG_abort:
    case MSG_job_connect:
    case MSG_kvs_delete:
    case MSG_pset_define:
    case MSG_proc_connect: core_context_deliver(&d->context, m, now_ns); return true;
    default: return false;
    }
}

void dispatch_settle(struct dispatch *d)
{
    send_queue_settle(&d->queue);
}

void dispatch_tick(struct dispatch *d)
{
    send_queue_tick(&d->queue);
}

void dispatch_lost(struct dispatch *d, uint32_t position)
{
    rpc_lost(&d->rpc, position);
    collectives_lost(&d->context, position);
    events_lost(&d->events, position);
    iof_forward_lost(&d->iof, position);
}

void dispatch_open(struct dispatch *d, const struct dispatch_config *config)
{
    struct send_queue_config q = { .log = config->log,
                                   .core = config->core,
                                   .router = config->router,
                                   .member = config->member,
                                   .wake = config->wake,
                                   .arg = config->arg };

    d->config = *config;
    send_queue_open(&d->queue, &q);
    node_map_open(&d->map, config->me);
    d->context = (struct core_context){ .core = config->core,
                                        .queue = &d->queue,
                                        .map = &d->map,
                                        .calls = config->core_calls,
                                        .arg = config->core_arg };
    rpc_open(&d->rpc, &d->context, config->rpc_calls, config->arg);
    events_open(&d->events, &d->context);
    iof_forward_open(&d->iof, &d->context);
}

void dispatch_close(struct dispatch *d)
{
    rpc_close(&d->rpc);
    events_close(&d->events);
    iof_forward_close(&d->iof);
    node_map_close(&d->map);
    send_queue_close(&d->queue);
}
