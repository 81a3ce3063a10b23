/* dvm_leases.h - the slots of a DVM, and the launchers that use them: `wireup run` leases slots
 * before it places its ranks, and holds them until its connection ends.
 *
 * The launcher places ranks, because only it knows how; so one launcher at a time has the turn: it
 * is offered what is free, and answers by what it takes.  Launchers that wait (-wait) get their
 * turn when their job fits, in the order in which they have come; the others get it at once.  Jobs
 * that tools have given to the DVM itself use slots, too.
 *
 *     launcher  lease PROCESSES now|wait NODES     NODES: a list with commas, or * for all
 *     DVM       limits JOBS SLOTS NODES SECONDS    dvm_limits.h; left out if there are none
 *     DVM       keeps                              it may lose its launcher; left out: it ends then
 *     DVM       queued FREE SLOTS [JOBS]           at most once: it must wait; JOBS: the limit
 *     DVM       granted LAYERS FREE SLOTS LOST     dvm_slots.h; LOST: names with commas, or -
 *               NAME SLOTS                         each node, the least loaded first
 *               .
 *     launcher  took NAME RANKS NAME RANKS ...     within LIMIT_DVM_TURN_MS; again if it changes.
 *                                                  RANKS `-`: it may use that one soon
 *
 *     launcher  lease 0 again NAME RANKS ...       to the DVM's next launcher: what it has taken
 *     DVM       held                               what it was asked is to be asked again
 *
 *     launcher  need RANKS NAMES                   a node that takes the place of a lost one: not
 *                                                  one of NAMES (commas, or -); 0: none is needed
 *     DVM       node NAME SLOTS                    once, when there is one: without processes, or
 *                                                  with that many free slots
 *     launcher  seen NAME RANKS ...                as `took`: has that node, or does not want it
 *
 *     launcher  ask NAME                           may what it spawns go to that node?
 *     DVM       is NAME SLOTS                      yes; `took` follows when it is known whether
 *     DVM       not NAME SENTENCE
 *
 *     DVM       news CODE NAME SLOTS               a node joins or leaves (wireup_client.h)
 *
 *     DVM       ends                               it has been asked to end, and takes the job
 *                                                  along
 *
 * News and the end go to those that have taken slots, and are dropped if they do not read.  Instead
 * of any answer: `error: SENTENCE`, and the connection ends.
 */
#ifndef WIREUP_DAEMON_DVM_LEASES_H
#define WIREUP_DAEMON_DVM_LEASES_H

#include "base/arena.h"
#include "core/job_map.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_limits.h"
#include "daemon/dvm_slots.h"

struct dvm_lessee;

/* What keeps a node from new jobs. */
enum dvm_node_use {
    DVM_NODE_FREE,
    DVM_NODE_RESERVED,
    DVM_NODE_COMES,    /* it joins, and is not up yet */
    DVM_NODE_DRAINING, /* it leaves when its last job ends */
    DVM_NODE_LEFT      /* it is not of the DVM any more */
};

struct dvm_leases_config {
    const char *name; /* of the DVM */
    struct dvm_limits limits;
    bool grows; /* nodes may come by themselves: what does not fit may fit later */
    bool keeps; /* the DVM outlives its launcher */
    enum dvm_node_use (*use)(void *arg, uint32_t position);
    void (*changed)(void *arg); /* slots may have become free, or nodes been lost */
    void *arg;
};

struct dvm_leases {
    struct dvm_leases_config config;
    struct cluster_io *cluster; /* NULL: not open */
    bool up;                    /* its nodes have come up; until then everybody waits */
    struct list all;            /* in the order in which they have come */
    struct dvm_lessee *turn;    /* who is asked what it takes; NULL: nobody */
    struct timer patience;
};

void dvm_leases_open(struct dvm_leases *l, struct cluster_io *s,
                     const struct dvm_leases_config *config);
void dvm_leases_close(struct dvm_leases *l); /* harmless twice, and on zeroed memory */

/* The connection of a launcher, taken over, and the words behind `lease`. */
void dvm_leases_take(struct dvm_leases *l, int fd, struct slice words);

/* Slots may have become free, or nodes been lost. */
void dvm_leases_changed(struct dvm_leases *l);

/* All nodes with what is in use, in the arena; *n_p 0: no memory. */
struct dvm_slots_node *dvm_leases_nodes(const struct dvm_leases *l, struct arena *a, uint32_t *n_p);

/* The nodes that a job of so many processes gets from the DVM itself, of those that view has: as a
 * launcher is offered them, the least loaded first, with the slots that it may have there.  shares:
 * where not enough are free, slots that are in use, too; else none may be left.  0, or -ENOMEM. */
int dvm_leases_offer(const struct dvm_leases *l, uint64_t wanted, bool shares,
                     struct job_map *view);

/* A launcher may begin to use that node: it has been offered slots there, or has asked for it or
 * got it for a job that runs, and has not said yet what it takes. */
bool dvm_leases_offered(const struct dvm_leases *l, uint32_t position);

/* Processes of jobs on that node. */
uint32_t dvm_leases_used(const struct dvm_leases *l, uint32_t position);

/* Tells all launchers that have a job of a node that joins or leaves. */
void dvm_leases_news(struct dvm_leases *l, int code, const char *name, uint32_t slots);

/* Tells all launchers that have a job that the DVM ends. */
void dvm_leases_end(struct dvm_leases *l);

/* Launchers that wait. */
uint32_t dvm_leases_waiting(const struct dvm_leases *l);

#endif
