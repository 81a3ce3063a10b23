/* server_options.h - options of a host: from the infos of PMIx_server_init and the environment. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_OPTIONS_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_OPTIONS_H

#include "lib/pmix/server/server.h"

/* *size_p: of the host's table of functions (WIREUP_MODULE_SIZE); it stays if the host names none.
 * The texts are the host's.  PMIX_SUCCESS; PMIX_ERR_BAD_PARAM: a port that none can have,
 * or no process; as client_thread_cpus_read(). */
pmix_status_t options_read(const pmix_info_t *infos, size_t ninfos, struct pserver_options *o,
                           size_t *size_p);

#endif
