/* client_resolve.c - PMIx_Resolve_peers and PMIx_Resolve_nodes. */
#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_get.h"
#include "lib/pmix/values/value.h"

struct peers {
    pmix_proc_t *procs;
    size_t n;
};

static bool add_peer(struct peers *p, const char *nspace, uint32_t rank)
{
    pmix_proc_t *more = realloc(p->procs, (p->n + 1) * sizeof *more);

    if (!more)
        return false;
    p->procs = more;
    PMIx_Load_procid(&more[p->n++], nspace, rank);
    return true;
}

/* "0,2,5-7" */
static pmix_status_t add_ranks(struct peers *p, const char *nspace, const char *text)
{
    struct slice rest = slice_str(text);

    while (rest.len) {
        struct slice last = slice_cut(&rest, ','), first = slice_cut(&last, '-');
        uint32_t from, to;
        if (!slice_u32(first, &from))
            return PMIX_ERR_UNPACK_FAILURE;
        to = from;
        if (last.len && (!slice_u32(last, &to) || to < from))
            return PMIX_ERR_UNPACK_FAILURE;
        for (uint32_t r = from; r <= to && PMIX_RANK_IS_VALID(r); r++) {
            if (!add_peer(p, nspace, r))
                return PMIX_ERR_NOMEM;
        }
    }
    return PMIX_SUCCESS;
}

/* The peers of one job on a node (NULL: ours). */
static pmix_status_t add_peers(struct client *c, struct peers *p, const char *nspace,
                               const char *node)
{
    pmix_info_t infos[2];
    pmix_proc_t job;
    pmix_value_t *v = NULL;
    pmix_status_t rc;
    bool yes = true;

    PMIx_Load_procid(&job, nspace, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&infos[0], PMIX_NODE_INFO, &yes, PMIX_BOOL);
    PMIx_Info_load(&infos[1], PMIX_HOSTNAME, node ? node : c->hostname, PMIX_STRING);
    rc = client_get(c, &job, PMIX_LOCAL_PEERS, infos, 2, &v);
    if (rc != PMIX_SUCCESS && !node && PMIx_Check_nspace(nspace, c->me.nspace))
        rc = client_get(c, &job, PMIX_LOCAL_PEERS, NULL, 0, &v);
    PMIx_Info_destruct(&infos[1]);
    if (rc != PMIX_SUCCESS)
        return rc;
    rc = v->type == PMIX_STRING && v->data.string ? add_ranks(p, nspace, v->data.string)
                                                  : PMIX_ERR_NOT_FOUND;
    value_release(v);
    free(v);
    return rc;
}

static pmix_status_t add_all_peers(struct client *c, struct peers *p, const char *node)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    size_t n = 0;
    pmix_nspace_t *names;

    /* The list may change while the server is asked. */
    LIST_EACH(l, &c->cache.spaces)
    n++;
    names = calloc(n + 1, sizeof *names);
    if (!names)
        return PMIX_ERR_NOMEM;
    n = 0;
    LIST_EACH(l, &c->cache.spaces)
    PMIx_Load_nspace(names[n++], LIST_OF(l, struct space, link)->nspace);
    for (size_t i = 0; i < n; i++) {
        pmix_status_t one = add_peers(c, p, names[i], node);
        if (one == PMIX_SUCCESS || one == PMIX_ERR_NOMEM)
            rc = one;
    }
    free(names);
    return rc;
}

pmix_status_t PMIx_Resolve_peers(const char *nodename, const pmix_nspace_t nspace,
                                 pmix_proc_t **procs, size_t *nprocs)
{
    struct client *c = api_begin();
    struct peers p = { NULL, 0 };
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (!procs || !nprocs)
        return api_end(c, PMIX_ERR_BAD_PARAM);
    if (nspace && *nspace)
        rc = add_peers(c, &p, nspace, nodename);
    else
        rc = add_all_peers(c, &p, nodename);
    if (rc != PMIX_SUCCESS) {
        free(p.procs);
        p = (struct peers){ NULL, 0 };
    }
    *procs = p.procs;
    *nprocs = p.n;
    return api_end(c, rc);
}

pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist)
{
    struct client *c = api_begin();
    pmix_value_t *v = NULL;
    pmix_proc_t job;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (!nodelist)
        return api_end(c, PMIX_ERR_BAD_PARAM);
    *nodelist = NULL;
    PMIx_Load_procid(&job, nspace && *nspace ? nspace : c->me.nspace, PMIX_RANK_WILDCARD);
    rc = client_get(c, &job, PMIX_NODE_LIST, NULL, 0, &v);
    if (rc == PMIX_SUCCESS && v->type == PMIX_STRING) {
        *nodelist = v->data.string;
        v->data.string = NULL;
    } else if (rc == PMIX_SUCCESS) {
        rc = PMIX_ERR_NOT_FOUND;
    }
    if (v) {
        value_release(v);
        free(v);
    }
    return api_end(c, rc);
}
