/* pmix_hello.h - the handshake of a PMIx connection: the first message in, its request to be
 * identified, and the words out that accept or refuse the client. */
#ifndef WIREUP_SERVER_PMIX_HELLO_H
#define WIREUP_SERVER_PMIX_HELLO_H

#include "server/pmix_session.h"

/* Reads the first message.  SESSION_REQUEST, SESSION_IDLE (more bytes are needed), SESSION_BROKEN.
 */
int pmix_hello(struct pmix_session *s, struct request *rq, struct errmsg *err);

/* The answer to its request. */
void pmix_hello_answer(struct pmix_session *s, const struct answer *a);

#endif
