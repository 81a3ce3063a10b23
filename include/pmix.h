/* pmix.h - the PMIx interface of clients, and all functions that need no server.
 *
 * Conventions:
 *   - A call returns PMIX_SUCCESS (0) or a negative status.  Any call may return PMIX_ERR_INIT
 *     (before PMIx_Init), PMIX_ERR_BAD_PARAM (a pointer is missing), PMIX_ERR_NOMEM,
 *     PMIX_ERR_UNREACH (the server is gone), PMIX_ERR_NOT_SUPPORTED (the host cannot do it) and,
 *     where PMIX_TIMEOUT was given, PMIX_ERR_TIMEOUT; the comments below name additional ones.
 *   - `…_nb` returns at once.  With PMIX_SUCCESS its callback is called exactly once, from the
 *     library's thread; with PMIX_OPERATION_SUCCEEDED the operation is complete and the callback is
 *     not called; nor is it with any other status.  Arrays and strings passed in must live until
 *     the callback.
 *   - `info, ninfo` are directives: NULL and 0 when there are none.  Unknown ones are ignored,
 *     unless marked required (PMIX_ERR_NOT_SUPPORTED).
 *   - Keys have at most PMIX_MAX_KEYLEN (511) characters, namespaces PMIX_MAX_NSLEN (255).
 *   - The results of a call in `**results` belong to the caller: PMIx_Info_free, PMIx_Value_free …
 *   - Callbacks must not block, and must not call blocking functions of PMIx.
 *
 * "Standard 4.3" names a section of the PMIx Standard, version 5.0.
 */
#ifndef PMIx_H
#define PMIx_H

#include <pmix_common.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/* ---- Initialization and finalization -------------------------------------------------------- */

/* Connect to the local server and get our name; `proc` (may be NULL) receives our namespace and
 * rank.  May be called again: each call needs its own PMIx_Finalize.  PMIX_ERR_UNREACH: no
 * server is named in the environment, or it does not reply.  (Standard 4.3) */
PMIX_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);

/* Finalize.  Blocks until the server has confirmed; with PMIX_EMBED_BARRIER in info, until all
 * processes of the job have called it.  Only the last of nested calls does anything.  (Standard
 * 4.4) */
PMIX_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo);

/* Whether PMIx_Init has been called more often than PMIx_Finalize: 1 or 0.  At any time.
 * (Standard 4.1) */
PMIX_EXPORT int PMIx_Initialized(void);

/* Ask the host to abort procs (NULL: all of our job; a rank of WILDCARD: a whole job) with this
 * exit status, and to print `msg` (may be NULL).  Returns once the host has agreed; if we are
 * among procs, it may never return.  PMIX_ERR_NOT_SUPPORTED: the host cannot abort these.
 * (Standard 12.1.1) */
PMIX_EXPORT pmix_status_t PMIx_Abort(int status, const char msg[], pmix_proc_t procs[],
                                     size_t nprocs);

/* The maker of this library, its interface's release and the version of the Standard.  A
 * constant text, at any time.  (Standard 4.2) */
PMIX_EXPORT const char *PMIx_Get_version(void);

/* Do all due work without blocking, for programs without a progress thread
 * (PMIX_EXTERNAL_PROGRESS).  Otherwise it does nothing.  (Standard 4.5) */
PMIX_EXPORT void PMIx_Progress(void);

/* Stop the library's progress thread, after all pending events (unless
 * PMIX_PROGRESS_THREAD_FLUSH is false).  From then on the caller has to call PMIx_Progress.
 * (Not in the Standard.) */
PMIX_EXPORT void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo);

/* ---- Exchanging data ------------------------------------------------------------------------ */

/* Store a value for PMIx_Get of this process only, as data of `proc`.  The key may begin with
 * "pmix": MPI libraries store their findings about others.  (Standard 5.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[],
                                              pmix_value_t *val);

/* Put a value for others: it is copied, replaces an older one of the key, and is visible in its
 * scope after PMIx_Commit.  PMIX_ERR_BAD_PARAM: the key is empty, too long, or begins with
 * "pmix", which only the process manager may put.  PMIX_HOSTNAME and PMIX_CPUSET it tells itself,
 * but Open MPI 4 puts them: that succeeds and changes nothing.  (Standard 5.2.1) */
PMIX_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *val);

/* Send all puts since the last commit to the server.  Waits only for the server.  (Standard
 * 5.2.3) */
