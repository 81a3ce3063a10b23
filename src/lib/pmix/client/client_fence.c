/* client_fence.c - collectives: fence, connect, disconnect.
 *
 * Each call names the participating processes and its directives; the server replies when all have
 * called.  No processes: all of the caller's namespace.
 */
#include "lib/pmix/client/client_api.h"

struct set {
    uint8_t command;
    const pmix_proc_t *procs;
    size_t nprocs;
    const pmix_info_t *infos;
    size_t ninfos;
};

static pmix_status_t begin(struct client *c, struct message *m, const struct set *s)
{
    const pmix_proc_t *procs;
    pmix_proc_t all;
    pmix_status_t rc;
    size_t n;

    if ((!s->procs && s->nprocs) || (!s->infos && s->ninfos))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, s->command);
    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Load_procid(&all, c->me.nspace, PMIX_RANK_WILDCARD);
    procs = s->nprocs ? s->procs : &all;
    n = s->nprocs ? s->nprocs : 1;
    if (s->command == CMD_CONNECT)
        message_put(m, connect,
                    { .procs = PMSG_LENT(procs, n), .infos = PMSG_LENT(s->infos, s->ninfos) });
    else
        message_put(m, procs_infos,
                    { .procs = PMSG_LENT(procs, n), .infos = PMSG_LENT(s->infos, s->ninfos) });
    return PMIX_SUCCESS;
}

/* The reply has the public data of each other namespace. */
static void read_connected(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_connected m;
    struct pmsg_job_info job;
    struct punpack jobs;

    if (op->status != PMIX_SUCCESS || reply_get(op, r, connected, &m) != PTYPE_FINE)
        return;
    jobs = pmsg_inside(r, m.jobs);
    while (op->status == PMIX_SUCCESS && pmsg_next_connected_jobs(&jobs, op->server->release, &job))
        op->status = cache_take_job(&c->cache, &job, r->as);
    r->error = jobs.error;
}

static void deliver(struct op *op)
{
    if (op->callback.op)
        op->callback.op(op->status, op->cbdata);
}

static const struct op_kind connect_kind = { .read = read_connected, .deliver = deliver };

/* A fence completes earlier commits, so it also reports their outcome. */
static void read_fence(struct client *c, struct op *op, struct punpack *r)
{
    (void)r;
    if (op->status == PMIX_SUCCESS)
        op->status = puts_outcome(&c->puts, op->server);
}

static const struct op_kind fence_kind = { .read = read_fence, .deliver = deliver };

static const struct op_kind *kind_of(const struct set *s)
{
    switch (s->command) {
    case CMD_FENCE: return &fence_kind;
    case CMD_CONNECT: return &connect_kind;
    default: return &op_status_only;
    }
}

/* A singleton is always complete. */
static bool is_alone(const struct client *c, const struct set *s)
{
    return c->kind == CLIENT_SINGLETON && s->command == CMD_FENCE;
}

static pmix_status_t meet(const struct set *s)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (is_alone(c, s))
        return api_end(c, PMIX_SUCCESS);
    rc = begin(c, &m, s);
    op_init(&op, kind_of(s));
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    op_clear(&op);
    return api_end(c, rc);
}

static pmix_status_t meet_nb(const struct set *s, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct op *op;
    struct message m;

    if (!c)
        return PMIX_ERR_INIT;
    op = op_new(kind_of(s), cbdata);
    if (!op)
        return api_end(c, PMIX_ERR_NOMEM);
    op->callback.op = cbfunc;
    if (is_alone(c, s))
        return api_end(c, progress_complete(c, op, PMIX_SUCCESS));
    return api_send_begin(c, &m, op, begin(c, &m, s));
}

#define SET(command) (&(const struct set){ (command), procs, nprocs, info, ninfo })

pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                         size_t ninfo)
{
    return meet(SET(CMD_FENCE));
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return meet_nb(SET(CMD_FENCE), cbfunc, cbdata);
}

pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                           size_t ninfo)
{
    return procs && nprocs ? meet(SET(CMD_CONNECT)) : PMIX_ERR_BAD_PARAM;
}

pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return procs && nprocs ? meet_nb(SET(CMD_CONNECT), cbfunc, cbdata) : PMIX_ERR_BAD_PARAM;
}

pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo)
{
    return procs && nprocs ? meet(SET(CMD_DISCONNECT)) : PMIX_ERR_BAD_PARAM;
}

pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return procs && nprocs ? meet_nb(SET(CMD_DISCONNECT), cbfunc, cbdata) : PMIX_ERR_BAD_PARAM;
}

/* ---- abort ----------------------------------------------------------------------------------- */

pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[], size_t nprocs)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = !procs && nprocs ? PMIX_ERR_BAD_PARAM : message_begin(c, &m, CMD_ABORT);
    if (rc == PMIX_SUCCESS) {
        message_put(
            &m, abort,
            { .code = status, .message = slice_str(msg), .procs = PMSG_LENT(procs, nprocs) });
        rc = api_status_call(&m);
    }
    return api_end(c, rc);
}
