/* pmix_server.h - the server interface, which resource managers embed.
 *
 * A host calls PMIx_server_init once with the functions that it offers (pmix_server_module_t),
 * registers jobs and their local processes, and starts each process with the environment of
 * PMIx_server_setup_fork.  The conventions of pmix.h hold here too; before PMIx_server_init every
 * call returns PMIX_ERR_INIT.
 */
#ifndef PMIx_SERVER_API_H
#define PMIx_SERVER_API_H

#include <pmix_common.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/* ---- Callbacks of the library --------------------------------------------------------------- */

/* A host with its own listener passes each accepted connection, incoming_sd, to the library. */
typedef void (*pmix_connection_cbfunc_t)(int incoming_sd, void *cbdata);

/* The host has accepted a tool (and named it), or has refused it. */
typedef void (*pmix_tool_connection_cbfunc_t)(pmix_status_t status, pmix_proc_t *proc,
                                              void *cbdata);

/* The data that every node needs before an application starts.  The host passes it to
 * PMIx_server_setup_local_support there, then calls cbfunc(status, cbdata) here. */
typedef void (*pmix_setup_application_cbfunc_t)(pmix_status_t status, pmix_info_t info[],
                                                size_t ninfo, void *provided_cbdata,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The data that a local process has put, as sz opaque bytes, owned by the library and valid only
 * during the call. */
typedef void (*pmix_dmodex_response_fn_t)(pmix_status_t status, char *data, size_t sz,
                                          void *cbdata);

/* ---- The host's functions ------------------------------------------------------------------- */

/* The host's functions, all optional: for a NULL member the requesting process gets
 * PMIX_ERR_NOT_SUPPORTED.  They are called from the library's thread and must not block: copy
 * data to be kept beyond the call only where the comment says so (all arguments live until the
 * callback is called), return PMIX_SUCCESS and call cbfunc later, or return
 * PMIX_OPERATION_SUCCEEDED and never call it, or return an error, which the requesting process
 * gets. A cbfunc may be NULL: then no process waits. */

/* A registered process has called PMIx_Init. server_object is the one of its registration.
 * (Replaced by client_connected2.) */
typedef pmix_status_t (*pmix_server_client_connected_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A process has called PMIx_Finalize.  It waits for cbfunc. */
typedef pmix_status_t (*pmix_server_client_finalized_fn_t)(const pmix_proc_t *proc,
                                                           void *server_object,
                                                           pmix_op_cbfunc_t cbfunc, void *cbdata);

/* A process asks to abort processes (NULL: its whole job), with a status and a message.  Call
 * cbfunc when that is under way. */
typedef pmix_status_t (*pmix_server_abort_fn_t)(const pmix_proc_t *proc, void *server_object,
                                                int status, const char msg[], pmix_proc_t procs[],
                                                size_t nprocs, pmix_op_cbfunc_t cbfunc,
                                                void *cbdata);

/* All local members of a collective have arrived.  `data` is this node's part, ndata bytes,
 * owned by the library until cbfunc; it is NULL and 0 when nothing is exchanged.  Gather the
 * parts of all nodes that hold members of procs (a rank of WILDCARD means the whole job), one
 * after the other in any order, and pass them to cbfunc on every node. */
typedef pmix_status_t (*pmix_server_fencenb_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                                  const pmix_info_t info[], size_t ninfo,
                                                  char *data, size_t ndata,
                                                  pmix_modex_cbfunc_t cbfunc, void *cbdata);

/* A local process needs the data that `proc`, on another node, has put.  Ask the host there,
 * which calls PMIx_server_dmodex_request, and pass the bytes to cbfunc.  PMIX_ERR_NOT_FOUND ends
 * the wait. */
typedef pmix_status_t (*pmix_server_dmodex_req_fn_t)(const pmix_proc_t *proc,
                                                     const pmix_info_t info[], size_t ninfo,
                                                     pmix_modex_cbfunc_t cbfunc, void *cbdata);

/* Publish info for others.  info has range and persistence (PMIX_RANGE, PMIX_PERSISTENCE); the
 * default is the session, until the publisher's application ends.  PMIX_ERR_DUPLICATE_KEY: a key
 * is taken in that range. */
typedef pmix_status_t (*pmix_server_publish_fn_t)(const pmix_proc_t *proc, const pmix_info_t info[],
                                                  size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                  void *cbdata);

/* Look up published keys (a NULL-terminated array).  PMIX_ERR_NOT_FOUND: none of them;
 * PMIX_ERR_PARTIAL_SUCCESS: some. */
typedef pmix_status_t (*pmix_server_lookup_fn_t)(const pmix_proc_t *proc, char **keys,
                                                 const pmix_info_t info[], size_t ninfo,
                                                 pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/* Withdraw keys that proc published; NULL means all of them. */
typedef pmix_status_t (*pmix_server_unpublish_fn_t)(const pmix_proc_t *proc, char **keys,
                                                    const pmix_info_t info[], size_t ninfo,
                                                    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Start a job of napps applications on behalf of proc.  Call cbfunc with its namespace once all
 * processes have been started, or none. */
typedef pmix_status_t (*pmix_server_spawn_fn_t)(const pmix_proc_t *proc,
                                                const pmix_info_t job_info[], size_t ninfo,
                                                const pmix_app_t apps[], size_t napps,
                                                pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/* Processes of several jobs have asked to be connected; call cbfunc when all have. */
typedef pmix_status_t (*pmix_server_connect_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                                  const pmix_info_t info[], size_t ninfo,
                                                  pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The reverse of connect. */
typedef pmix_status_t (*pmix_server_disconnect_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                                     const pmix_info_t info[], size_t ninfo,
                                                     pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Local processes subscribe to these event codes (NULL and 0: to all). */
typedef pmix_status_t (*pmix_server_register_events_fn_t)(pmix_status_t *codes, size_t ncodes,
                                                          const pmix_info_t info[], size_t ninfo,
                                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* No local process subscribes to these event codes any more. */
typedef pmix_status_t (*pmix_server_deregister_events_fn_t)(pmix_status_t *codes, size_t ncodes,
                                                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Watch a listening socket and pass accepted connections to cbfunc.  Only hosts with their own
 * listener thread offer this. */
typedef pmix_status_t (*pmix_server_listener_fn_t)(int listening_sd,
                                                   pmix_connection_cbfunc_t cbfunc, void *cbdata);

/* Notify all processes in `range` of an event.  The library notifies local processes itself. */
typedef pmix_status_t (*pmix_server_notify_event_fn_t)(pmix_status_t code,
                                                       const pmix_proc_t *source,
                                                       pmix_data_range_t range, pmix_info_t info[],
                                                       size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                       void *cbdata);

/* Answer queries that the library cannot answer itself.  PMIX_ERR_PARTIAL_SUCCESS: some keys of
 * the queries; PMIX_ERR_NOT_FOUND: none. */
typedef pmix_status_t (*pmix_server_query_fn_t)(pmix_proc_t *proct, pmix_query_t *queries,
                                                size_t nqueries, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata);

/* A tool asks to be admitted; info describes it (PMIX_USERID, PMIX_GRPID, PMIX_CMD_LINE …).
 * Reply with its name. */
typedef void (*pmix_server_tool_connection_fn_t)(pmix_info_t *info, size_t ninfo,
                                                 pmix_tool_connection_cbfunc_t cbfunc,
                                                 void *cbdata);

/* Write data to the destinations in the directives.  Unlike the others it returns nothing: reply
 * through cbfunc. */
typedef void (*pmix_server_log_fn_t)(const pmix_proc_t *client, const pmix_info_t data[],
                                     size_t ndata, const pmix_info_t directives[], size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Change an allocation on behalf of client. */
typedef pmix_status_t (*pmix_server_alloc_fn_t)(const pmix_proc_t *client,
                                                pmix_alloc_directive_t directive,
                                                const pmix_info_t data[], size_t ndata,
                                                pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Apply directives (pause, resume, kill, signal, restart …) to targets; NULL means the
 * requestor's job. */
typedef pmix_status_t (*pmix_server_job_control_fn_t)(const pmix_proc_t *requestor,
                                                      const pmix_proc_t targets[], size_t ntargets,
                                                      const pmix_info_t directives[], size_t ndirs,
                                                      pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Monitor the subject that `monitor` names, and raise an event of the status `error` when it
 * happens. */
typedef pmix_status_t (*pmix_server_monitor_fn_t)(const pmix_proc_t *requestor,
                                                  const pmix_info_t *monitor, pmix_status_t error,
                                                  const pmix_info_t directives[], size_t ndirs,
                                                  pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Make a credential for proc. */
typedef pmix_status_t (*pmix_server_get_cred_fn_t)(const pmix_proc_t *proc,
                                                   const pmix_info_t directives[], size_t ndirs,
                                                   pmix_credential_cbfunc_t cbfunc, void *cbdata);

/* Validate a credential that proc received. */
typedef pmix_status_t (*pmix_server_validate_cred_fn_t)(
    const pmix_proc_t *proc, const pmix_byte_object_t *cred, const pmix_info_t directives[],
    size_t ndirs, pmix_validation_cbfunc_t cbfunc, void *cbdata);

/* Forward output of procs on these channels to PMIx_server_IOF_deliver here; with PMIX_IOF_STOP
 * in the directives, stop forwarding it. */
typedef pmix_status_t (*pmix_server_iof_fn_t)(const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[], size_t ndirs,
                                              pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                                              void *cbdata);

/* Pass bytes of standard input from source to targets.  An empty byte object means end of file. */
typedef pmix_status_t (*pmix_server_stdin_fn_t)(const pmix_proc_t *source,
                                                const pmix_proc_t targets[], size_t ntargets,
                                                const pmix_info_t directives[], size_t ndirs,
                                                const pmix_byte_object_t *bo,
                                                pmix_op_cbfunc_t cbfunc, void *cbdata);

/* All local members have arrived in the construction or destruction of group `grp`.  Call cbfunc
 * when all members everywhere have; when one was asked for, results hold the context id
 * (PMIX_GROUP_CONTEXT_ID). */
typedef pmix_status_t (*pmix_server_grp_fn_t)(pmix_group_operation_t op, char grp[],
                                              const pmix_proc_t procs[], size_t nprocs,
                                              const pmix_info_t directives[], size_t ndirs,
                                              pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Report or update the information about a fabric. */
typedef pmix_status_t (*pmix_server_fabric_fn_t)(const pmix_proc_t *requestor,
                                                 pmix_fabric_operation_t op,
                                                 const pmix_info_t directives[], size_t ndirs,
                                                 pmix_info_cbfunc_t cbfunc, void *cbdata);

/* A registered process has called PMIx_Init; info has the infos that it passed.  It waits for
 * cbfunc. */
typedef pmix_status_t (*pmix_server_client_connected2_fn_t)(const pmix_proc_t *proc,
                                                            void *server_object, pmix_info_t info[],
                                                            size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                            void *cbdata);

/* Apply directives to a session (UINT32_MAX: the requestor's). */
typedef pmix_status_t (*pmix_server_session_control_fn_t)(const pmix_proc_t *requestor,
                                                          uint32_t sessionID,
                                                          const pmix_info_t directives[],
                                                          size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                          void *cbdata);

/* The same with a status, as in hosts written for 6.1; not a member of the module. */
typedef pmix_status_t (*pmix_server_tool_connection2_fn_t)(pmix_info_t *info, size_t ninfo,
                                                           pmix_tool_connection_cbfunc_t cbfunc,
                                                           void *cbdata);

/* The same with a status, as in hosts written for 6.1; not a member of the module. */
typedef pmix_status_t (*pmix_server_log2_fn_t)(const pmix_proc_t *client, const pmix_info_t data[],
                                               size_t ndata, const pmix_info_t directives[],
                                               size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Define or change a named block of resources; a function of 6.1, not a member of the module. */
typedef pmix_status_t (*pmix_server_resource_block_fn_t)(
    const pmix_proc_t *requestor, pmix_resource_block_directive_t directive, const char *block,
    const pmix_resource_unit_t *units, size_t nunit, const pmix_info_t *info, size_t ninfo,
    pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The functions that the host offers; fill it in by name.  Programs built with headers before
 * 5.0 pass a shorter one, without session_control (see docs/compatibility.md). */
typedef struct pmix_server_module_4_0_0_t {
    pmix_server_client_connected_fn_t client_connected;
    pmix_server_client_finalized_fn_t client_finalized;
    pmix_server_abort_fn_t abort;
    pmix_server_fencenb_fn_t fence_nb;
    pmix_server_dmodex_req_fn_t direct_modex;
    pmix_server_publish_fn_t publish;
    pmix_server_lookup_fn_t lookup;
    pmix_server_unpublish_fn_t unpublish;
    pmix_server_spawn_fn_t spawn;
    pmix_server_connect_fn_t connect;
    pmix_server_disconnect_fn_t disconnect;
    pmix_server_register_events_fn_t register_events;
    pmix_server_deregister_events_fn_t deregister_events;
    pmix_server_listener_fn_t listener;
    pmix_server_notify_event_fn_t notify_event;
    pmix_server_query_fn_t query;
    pmix_server_tool_connection_fn_t tool_connected;
    pmix_server_log_fn_t log;
    pmix_server_alloc_fn_t allocate;
    pmix_server_job_control_fn_t job_control;
    pmix_server_monitor_fn_t monitor;
    pmix_server_get_cred_fn_t get_credential;
    pmix_server_validate_cred_fn_t validate_credential;
    pmix_server_iof_fn_t iof_pull;
    pmix_server_stdin_fn_t push_stdin;
    pmix_server_grp_fn_t group;
    pmix_server_fabric_fn_t fabric;
    pmix_server_client_connected2_fn_t client_connected2;
    pmix_server_session_control_fn_t session_control;
} pmix_server_module_t;

/* ---- Initialization and finalization -------------------------------------------------------- */

/* Become a server for this node.  `module` may be NULL when the host offers no functions.  May
 * be called again: each call needs its own PMIx_server_finalize.  (Standard 17.1.1) */
PMIX_EXPORT pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[],
                                           size_t ninfo);

/* Stop: clients lose their connection, jobs are removed.  (Standard 17.1.2) */
PMIX_EXPORT pmix_status_t PMIx_server_finalize(void);

/* ---- Jobs and their processes --------------------------------------------------------------- */

/* Register a job that has nlocalprocs processes here (-1: not known yet): its size, its maps and
 * all other job information for clients, in info.  May be called again with more.  Done when
 * cbfunc is called; with cbfunc NULL it blocks and returns PMIX_OPERATION_SUCCEEDED.  (Standard
 * 17.2.3) */
PMIX_EXPORT pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t nspace, int nlocalprocs,
                                                      pmix_info_t info[], size_t ninfo,
                                                      pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Deregister a job and all of its clients.  (Standard 17.2.4) */
PMIX_EXPORT void PMIx_server_deregister_nspace(const pmix_nspace_t nspace, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata);

/* Register a process of a registered job: only a process of this user and group may connect as
 * it. server_object is passed to the host's functions.  (Standard 17.2.7) */
PMIX_EXPORT pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                                      void *server_object, pmix_op_cbfunc_t cbfunc,
                                                      void *cbdata);

/* Deregister a process, and close its connection.  (Standard 17.2.8) */
PMIX_EXPORT void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata);

/* Collect the data that every node needs before an application starts (environment, fabric keys
 * …); once per job, where it is launched from.  (Standard 17.2.11) */
PMIX_EXPORT pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace,
                                                        pmix_info_t info[], size_t ninfo,
                                                        pmix_setup_application_cbfunc_t cbfunc,
                                                        void *cbdata);

/* Apply the data of PMIx_server_setup_application, before the first process of the job starts
 * here.  (Standard 17.2.13) */
PMIX_EXPORT pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace,
                                                          pmix_info_t info[], size_t ninfo,
                                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Add the variables by which a client finds us to an environment.  (Standard 17.2.9) */
PMIX_EXPORT pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***env);

/* The data that a local process has put for others, as soon as it has committed.  (Standard
 * 17.2.10) */
PMIX_EXPORT pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc,
                                                     pmix_dmodex_response_fn_t cbfunc,
                                                     void *cbdata);

/* Append the job information of procs' jobs to a buffer, for another server.  (Not in the
 * Standard.) */
PMIX_EXPORT pmix_status_t PMIx_server_collect_job_info(pmix_proc_t *procs, size_t nprocs,
                                                       pmix_data_buffer_t *dbuf);

/* ---- Resources, sets and inventory ---------------------------------------------------------- */

/* Register resources that belong to no job.  (Standard 17.2.5) */
PMIX_EXPORT pmix_status_t PMIx_server_register_resources(pmix_info_t info[], size_t ninfo,
                                                         pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Deregister them.  (Standard 17.2.6) */
PMIX_EXPORT pmix_status_t PMIx_server_deregister_resources(pmix_info_t info[], size_t ninfo,
                                                           pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Define a named set of processes; local ones get an event.  (Standard 17.2.19) */
PMIX_EXPORT pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members,
                                                         size_t nmembers, const char *pset_name);

/* Delete a set; local processes get an event.  (Standard 17.2.20) */
PMIX_EXPORT pmix_status_t PMIx_server_delete_process_set(char *pset_name);

/* The inventory of this node.  (Standard 17.2.15) */
PMIX_EXPORT pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                                        pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Take in the inventories of nodes.  (Standard 17.2.16) */
PMIX_EXPORT pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                                        pmix_info_t directives[], size_t ndirs,
                                                        pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Register the attributes that the host supports in a function (its name), as a NULL-terminated
 * array of names.  Once per function: PMIX_ERR_REPEAT_ATTR_REGISTRATION.  (Standard 17.2.12) */
PMIX_EXPORT pmix_status_t PMIx_Register_attributes(char *function, char *attrs[]);

/* ---- Maps, bindings and output -------------------------------------------------------------- */

/* Names of nodes, separated by commas, in the short form of the key PMIX_NODE_MAP; to be freed
 * with free().  Works before PMIx_server_init.  Note that the result may hold NUL bytes when
 * another library made it; ours is text.  (Standard 17.2.1) */
PMIX_EXPORT pmix_status_t PMIx_generate_regex(const char *input, char **regex);

/* Ranks per node ("0,1;2,3") in the short form of the key PMIX_PROC_MAP; the same holds.
 * (Standard 17.2.2) */
PMIX_EXPORT pmix_status_t PMIx_generate_ppn(const char *input, char **ppn);

/* The string of PMIX_LOCALITY_STRING for a process that is bound to cpuset; to be freed with
 * free().  (Standard 17.2.17) */
PMIX_EXPORT pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset,
                                                               char **locality);

/* The string of PMIX_CPUSET for a cpuset; to be freed with free().  (Standard 17.2.18) */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset,
                                                             char **cpuset_string);

/* The reverse.  (Not in the Standard.) */
PMIX_EXPORT pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string,
                                                      pmix_cpuset_t *cpuset);

/* Deliver output of a process (of any node) to its local subscribers.  With cbfunc NULL it
 * blocks. (Standard 17.2.14) */
PMIX_EXPORT pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source,
                                                  pmix_iof_channel_t channel,
                                                  const pmix_byte_object_t *bo,
                                                  const pmix_info_t info[], size_t ninfo,
                                                  pmix_op_cbfunc_t cbfunc, void *cbdata);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
