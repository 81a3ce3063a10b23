/* client_hello.h - the first message of a connection, and the reply to it.
 *
 * The form depends on the peer: a client that a server started (flag 0), or a tool.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_HELLO_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_HELLO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/pmix/client/client_env.h"
#include "wire/pmix_greeting.h"

struct hello {
    enum hello_flag flag;
    const char *security; /* the module that made the credential */
    struct slice credential;
    const char *nspace; /* left out when the flag says unnamed */
    uint32_t rank;
    const char *encoding;
    struct slice infos; /* SIZE n, n INFO in that encoding; may be empty */
    const char *server; /* its version, as far as known; not sent */
};

/* Appends the message.  The buffer is poisoned when it fails. */
void hello_put(struct buf *out, const struct hello *h);

/* The server's reply, as far as it has come. */
struct welcome {
    bool tool;    /* the tool's form is expected; set by the caller */
    bool unnamed; /* the reply assigns our name */
    int32_t status;
    uint32_t index;                                              /* client's form */
    char nspace[PMIX_MAX_NSLEN + 1], server[PMIX_MAX_NSLEN + 1]; /* tool's form */
    uint32_t rank, server_rank;
};

/* The whole length of the reply; known once its first four bytes are there (before: 4). */
size_t welcome_length(const struct welcome *w, struct slice bytes);

/* Reads a reply of that length. */
void welcome_read(struct welcome *w, struct slice bytes);

/* ---- credentials ----------------------------------------------------------------------------- */

struct credential {
    const char *module; /* static storage */
    char *bytes;        /* malloc'ed */
    size_t len;
};

/* The best module of the server's list (NULL: all modules) that works here, and its credential
 * for us.  server is its version, for the sentence.  0; -ENOMEM; -EACCES with a sentence that
 * names what was tried. */
int credential_make(const char *modules, const char *server, struct credential *c_p,
                    struct errmsg *err);
void credential_free(struct credential *c); /* idempotent */

#endif
