/* server_admission.c - see server_admission.h.  Reading order: clients, tools, both. */
#include "lib/pmix/server/server_admission.h"

#include <stdio.h>
#include <string.h>

#include "lib/pmix/server/server_ask.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_identity.h"
#include "lib/pmix/server/server_space.h"
#include "server/pmix.h"
#include "wire/pmix_greeting.h"

static struct peer *peer_of(struct pserver *s, uint64_t ticket)
{
    uint32_t id = (uint32_t)(ticket >> 32);

    return map_get(&s->server.by_id, slice_mem(&id, sizeof id));
}

static void refuse(struct pserver *s, struct peer *p, const char *nspace, uint32_t rank,
                   const char *why)
{
    log_warn(&s->log, "refused a connection for rank %u of %.200s: %s", rank, nspace, why);
    p->closing = true;
}

/* The host has answered about the connection: it is admitted or refused. */
static void admitted(struct ask *a, pmix_status_t status)
{
    struct peer *p = peer_of(a->s, a->ticket);
    struct answer answer;

    if (p && status != PMIX_SUCCESS && status != PMIX_ERR_NOT_SUPPORTED)
        refuse(a->s, p, a->from.nspace, a->from.rank, "the host has refused it");
    answer =
        ANSWER_TO(identify, p && !p->closing ? ANSWER_OK : ANSWER_FAILED, .host_status = status);
    server_answer(&a->s->server, a->ticket, &answer);
}

/* The older of the two functions never had a waiter: hosts (Slurm's) return and do not call
 * back. */
static pmix_status_t call_connected(struct ask *a)
{
    pmix_status_t rc;

    if (a->s->module.client_connected2)
        return a->s->module.client_connected2(&a->from, a->object, a->infos, a->ninfos, ask_on_op,
                                              a);
    rc = a->s->module.client_connected(&a->from, a->object, NULL, NULL);
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

static const struct ask_kind connected_kind = { .call = call_connected };

static enum answer_status admit_client(struct pserver *s, struct peer *p, const char *nspace,
                                       uint32_t rank, uint64_t ticket)
{
    struct nspace *n = nspace_find(s, nspace);
    struct local *l = n ? nspace_local(n, rank) : NULL;
    struct job *j = l ? nspace_job(s, n) : NULL;
    struct ask *a;

    if (!j || rank >= j->plan.nprocs) {
        refuse(s, p, nspace, rank, "the host has not registered this process");
        return ANSWER_NOT_FOUND;
    }
    if (l->uid != sconn_cred(p)->uid) {
        refuse(s, p, nspace, rank, "it belongs to another user");
        return ANSWER_RESERVED;
    }
    if (!sconn_may_join(s, p, j, rank)) {
        refuse(s, p, nspace, rank,
               "this process is already connected, and the new connection is not from it or a "
               "child of it");
        return ANSWER_RESERVED;
    }
    p->job = j;
    p->rank = rank;
    if (!s->module.client_connected2 && !s->module.client_connected)
        return ANSWER_OK;
    a = ask_new(s, &connected_kind, ticket);
    if (!a)
        return ANSWER_NO_MEMORY;
    ask_from(a, p);
    a->then = admitted;
    if (!identity_prove(a, p)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    ask_go(a);
    return ANSWER_LATER;
}

static void tool_admitted(struct ask *a, pmix_status_t status)
{
    struct peer *p = peer_of(a->s, a->ticket);
    struct nspace *n = NULL;
    struct answer answer;

    if (p && status == PMIX_SUCCESS && a->name.nspace[0])
        n = nspace_of_tool(a->s, a->name.nspace, a->name.rank);
    if (p && n) {
        p->job = n->job;
        p->rank = a->name.rank;
    } else if (p) {
        refuse(a->s, p, a->name.nspace, a->name.rank, "this tool is not allowed");
    }
    answer = ANSWER_TO(identify, n ? ANSWER_OK : ANSWER_FAILED, .host_status = status);
    server_answer(&a->s->server, a->ticket, &answer);
}

static pmix_status_t call_tool(struct ask *a)
{
    if (a->s->tool_connected2)
        return a->s->tool_connected2(a->infos, a->ninfos, ask_on_tool, a);
    a->s->module.tool_connected(a->infos, a->ninfos, ask_on_tool, a);
    return PMIX_SUCCESS;
}

static const struct ask_kind tool_kind = { .call = call_tool };

/* The tool's own infos, and ours about it. */
static bool describe_tool(struct ask *a, const struct peer *p, const struct request_identify *rq)
{
    struct pmix_dialect d = pmix_dialect(p);
    struct punpack r;

    punpack_init(&r, rq->description, d.as);
    r.described = d.described;
    if (rq->description.len)
        a->infos = punpack_list(&r, PMIX_INFO, &a->ninfos);
    if (!identity_prove(a, p))
        return false;
    if (a->name.nspace[0] &&
        (!ask_add_info(&a->infos, &a->ninfos, PMIX_NSPACE, a->name.nspace, PMIX_STRING) ||
         !ask_add_info(&a->infos, &a->ninfos, PMIX_RANK, &a->name.rank, PMIX_PROC_RANK)))
        return false;
    return ask_add_info(&a->infos, &a->ninfos, PMIX_VERSION_INFO, d.version, PMIX_STRING);
}

static enum answer_status admit_tool(struct pserver *s, struct peer *p,
                                     const struct request_identify *rq, const char *nspace,
                                     uint64_t ticket)
{
    struct ask *a;

    if (sconn_cred(p)->uid != s->uid) {
        refuse(s, p, nspace, rq->rank, "a tool of another user");
        return ANSWER_RESERVED;
    }
    if (!s->serves_tools && !s->module.tool_connected && !s->tool_connected2) {
        refuse(s, p, nspace, rq->rank, "this server does not accept tools");
        return ANSWER_RESERVED;
    }
    a = ask_new(s, &tool_kind, ticket);
    if (!a)
        return ANSWER_NO_MEMORY;
    PMIx_Load_procid(&a->name, nspace, rq->rank);
    a->then = tool_admitted;
    if (!describe_tool(a, p, rq)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (s->module.tool_connected || s->tool_connected2) {
        ask_go(a);
        return ANSWER_LATER;
    }
    if (!a->name.nspace[0])
        snprintf(a->name.nspace, sizeof a->name.nspace, "%.200s-tool-%u", s->me.nspace,
                 ++s->next_tool);
    ask_answer(a, PMIX_SUCCESS);
    ask_free(a);
    return ANSWER_LATER;
}

enum answer_status admission_ask(struct pserver *s, struct peer *p,
                                 const struct request_identify *rq, uint64_t ticket)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    struct nspace *n;

    if (rq->nspace.len > PMIX_MAX_NSLEN)
        return ANSWER_NOT_FOUND;
    if (rq->nspace.len)
        memcpy(nspace, rq->nspace.ptr, rq->nspace.len);
    n = nspace_find(s, nspace);
    if (rq->tool == HELLO_CLIENT || (n && !n->is_tool && nspace_local(n, rq->rank)))
        return admit_client(s, p, nspace, rq->rank, ticket);
    return admit_tool(s, p, rq, nspace, ticket);
}
