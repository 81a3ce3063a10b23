/* pmix_ours.h - Wireup's extension of the PMIx wire, between its client library and its server.
 *
 * See docs/protocol/pmix-extension.md.  Both sides work without it: a server that does not know the
 * extension ignores it, and a client that gets no store uses messages.
 */
#ifndef WIREUP_WIRE_PMIX_OURS_H
#define WIREUP_WIRE_PMIX_OURS_H

#include <stdint.h>

/* In the infos of the first message, as UINT32: the newest version of the extension that the client
 * knows.  The answer brings the store's file descriptor. */
#define OURS_STORE      "wireup.store"
#define OURS_STORE_FORM 1u

/* The tag of a commit that is answered only when it fails, and of a finalize that is not answered.
 */
#define OURS_TAG_QUIET UINT32_MAX

/* In the store, as data of all ranks: the KVALs of the reply to a job-info request, in v41. */
#define OURS_JOB_INFO "wireup.job"

#endif
