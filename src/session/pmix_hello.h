/* pmix_hello.h - the handshake of a PMIx connection: the first message in, its request to be
 * identified, and the words out that accept or refuse the client. */
#ifndef WIREUP_SESSION_PMIX_HELLO_H
#define WIREUP_SESSION_PMIX_HELLO_H

#include "session/pmix_session.h"

/* The kind of a client, from its first message.  Tools of both kinds may bring a name, need one, or
 * have got one from the server that started them. */
enum pmix_kind {
    KIND_CLIENT = 0,
    KIND_OLD_TOOL = 1,
    KIND_OLD_LAUNCHER = 2,
    KIND_TOOL_UNNAMED = 3,
    KIND_TOOL_NAMED = 4,
    KIND_TOOL_STARTED = 5,
    KIND_LAUNCHER_UNNAMED = 6,
    KIND_LAUNCHER_NAMED = 7,
    KIND_LAUNCHER_STARTED = 8,
    KIND_SINGLETON = 9,
    KIND_SCHEDULER = 10
};

/* For the kinds of first messages: whether one has a name; and whether it is answered as a client's
 * or as a tool's. */
bool pmix_brings_name(uint8_t kind);
bool pmix_is_client(uint8_t kind, const char *version);

/* Reads the first message.  SESSION_REQUEST, SESSION_IDLE (more bytes are needed), SESSION_BROKEN.
 */
int pmix_hello(struct pmix_session *s, struct request *rq, struct errmsg *err);

/* The answer to its request. */
void pmix_hello_answer(struct pmix_session *s, const struct answer *a);

#endif
