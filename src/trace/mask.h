/* mask.h - a trace without credentials: they are overwritten before a record is written.
 *
 * A credential is an authentication token that a message of PMIx has a place for: in the handshake
 * of a client, in the requests and replies of PMIx_Get_credential and PMIx_Validate_credential, and
 * in infos with the key PMIX_CREDENTIAL that a client sends; and the host's answer to the request
 * for one.  Its bytes become 'x', except a final NUL, so that lengths stay and the trace can be
 * replayed.  PMI-1 and PMI-2 have no credentials: their handshakes name a rank.
 *
 * The bytes of a connection are cut wherever the system cut them.  A PMIx message that has not
 * arrived as a whole is held back, except its header: its bytes come with the record of the last of
 * them, or overwritten before the record of the connection's end.  Nothing depends on a part of a
 * message, so the replay takes the same decisions.
 *
 * A credential that processes pass on themselves, say in values, is data.  But those of 8 bytes or
 * more that this node has seen in one of these places (not in a handshake; the latest
 * LIMIT_TRACE_CREDENTIALS) are overwritten in all later records too: infos are passed on.
 */
#ifndef WIREUP_TRACE_MASK_H
#define WIREUP_TRACE_MASK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/limit.h"
#include "base/list.h"
#include "base/map.h"

struct record;

struct trace_mask {
    struct list lines;
    struct map by_number;
    uint64_t *tickets; /* of requests for a credential that are not answered */
    uint32_t ntickets;
    struct buf known[LIMIT_TRACE_CREDENTIALS];
    uint32_t nknown, oldest;
    struct buf bytes;   /* of the record that is being made */
    struct arena arena; /* its other parts */
};

void trace_mask_init(struct trace_mask *m);
void trace_mask_free(struct trace_mask *m); /* harmless twice, and on zeroed memory */

typedef void trace_mask_fn(void *arg, const struct record *r);

/* Passes the record on without credentials, and before it the bytes that were held back and now
 * have their record; or keeps its bytes for a later one.  0, or -ENOMEM: no later record may be
 * written. */
int trace_mask_record(struct trace_mask *m, const struct record *r, trace_mask_fn *write,
                      void *arg);

#endif
