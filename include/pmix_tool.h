/* pmix_tool.h - the PMIx interface of tools (debuggers, monitors, launchers).
 *
 * A tool has all of pmix.h and pmix_server.h, and the calls here, which find servers, connect to
 * them and collect the output of jobs.  The conventions of pmix.h hold.
 */
#ifndef PMIx_TOOL_API_H
#define PMIx_TOOL_API_H

#include <pmix.h>
#include <pmix_server.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/* Receives output of a process: never more than was requested, in the order it was written on
 * its channel.  An empty payload means that the channel has been closed. */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel, pmix_proc_t *source,
                                  pmix_byte_object_t *payload, pmix_info_t info[], size_t ninfo);

/* ---- Initialization and finalization -------------------------------------------------------- */

/* Become a tool: find a server by info (PMIX_CONNECT_TO_SYSTEM, PMIX_SERVER_PIDINFO,
 * PMIX_TCP_URI, PMIX_TOOL_ATTACHMENT_FILE …) and connect, or connect to none
 * (PMIX_TOOL_DO_NOT_CONNECT).  `proc` (may be NULL) receives our name.  PMIX_ERR_UNREACH: there
 * is no such server.  (Standard 18.5.1) */
PMIX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo);

/* Disconnect from all servers and finalize.  (Standard 18.5.2) */
PMIX_EXPORT pmix_status_t PMIx_tool_finalize(void);

/* Whether we are connected to a server.  (Not in the Standard.) */
PMIX_EXPORT bool PMIx_tool_is_connected(void);

/* ---- Servers -------------------------------------------------------------------------------- */

/* Connect to one more server, found as in PMIx_tool_init, and send requests to it from now on.
 * `server` (may be NULL) receives its name.  (Standard 18.5.4) */
PMIX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *myproc, pmix_proc_t *server,
                                                     pmix_info_t info[], size_t ninfo);

/* Disconnect from one server.  PMIX_ERR_NOT_FOUND: we are not connected to it.  (Standard
 * 18.5.3) */
PMIX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server);

/* The servers that we are connected to, beginning with the one that gets the requests;
 * PMIx_Proc_free releases them.  (Standard 18.5.5) */
PMIX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t *servers[], size_t *nservers);

/* Send requests to this one of our servers from now on.  With PMIX_WAIT_FOR_CONNECTION, wait for
 * it.  PMIX_ERR_UNREACH: we are not connected to it.  (Standard 18.5.6) */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t info[],
                                               size_t ninfo);

/* Offer the functions of a server, for tools that are launchers and hosts.  (Not in the
 * Standard.) */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t *module);

/* ---- Forwarding of input and output --------------------------------------------------------- */

/* Get the output of procs (a rank of WILDCARD: a whole job) on these channels: by cbfunc, or,
 * when that is NULL, on our own standard output and error.  With regcbfunc NULL it blocks and
 * returns the handler's reference (0 or more) or a negative status.  (Standard 18.5.7) */
PMIX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs,
                                        const pmix_info_t directives[], size_t ndirs,
                                        pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc,
                                        pmix_hdlr_reg_cbfunc_t regcbfunc, void *regcbdata);

/* Stop a pull; output that has already come is delivered or, with PMIX_IOF_STOP, dropped.  With
 * cbfunc NULL it blocks.  (Standard 18.5.8) */
PMIX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[],
                                              size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Send bytes to the standard input of targets; an empty or NULL byte object means end of file.
 * With cbfunc NULL it blocks.  (Standard 18.5.9) */
PMIX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                                        pmix_byte_object_t *bo, const pmix_info_t directives[],
                                        size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
