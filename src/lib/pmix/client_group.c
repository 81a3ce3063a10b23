/* client_group.c - groups of processes that are made together: construct and destruct.
 *
 * The server's answer to a construction has three forms; its release says which.
 */
#include <stdlib.h>

#include "lib/pmix/client_api.h"
#include "lib/pmix/value.h"

/* What the answer says of the new group. */
struct group {
    pmix_proc_t *members;
    size_t nmembers;
    bool has_id;
    size_t id;
};

static void read_plain(struct group *g, struct punpack *r)
{
    g->id = punpack_size(r);
    g->has_id = g->id != SIZE_MAX;
}

static void read_members(struct client *c, struct op *op, struct group *g, struct punpack *r)
{
    g->members = punpack_list(r, PMIX_PROC, &g->nmembers);
    read_plain(g, r);
    while (op->status == PMIX_SUCCESS && punpack_left(r) && punpack_ok(r)) {
        struct slice bytes = punpack_bytes(r);
        if (punpack_ok(r))
            op->status = client_take_job(c, bytes, r->as);
    }
}

static void read_flagged(struct client *c, struct op *op, struct group *g, struct punpack *r)
{
    size_t ninfos;

    (void)c;
    (void)op;
    g->members = punpack_list(r, PMIX_PROC, &g->nmembers);
    g->has_id = punpack_byte(r, PMIX_BOOL) != 0;
    if (g->has_id)
        g->id = punpack_size(r);
    ninfos = punpack_size(r); /* what members said of themselves; not kept */
    (void)ninfos;
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

static bool make_results(struct op_out *out, const struct group *g)
{
    pmix_data_array_t members = { PMIX_PROC, g->nmembers, g->members };

    if (g->has_id && !add_result(out, PMIX_GROUP_CONTEXT_ID, &g->id, PMIX_SIZE))
        return false;
    return !g->nmembers || add_result(out, PMIX_GROUP_MEMBERSHIP, &members, PMIX_DATA_ARRAY);
}

static void read_group(struct client *c, struct op *op, struct punpack *r)
{
    struct release release = op->server->release;
    struct group g = { NULL };

    if (op->status != PMIX_SUCCESS || !punpack_left(r))
        return;
    if (release_before(release, 4, 2, 4))
        read_plain(&g, r);
    else if (release_before(release, 6, 0, 0))
        read_members(c, op, &g, r);
    else
        read_flagged(c, op, &g, r);
    if (punpack_ok(r) && !make_results(&op->out, &g))
        op->status = PMIX_ERR_NOMEM;
    free(g.members);
}

static void deliver_group(struct op *op)
{
    op_infos.deliver(op);
}

static const struct op_kind construct_kind = { .read = read_group, .deliver = deliver_group };

static pmix_status_t begin(struct client *c, struct message *m, uint8_t command, const char *grp,
                           const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *infos,
                           size_t ninfos)
{
    pmix_status_t rc;

    if (!grp || !*grp || (!procs && nprocs) || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, command);
    if (rc == PMIX_SUCCESS) {
        ppack_str(&m->w, grp);
        message_list(m, procs, nprocs, PMIX_PROC);
        message_list(m, infos, ninfos, PMIX_INFO);
    }
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
    rc = begin(c, &m, CMD_GROUP_CONSTRUCT, grp, procs, nprocs, directives, ndirs);
    op_init(&op, &construct_kind);
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
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    op = op_new(&construct_kind, cbdata);
    if (!op)
        return api_end(c, PMIX_ERR_NOMEM);
    op->callback.info = cbfunc;
    rc = begin(c, &m, CMD_GROUP_CONSTRUCT, grp, procs, nprocs, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = op_post(&m, op);
    else
        op_free(op);
    return api_end(c, rc);
}

/* The server knows who is in it. */
pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin(c, &m, CMD_GROUP_DESTRUCT, grp, NULL, 0, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc);
}

pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[], size_t ninfo,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin(c, &m, CMD_GROUP_DESTRUCT, grp, NULL, 0, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_post(&m, cbfunc, cbdata) : rc);
}