PMIX_EXPORT pmix_status_t PMIx_Commit(void);

/* Wait until all of procs (NULL: our job; a rank of WILDCARD: all of a job) have called with the
 * same procs.  With PMIX_COLLECT_DATA in info, their committed data is exchanged, so that
 * PMIx_Get needs no further requests.  PMIX_ERR_LOST_CONNECTION: a member is gone.  (Standard
 * 8.1) */
PMIX_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t nprocs,
                                     const pmix_info_t info[], size_t ninfo);

/* Non-blocking form.  (Standard 8.2) */
PMIX_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t info[], size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The value of a key of a process: its own put, or information about it, its job (rank
 * WILDCARD), its node or its session.  Waits for data of processes that have not committed yet,
 * unless PMIX_IMMEDIATE or PMIX_OPTIONAL (do not ask the server) is given. proc may be NULL for
 * our own.  `*val` is to be freed by PMIx_Value_free(v, 1), unless PMIX_GET_STATIC_VALUES (the
 * caller's memory) or PMIX_GET_POINTER_VALUES (the library's) was given.  PMIX_ERR_NOT_FOUND;
 * PMIX_ERR_EXISTS_OUTSIDE_SCOPE: it exists but not for us.  (Standard 5.4) */
PMIX_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[],
                                   const pmix_info_t info[], size_t ninfo, pmix_value_t **val);

/* Non-blocking form.  (Standard 5.4.1) */
PMIX_EXPORT pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[],
                                      const pmix_info_t info[], size_t ninfo,
                                      pmix_value_cbfunc_t cbfunc, void *cbdata);

/* ---- Publishing ----------------------------------------------------------------------------- */

/* Publish values for processes that look them up by key.  info has their range (PMIX_RANGE;
 * default: the session) and how long they stay (PMIX_PERSISTENCE; default: until our application
 * ends).  PMIX_ERR_DUPLICATE_KEY: a key is taken in that range.  (Standard 9.1) */
PMIX_EXPORT pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo);

/* Non-blocking form.  (Standard 9.2) */
PMIX_EXPORT pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Fill in values and their publishers for the keys in data.  PMIX_WAIT in info waits for that
 * many of them (0: all).  PMIX_ERR_NOT_FOUND: none is there; PMIX_ERR_PARTIAL_SUCCESS: some;
 * values not found have type PMIX_UNDEF.  PMIX_ERR_NO_PERMISSIONS.  (Standard 9.6) */
PMIX_EXPORT pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[],
                                      size_t ninfo);

/* Non-blocking form, for a NULL-terminated array of keys.  (Standard 9.7) */
PMIX_EXPORT pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                         pmix_lookup_cbfunc_t cbfunc, void *cbdata);

/* Withdraw keys that we published (NULL-terminated array; NULL: all of them).  (Standard 9.9) */
PMIX_EXPORT pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t ninfo);

/* Non-blocking form.  (Standard 9.10) */
PMIX_EXPORT pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Processes and jobs --------------------------------------------------------------------- */

/* Start a job of napps applications. job_info is about the whole job, each application's info
 * about itself.  `nspace` (room for PMIX_MAX_NSLEN + 1) receives its name.  Returns when all of
 * it has been started, or none: PMIX_ERR_JOB_FAILED_TO_LAUNCH and others give the reason.
 * (Standard 12.2.1) */
PMIX_EXPORT pmix_status_t PMIx_Spawn(const pmix_info_t job_info[], size_t ninfo,
                                     const pmix_app_t apps[], size_t napps, pmix_nspace_t nspace);

/* Non-blocking form.  (Standard 12.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Spawn_nb(const pmix_info_t job_info[], size_t ninfo,
                                        const pmix_app_t apps[], size_t napps,
                                        pmix_spawn_cbfunc_t cbfunc, void *cbdata);

/* Connect procs, of any jobs: from now on the end of one is an event for all.  All of them must
 * call.  Their job information is exchanged.  (Standard 12.3.1) */
PMIX_EXPORT pmix_status_t PMIx_Connect(const pmix_proc_t procs[], size_t nprocs,
                                       const pmix_info_t info[], size_t ninfo);

