/* server_command.c - commands of clients that the host carries out.
 *
 * Each is a row: how its message is read, and how the host is called.  Reading order: admission;
 * commands by their numbers; requests of PMI-1 and PMI-2 clients; events. */
#include "lib/pmix/server/server_command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/request.h"
#include "lib/pmix/server/server_ask.h"
#include "lib/pmix/server/server_cleanup.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/values/value.h"
#include "server/pmix.h"
#include "wire/openmpi_help.h"
#include "wire/pmix_message.h"
#include "wire/pmix_hello.h"

#define MODULE(a) ((a)->s->module)

static pmix_info_t *read_infos(struct punpack *r, size_t *n_p)
{
    return punpack_list(r, PMIX_INFO, n_p);
}

/* ---- identity of the requester --------------------------------------------------------------- */

/* Every call of the host's functions carries user and group of the requester (PMIX_USERID,
 * PMIX_GRPID), as proven: the user by the kernel, the group by the host, which has started the
 * process, or by the kernel.  What a client claims about itself is dropped. */

static bool is_claim(const pmix_info_t *i)
{
    return PMIx_Check_key(i->key, PMIX_USERID) || PMIx_Check_key(i->key, PMIX_GRPID);
}

static void strip_claims(pmix_info_t *infos, size_t *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (is_claim(&infos[i])) {
            PMIx_Info_destruct(&infos[i]);
            memset(&infos[i], 0, sizeof infos[i]); /* (a monitor is read by its address only) */
            continue;
        }
        if (kept != i)
            infos[kept] = infos[i];
        kept++;
    }
    *n = kept;
}

static void strip_all_claims(struct ask *a)
{
    strip_claims(a->infos, &a->ninfos);
    strip_claims(a->directives, &a->ndirectives);
    for (size_t i = 0; i < a->napps; i++)
        strip_claims(a->apps[i].info, &a->apps[i].ninfo);
    for (size_t i = 0; i < a->nqueries; i++)
        strip_claims(a->queries[i].qualifiers, &a->queries[i].nqual);
}

static bool add_identity(pmix_info_t **list, size_t *n, const struct peer_cred *c)
{
    uint32_t uid = c->uid, gid = c->gid;

    return ask_add_info(list, n, PMIX_USERID, &uid, PMIX_UINT32) &&
           (!c->has_gid || ask_add_info(list, n, PMIX_GRPID, &gid, PMIX_UINT32));
}

/* A registered process has the group that the host registered it with. */
static struct peer_cred identity_of(const struct pserver *s, const struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    const struct local *l = n ? nspace_local(n, p->rank) : NULL;
    struct peer_cred *c = sconn_cred(p);

    if (n && !n->is_tool && l) {
        c->gid = l->gid;
        c->has_gid = true;
    } else if (!c->has_gid) {
        peer_cred_find_process(c, 0);
    }
    return *c;
}

/* False: no memory. */
static bool prove(struct ask *a, const struct peer *p)
{
    struct peer_cred c = identity_of(a->s, p);
    bool good = true;

    strip_all_claims(a);
    for (size_t i = 0; i < a->nqueries && good; i++)
        good = add_identity(&a->queries[i].qualifiers, &a->queries[i].nqual, &c);
    if (a->command == CMD_LOG || a->command == CMD_MONITOR)
        return add_identity(&a->directives, &a->ndirectives, &c);
    if (a->command == CMD_QUERY)
        return good;
    return good && add_identity(&a->infos, &a->ninfos, &c);
}

/* ---- admission ------------------------------------------------------------------------------- */

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

    if (p && status != PMIX_SUCCESS && status != PMIX_ERR_NOT_SUPPORTED)
        refuse(a->s, p, a->from.nspace, a->from.rank, "the host has refused it");
    server_answer(&a->s->server, a->ticket,
                  &(struct answer){ .status = p && !p->closing ? ANSWER_OK : ANSWER_FAILED,
                                    .number = status });
}

/* The older of the two functions never had a waiter: hosts (Slurm's) return and do not call
 * back. */
