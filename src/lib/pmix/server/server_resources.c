/* server_resources.c - the public functions for what a host has: data for all of its jobs, and the
 * inventories of its nodes (server_inventory.h).
 *
 * Each job has the data of PMIx_server_register_resources unless the host gives it another value of
 * the same key. */
#include <stdlib.h>

#include "core/job.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/server/server_info.h"
#include "lib/pmix/server/server_infos.h"
#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/server/server_inventory.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "server/pmix_info.h"

/* ---- resources ------------------------------------------------------------------------------- */

/* Of a key that is registered already, the last value holds. */
static bool forget(struct pserver *s, const char *key)
{
    bool was = false;

    LIST_EACH(l, &s->resources)
    {
        struct registered_info *t = LIST_OF(l, struct registered_info, link);
        if (!info_key_is(&t->info, key))
            continue;
        registered_drop(t);
        was = true;
    }
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (was && n->job && host_info_drop_default(&n->job->facts, FACT_JOB, 0, slice_str(key)))
            pmix_job_info_changed(n->job);
    }
    return was;
}

static bool add_to_all(struct pserver *s)
{
    bool good = true;

    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (!n->job || !n->is_registered)
            continue;
        good = sinfo_add_defaults(n->job, &s->resources) == 0 && good;
        pmix_job_info_changed(n->job);
    }
    return good;
}

static pmix_status_t add(struct pserver *s, const pmix_info_t *infos, size_t n)
{
    bool good = true;

    for (size_t i = 0; i < n && good; i++) {
        forget(s, infos[i].key);
        good = registered_add(&s->resources, &infos[i]);
    }
    return good && add_to_all(s) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Only the keys count.  One that is not registered does no harm, as with OpenPMIx. */
static pmix_status_t drop(struct pserver *s, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        forget(s, infos[i].key);
    return PMIX_SUCCESS;
}

static pmix_status_t carry_out(enum pmix_call_id id, const pmix_info_t *infos, size_t n,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = infos || !n ? api_check(id, infos, n) : PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS)
        rc = id == PMIX_CALL_REGISTER_RESOURCES ? add(s, infos, n) : drop(s, infos, n);
    return instance_leave(s, rc, cbfunc, cbdata);
}

pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return carry_out(PMIX_CALL_REGISTER_RESOURCES, info, ninfo, cbfunc, cbdata);
}

pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return carry_out(PMIX_CALL_DEREGISTER_RESOURCES, info, ninfo, cbfunc, cbdata);
}

/* ---- inventories ----------------------------------------------------------------------------- */

struct inventory_call {
    struct scall call;
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
    struct info_array list;
};

static void free_inventory(void *cbdata)
{
    struct inventory_call *k = cbdata;

    info_array_free(&k->list);
    free(k);
}

static void run_inventory(struct scall *c)
{
    struct inventory_call *k = LIST_OF(c, struct inventory_call, call);

    k->cbfunc(PMIX_SUCCESS, k->list.items, k->list.n, k->cbdata, free_inventory, k);
}

static pmix_status_t collect(struct pserver *s, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct inventory_call *k = calloc(1, sizeof *k);

    if (!k)
        return PMIX_ERR_NOMEM;
    *k = (struct inventory_call){ .call.run = run_inventory, .cbfunc = cbfunc, .cbdata = cbdata };
    inventory_describe(&k->list, s->hostname);
    if (k->list.no_memory) {
        free_inventory(k);
        return PMIX_ERR_NOMEM;
    }
    pserver_add_call(s, &k->call);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = cbfunc ? api_check(PMIX_CALL_COLLECT_INVENTORY, directives, ndirs) : PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS)
        rc = collect(s, cbfunc, cbdata);
    pserver_unlock(s);
    return rc;
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct pserver *s = instance_enter();
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = info || !ninfo ? api_check(PMIX_CALL_DELIVER_INVENTORY, info, ninfo) : PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS)
        rc = api_check(PMIX_CALL_DELIVER_INVENTORY, directives, ndirs);
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++)
        rc = inventory_keep(s, &info[i]) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    return instance_leave(s, rc, cbfunc, cbdata);
}