/* Non-blocking form.  (Standard 12.3.2) */
PMIX_EXPORT pmix_status_t PMIx_Connect_nb(const pmix_proc_t procs[], size_t nprocs,
                                          const pmix_info_t info[], size_t ninfo,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Undo a PMIx_Connect of the same procs.  All of them must call.  PMIX_ERR_INVALID_OPERATION:
 * they are not connected.  (Standard 12.3.3) */
PMIX_EXPORT pmix_status_t PMIx_Disconnect(const pmix_proc_t procs[], size_t nprocs,
                                          const pmix_info_t info[], size_t ninfo);

/* Non-blocking form.  (Standard 12.3.4) */
PMIX_EXPORT pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t ranges[], size_t nprocs,
                                             const pmix_info_t info[], size_t ninfo,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The processes of a namespace (NULL: of all) on a node (NULL: this one).  `*procs` is to be
 * freed by PMIx_Proc_free.  PMIX_ERR_NOT_FOUND: no such node or namespace.  (Standard 7.2) */
PMIX_EXPORT pmix_status_t PMIx_Resolve_peers(const char *nodename, const pmix_nspace_t nspace,
                                             pmix_proc_t **procs, size_t *nprocs);

/* The names of the nodes that a namespace (NULL: all) uses, separated by commas; to be freed
 * with free().  (Standard 7.2.1) */
PMIX_EXPORT pmix_status_t PMIx_Resolve_nodes(const pmix_nspace_t nspace, char **nodelist);

/* ---- Queries -------------------------------------------------------------------------------- */

/* Answer queries, by the library where it can, else by the host.  PMIX_ERR_PARTIAL_SUCCESS: some
 * of the keys; PMIX_ERR_NOT_FOUND: none.  (Standard 7.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries,
                                          pmix_info_t **results, size_t *nresults);

/* Non-blocking form.  (Standard 7.1.3) */
PMIX_EXPORT pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries,
                                             pmix_info_cbfunc_t cbfunc, void *cbdata);

/* ---- Events --------------------------------------------------------------------------------- */

/* Register evhdlr for events of these codes (NULL and 0: all that have no handler of their own).
 * info may give it a name and a place in the chain.  With cbfunc NULL it blocks and returns the
 * handler's reference (0 or more) or a negative status; else the reference goes to cbfunc.
 * (Standard 10.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                                      pmix_info_t info[], size_t ninfo,
                                                      pmix_notification_fn_t evhdlr,
                                                      pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata);

/* Remove the handler of this reference.  With cbfunc NULL it blocks.  PMIX_ERR_NOT_FOUND: there
 * is none.  (Standard 10.1.7) */
PMIX_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                                        void *cbdata);

/* Notify all processes in `range` of an event with the source `source` (NULL: us).  With cbfunc
 * NULL it blocks until the server has the event, not until others have received it.  (Standard
 * 10.1.8) */
PMIX_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                            pmix_data_range_t range, const pmix_info_t info[],
                                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* ---- Jobs, sessions and allocations --------------------------------------------------------- */

/* Write data to the destinations that its keys name (PMIX_LOG_STDERR, PMIX_LOG_SYSLOG,
 * PMIX_LOG_EMAIL …).  PMIX_ERR_PARTIAL_SUCCESS: not to all.  (Standard 13.4.1) */
PMIX_EXPORT pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata,
                                   const pmix_info_t directives[], size_t ndirs);

/* Non-blocking form.  (Standard 13.4.2) */
PMIX_EXPORT pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Request a new allocation, or a change of ours.  (Standard 13.1.1) */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive,
                                                  pmix_info_t *info, size_t ninfo,
                                                  pmix_info_t **results, size_t *nresults);

/* Non-blocking form.  (Standard 13.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive,
                                                     pmix_info_t *info, size_t ninfo,
                                                     pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Define, extend, reduce or delete a named block of resources.  (Not in the Standard.) */
PMIX_EXPORT pmix_status_t PMIx_Resource_block(pmix_resource_block_directive_t directive,
                                              char *block, const pmix_resource_unit_t *res,
                                              size_t nres, const pmix_info_t *info, size_t ninfo);

/* Non-blocking form.  (Not in the Standard.) */
PMIX_EXPORT pmix_status_t PMIx_Resource_block_nb(pmix_resource_block_directive_t directive,
                                                 char *block, const pmix_resource_unit_t *res,
                                                 size_t nres, const pmix_info_t *info, size_t ninfo,
                                                 pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Ask the host to control a session (UINT32_MAX: ours).  With cbfunc NULL it blocks.  (Not in
 * the Standard.) */
PMIX_EXPORT pmix_status_t PMIx_Session_control(uint32_t sessionID, const pmix_info_t directives[],
                                               size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                               void *cbdata);

/* Pause, resume, signal, kill, restart or checkpoint targets (NULL: our job), or register files
 * to clean up.  PMIX_ERR_NO_PERMISSIONS.  (Standard 13.2.1) */
PMIX_EXPORT pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_info_t **results, size_t *nresults);

