/* pmix_start.c - see pmix_start.h. */
#include "server/pmix_start.h"

#include "core/core.h"
#include "server/pmix_info.h"

/* ---- the first command ----------------------------------------------------------------------- */

static uint32_t local_procs(const struct job *j)
{
    return j->spread && j->here < j->plan.nnodes ? j->plan.nodes[j->here].nprocs : j->plan.nprocs;
}

/* Discovering the topology costs an MPI process as much as a third of its start.  With several of
 * them, the server does it once for all; for two or three it would be no gain.  (Clients that use
 * v3 read nothing of it.) */
enum { TOPOLOGY_FROM = 4 };

bool pmix_wants_topology(const struct command *c)
{
    const struct peer *p = c->s->base.peer;
    bool gains = p->core->has_topology && local_procs(p->job) >= TOPOLOGY_FROM;

    return (gains || p->core->shares_topology) && !p->job->topology_asked &&
           c->s->as->level >= PTYPE_V4;
}

void pmix_keep_topology(struct job *j, const struct answer *a)
{
    struct slice topology = answer_to_job_attr(a).value;

    if (j->topology_asked || (a->status == ANSWER_OK && topology.len == 0)) /* was not asked */
        return;
    j->topology_asked = true;
    if (a->status == ANSWER_OK)
        buf_slice_put(&j->topology, topology);
}

void pmix_put_topology(struct ppack *w, struct job *j)
{
    const char *text = buf_len(&j->topology) ? buf_cstr(&j->topology) : NULL;
    pmix_value_t v = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    if (!text || w->as->level < PTYPE_V4)
        return;
    ppack_kval(w, PMIX_HWLOC_XML_V2, &v);
    ppack_kval(w, PMIX_LOCAL_TOPO, &v);
}

void pmix_reply_req(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct job *j = s->base.peer->job;
    struct ppack w = pmix_writer(s);
    struct slice info = pmix_job_info(j, s->as, s->described);

    if (info.len == 0) {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
        return;
    }
    pmix_keep_topology(j, a);
    pmsg_write_job_info(&w, s->release,
                        &(struct pmsg_job_info){ .has = PMSG_BIT(job_info, values),
                                                 .nspace = slice_str(j->nspace),
                                                 .values = info });
    if (s->base.peer->rank < j->plan.nprocs)
        pmix_put_own_info(&w, j, s->base.peer->rank);
    pmix_put_topology(&w, j);
    pmix_put_stops(&w, j, s->base.peer->rank);
    if (j->sessions) {
        core_place(s->base.peer->core, j, JOB_NO_RANK);
        pmix_put_places(&w, j, PMIX_RANK_WILDCARD);
    }
    pmix_send(s, p->tag);
}

void pmix_read_req(struct command *c)
{
    struct pmix_pending p = { .tag = c->tag, .cmd = CMD_REQ };

    if (pmix_wants_topology(c)) {
        pmix_ask(c, REQUEST_WITH(job_attr, .key = SLICE(CORE_TOPOLOGY)));
        return;
    }
    pmix_reply_req(c->s, &p, &(struct answer){ .status = ANSWER_OK });
}

/* ---- the end --------------------------------------------------------------------------------- */

void pmix_read_abort(struct command *c)
{
    const struct member *members;
    struct pmsg_abort m;

    if (pmsg_read_abort(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (slice_is(m.message, "N/A")) /* Open MPI's text for no message */
            m.message = SLICE_NULL;
        members = pmix_keep_members(c, m.procs.items, m.procs.n);
        c->no_memory = !members;
        if (members)
            pmix_ask(c, REQUEST_WITH(abort, .code = m.code, .message = m.message,
                                     .members = members, .count = (uint32_t)m.procs.n));
    }
    pmsg_free_abort(&m, NULL);
}

void pmix_read_finalize(struct command *c)
{
    pmix_ask(c, (struct request){ .kind = REQ_finalize });
}
