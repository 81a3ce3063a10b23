/* server_admission.h - clients and tools that connect: the server checks them, then the host is
 * asked. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_ADMISSION_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_ADMISSION_H

#include "core/request.h"
#include "lib/pmix/server/server.h"

/* A connection says who it is.  ANSWER_LATER: the host is asked, and server_answer() follows. */
enum answer_status admission_ask(struct pserver *s, struct peer *p,
                                 const struct request_identify *rq, uint64_t ticket);

#endif
