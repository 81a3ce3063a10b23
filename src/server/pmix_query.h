/* pmix_query.h - PMIx_Query_info: information on jobs, processes, groups, nodes and this server.
 *
 * The keys are rows of proto/pmix_queries.def.  If one of them needs to know what the nodes know,
 * the host gathers that first (REQ_node_parts). */
#ifndef WIREUP_SERVER_PMIX_QUERY_H
#define WIREUP_SERVER_PMIX_QUERY_H

#include "server/pmix_session.h"

pmix_reader pmix_read_query;
pmix_replier pmix_reply_query;
bool pmix_asks_for_sets(const struct command *c); /* and some are defined */

#endif
