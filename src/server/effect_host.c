/* effect_host.c - see effect_host.h. */
#include "server/effect_host.h"

#include "core/effect.h"
#include "core/input.h"
#include "server/server_priv.h"

void effect_host_init(struct effect_host *h, struct server *s, const struct effect_handlers *table,
                      void *arg)
{
    *h = (struct effect_host){ .server = s, .handlers = table, .arg = arg, .due_ns = UINT64_MAX };
}

static void refuse_ticket(struct server *s, uint64_t ticket)
{
    if (ticket)
        server_answer(s, ticket, &(struct answer){ .status = ANSWER_NOT_FOUND });
}

static void refuse_tool(struct server *s, uint64_t ticket)
{
    server_deliver(
        s, INPUT(tool_reply, .ticket = ticket, .job = JOB_NO_RANK, .status = ANSWER_RESERVED));
}

/* Nobody carries it out: a process that waits for it is told. */
static void refuse(struct effect_host *h, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_job_attr: refuse_ticket(h->server, e->u.job_attr.ticket); break;
    case EFFECT_spawn: refuse_ticket(h->server, e->u.spawn.ticket); break;
    case EFFECT_names: refuse_ticket(h->server, e->u.names.ticket); break;
    case EFFECT_store_query: refuse_ticket(h->server, e->u.store_query.ticket); break;
    case EFFECT_credential: refuse_ticket(h->server, e->u.credential.ticket); break;
    case EFFECT_allocate: refuse_ticket(h->server, e->u.allocate.ticket); break;
    case EFFECT_group_bootstrap: refuse_ticket(h->server, e->u.group_bootstrap.ticket); break;
    case EFFECT_foreign_connect: refuse_ticket(h->server, e->u.foreign_connect.ticket); break;
    case EFFECT_node_parts: refuse_ticket(h->server, e->u.node_parts.ticket); break;
    case EFFECT_input: refuse_ticket(h->server, e->u.input.ticket); break;
    case EFFECT_tool_connect: refuse_tool(h->server, e->u.tool_connect.ticket); break;
    default: break; /* nobody waits for it */
    }
}

void effect_host_carry_out(struct effect_host *h, struct effect *e)
{
    effect_fn *carry_out = h->handlers->kinds ? h->handlers->kinds[e->kind] : NULL;

    if (!carry_out)
        carry_out = h->handlers->others;
    if (e->kind == EFFECT_answer)
        server_effect_answer(h->server, e);
    else if (carry_out)
        carry_out(h->arg, e);
    else
        refuse(h, e);
    effect_drop(e);
}

static void write_all(struct effect_host *h)
{
    struct peer *p;

    while (h->handlers->write && (p = server_dirty(h->server)))
        h->handlers->write(h->arg, p);
}

/* What is due meanwhile is done in the next turn. */
void effect_host_flush(struct effect_host *h)
{
    write_all(h);
    if (h->handlers->ring_at && server_due(h->server) < h->due_ns) {
        h->due_ns = UINT64_MAX;
        h->handlers->ring_at(h->arg, server_due(h->server));
    }
}

/* Most turns change no deadline. */
static void keep_time(struct effect_host *h)
{
    const struct effect_handlers *t = h->handlers;

    if (!t->ring_at || server_due(h->server) == h->due_ns)
        return;
    h->due_ns = server_tick(h->server, t->now_ns(h->arg));
    t->ring_at(h->arg, h->due_ns);
}

void effect_host_ring(struct effect_host *h)
{
    h->due_ns = UINT64_MAX;
}

static bool has_work(const struct effect_host *h)
{
    return h->server->core.effects.count || (h->handlers->write && !list_empty(&h->server->dirty));
}

void effect_host_settle(struct effect_host *h)
{
    struct effect e;

    do {
        while (server_effect_next(h->server, &e))
            effect_host_carry_out(h, &e);
        if (h->handlers->drained)
            h->handlers->drained(h->arg);
        write_all(h);
        keep_time(h);
    } while (has_work(h));
}
