/* job_members.h - nodes that a job on a DVM takes while it runs (`wireup run`): one in the place of
 * a lost node (daemon/replacing.h), those that a spawn names, and with -all-nodes each that joins
 * the DVM.
 *
 * The DVM says which nodes they may be (daemon/dvm_leases.h); the job's launcher starts a daemon of
 * its own there, as at the start, which joins its tree (coming_node.h).
 */
#ifndef WIREUP_LAUNCH_JOB_MEMBERS_H
#define WIREUP_LAUNCH_JOB_MEMBERS_H

#include "launch/dvm_lease.h"
#include "launch/coming_node.h"

struct job_member;

struct job_members {
    struct remote *remote; /* NULL: not open */
    struct dvm_lease *lease;
    struct job_member *all; /* by position */
    struct list requests;   /* of spawns */
    struct list asked;      /* nodes that the DVM has been asked about */
    uint32_t ranks;         /* of a lost node, for which another one is wanted; 0: none */
    bool needs;             /* the DVM has been asked for it */
    struct buf failed;      /* names with commas: nodes that did not come up */
};

/* After remote_open(), of a job with a lease.  0 or -ENOMEM. */
int job_members_open(struct job_members *m, struct remote *f, struct dvm_lease *l);
void job_members_close(struct job_members *m); /* harmless twice, and on zeroed memory */

/* node_config.add_nodes: `job NODES grow HOSTS` on a connection, which is taken over, with the
 * answers of dvm_members.h; the DVM keeps NODES as long as it does there. */
void job_members_take(struct job_members *m, int fd, struct slice words);

/* node_config.seek_node.  Harmless if not open. */
void job_members_seek(struct job_members *m, uint32_t ranks);

/* Nodes that have come up, in that arena; what there was stays.  0 or -ENOMEM. */
int job_members_list(const struct job_members *m, struct arena *a, struct host_list *list);

#endif
