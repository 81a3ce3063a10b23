/* pmix_resolve.h - queries for the location of processes, which the session answers from the core's
 * data.  A namespace that is not named is the requester's own, a node that is not named is every
 * node. */
#ifndef WIREUP_SERVER_PMIX_RESOLVE_H
#define WIREUP_SERVER_PMIX_RESOLVE_H

#include "server/pmix_session.h"

pmix_reader pmix_read_resolve_peers, pmix_read_resolve_node;

#endif
