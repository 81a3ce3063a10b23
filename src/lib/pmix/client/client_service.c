/* client_service.c - requests that the host of our server carries out: queries, log, job control,
 * monitoring, allocations, credentials, sessions, resource blocks, fabrics, distances.
 *
 * Most have the same form: a message with infos goes out, and a status with infos comes back.
 */
#include <stdlib.h>
#include <time.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

/* Each pair of functions has its own start of the message, and these two ends. */
#define BLOCKING(begin, ...)                                                                       \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (results && nresults) {                                                                     \
        *results = NULL;                                                                           \
        *nresults = 0;                                                                             \
    }                                                                                              \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? api_infos_call(&m, results, nresults) : rc)

#define WITH_CALLBACK(post, begin, ...)                                                            \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? post(&m, cbfunc, cbdata) : rc)

#define STATUS_ONLY(begin, ...)                                                                    \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc)

/* ---- log ------------------------------------------------------------------------------------- */

static pmix_status_t begin_log(struct client *c, struct message *m, const pmix_info_t *data,
                               size_t ndata, const pmix_info_t *directives, size_t ndirs)
{
    pmix_status_t rc;

    if (!data || !ndata || (!directives && ndirs))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, CMD_LOG);
    if (rc == PMIX_SUCCESS)
        message_put(m, log,
                    { .has = m->server->release < PMSG_RELEASE(3, 0, 0) ? 0 : PMSG_BIT(log, time),
                      .time = time(NULL),
                      .data = PMSG_LENT(data, ndata),
                      .directives = PMSG_LENT(directives, ndirs) });
    return rc;
}

pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                       size_t ndirs)
{
    STATUS_ONLY(begin_log, data, ndata, directives, ndirs);
}

pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                          size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    WITH_CALLBACK(api_status_post, begin_log, data, ndata, directives, ndirs);
}

/* ---- job control ----------------------------------------------------------------------------- */

static pmix_status_t begin_control(struct client *c, struct message *m, const pmix_proc_t *targets,
                                   size_t ntargets, const pmix_info_t *directives, size_t ndirs)
{
    pmix_status_t rc;

    if ((!targets && ntargets) || !directives || !ndirs)
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, CMD_JOB_CONTROL);
    if (rc == PMIX_SUCCESS)
        message_put(
            m, procs_infos,
            { .procs = PMSG_LENT(targets, ntargets), .infos = PMSG_LENT(directives, ndirs) });
    return rc;
}

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs, pmix_info_t **results,
                               size_t *nresults)
{
    BLOCKING(begin_control, targets, ntargets, directives, ndirs);
}

pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    WITH_CALLBACK(api_infos_post, begin_control, targets, ntargets, directives, ndirs);
}

/* ---- monitoring ------------------------------------------------------------------------------ */

static bool is_heartbeat(const pmix_info_t *monitor)
{
    return monitor && PMIx_Check_key(monitor->key, PMIX_SEND_HEARTBEAT);
}

/* A heartbeat is an empty message without a reply. */
static pmix_status_t beat(struct client *c)
{
    struct message m;
    pmix_status_t rc = message_begin_empty(c, &m);

    return rc == PMIX_SUCCESS ? message_send_alone(&m, TAG_HEARTBEAT) : rc;
}

static pmix_status_t begin_monitor(struct client *c, struct message *m, const pmix_info_t *monitor,
                                   pmix_status_t error, const pmix_info_t *directives, size_t ndirs)
{
    pmix_status_t rc;

    if (!monitor || (!directives && ndirs))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, CMD_MONITOR);
    if (rc == PMIX_SUCCESS)
        message_put(m, monitor,
                    { .monitor = *monitor, .error = error, .infos = PMSG_LENT(directives, ndirs) });
    return rc;
}

static pmix_status_t send_beat(void)
{
    struct client *c = api_begin();

    return c ? api_end(c, beat(c)) : PMIX_ERR_INIT;
}

pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    if (is_heartbeat(monitor))
        return send_beat();
    BLOCKING(begin_monitor, monitor, error, directives, ndirs);
}

pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (is_heartbeat(monitor)) {
        pmix_status_t done = send_beat();
        return done == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : done;
    }
    WITH_CALLBACK(api_infos_post, begin_monitor, monitor, error, directives, ndirs);
}

void(PMIx_Heartbeat)(void)
{
    send_beat();
}

/* ---- allocations, sessions, resource blocks -------------------------------------------------- */

