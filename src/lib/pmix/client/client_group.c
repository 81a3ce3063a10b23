/* client_group.c - groups that are formed collectively: construct and destruct.
 *
 * The server's reply to a construct has three forms; its release says which.  Servers do not keep
 * the members of a group: the caller of destruct has to send them, so each member remembers them.
 */
#include "lib/pmix/client/client_group.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

/* The reply's data about the new group. */
struct group {
    pmix_proc_t *members;
    size_t nmembers;
    bool has_id;
    size_t id;
};

/* The number has one of two places, by release; and the other namespaces come along. */
static void take_group(struct client *c, struct op *op, struct group *g, struct pmsg_group *m,
                       const struct punpack *reply)
{
    struct pmsg_job_info job;
    struct punpack jobs = pmsg_inside(reply, m->jobs);

    reply_take(&g->members, &g->nmembers, m->procs);
    g->has_id = PMSG_HAS(m, group, context_id) ? m->context_id.is : m->context != SIZE_MAX;
    g->id = PMSG_HAS(m, group, context_id) ? m->context_id.value : m->context;
    while (op->status == PMIX_SUCCESS && pmsg_next_group_jobs(&jobs, op->server->release, &job))
        op->status = cache_take_job(&c->cache, &job, jobs.as);
    if (!punpack_ok(&jobs))
        op->status = PMIX_ERR_UNPACK_FAILURE;
}

static bool add_result(struct op_out *out, const char *key, const void *data, pmix_data_type_t type)
{
    pmix_info_t *more = realloc(out->infos, (out->ninfos + 1) * sizeof *more);

    if (!more)
        return false;
    out->infos = more;
    if (PMIx_Info_load(&more[out->ninfos], key, data, type) != PMIX_SUCCESS)
        return false;
    out->ninfos++;
    return true;
}

/* ---- our memberships ------------------------------------------------------------------------- */

struct group_membership {
    struct list link;
    pmix_proc_t *procs;
    size_t nprocs;
    bool has_context;
    size_t context;
    char id[];
};

static void membership_free(void *arg)
{
    struct group_membership *m = arg;

    if (!m)
        return;
    list_unlink(&m->link);
    free(m->procs);
    free(m);
}

static struct group_membership *membership_new(const char *id, const pmix_proc_t *procs,
                                               size_t nprocs)
{
    struct group_membership *m = calloc(1, sizeof *m + strlen(id) + 1);

    if (!m)
        return NULL;
    list_init(&m->link);
    strcpy(m->id, id);
    m->nprocs = nprocs;
    m->procs = calloc(nprocs + 1, sizeof *procs);
    if (!m->procs) {
        free(m);
        return NULL;
    }
    if (nprocs)
        memcpy(m->procs, procs, nprocs * sizeof *procs);
    return m;
}

static struct group_membership *find_membership(struct client *c, const char *id)
{
    LIST_EACH(l, &c->groups)
    {
        struct group_membership *m = LIST_OF(l, struct group_membership, link);
        if (!strcmp(m->id, id))
            return m;
    }
    return NULL;
}

void groups_free(struct client *c)
{
    LIST_EACH(l, &c->groups)
    membership_free(LIST_OF(l, struct group_membership, link));
}

bool group_context(struct client *c, const char *id, size_t *context_p)
{
    const struct group_membership *m = find_membership(c, id);

    if (!m || !m->has_context)
        return false;
    *context_p = m->context;
    return true;
}

bool group_members(struct client *c, const char *id, const pmix_proc_t **procs_p, size_t *n_p)
{
    const struct group_membership *m = find_membership(c, id);

    if (!m)
        return false;
    *procs_p = m->procs;
    *n_p = m->nprocs;
    return true;
}

bool group_remember(struct client *c, const char *id, const pmix_proc_t *procs, size_t n,
                    const size_t *context)
{
    struct group_membership *m = membership_new(id, procs, n);

    if (!m)
        return false;
    m->has_context = context != NULL;
    m->context = context ? *context : 0;
    membership_free(find_membership(c, id));
    list_append(&c->groups, &m->link);
    return true;
}

bool group_take(struct client *c, const char *id, pmix_proc_t **procs_p, size_t *n_p)
{
    struct group_membership *m = find_membership(c, id);

    if (!m)
        return false;
    *procs_p = m->procs;
    *n_p = m->nprocs;
    m->procs = NULL;
    membership_free(m);
    return true;
}

/* The op's own from its beginning; the client's once it succeeds.  The server's reply takes
 * precedence. */
static bool remember(struct client *c, struct op *op, const struct group *g)
{
    struct group_membership *m = op->arg, *before = find_membership(c, m->id);
    pmix_proc_t *procs;

    if (g->nmembers) {
        procs = malloc(g->nmembers * sizeof *procs);
        if (!procs)
            return false;
        memcpy(procs, g->members, g->nmembers * sizeof *procs);
        free(m->procs);
        m->procs = procs;
        m->nprocs = g->nmembers;
    }
    m->has_context = g->has_id;
    m->context = g->id;
    if (before)
        membership_free(before);
    op->arg = NULL;
    list_append(&c->groups, &m->link);
    return true;
}

