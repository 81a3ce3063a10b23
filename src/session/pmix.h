/* pmix.h - one PMIx connection: handshake, framed commands in, requests out; answers in, bytes out.
 *
 * Sans-IO like its neighbours.  Speaks with every OpenPMIx client since 3.2 in the encoding that
 * the client names (v3, v4, v41, v51, v61); what it keeps and hands on is canonical (core/modex.h),
 * so clients of different releases, and of the other protocols, share one job.
 *
 * Commands are a table of small readers (pmix.c), replies a function each (pmix_reply.c), job-level
 * information is made from the plan once per encoding (pmix_info.c).
 */
#ifndef WIREUP_SESSION_PMIX_H
#define WIREUP_SESSION_PMIX_H

#include "session/session.h"

struct ptype_flavour;

extern const struct session_ops pmix_ops;

/* True when a connection that begins with this byte is PMIx: its handshake starts with -1, which no
 * text protocol does. */
static inline bool pmix_begins(char byte)
{
    return (unsigned char)byte == 0xff;
}

/* What a host needs that reads commands by itself (REQ_HOST): how this client spells. */
struct pmix_dialect {
    const struct ptype_flavour *as;
    bool described;
    const char *version; /* of the client's library; lives as long as the connection */
};
struct pmix_dialect pmix_dialect(const struct peer *p);

#endif
