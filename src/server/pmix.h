/* pmix.h - one PMIx connection: handshake, framed commands in, requests out; answers in, bytes out.
 *
 * Sans-IO like the other sessions.  Works with every OpenPMIx client since 3.2 in the encoding that
 * the client names (v3, v4, v41, v51, v61); the values it stores and forwards are canonical
 * (core/modex.h), so clients of different releases, and of the other protocols, share one job.
 *
 * pmix.c has the frames and the table of commands; each command is handled in the module of its
 * subject (pmix_get.h, pmix_fence.h ...), the state that they share in pmix_session.h.
 */
#ifndef WIREUP_SERVER_PMIX_H
#define WIREUP_SERVER_PMIX_H

#include "pmix_common.h"
#include "server/session.h"

struct ptype_flavour;

extern const struct session_ops pmix_ops;

/* For a host that reads commands itself (REQ_host): this client's encoding. */
struct pmix_dialect {
    const struct ptype_flavour *as;
    bool described;
    const char *version; /* of the client's library; lives as long as the connection */
    uint32_t release;    /* the same, as pmsg_release() */
};
struct pmix_dialect pmix_dialect(const struct peer *p);

/* A request that waits for its answer (pmix_session.h).  NULL: it is answered, or the client is not
 * one of PMIx. */
struct pmix_pending;
const struct pmix_pending *pmix_pending_of(const struct peer *p, uint32_t token);

/* The codes of events that the client has registered for, n of them; NULL: none, or no client of
 * PMIx. */
const pmix_status_t *pmix_event_codes(const struct peer *p, size_t *n_p);

/* Sends output of a process to a client that subscribed to it under this id. */
void pmix_send_output(struct peer *p, const pmix_proc_t *source, uint16_t channel, size_t ref,
                      const pmix_info_t *infos, size_t ninfos, struct slice bytes);

#endif
