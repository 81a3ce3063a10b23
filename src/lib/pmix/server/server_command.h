/* server_command.h - commands of clients that the host carries out. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_COMMAND_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_COMMAND_H

#include "lib/pmix/server/server.h"

struct request;

bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p);
uint64_t command_mask(const struct pserver *s);

#endif