/* ---- construct ------------------------------------------------------------------------------- */

static bool make_results(struct op_out *out, const char *id, const struct group *g)
{
    pmix_data_array_t members = { PMIX_PROC, g->nmembers, g->members };

    if (g->has_id && !add_result(out, PMIX_GROUP_CONTEXT_ID, &g->id, PMIX_SIZE))
        return false;
    if (g->nmembers && !add_result(out, PMIX_GROUP_MEMBERSHIP, &members, PMIX_DATA_ARRAY))
        return false;
    return add_result(out, PMIX_GROUP_ID, id, PMIX_STRING);
}

static void read_group(struct client *c, struct op *op, struct punpack *r)
{
    struct group g = { NULL };
    struct pmsg_group m;

    if (op->status != PMIX_SUCCESS)
        return;
    if (punpack_left(r)) { /* else only its success matters */
        if (reply_get(op, r, group, &m) == PTYPE_FINE)
            take_group(c, op, &g, &m, r);
        pmsg_free_group(&m, r->foreign);
    }
    if (punpack_ok(r) && op->status == PMIX_SUCCESS &&
        (!make_results(&op->out, ((const struct group_membership *)op->arg)->id, &g) ||
         !remember(c, op, &g)))
        op->status = PMIX_ERR_NOMEM;
    free(g.members);
}

static void deliver_group(struct op *op)
{
    op_infos.deliver(op);
}

static const struct op_kind construct_kind = { .read = read_group, .deliver = deliver_group };

static pmix_status_t begin_construct(struct client *c, struct message *m, struct op *op,
                                     const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                     const pmix_info_t *infos, size_t ninfos)
{
    pmix_status_t rc;

    if (!grp || !*grp || (!procs && nprocs) || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    op->arg = membership_new(grp, procs, nprocs);
    if (!op->arg)
        return PMIX_ERR_NOMEM;
    op->free_arg = membership_free;
    rc = message_begin(c, m, CMD_GROUP_CONSTRUCT);
    if (rc == PMIX_SUCCESS)
        message_put(m, group_construct,
                    { .id = slice_str(grp),
                      .procs = PMSG_LENT(procs, nprocs),
                      .infos = PMSG_LENT(infos, ninfos) });
    return rc;
}

pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    op_init(&op, &construct_kind);
    rc = begin_construct(c, &m, &op, grp, procs, nprocs, directives, ndirs);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    if (results && nresults) {
        *results = op.out.infos;
        *nresults = op.out.ninfos;
        op.out.infos = NULL;
    }
    op_clear(&op);
    return api_end(c, rc);
}

pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    op = op_new(&construct_kind, cbdata);
    if (!op)
        return api_end(c, PMIX_ERR_NOMEM);
    op->callback.info = cbfunc;
    return api_send_begin(c, &m, op, begin_construct(c, &m, op, grp, procs, nprocs, info, ninfo));
}

/* ---- destruct -------------------------------------------------------------------------------- */

/* The group is gone, even if a member had ended before; after a time-out it is still there. */
static void read_destruct(struct client *c, struct op *op, struct punpack *r)
{
    (void)r;
    if (op->status != PMIX_ERR_TIMEOUT)
        membership_free(find_membership(c, op->arg));
}

static void deliver_destruct(struct op *op)
{
    op_status_only.deliver(op);
}

static const struct op_kind destruct_kind = { .read = read_destruct, .deliver = deliver_destruct };

/* Servers before 4.2.4 keep the members themselves; later ones need them in the request. */
static pmix_status_t begin_destruct(struct client *c, struct message *m, struct op *op,
                                    const char *grp, const pmix_info_t *infos, size_t ninfos)
{
    struct group_membership *known = grp ? find_membership(c, grp) : NULL;
    pmix_status_t rc;

    if (!grp || !*grp || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    if (!known && c->server && !c->server->lost)
        return PMIX_ERR_NOT_FOUND;
    op->arg = strdup(grp);
    op->free_arg = free;
    if (!op->arg)
        return PMIX_ERR_NOMEM;
    rc = message_begin(c, m, CMD_GROUP_DESTRUCT);
    if (rc == PMIX_SUCCESS)
        message_put(m, group_destruct,
                    { .id = slice_str(grp),
                      .procs = PMSG_LENT(known ? known->procs : NULL, known ? known->nprocs : 0),
                      .infos = PMSG_LENT(infos, ninfos) });
    return rc;
}

pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    op_init(&op, &destruct_kind);
    rc = begin_destruct(c, &m, &op, grp, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    op_clear(&op);
    return api_end(c, rc);
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[], size_t ninfo,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    op = op_new(&destruct_kind, cbdata);
    if (!op)
        return api_end(c, PMIX_ERR_NOMEM);
    op->callback.op = cbfunc;
    return api_send_begin(c, &m, op, begin_destruct(c, &m, op, grp, info, ninfo));
}
