/* pmix_start.h - a client's first command, which gets the job-level information; and its last. */
#ifndef WIREUP_SERVER_PMIX_START_H
#define WIREUP_SERVER_PMIX_START_H

#include "server/pmix_session.h"

pmix_reader pmix_read_req, pmix_read_abort, pmix_read_finalize;
pmix_replier pmix_reply_req;

/* The topology of this node as hwloc's text.  It is still to be asked of the host (the request
 * job_attr with CORE_TOPOLOGY), and the client can use it. */
bool pmix_wants_topology(const struct command *c);
/* The host has discovered it, or could not; the result is kept for all clients. */
void pmix_keep_topology(struct job *j, const struct answer *a);
/* Nothing, or the text under the key that clients of release 5 look up, and that of 4. */
void pmix_put_topology(struct ppack *w, struct job *j);

#endif
