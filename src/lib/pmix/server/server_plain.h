/* server_plain.h - requests of PMI-1 and PMI-2 clients that the host carries out: they become calls
 * of the host like commands of PMIx clients. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_PLAIN_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_PLAIN_H

#include "lib/pmix/server/server.h"

struct request;

enum answer_status plain_take(struct pserver *s, struct peer *p, const struct request *rq,
                              uint64_t ticket);

#endif