static pmix_status_t begin_allocation(struct client *c, struct message *m,
                                      pmix_alloc_directive_t directive, const pmix_info_t *infos,
                                      size_t n)
{
    pmix_status_t rc = infos || !n ? message_begin(c, m, CMD_ALLOC) : PMIX_ERR_BAD_PARAM;

    if (rc == PMIX_SUCCESS)
        message_put(m, alloc, { .directive = directive, .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t *info,
                                      size_t ninfo, pmix_info_t **results, size_t *nresults)
{
    BLOCKING(begin_allocation, directive, info, ninfo);
}

pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive, pmix_info_t *info,
                                         size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    WITH_CALLBACK(api_infos_post, begin_allocation, directive, info, ninfo);
}

static pmix_status_t begin_session(struct client *c, struct message *m, uint32_t session,
                                   const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = infos || !n ? message_begin(c, m, CMD_SESSION_CONTROL) : PMIX_ERR_BAD_PARAM;

    if (rc == PMIX_SUCCESS)
        message_put(m, session_control, { .session = session, .infos = PMSG_LENT(infos, n) });
    return rc;
}

/* Without a callback it blocks. */
pmix_status_t PMIx_Session_control(uint32_t sessionID, const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (!cbfunc) {
        STATUS_ONLY(begin_session, sessionID, directives, ndirs);
    }
    WITH_CALLBACK(api_infos_post, begin_session, sessionID, directives, ndirs);
}

static pmix_status_t begin_block(struct client *c, struct message *m,
                                 pmix_resource_block_directive_t directive, const char *block,
                                 const pmix_resource_unit_t *units, size_t nunits,
                                 const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc;

    if (!block || (!units && nunits) || (!infos && n))
        return PMIX_ERR_BAD_PARAM;
    if (c->server && c->server->release < PMSG_RELEASE(6, 0, 0))
        return PMIX_ERR_NOT_SUPPORTED; /* the protocol has no message for it */
    rc = message_begin(c, m, CMD_RESOURCE_BLOCK);
    if (rc == PMIX_SUCCESS)
        message_put(m, resource_block,
                    { .directive = directive,
                      .block = slice_str(block),
                      .units = PMSG_LENT(units, nunits),
                      .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive, char *block,
                                  const pmix_resource_unit_t *res, size_t nres,
                                  const pmix_info_t *info, size_t ninfo)
{
    STATUS_ONLY(begin_block, directive, block, res, nres, info, ninfo);
}

pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive, char *block,
                                     const pmix_resource_unit_t *res, size_t nres,
                                     const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                     void *cbdata)
{
    WITH_CALLBACK(api_status_post, begin_block, directive, block, res, nres, info, ninfo);
}

/* ---- credentials ----------------------------------------------------------------------------- */

static void read_credential(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_credential m;
    char *copy;

    (void)c;
    if (op->status != PMIX_SUCCESS)
        return;
    reply_get(op, r, credential, &m);
    copy = m.credential.len ? malloc(m.credential.len) : NULL;
    if (copy) {
        memcpy(copy, m.credential.ptr, m.credential.len);
        op->out.bytes = (pmix_byte_object_t){ copy, m.credential.len };
    } else if (m.credential.len) {
        r->error = PTYPE_NO_MEMORY;
    }
    reply_take(&op->out.infos, &op->out.ninfos, m.infos);
    pmsg_free_credential(&m, r->foreign);
}

static void deliver_credential(struct op *op)
{
    op->callback.credential(op->status, op->status == PMIX_SUCCESS ? &op->out.bytes : NULL,
                            op->out.infos, op->out.ninfos, op->cbdata);
}

static const struct op_kind credential_kind = { .read = read_credential,
                                                .deliver = deliver_credential };

static pmix_status_t begin_credential(struct client *c, struct message *m, const pmix_info_t *infos,
                                      size_t n)
{
    pmix_status_t rc = infos || !n ? message_begin(c, m, CMD_GET_CREDENTIAL) : PMIX_ERR_BAD_PARAM;

    if (rc == PMIX_SUCCESS)
        message_put(m, infos, { .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = credential ? begin_credential(c, &m, info, ninfo) : PMIX_ERR_BAD_PARAM;
    op_init(&op, &credential_kind);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    if (rc == PMIX_SUCCESS) {
        *credential = op.out.bytes;
        op.out.bytes = (pmix_byte_object_t){ NULL, 0 };
    }
    op_clear(&op);
    return api_end(c, rc);
}

static pmix_status_t post_credential(struct message *m, pmix_credential_cbfunc_t cbfunc,
                                     void *cbdata)
{
    struct op *op = cbfunc ? op_new(&credential_kind, cbdata) : NULL;

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    }
    op->callback.credential = cbfunc;
    return progress_post(m, op);
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    WITH_CALLBACK(post_credential, begin_credential, info, ninfo);
}

static pmix_status_t begin_validation(struct client *c, struct message *m,
                                      const pmix_byte_object_t *cred, const pmix_info_t *infos,
                                      size_t n)
{
    pmix_status_t rc;

    if (!cred || (!infos && n))
        return PMIX_ERR_BAD_PARAM;
    rc = message_begin(c, m, CMD_VALIDATE_CREDENTIAL);
    if (rc == PMIX_SUCCESS)
        message_put(
            m, validate,
            { .credential = slice_mem(cred->bytes, cred->size), .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred, const pmix_info_t info[],
                                       size_t ninfo, pmix_info_t **results, size_t *nresults)
{
    BLOCKING(begin_validation, cred, info, ninfo);
}

static void deliver_validation(struct op *op)
{
    op->callback.validation(op->status, op->out.infos, op->out.ninfos, op->cbdata);
}

static void read_validation(struct client *c, struct op *op, struct punpack *r)
{
    op_infos.read(c, op, r);
}

static const struct op_kind validation_kind = { .read = read_validation,
                                                .deliver = deliver_validation };

static pmix_status_t post_validation(struct message *m, pmix_validation_cbfunc_t cbfunc,
                                     void *cbdata)
{
    struct op *op = cbfunc ? op_new(&validation_kind, cbdata) : NULL;

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    }
    op->callback.validation = cbfunc;
    return progress_post(m, op);
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred, const pmix_info_t info[],
                                          size_t ninfo, pmix_validation_cbfunc_t cbfunc,
                                          void *cbdata)
{
    WITH_CALLBACK(post_validation, begin_validation, cred, info, ninfo);
}

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
    return api_post(c, &m, op, begin_fabric(c, &m, command, fabric, infos, n));
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
