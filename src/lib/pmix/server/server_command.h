/* server_command.h - requests of clients: those that the host carries out or learns of are taken
 * from the core. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_COMMAND_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_COMMAND_H

#include "lib/pmix/server/server.h"

struct request;

bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p);

#endif