/* Non-blocking form.  (Standard 13.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                              const pmix_info_t directives[], size_t ndirs,
                                              pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Monitor our heartbeat, a file's growth or resource usage, and get an event of status `error`
 * when it fails.  (Standard 13.3.1) */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                               const pmix_info_t directives[], size_t ndirs,
                                               pmix_info_t **results, size_t *nresults);

/* Non-blocking form.  (Standard 13.3.2) */
PMIX_EXPORT pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                                  const pmix_info_t directives[], size_t ndirs,
                                                  pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Send a heartbeat to the monitor.  (Standard 13.3.3) */
PMIX_EXPORT void(PMIx_Heartbeat)(void);

/* The same, also for programs that run with a library before 6.1, which has no such function. */
#define PMIx_Heartbeat()                                                                           \
    do {                                                                                           \
        pmix_info_t pmix_beat_;                                                                    \
        PMIX_INFO_LOAD(&pmix_beat_, PMIX_SEND_HEARTBEAT, NULL, PMIX_POINTER);                      \
        PMIx_Process_monitor_nb(&pmix_beat_, PMIX_SUCCESS, NULL, 0, NULL, NULL);                   \
        PMIX_INFO_DESTRUCT(&pmix_beat_);                                                           \
    } while (0)

/* ---- Credentials ---------------------------------------------------------------------------- */

/* A credential that proves our identity to others.  PMIx_Byte_object_destruct releases it.
 * (Standard 16.1.1) */
PMIX_EXPORT pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                              pmix_byte_object_t *credential);

/* Non-blocking form.  (Standard 16.1.2) */
PMIX_EXPORT pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                                 pmix_credential_cbfunc_t cbfunc, void *cbdata);

/* Validate a credential that we received; results describe its owner.  PMIX_ERR_INVALID_CRED.
 * (Standard 16.2.1) */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred,
                                                   const pmix_info_t info[], size_t ninfo,
                                                   pmix_info_t **results, size_t *nresults);

/* Non-blocking form.  (Standard 16.2.2) */
PMIX_EXPORT pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred,
                                                      const pmix_info_t info[], size_t ninfo,
                                                      pmix_validation_cbfunc_t cbfunc,
                                                      void *cbdata);

/* ---- Groups --------------------------------------------------------------------------------- */

/* Form a group of procs, all of which call this with the same name and members.  With
 * PMIX_GROUP_ASSIGN_CONTEXT_ID results hold a number that no other group has.
 * PMIX_GROUP_CONSTRUCT_ABORT: a member was lost.  (Standard 14.2.6) */
PMIX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[], const pmix_proc_t procs[],
                                               size_t nprocs, const pmix_info_t directives[],
                                               size_t ndirs, pmix_info_t **results,
                                               size_t *nresults);

/* Non-blocking form.  (Standard 14.2.7) */
PMIX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[], const pmix_proc_t procs[],
                                                  size_t nprocs, const pmix_info_t info[],
                                                  size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                                  void *cbdata);

/* Form a group by inviting procs; each replies by PMIx_Group_join.  Returns when all have.
 * (Standard 14.2.10) */
PMIX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                            size_t nprocs, const pmix_info_t info[], size_t ninfo,
                                            pmix_info_t **results, size_t *nresult);

/* Non-blocking form.  (Standard 14.2.11) */
PMIX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char grp[], const pmix_proc_t procs[],
                                               size_t nprocs, const pmix_info_t info[],
                                               size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                               void *cbdata);

/* Reply to an invitation of `leader` (in its event PMIX_GROUP_INVITED): accept or decline.
 * (Standard 14.2.12) */
PMIX_EXPORT pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader,
                                          pmix_group_opt_t opt, const pmix_info_t info[],
                                          size_t ninfo, pmix_info_t **results, size_t *nresult);

/* Non-blocking form.  (Standard 14.2.13) */
PMIX_EXPORT pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader,
                                             pmix_group_opt_t opt, const pmix_info_t info[],
                                             size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Leave a group; the others get an event.  To end a group in order use PMIx_Group_destruct.
 * (Standard 14.2.14) */
