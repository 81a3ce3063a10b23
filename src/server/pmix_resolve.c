/* pmix_resolve.c - see pmix_resolve.h. */
#include "server/pmix_resolve.h"

#include "server/pmix_value.h"

enum { TEXT_MAX = 1 << 24 };

static bool on_node(const struct job *j, uint32_t rank, struct slice node)
{
    return node.len == 0 || slice_is(node, j->plan.nodes[j->plan.procs[rank].node].name);
}

void pmix_read_resolve_peers(struct command *c)
{
    struct pmsg_resolve_peers m;
    struct pmsg_peers peers = { .has = PMSG_BIT(peers, procs) };
    struct job *j;
    struct ppack w;

    if (pmsg_read_resolve_peers(&c->r, c->s->release, &m) != PTYPE_FINE)
        return;
    j = pmix_known_job_of(c, m.nspace);
    if (j)
        peers.procs.items = arena_array(&c->s->arena, j->plan.nprocs, sizeof(pmix_proc_t));
    for (uint32_t r = 0; peers.procs.items && r < j->plan.nprocs; r++) {
        if (on_node(j, r, m.node))
            pmix_set_proc(&peers.procs.items[peers.procs.n++], j->nspace, r);
    }
    if (peers.procs.n == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    pmsg_write_peers(&w, c->s->release, &peers);
    pmix_send_or_fail(c->s, c->tag, &w);
}

void pmix_read_resolve_node(struct command *c)
{
    struct pmsg_resolve_nodes m;
    struct pmsg_nodes nodes = { .has = PMSG_BIT(nodes, nodes) };
    struct buf names = BUF_NULL(TEXT_MAX);
    struct job *j;
    struct ppack w;

    if (pmsg_read_resolve_nodes(&c->r, c->s->release, &m) != PTYPE_FINE)
        return;
    j = pmix_known_job_of(c, m.nspace);
    for (uint32_t n = 0; j && n < j->plan.nnodes; n++) {
        if (n)
            buf_byte(&names, ',');
        buf_str(&names, j->plan.nodes[n].name);
    }
    nodes.nodes = slice_str(buf_cstr(&names));
    if (!j) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
    } else if (!nodes.nodes.ptr) {
        c->no_memory = true;
    } else {
        w = pmix_writer(c->s);
        pmsg_write_nodes(&w, c->s->release, &nodes);
        pmix_send_or_fail(c->s, c->tag, &w);
    }
    buf_free(&names);
}
