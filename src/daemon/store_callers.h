/* store_callers.h - which rank of this node a connection to the stores of jobs is from: the rank
 * that holds its other end, itself or by a descendant that is no rank.
 *
 * Looking through the descriptors of every process for each connection would take as many steps as
 * the square of their number.  So a look ends with the process that it was for, notes all sockets
 * that it has seen, and the next one begins behind it: ranks that connect one after the other are
 * found at once, and those that have connected together are found by one look at each.
 */
#ifndef WIREUP_DAEMON_STORE_CALLERS_H
#define WIREUP_DAEMON_STORE_CALLERS_H

#include "daemon/local_job.h"
#include "io/peer_cred.h"

struct store_caller;

struct store_callers {
    struct store_caller *seen; /* sockets, as of some look */
    size_t n, room;
    size_t next[2]; /* counting the ranks of all jobs: where the next look begins, at ranks and
                       below them … */
    pid_t last;     /* … and there behind this one */
};

/* The job, or NULL: no rank here, or it cannot be determined. */
struct job *store_callers_find(struct store_callers *s, const struct local_jobs *jobs,
                               const struct peer_cred *cred, uint32_t *rank_p);

void store_callers_free(struct store_callers *s); /* harmless on zeroed memory */

#endif