PMIX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[],
                                           size_t ninfo);

/* Non-blocking form.  (Standard 14.2.15) */
PMIX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[], const pmix_info_t info[],
                                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* End a group: all of its members call this.  (Standard 14.2.8) */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[], const pmix_info_t info[],
                                              size_t ninfo);

/* Non-blocking form.  (Standard 14.2.9) */
PMIX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[], const pmix_info_t info[],
                                                 size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                                 void *cbdata);

/* ---- Fabric --------------------------------------------------------------------------------- */

/* Get information about a fabric (the one named in `fabric`, or the default one) and updates of
 * it. (Standard 15.4.1) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric,
                                               const pmix_info_t directives[], size_t ndirs);

/* Non-blocking form.  (Standard 15.4.2) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric,
                                                  const pmix_info_t directives[], size_t ndirs,
                                                  pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Update the information in `fabric`.  (Standard 15.4.3) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric);

/* Non-blocking form.  (Standard 15.4.4) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                                void *cbdata);

/* Deregister a fabric, and release the memory that `fabric` holds.  (Standard 15.4.5) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric);

/* Non-blocking form.  (Standard 15.4.6) */
PMIX_EXPORT pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                                    void *cbdata);

/* ---- Topology ------------------------------------------------------------------------------- */

/* The hardware of this node: shared with the server where possible, else discovered.  `topo`
 * must be empty; its source may name the provider ("hwloc"), else PMIX_ERR_NOT_SUPPORTED. The
 * topology is shared and read-only: PMIx_Topology_destruct.  (Standard 12.4.1) */
PMIX_EXPORT pmix_status_t PMIx_Load_topology(pmix_topology_t *topo);

/* A set of processing units from its string form, as in the key PMIX_CPUSET. PMIX_ERR_BAD_PARAM:
 * invalid.  Works before PMIx_Init.  (Standard 12.4.3) */
PMIX_EXPORT pmix_status_t PMIx_Parse_cpuset_string(const char *cpuset_string,
                                                   pmix_cpuset_t *cpuset);

/* Where this process (PMIX_CPUBIND_PROCESS) or thread may run.  (Standard 12.4.4) */
PMIX_EXPORT pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t *cpuset, pmix_bind_envelope_t ref);

/* The hardware that two processes of one node share, from their PMIX_LOCALITY_STRING values.
 * Works before PMIx_Init.  (Standard 12.4.2) */
PMIX_EXPORT pmix_status_t PMIx_Get_relative_locality(const char *locality1, const char *locality2,
                                                     pmix_locality_t *locality);

/* The distances of this node's devices from a set of processing units (NULL: our own; a NULL
 * topo: this node). info may choose kinds of devices (PMIX_DEVICE_TYPE).
 * PMIx_Device_distance_free releases the result.  PMIX_ERR_NOT_FOUND: no such devices. (Standard
 * 12.4.5) */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                                 pmix_info_t info[], size_t ninfo,
                                                 pmix_device_distance_t *distances[],
                                                 size_t *ndist);

/* Non-blocking form.  (Standard 12.4.6) */
PMIX_EXPORT pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t *topo, pmix_cpuset_t *cpuset,
                                                    pmix_info_t info[], size_t ninfo,
                                                    pmix_device_dist_cbfunc_t cbfunc, void *cbdata);

/* ---- Packing data --------------------------------------------------------------------------- */

/* Append num_vals items of a type to a buffer, in the encoding that `target` (NULL: our server)
 * understands. src points to the first; for PMIX_STRING it is a char **. PMIX_ERR_PACK_MISMATCH,
 * PMIX_ERR_UNKNOWN_DATA_TYPE.  (Standard 11.3.1) */
PMIX_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                                         void *src, int32_t num_vals, pmix_data_type_t type);

/* Unpack the next items of a buffer that `source` packed: exactly those of one PMIx_Data_pack.
 * *max_num_values is the room in dest, and becomes the number of items.
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE: there are more (dest holds as many as fit);
 * PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER: there are none; PMIX_ERR_UNPACK_FAILURE: these bytes
 * are invalid.  Items own memory: destruct them.  (Standard 11.3.2) */
PMIX_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
                                           void *dest, int32_t *max_num_values,
                                           pmix_data_type_t type);

