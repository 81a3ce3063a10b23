/* server_own.h - the host as a client of its own server, through a pair of sockets: so it can get,
 * publish, query and receive events with the functions that every process has.
 *
 * Only its own events take a shorter path, since it may pass on events of other processes. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_OWN_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_OWN_H

#include "lib/pmix/server/server.h"

/* *fd_p: the host's end of the connection. */
pmix_status_t own_join(struct pserver *s, const pmix_info_t *infos, size_t ninfos, int *fd_p);

#endif
