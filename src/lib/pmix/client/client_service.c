/* client_service.c - requests that the host of our server carries out: queries, log, job control,
 * monitoring, allocations, sessions, resource blocks.
 *
 * Most have the same form (client_form.h): a message with infos goes out, and a status with infos
 * comes back.
 */
#include <stdlib.h>
#include <time.h>

#include "lib/pmix/client/client_form.h"
#include "lib/pmix/values/value.h"

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
    WITH_CALLBACK(api_status_begin, begin_log, data, ndata, directives, ndirs);
}

/* ---- job control ----------------------------------------------------------------------------- */

static pmix_status_t begin_control(struct client *c, struct message *m, const pmix_proc_t *targets,
                                   size_t ntargets, const pmix_info_t *directives, size_t ndirs)
{
    pmix_status_t rc;

    if ((!targets && ntargets) || (!directives && ndirs))
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
    WITH_CALLBACK(api_infos_begin, begin_control, targets, ntargets, directives, ndirs);
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
    WITH_CALLBACK(api_infos_begin, begin_monitor, monitor, error, directives, ndirs);
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
    WITH_CALLBACK(api_infos_begin, begin_allocation, directive, info, ninfo);
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
    WITH_CALLBACK(api_infos_begin, begin_session, sessionID, directives, ndirs);
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
    WITH_CALLBACK(api_status_begin, begin_block, directive, block, res, nres, info, ninfo);
}