/* A new copy of one item, with all that it points to; release it by its family's free.
 * (Standard 11.3.3) */
PMIX_EXPORT pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type);

/* An item as readable text, each line beginning with prefix (NULL: a blank); to be freed with
 * free().  (Standard 11.3.4) */
PMIX_EXPORT pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src,
                                          pmix_data_type_t type);

/* Append the part of src not yet unpacked to dest; src stays.  (Standard 11.3.5) */
PMIX_EXPORT pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest, pmix_data_buffer_t *src);

/* Move the part of a buffer not yet unpacked out, as bytes that the caller frees; the buffer is
 * empty then.  An empty buffer gives no bytes.  (Standard 11.3.7) */
PMIX_EXPORT pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);

/* Load bytes from an unload into a buffer, in place of its content.  They are moved: payload is
 * empty then.  (Standard 11.3.6) */
PMIX_EXPORT pmix_status_t PMIx_Data_load(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);

/* The same with a copy: payload stays.  (Standard 11.3.10) */
PMIX_EXPORT pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer,
                                          const pmix_byte_object_t *payload);

/* Compress bytes; *outbytes is to be freed with free().  False when that would not make them
 * shorter: then there is no output.  (Standard 11.3.8) */
PMIX_EXPORT bool PMIx_Data_compress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
                                    size_t *nbytes);

/* The reverse.  False when PMIx_Data_compress has not made these bytes.  (Standard 11.3.9) */
PMIX_EXPORT bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
                                      size_t *nbytes);

/* ---- Names of constants --------------------------------------------------------------------- */

/* Names of statuses and other numbers: constant texts, at any time.  A value without a name has
 * a text too ("ERROR STRING NOT FOUND", "UNKNOWN …").  (Standard 3.5) */
PMIX_EXPORT const char *PMIx_Error_string(pmix_status_t status);

/* The status of this name (case-insensitive); INT32_MIN when there is none.  (Not in the
 * Standard.) */
PMIX_EXPORT pmix_status_t PMIx_Error_code(const char *errname);
PMIX_EXPORT const char *PMIx_Proc_state_string(pmix_proc_state_t state);
PMIX_EXPORT const char *PMIx_Job_state_string(pmix_job_state_t state);
PMIX_EXPORT const char *PMIx_Scope_string(pmix_scope_t scope);
PMIX_EXPORT const char *PMIx_Persistence_string(pmix_persistence_t persist);
PMIX_EXPORT const char *PMIx_Data_range_string(pmix_data_range_t range);

/* The flags of an info; to be freed with free().  (Standard 3.5) */
PMIX_EXPORT char *PMIx_Info_directives_string(pmix_info_directives_t directives);
PMIX_EXPORT const char *PMIx_Data_type_string(pmix_data_type_t type);
PMIX_EXPORT const char *PMIx_Alloc_directive_string(pmix_alloc_directive_t directive);
PMIX_EXPORT const char *
PMIx_Resource_block_directive_string(pmix_resource_block_directive_t directive);
PMIX_EXPORT const char *PMIx_IOF_channel_string(pmix_iof_channel_t channel);
PMIX_EXPORT const char *PMIx_Link_state_string(pmix_link_state_t state);
PMIX_EXPORT const char *PMIx_Device_type_string(pmix_device_type_t type);
PMIX_EXPORT const char *PMIx_Value_comparison_string(pmix_value_cmp_t cmp);
PMIX_EXPORT const char *PMIx_Group_operation_string(pmix_group_operation_t op);

/* From "PMIX_TIMEOUT" (case-insensitive) to "pmix.timeout" … (Standard 3.5) */
PMIX_EXPORT const char *PMIx_Get_attribute_string(const char *attribute);

/* … and back.  Unknown ones are returned unchanged.  At any time.  (Standard 3.5) */
PMIX_EXPORT const char *PMIx_Get_attribute_name(const char *attrstring);

/* Whole items as readable text, to be freed with free(); NULL for NULL or without memory. */
PMIX_EXPORT char *PMIx_Value_string(const pmix_value_t *value);
PMIX_EXPORT char *PMIx_Info_string(const pmix_info_t *info);
PMIX_EXPORT char *PMIx_Proc_string(const pmix_proc_t *proc);
PMIX_EXPORT char *PMIx_App_string(const pmix_app_t *app);
PMIX_EXPORT char *PMIx_Resource_unit_string(const pmix_resource_unit_t *unit);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
