/* store_callers.h - which rank of this node a connection to the stores of jobs is from: the rank
 * that holds its other end, or else the rank of which a descendant does.
 *
 * Looking through the descriptors of every process for each connection would take as many steps as
 * the square of their number.  So a look notes all sockets that it sees, and the next connections
 * are found among them; then only the process that had the socket is asked whether it still has it.
 */
#ifndef WIREUP_DAEMON_STORE_CALLERS_H
#define WIREUP_DAEMON_STORE_CALLERS_H

#include "daemon/local_job.h"
#include "io/peer_cred.h"

struct store_caller;

struct store_callers {
    struct store_caller *seen; /* by socket */
    size_t n, room;
};

/* The job, or NULL: no rank here, or it cannot be determined. */
struct job *store_callers_find(struct store_callers *s, const struct local_jobs *jobs,
                               const struct peer_cred *cred, uint32_t *rank_p);

void store_callers_free(struct store_callers *s); /* harmless on zeroed memory */

#endif
