/* server_instance.h - the one server of this process: init and finalize, tools as servers, forks.
 *
 * After a fork the child has a copy without a thread: it can still call PMIx_server_setup_fork,
 * which touches no connection (Slurm's tasks do that themselves). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_INSTANCE_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_INSTANCE_H

#include "lib/pmix/server/server.h"

/* Locks the server; NULL: there is none. */
struct pserver *instance_enter(void);

/* The host's function for allocations; NULL: there is none, or no host. */
pmix_server_alloc_fn_t instance_allocate(void);

/* Unlocks it; the callback, if any, is called by the thread that turns the loop.  Without one,
 * success is PMIX_OPERATION_SUCCEEDED. */
pmix_status_t instance_leave(struct pserver *s, pmix_status_t rc, pmix_op_cbfunc_t cbfunc,
                             void *cbdata);

#endif
