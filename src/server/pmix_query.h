/* pmix_query.h - PMIx_Query_info: information on jobs, processes, groups, nodes and this server.
 *
 * The keys are rows of proto/pmix_queries.def.  If one of them needs to know what the nodes know,
 * the host gathers that first (REQ_node_parts). */
#ifndef WIREUP_SERVER_PMIX_QUERY_H
#define WIREUP_SERVER_PMIX_QUERY_H

#include "server/pmix_session.h"

pmix_reader pmix_read_query;
pmix_replier pmix_reply_query;

/* Another host need not be asked: it has told us of the sets, or of the attributes, that are asked
 * for. */
bool pmix_query_is_ours(const struct command *c);

#endif
