/* needs_server.c - the calls that need a server: what each answers before any init.
 *
 * The Standard gives one answer for all of them, PMIX_ERR_INIT; starting a client or a tool where
 * no server can be found is PMIX_ERR_UNREACH.
 */
#include "pmix_tool.h"

/* Every parameter is the Standard's, and nothing is to be done with it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ANSWERS(status, name, ...)                                                                 \
    pmix_status_t name(__VA_ARGS__)                                                                \
    {                                                                                              \
        return (status);                                                                           \
    }
#define NEEDS_INIT(name, ...) ANSWERS(PMIX_ERR_INIT, name, __VA_ARGS__)

/* ---- Clients -------------------------------------------------------------------------------- */

void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
}

/* ---- Tools ---------------------------------------------------------------------------------- */

ANSWERS(PMIX_ERR_UNREACH, PMIx_tool_init, pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)

bool PMIx_tool_is_connected(void)
{
    return false;
}

NEEDS_INIT(PMIx_tool_finalize, void)
NEEDS_INIT(PMIx_tool_attach_to_server, pmix_proc_t *myproc, pmix_proc_t *server, pmix_info_t info[],
           size_t ninfo)
NEEDS_INIT(PMIx_tool_connect_to_server, pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
NEEDS_INIT(PMIx_tool_disconnect, const pmix_proc_t *server)
NEEDS_INIT(PMIx_tool_get_servers, pmix_proc_t *servers[], size_t *nservers)
NEEDS_INIT(PMIx_tool_set_server, const pmix_proc_t *server, pmix_info_t info[], size_t ninfo)
NEEDS_INIT(PMIx_tool_set_server_module, pmix_server_module_t *module)

/* ---- Servers -------------------------------------------------------------------------------- */

ANSWERS(PMIX_ERR_NOT_SUPPORTED, PMIx_server_init, pmix_server_module_t *module, pmix_info_t info[],
        size_t ninfo)
NEEDS_INIT(PMIx_server_finalize, void)
NEEDS_INIT(PMIx_server_register_nspace, const pmix_nspace_t nspace, int nlocalprocs,
           pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_register_client, const pmix_proc_t *proc, uid_t uid, gid_t gid,
           void *server_object, pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_setup_application, const pmix_nspace_t nspace, pmix_info_t info[],
           size_t ninfo, pmix_setup_application_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_setup_local_support, const pmix_nspace_t nspace, pmix_info_t info[],
           size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_setup_fork, const pmix_proc_t *proc, char ***env)
NEEDS_INIT(PMIx_server_dmodex_request, const pmix_proc_t *proc, pmix_dmodex_response_fn_t cbfunc,
           void *cbdata)
NEEDS_INIT(PMIx_server_collect_job_info, pmix_proc_t *procs, size_t nprocs,
           pmix_data_buffer_t *dbuf)
NEEDS_INIT(PMIx_server_register_resources, pmix_info_t info[], size_t ninfo,
           pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_deregister_resources, pmix_info_t info[], size_t ninfo,
           pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_define_process_set, const pmix_proc_t *members, size_t nmembers,
           const char *pset_name)
NEEDS_INIT(PMIx_server_delete_process_set, char *pset_name)
NEEDS_INIT(PMIx_server_collect_inventory, pmix_info_t directives[], size_t ndirs,
           pmix_info_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_deliver_inventory, pmix_info_t info[], size_t ninfo,
           pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_server_IOF_deliver, const pmix_proc_t *source, pmix_iof_channel_t channel,
           const pmix_byte_object_t *bo, const pmix_info_t info[], size_t ninfo,
           pmix_op_cbfunc_t cbfunc, void *cbdata)
NEEDS_INIT(PMIx_Register_attributes, char *function, char *attrs[])

void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    if (cbfunc != NULL)
        cbfunc(PMIX_ERR_INIT, cbdata);
}

void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (cbfunc != NULL)
        cbfunc(PMIX_ERR_INIT, cbdata);
}
