/* client_fabric.c - fabrics, of which the host of our server knows, and distances to devices, which
 * are computed here. */
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

/* ---- fabrics --------------------------------------------------------------------------------- */

/* The reply goes into the program's own structure, for blocking and non-blocking calls. */
static void read_fabric(struct client *c, struct op *op, struct punpack *r)
{
    pmix_fabric_t *fabric = op->arg;

    op_infos.read(c, op, r);
    if (op->status != PMIX_SUCCESS || !punpack_ok(r))
        return;
    if (fabric->info)
        PMIx_Info_free(fabric->info, fabric->ninfo);
    fabric->info = op->out.infos;
    fabric->ninfo = op->out.ninfos;
    op->out.infos = NULL;
    for (size_t i = 0; i < fabric->ninfo; i++) {
        if (PMIx_Check_key(fabric->info[i].key, PMIX_FABRIC_INDEX))
            PMIx_Value_get_number(&fabric->info[i].value, &fabric->index, PMIX_SIZE);
    }
}

static void deliver_fabric(struct op *op)
{
    if (op->callback.op)
        op->callback.op(op->status, op->cbdata);
}

static const struct op_kind fabric_kind = { .read = read_fabric, .deliver = deliver_fabric };

static pmix_status_t begin_fabric(struct client *c, struct message *m, uint8_t command,
                                  const pmix_fabric_t *fabric, const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc;

    if (!fabric || (!infos && n))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, command);
    if (rc == PMIX_SUCCESS && command == CMD_FABRIC_UPDATE)
        message_put(m, fabric_update, { .index = fabric->index });
    else if (rc == PMIX_SUCCESS)
        message_put(m, infos, { .infos = PMSG_LENT(infos, n) });
    return rc;
}

static pmix_status_t ask_fabric(uint8_t command, pmix_fabric_t *fabric, const pmix_info_t *infos,
                                size_t n)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_fabric(c, &m, command, fabric, infos, n);
    op_init(&op, &fabric_kind);
    op.arg = fabric;
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    op_clear(&op);
    return api_end(c, rc);
}

static pmix_status_t ask_fabric_nb(uint8_t command, pmix_fabric_t *fabric, const pmix_info_t *infos,
                                   size_t n, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    op = op_new(&fabric_kind, cbdata);
    if (!op)
        return api_end(c, PMIX_ERR_NOMEM);
    op->callback.op = cbfunc;
    op->arg = fabric;
    return api_send_begin(c, &m, op, begin_fabric(c, &m, command, fabric, infos, n));
}

pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric, const pmix_info_t directives[],
                                   size_t ndirs)
{
    return ask_fabric(CMD_FABRIC_REGISTER, fabric, directives, ndirs);
}

pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric, const pmix_info_t directives[],
                                      size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ask_fabric_nb(CMD_FABRIC_REGISTER, fabric, directives, ndirs, cbfunc, cbdata);
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    return ask_fabric(CMD_FABRIC_UPDATE, fabric, NULL, 0);
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ask_fabric_nb(CMD_FABRIC_UPDATE, fabric, NULL, 0, cbfunc, cbdata);
}

/* Registrations are known only here. */
pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric)
{
    struct client *c = api_begin();

    if (!c)
        return PMIX_ERR_INIT;
    if (fabric && fabric->info) {
        PMIx_Info_free(fabric->info, fabric->ninfo);
        fabric->info = NULL;
        fabric->ninfo = 0;
    }
    return api_end(c, fabric ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
}

pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata)
{
    pmix_status_t rc = PMIx_Fabric_deregister(fabric);

    (void)cbfunc;
    (void)cbdata;
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- distances: computed here, delivered later ---------------------------------------------- */

static void release_distances(void *arg)
{
    op_free(arg);
}

static void deliver_distances(struct op *op)
{
    struct op *kept = malloc(sizeof *kept);

    if (!kept) {
        op->callback.distance(PMIX_ERR_NOMEM, NULL, 0, op->cbdata, NULL, NULL);
        return;
    }
    *kept = *op;
    memset(&op->out, 0, sizeof op->out);
    op->callback.distance(kept->status, kept->out.distances, kept->out.ndistances, kept->cbdata,
                          release_distances, kept);
}

static const struct op_kind distances_kind = { .deliver = deliver_distances };

pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                        pmix_info_t info[], size_t ninfo,
                                        pmix_device_dist_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct op *op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    op = cbfunc ? op_new(&distances_kind, cbdata) : NULL;
    if (!op)
        return api_end(c, cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM);
    op->callback.distance = cbfunc;
    rc = PMIx_Compute_distances(topo, cpuset, info, ninfo, &op->out.distances, &op->out.ndistances);
    if (rc == PMIX_SUCCESS)
        return api_end(c, progress_complete(c, op, rc));
    op_free(op);
    return api_end(c, rc);
}
