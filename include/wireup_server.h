/* wireup_server.h - extensions of Wireup's libpmix for hosts, beyond PMIx.
 *
 * A PMIx server needs nothing from this file.  A host that uses it checks at run time whether it
 * runs on this library (dlsym), or links with it.
 */
#ifndef WIREUP_SERVER_H
#define WIREUP_SERVER_H

#include <pmix_server.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/* For PMIx_server_init: the size of the module, a PMIX_SIZE.  Without it the library reads the
 * members that the headers of 3.0 have, and those of 4.0 or 5.0 only when the object that holds
 * the module (or that calls) uses functions of such a release.  The order of the members is that
 * of this library's pmix_server.h; for 30 members that of OpenPMIx 6.0's, for 32 and more that of
 * 6.1's, whose tool_connected2, log2 and resource_block are called then. */
#define WIREUP_MODULE_SIZE "wireup.module.size"

/* Serves a local process that speaks PMI-1 or PMI-2 (or PMIx through our own client library,
 * which is faster this way).  Must be called after PMIx_server_register_client and before the
 * process is started: *fd_p becomes a socket (close-on-exec here) that the process must inherit
 * as descriptor `child_fd`, and that the host closes once the process has been started; env gets
 * the matching variables (PMI_FD, PMI_RANK, PMI_SIZE, WIREUP_FD).  PMI and PMIx processes of a
 * job share one KVS and take part in the same fences.  PMIX_ERR_NOT_FOUND: the process has not
 * been registered; PMIX_ERR_OUT_OF_RESOURCE. */
PMIX_EXPORT pmix_status_t WIREUP_server_connect_child(const pmix_proc_t *proc, int child_fd,
                                                      char ***env, int *fd_p);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
