/* pmix_query.h - PMIx_Query_info: information on jobs, processes, groups and this server. */
#ifndef WIREUP_SERVER_PMIX_QUERY_H
#define WIREUP_SERVER_PMIX_QUERY_H

#include "server/pmix_session.h"

pmix_reader pmix_read_query;
bool pmix_asks_for_sets(const struct command *c); /* and some are defined */

#endif
