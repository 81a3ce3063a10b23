/* allocations.h - the launcher's (or DVM's) nodes, as processes allocate them by PMIx: requests to
 * reserve some, the end of their time, and which nodes a spawned job may use.
 *
 * A session is a reservation with the jobs in it; its number is that of the session.  A job that is
 * spawned with its id, and what that job spawns, runs on its nodes; other jobs run on nodes that
 * nobody has reserved.  Jobs that run already are not moved.  A reservation of a job ends with it;
 * that of a tool stays, and when the tool has gone, any process of the user may act on it.
 *
 * A spawn that says how much it wants gets a reservation of its own: the new job owns it, so its
 * nodes are free again when that job ends.  A spawn that fails has none.
 *
 * A DVM gets the nodes that a request names and it does not have: they join it first, and leave
 * when the reservation gives them back.  An extension by a number of nodes for which too few are
 * free gets them from the resource manager, if that can be asked: exactly those that come.  One
 * that names no allocation extends the DVM itself: they are for all.
 *
 * Only the launcher has reservations; daemons pass requests on to it.
 */
#ifndef WIREUP_DAEMON_ALLOCATIONS_H
#define WIREUP_DAEMON_ALLOCATIONS_H

#include "base/err.h"
#include "core/reservation.h"
#include "daemon/dvm_growth.h"
#include "daemon/scheduler.h"
#include "daemon/spawn_grant.h"
#include "io/loop.h"

struct job;
struct job_map;
struct local_jobs;
struct op_allocate;
struct op_scheduled;
struct processes;
struct spawn_request;

struct allocations {
    struct local_jobs *jobs; /* NULL: not open */
    struct processes *processes;
    struct reservations all; /* no nodes: there has been no request */
    struct timer timer;      /* the first end of one */
    struct scheduler scheduler;
    struct dvm_growths growths;
    struct spawn_grants grants;
};

void allocations_open(struct allocations *a, struct local_jobs *jobs, struct processes *p);
void allocations_close(struct allocations *a); /* harmless twice, and on zeroed memory */

/* EFFECT_allocate, of this node or (with a ticket of cluster/rpc.h) another: an answer follows. */
void allocations_request(struct allocations *a, const struct op_allocate *e);

/* EFFECT_scheduled: the scheduler has answered.  What it grants is carried out here, on the nodes,
 * for the time and under the name that it says. */
void allocations_scheduled(struct allocations *a, const struct op_scheduled *o);

/* Those that it owns end. */
void allocations_job_ended(struct allocations *a, const struct job *j);

/* The session that a spawned job is to run in: a new one if the request wants nodes for itself
 * (daemon/spawn_wish.h), then *made_p, and allocations_give() or allocations_drop() follows; the
 * one that it names; else its parent's; 0: none.  0, or enum spawn_failure with a sentence. */
int allocations_for_spawn(struct allocations *a, const struct spawn_request *rq,
                          const struct job *parent, uint32_t *session_p, bool *made_p,
                          struct errmsg *err);
/* Asks the scheduler for the nodes that a spawn reserves; true: the spawn goes on when that has
 * answered (spawning.h), and the nodes are given or dropped as above. */
bool allocations_ask(struct allocations *a, const struct spawn_held *h);
/* It is that job's. */
void allocations_give(struct allocations *a, uint32_t session, const struct job *to);
/* No job was started. */
void allocations_drop(struct allocations *a, uint32_t session);

/* Of "NODE[:SLOTS],..." those that no node of ours has as its name, or only one that is gone, once
 * each, behind what is in *out; none where that cannot be known. */
void allocations_unknown(struct allocations *a, struct slice nodes, struct buf *out);

/* Of such a list, the names of all, once each. */
void allocations_names(struct slice nodes, struct buf *out);

/* The plan `like` with only those of its nodes that a job of the session may use; *view_p borrows
 * all but its arena.  0, or enum spawn_failure with a sentence; the caller frees the view's arena
 * in any case. */
int allocations_view(const struct allocations *a, const struct job_map *like, uint32_t session,
                     struct job_map *view_p, struct errmsg *err);

/* Whether a plan uses only such nodes (a request can name others).  0, or as above. */
int allocations_check(const struct allocations *a, const struct job_map *plan, uint32_t session,
                      struct errmsg *err);

/* Whether somebody has reserved the node. */
bool allocations_has(const struct allocations *a, const char *node);

/* Appends the part that tells of them in queries (server/node_part.h). */
void allocations_write(const struct allocations *a, struct buf *out);

#endif