static pmix_status_t call_connected(struct ask *a)
{
    pmix_status_t rc;

    if (MODULE(a).client_connected2)
        return MODULE(a).client_connected2(&a->from, a->object, a->infos, a->ninfos, ask_on_op, a);
    rc = MODULE(a).client_connected(&a->from, a->object, NULL, NULL);
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
    if (!prove(a, p)) {
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

    if (p && status == PMIX_SUCCESS && a->name.nspace[0])
        n = nspace_of_tool(a->s, a->name.nspace, a->name.rank);
    if (p && n) {
        p->job = n->job;
        p->rank = a->name.rank;
    } else if (p) {
        refuse(a->s, p, a->name.nspace, a->name.rank, "this tool is not allowed");
    }
    server_answer(&a->s->server, a->ticket,
                  &(struct answer){ .status = n ? ANSWER_OK : ANSWER_FAILED, .number = status });
}

static pmix_status_t call_tool(struct ask *a)
{
    if (a->s->tool_connected2)
        return a->s->tool_connected2(a->infos, a->ninfos, ask_on_tool, a);
    MODULE(a).tool_connected(a->infos, a->ninfos, ask_on_tool, a);
    return PMIX_SUCCESS;
}

static const struct ask_kind tool_kind = { .call = call_tool };

/* The tool's own infos, and what we know of it. */
static bool describe_tool(struct ask *a, const struct peer *p, const struct request_identify *rq)
{
    struct pmix_dialect d = pmix_dialect(p);
    struct punpack r;

    punpack_init(&r, rq->description, d.as);
    r.described = d.described;
    if (rq->description.len)
        a->infos = read_infos(&r, &a->ninfos);
    if (!prove(a, p))
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

static enum answer_status admit(struct pserver *s, struct peer *p,
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

/* ---- commands -------------------------------------------------------------------------------- */

#define NEEDS(a, member)                                                                           \
    if (!MODULE(a).member)                                                                         \
    return PMIX_ERR_NOT_SUPPORTED

/* What the message owns passes to the ask. */
#define TAKE(items_p, n_p, list)                                                                   \
    (*(items_p) = (list).items, *(n_p) = (list).n, (list).items = NULL, (list).n = 0)

static void read_procs_infos(struct ask *a, struct punpack *r)
{
    struct pmsg_procs_infos m;

    pmsg_read_procs_infos(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_procs_infos(&m, NULL);
}

static void read_only_infos(struct ask *a, struct punpack *r)
{
    struct pmsg_infos m;

    pmsg_read_infos(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_infos(&m, NULL);
}

/* A text of the ask's own; NULL stays NULL. */
static void keep_text(struct ask *a, struct punpack *r, struct slice text)
{
    a->text = text.ptr ? strndup(text.ptr, text.len) : NULL;
    if (text.ptr && !a->text)
        r->error = PTYPE_NO_MEMORY;
}

static void read_abort(struct ask *a, struct punpack *r)
{
    struct pmsg_abort m;

    pmsg_read_abort(r, a->release, &m);
    a->status = m.code;
    keep_text(a, r, m.message);
    TAKE(&a->procs, &a->nprocs, m.procs);
    pmsg_free_abort(&m, NULL);
}

static pmix_status_t call_abort(struct ask *a)
{
    NEEDS(a, abort);
    return MODULE(a).abort(&a->from, a->object, a->status, a->text, a->procs, a->nprocs, ask_on_op,
                           a);
}

static void read_nothing(struct ask *a, struct punpack *r)
{
    (void)a;
    (void)r;
}

static pmix_status_t call_finalized(struct ask *a)
{
    if (!MODULE(a).client_finalized)
        return PMIX_OPERATION_SUCCEEDED;
    return MODULE(a).client_finalized(&a->from, a->object, ask_on_op, a);
}

/* The user id that the client claims is ignored. */
static void read_publish(struct ask *a, struct punpack *r)
{
    struct pmsg_publish m;

    pmsg_read_publish(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_publish(&m, NULL);
}

static pmix_status_t call_publish(struct ask *a)
{
    NEEDS(a, publish);
    return MODULE(a).publish(&a->from, a->infos, a->ninfos, ask_on_op, a);
}

static void read_keys(struct ask *a, struct punpack *r)
{
    struct pmsg_keys m;

    pmsg_read_keys(r, a->release, &m);
    for (size_t i = 0; i < m.keys.n; i++) {
        struct slice s = m.keys.items[i];
        char *key = s.ptr ? strndup(s.ptr, s.len) : NULL;
        if (key)
            PMIx_Argv_append_nosize(&a->keys, key);
        free(key);
    }
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_keys(&m, NULL);
}

static pmix_status_t call_lookup(struct ask *a)
{
    NEEDS(a, lookup);
    return MODULE(a).lookup(&a->from, a->keys, a->infos, a->ninfos, ask_on_lookup, a);
}

static pmix_status_t call_unpublish(struct ask *a)
{
    NEEDS(a, unpublish);
    return MODULE(a).unpublish(&a->from, a->keys, a->infos, a->ninfos, ask_on_op, a);
}

static void read_spawn(struct ask *a, struct punpack *r)
{
    struct pmsg_spawn m;

    pmsg_read_spawn(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    TAKE(&a->apps, &a->napps, m.apps);
    pmsg_free_spawn(&m, NULL);
}

/* A tool gets its children's output unless it declines; others only on request. */
static void follow_children(struct ask *a, bool is_tool)
{
    static const struct {
        const char *key;
        pmix_iof_channel_t channel;
    } all[] = { { PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL },
                { PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL },
                { PMIX_FWD_STDDIAG, PMIX_FWD_STDDIAG_CHANNEL } };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool wanted = is_tool;
        for (size_t i = 0; i < a->ninfos; i++) {
            if (PMIx_Check_key(a->infos[i].key, all[k].key))
                wanted = PMIx_Value_true(&a->infos[i].value) != PMIX_BOOL_FALSE;
        }
        a->channels |= wanted ? all[k].channel : 0;
    }
    ask_add_info(&a->infos, &a->ninfos, is_tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT,
                 NULL, PMIX_BOOL);
}

static pmix_status_t call_spawn(struct ask *a)
{
    NEEDS(a, spawn);
    return MODULE(a).spawn(&a->from, a->infos, a->ninfos, a->apps, a->napps, ask_on_spawn, a);
}

static void read_query(struct ask *a, struct punpack *r)
{
    struct pmsg_query m;

    pmsg_read_query(r, a->release, &m);
    TAKE(&a->queries, &a->nqueries, m.queries);
    pmsg_free_query(&m, NULL);
}

static pmix_status_t call_query(struct ask *a)
{
    NEEDS(a, query);
    return MODULE(a).query(&a->from, a->queries, a->nqueries, ask_on_infos, a);
}

/* Tools that do not know this server's release send no time. */
static void read_log(struct ask *a, struct punpack *r)
{
    struct pmsg_log m;
    time_t when;

    pmsg_read_log(r, a->release, &m);
    when = PMSG_HAS(&m, log, time) ? m.time : time(NULL);
    TAKE(&a->infos, &a->ninfos, m.data);
    TAKE(&a->directives, &a->ndirectives, m.directives);
    pmsg_free_log(&m, NULL);
    ask_add_info(&a->directives, &a->ndirectives, PMIX_LOG_SOURCE, &a->from, PMIX_PROC);
    ask_add_info(&a->directives, &a->ndirectives, PMIX_LOG_TIMESTAMP, &when, PMIX_TIME);
}

/* The part of the info for one of the host's streams, as a text; false: none. */
static bool text_to_log(const pmix_info_t *info, struct slice *text_p)
{
    const pmix_value_t *v = &info->value;
    struct openmpi_help h;

    if (PMIx_Check_key(info->key, PMIX_LOG_MSG)) { /* Open MPI 4's help messages */
        if (v->type != PMIX_BYTE_OBJECT ||
            !openmpi_help_read(slice_mem(v->data.bo.bytes, v->data.bo.size), &h))
            return false;
        *text_p = h.text;
        return true;
    }
    *text_p = slice_str(v->type == PMIX_STRING ? v->data.string : NULL);
    return text_p->ptr && (PMIx_Check_key(info->key, PMIX_LOG_STDOUT) ||
                           PMIx_Check_key(info->key, PMIX_LOG_STDERR));
}

/* For a host without a log function: writes messages for its own streams there. */
static pmix_status_t log_here(const struct ask *a)
{
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    for (size_t i = 0; i < a->ndirectives; i++) {
        if (a->directives[i].flags & PMIX_INFO_REQD) /* directives are ignored */
            return PMIX_ERR_NOT_SUPPORTED;
    }
    for (size_t i = 0; i < a->ninfos; i++) {
        bool out = PMIx_Check_key(a->infos[i].key, PMIX_LOG_STDOUT);
        struct slice text;
        if (text_to_log(&a->infos[i], &text) &&
            (text.len == 0 || write(out ? STDOUT_FILENO : STDERR_FILENO, text.ptr, text.len) >= 0))
            rc = PMIX_OPERATION_SUCCEEDED;
    }
    return rc;
}

static pmix_status_t call_log(struct ask *a)
{
    if (a->s->log2)
        return a->s->log2(&a->from, a->infos, a->ninfos, a->directives, a->ndirectives, ask_on_op,
                          a);
    if (!MODULE(a).log)
        return log_here(a);
    MODULE(a).log(&a->from, a->infos, a->ninfos, a->directives, a->ndirectives, ask_on_op, a);
    return PMIX_SUCCESS;
}

static void read_allocation(struct ask *a, struct punpack *r)
{
    struct pmsg_alloc m;

    pmsg_read_alloc(r, a->release, &m);
    a->number = m.directive;
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_alloc(&m, NULL);
}

static pmix_status_t call_allocation(struct ask *a)
{
    NEEDS(a, allocate);
    return MODULE(a).allocate(&a->from, (pmix_alloc_directive_t)a->number, a->infos, a->ninfos,
                              ask_on_infos, a);
}

static pmix_status_t call_control(struct ask *a)
{
    NEEDS(a, job_control);
    return MODULE(a).job_control(&a->from, a->procs, a->nprocs, a->infos, a->ninfos, ask_on_infos,
                                 a);
}

static void read_monitor(struct ask *a, struct punpack *r)
{
    struct pmsg_monitor m;

    pmsg_read_monitor(r, a->release, &m);
    a->status = m.error;
    TAKE(&a->directives, &a->ndirectives, m.infos);
    a->infos = calloc(1, sizeof *a->infos);
    if (a->infos) {
        *a->infos = m.monitor;
        a->ninfos = 1;
        m.has &= ~PMSG_BIT(monitor, monitor);
    } else {
        r->error = PTYPE_NO_MEMORY;
    }
    pmsg_free_monitor(&m, NULL);
}

static pmix_status_t call_monitor(struct ask *a)
{
    NEEDS(a, monitor);
    return MODULE(a).monitor(&a->from, a->infos, a->status, a->directives, a->ndirectives,
                             ask_on_infos, a);
}

static pmix_status_t call_get_credential(struct ask *a)
{
    NEEDS(a, get_credential);
    return MODULE(a).get_credential(&a->from, a->infos, a->ninfos, ask_on_credential, a);
}

static void keep_bytes(struct ask *a, struct slice bytes)
{
    a->has_bytes = true;
    a->bytes.bytes = bytes.len ? malloc(bytes.len) : NULL;
    if (a->bytes.bytes)
        memcpy(a->bytes.bytes, bytes.ptr, bytes.len);
    a->bytes.size = a->bytes.bytes ? bytes.len : 0;
}

static void read_validation(struct ask *a, struct punpack *r)
{
    struct pmsg_validate m;

    pmsg_read_validate(r, a->release, &m);
    keep_bytes(a, m.credential);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_validate(&m, NULL);
}

static pmix_status_t call_validate(struct ask *a)
{
    NEEDS(a, validate_credential);
    return MODULE(a).validate_credential(&a->from, &a->bytes, a->infos, a->ninfos,
                                         ask_on_validation, a);
}

static void read_pull(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_pull m;

    pmsg_read_iof_pull(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    a->status = m.channels;
    a->number = m.ref;
    pmsg_free_iof_pull(&m, NULL);
}

static pmix_status_t call_pull(struct ask *a)
{
    if (!MODULE(a).iof_pull)
        return PMIX_OPERATION_SUCCEEDED; /* output that the host delivers by itself is passed on */
    return MODULE(a).iof_pull(a->procs, a->nprocs, a->infos, a->ninfos,
                              (pmix_iof_channel_t)a->status, ask_on_op, a);
}

static void read_push(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_push m;

    pmsg_read_iof_push(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    if (PMSG_HAS(&m, iof_push, bytes))
        keep_bytes(a, m.bytes);
    pmsg_free_iof_push(&m, NULL);
}

static pmix_status_t call_push(struct ask *a)
{
    NEEDS(a, push_stdin);
    return MODULE(a).push_stdin(&a->from, a->procs, a->nprocs, a->infos, a->ninfos,
                                a->has_bytes ? &a->bytes : NULL, ask_on_op, a);
}

static void read_unpull(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_dereg m;

    pmsg_read_iof_dereg(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    a->number = m.ref;
    pmsg_free_iof_dereg(&m, NULL);
}

static pmix_status_t call_unpull(struct ask *a)
{
    if (!MODULE(a).iof_pull)
        return PMIX_OPERATION_SUCCEEDED;
    ask_add_info(&a->infos, &a->ninfos, PMIX_IOF_STOP, NULL, PMIX_BOOL);
    return MODULE(a).iof_pull(NULL, 0, a->infos, a->ninfos, PMIX_FWD_NO_CHANNELS, ask_on_op, a);
}

static pmix_status_t call_fabric(struct ask *a, pmix_fabric_operation_t op)
{
    NEEDS(a, fabric);
    return MODULE(a).fabric(&a->from, op, a->infos, a->ninfos, ask_on_infos, a);
}

static pmix_status_t call_fabric_register(struct ask *a)
{
    return call_fabric(a, PMIX_FABRIC_REQUEST_INFO);
}

static void read_fabric_update(struct ask *a, struct punpack *r)
{
    struct pmsg_fabric_update m;

    pmsg_read_fabric_update(r, a->release, &m);
    ask_add_info(&a->infos, &a->ninfos, PMIX_FABRIC_INDEX, &m.index, PMIX_SIZE);
}

static pmix_status_t call_fabric_update(struct ask *a)
{
    return call_fabric(a, PMIX_FABRIC_UPDATE_INFO);
}

static void read_session(struct ask *a, struct punpack *r)
{
    struct pmsg_session_control m;

    pmsg_read_session_control(r, a->release, &m);
    a->number = m.session;
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_session_control(&m, NULL);
}

static pmix_status_t call_session(struct ask *a)
{
    NEEDS(a, session_control);
    return MODULE(a).session_control(&a->from, (uint32_t)a->number, a->infos, a->ninfos,
                                     ask_on_infos, a);
}

static void read_block(struct ask *a, struct punpack *r)
{
    struct pmsg_resource_block m;

    pmsg_read_resource_block(r, a->release, &m);
    a->number = m.directive;
    keep_text(a, r, m.block);
    TAKE(&a->units, &a->nunits, m.units);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_resource_block(&m, NULL);
}

static pmix_status_t call_block(struct ask *a)
{
    if (!a->s->resource_block)
        return PMIX_ERR_NOT_SUPPORTED;
    return a->s->resource_block(&a->from, (pmix_resource_block_directive_t)a->number, a->text,
                                a->units, a->nunits, a->infos, a->ninfos, ask_on_op, a);
}

static const struct ask_kind kinds[] = {
    [CMD_ABORT] = { read_abort, call_abort },
    [CMD_FINALIZE] = { read_nothing, call_finalized },
    [CMD_PUBLISH] = { read_publish, call_publish },
    [CMD_LOOKUP] = { read_keys, call_lookup },
    [CMD_UNPUBLISH] = { read_keys, call_unpublish },
    [CMD_SPAWN] = { read_spawn, call_spawn },
    [CMD_QUERY] = { read_query, call_query },
    [CMD_LOG] = { read_log, call_log },
    [CMD_ALLOC] = { read_allocation, call_allocation },
    [CMD_JOB_CONTROL] = { read_procs_infos, call_control },
    [CMD_MONITOR] = { read_monitor, call_monitor },
    [CMD_GET_CREDENTIAL] = { read_only_infos, call_get_credential },
    [CMD_VALIDATE_CREDENTIAL] = { read_validation, call_validate },
    [CMD_IOF_PULL] = { read_pull, call_pull },
    [CMD_IOF_PUSH] = { read_push, call_push },
    [CMD_IOF_DEREG] = { read_unpull, call_unpull },
    [CMD_FABRIC_REGISTER] = { read_only_infos, call_fabric_register },
    [CMD_FABRIC_UPDATE] = { read_fabric_update, call_fabric_update },
    [CMD_RESOURCE_BLOCK] = { read_block, call_block },
    [CMD_SESSION_CONTROL] = { read_session, call_session },
};

/* The name service and queries are handled here when the host does not offer them. */
uint64_t command_mask(const struct pserver *s)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool ours =
            ((i == CMD_PUBLISH || i == CMD_LOOKUP || i == CMD_UNPUBLISH) && !s->module.publish) ||
            (i == CMD_QUERY && !s->module.query);
        if (kinds[i].call && !ours)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

static void say_goodbye(struct pserver *s, struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    struct local *l = n ? nspace_local(n, p->rank) : NULL;

    server_leaves(&s->server, p);
    if (l)
        l->finalized = true;
}

/* The host only gets requests of processes that it has registered. */
static bool is_client(const struct pserver *s, const struct peer *p)
{
    const struct nspace *n = nspace_of(s, p->job);

    return n && !n->is_own && !n->is_tool;
}

/* To output; the reply has our number of the subscription. */
static bool subscribe(struct ask *a, const struct peer *p)
{
    size_t ref = iof_add(a->s, a, p);

    ASK_PACK(a, iof_pulled, .has = PMSG_BIT(iof_pulled, ref), .ref = ref);
    return ref != 0;
}

static enum answer_status take_command(struct pserver *s, struct peer *p,
                                       const struct request_host *rq, uint64_t ticket)
{
    struct pmix_dialect d = pmix_dialect(p);
    struct ask *a = ask_new(s, &kinds[rq->command], ticket);
    struct punpack r;

    if (!a)
        return ANSWER_NO_MEMORY;
    ask_from(a, p);
    ask_charge(a, p, rq->body.len);
    a->command = rq->command;
    a->as = d.as;
    a->described = d.described;
    a->release = d.release;
    punpack_init(&r, rq->body, d.as);
    r.described = d.described;
    a->kind->read(a, &r);
    if (!punpack_ok(&r)) {
        ask_free(a);
        return ANSWER_BAD_VALUE;
    }
    if (!prove(a, p)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (a->command == CMD_FINALIZE)
        say_goodbye(s, p);
    if (a->command == CMD_SPAWN)
        follow_children(a, p->job && p->job->is_tool);
    if (a->command == CMD_IOF_PULL && !subscribe(a, p)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (a->command == CMD_IOF_DEREG)
        iof_drop(s, p, (size_t)a->number);
    if (a->command == CMD_FINALIZE && !is_client(s, p)) {
        ask_answer(a, PMIX_SUCCESS);
        ask_free(a);
    } else {
        ask_go(a);
    }
    return ANSWER_LATER;
}

/* ---- clients of PMI-1 and PMI-2 -------------------------------------------------------------- */

static char *text_copy(struct slice s)
{
    return strndup(s.ptr ? s.ptr : "", s.len);
}

static bool plain_publish(struct ask *a, const struct request_publish *rq)
{
    char *service = text_copy(rq->service), *port = text_copy(rq->port);
    bool good = service && port && ask_add_info(&a->infos, &a->ninfos, service, port, PMIX_STRING);

    free(service);
    free(port);
    return good;
}

static bool plain_name(struct ask *a, struct slice name)
{
    char *service = text_copy(name);
    bool good = service && PMIx_Argv_append_nosize(&a->keys, service) == PMIX_SUCCESS;

    free(service);
    return good;
}

static bool plain_app(pmix_app_t *app, const struct spawn_command *c)
{
    bool good;

    app->cmd = strdup(c->program);
    app->maxprocs = (int)c->nprocs;
    good = app->cmd && PMIx_Argv_append_nosize(&app->argv, c->program) == PMIX_SUCCESS;
    for (uint32_t i = 0; i < c->nargs && good; i++)
        good = PMIx_Argv_append_nosize(&app->argv, c->args[i]) == PMIX_SUCCESS;
    for (uint32_t i = 0; i < c->ninfos && good; i++) {
        char *text = text_copy(c->infos[i].value);
        bool wdir = slice_is(c->infos[i].key, "wdir"), host = slice_is(c->infos[i].key, "host");
        if (text && (wdir || host))
            good = ask_add_info(&app->info, &app->ninfo, wdir ? PMIX_WDIR : PMIX_HOST, text,
                                PMIX_STRING);
        free(text);
    }
    return good;
}

static bool plain_spawn(struct ask *a, const struct spawn_request *rq)
{
    bool good = true;

    a->apps = calloc(rq->ncommands ? rq->ncommands : 1, sizeof *a->apps);
    a->napps = a->apps ? rq->ncommands : 0;
    for (size_t i = 0; i < a->napps && good; i++)
        good = plain_app(&a->apps[i], &rq->commands[i]);
    return good && a->apps;
}

static bool plain_abort(struct ask *a, const struct request_abort *rq)
{
    a->status = (pmix_status_t)rq->code;
    a->text = text_copy(rq->message);
    return a->text != NULL;
}

static size_t plain_bytes(const struct request *rq)
{
    switch (rq->kind) {
    case REQ_publish: return rq->u.publish.service.len + rq->u.publish.port.len;
    case REQ_unpublish: return rq->u.unpublish.service.len;
    case REQ_lookup: return rq->u.lookup.service.len;
    case REQ_abort: return rq->u.abort.message.len;
    default: return 0;
    }
}

static bool plain_words(struct pserver *s, struct peer *p, struct ask *a, const struct request *rq)
{
    switch (rq->kind) {
    case REQ_publish: return plain_publish(a, &rq->u.publish);
    case REQ_unpublish: return plain_name(a, rq->u.unpublish.service);
    case REQ_lookup: return plain_name(a, rq->u.lookup.service);
    case REQ_spawn: return plain_spawn(a, rq->u.spawn.request);
    case REQ_abort: return plain_abort(a, &rq->u.abort);
    case REQ_finalize: say_goodbye(s, p); return true;
    default: return false;
    }
}

static enum answer_status take_plain(struct pserver *s, struct peer *p, const struct request *rq,
                                     uint64_t ticket)
{
    static const uint8_t commands[] = {
        [REQ_publish] = CMD_PUBLISH, [REQ_unpublish] = CMD_UNPUBLISH, [REQ_lookup] = CMD_LOOKUP,
        [REQ_spawn] = CMD_SPAWN,     [REQ_abort] = CMD_ABORT,         [REQ_finalize] = CMD_FINALIZE
    };
    struct ask *a = ask_new(s, &kinds[commands[rq->kind]], ticket);
    bool good = a != NULL;

    if (a) {
        ask_from(a, p);
        ask_charge(a, p, plain_bytes(rq));
        a->plain = true;
        good = plain_words(s, p, a, rq) && prove(a, p);
    }
    if (rq->kind == REQ_spawn)
        spawn_free(rq->u.spawn.request);
    if (good)
        ask_go(a);
    else if (a)
        ask_free(a);
    return good ? ANSWER_LATER : ANSWER_NO_MEMORY;
}

/* ---- events ---------------------------------------------------------------------------------- */

static pmix_status_t call_notify(struct ask *a)
{
    return MODULE(a).notify_event(a->status, &a->from, (pmix_data_range_t)a->number, a->infos,
                                  a->ninfos, ask_on_op, a);
}

static const struct ask_kind notify_kind = { .call = call_notify };

/* Notifies the processes of this node; the host notifies the others. */
static void pass_event_on(struct pserver *s, struct peer *p, const struct request_notify *rq)
{
    struct ask *a;
    struct punpack r;

    if (!s->module.notify_event || rq->range == PMIX_RANGE_LOCAL ||
        rq->range == PMIX_RANGE_PROC_LOCAL || !is_client(s, p))
        return;
    a = ask_new(s, &notify_kind, 0);
    if (!a)
        return;
    ask_from(a, p);
    ask_charge(a, p, rq->infos.len);
    a->status = (pmix_status_t)rq->code;
    a->number = rq->range;
    punpack_init(&r, rq->infos, &ptype_own);
    if (rq->infos.len)
        a->infos = read_infos(&r, &a->ninfos);
    if (prove(a, p))
        ask_go(a);
    else
        ask_free(a);
}

static pmix_status_t call_register(struct ask *a)
{
    return MODULE(a).register_events(a->codes, a->ncodes, a->infos, a->ninfos, ask_on_op, a);
}

static const struct ask_kind register_kind = { .call = call_register };

static void pass_registration_on(struct pserver *s, const struct peer *p,
                                 const struct request_recall *rq)
{
    struct ask *a = s->module.register_events ? ask_new(s, &register_kind, 0) : NULL;

    if (!a)
        return;
    ask_charge(a, p, rq->codes.len);
    a->codes = rq->count ? calloc(rq->count, sizeof *a->codes) : NULL;
    if (a->codes && rq->codes.len == rq->count * sizeof *a->codes) {
        memcpy(a->codes, rq->codes.ptr, rq->codes.len);
        a->ncodes = rq->count;
    }
    if (prove(a, p))
        ask_go(a);
    else
        ask_free(a);
}

/* ---- files to be cleaned up ------------------------------------------------------------------ */

/* Accepted only when it can be done with the rights of the requesting process.  True: it is
 * refused.
 */
static bool refuses_cleanup(struct pserver *s, const struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    struct local *l = n ? nspace_local(n, p->rank) : NULL;
    uid_t uid;
    gid_t gid;

    if (!l)
        return true;
    if (l->cleanups)
        return false;
    l->cleanups = true;
    if (nspace_rights(n, p->rank, &uid, &gid) && cleanup_can(uid, gid))
        return false;
    l->cleanups = false;
    log_warn(
        &s->log,
        "rank %u of %.200s has registered files for removal, but its rights cannot be determined",
        p->rank, n->name);
    return true;
}

/* ---- entry point ----------------------------------------------------------------------------- */

bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p)
{
    struct pserver *s = arg;

    switch (rq->kind) {
    case REQ_identify:
        if (p->job)
            return false;
        a_p->status = admit(s, p, &rq->u.identify, ticket);
        return true;
    case REQ_host: a_p->status = take_command(s, p, &rq->u.host, ticket); return true;
    case REQ_publish:
    case REQ_unpublish:
    case REQ_lookup:
        if (!s->module.publish)
            return false;
        a_p->status = take_plain(s, p, rq, ticket);
        return true;
    case REQ_finalize:
    case REQ_spawn:
    case REQ_abort: a_p->status = take_plain(s, p, rq, ticket); return true;
    case REQ_register_cleanup: a_p->status = ANSWER_RESERVED; return refuses_cleanup(s, p);
    case REQ_notify: pass_event_on(s, p, &rq->u.notify); return false;
    case REQ_recall: pass_registration_on(s, p, &rq->u.recall); return false;
    default: return false;
    }
}
