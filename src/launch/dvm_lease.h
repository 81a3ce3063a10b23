/* dvm_lease.h - a job's slots of a DVM: which nodes it may use, and telling the DVM what it uses
 * (daemon/dvm_leases.h).  The lease ends with its descriptor, at the latest when the launcher has
 * ended.
 */
#ifndef WIREUP_LAUNCH_DVM_LEASE_H
#define WIREUP_LAUNCH_DVM_LEASE_H

#include "base/limit.h"
#include "base/log.h"
#include "daemon/dvm_asked.h"
#include "daemon/node.h"
#include "io/loop.h"
#include "launch/dvm_find.h"
#include "launch/plan_builder.h"

/* What the DVM says to a job that runs; all may be NULL. */
struct dvm_lease_calls {
    void (*node)(void *arg, struct slice name, uint32_t slots); /* for dvm_lease_need() */
    /* The answer to dvm_lease_ask(): it may be used, or (why) not. */
    void (*answer)(void *arg, struct slice name, uint32_t slots, struct slice why);
    void (*news)(void *arg, int code, struct slice name, uint32_t slots); /* as processes are */
    void (*gone)(void *arg); /* nothing that it was asked is answered any more */
    /* Appends " NAME RANKS" for each node that is in use; NULL: those with processes are. */
    void (*uses)(void *arg, struct buf *out);
    void (*soon)(void *arg, struct buf *out); /* ... and " NAME -" if it may be soon */
    void *arg;
};

struct dvm_lease {
    int fd;         /* -1: none */
    bool by_rule;   /* a DVM is used if there is one (`wireup run`) */
    bool keeps;     /* the DVM outlives its launcher */
    bool ended;     /* ... which has ended */
    bool announced; /* ... as it has said before */
    bool waited;    /* for the end, once */
    struct log log;
    struct dvm_limits limits;
    struct dvm_place place; /* of the DVM, as it was found, or with its next launcher's pid */
    struct dvm_asked asked; /* daemons that it has been asked for already */
    struct node *node;      /* whose processes are answer of nodes that join and leave */
    struct dvm_lease_calls calls;
    struct watch watch;
    struct buf in;
    struct buf need; /* the last line that the DVM was sent by dvm_lease_need() */
    struct errmsg loss;
};

/* A dvm_fn; arg: the lease.  Blocks until the DVM has given the launcher its turn. */
int dvm_lease_nodes(void *arg, struct launch_options *opt, const struct dvm_wish *wish,
                    bool *used_p, struct errmsg *err);

/* The ranks have been placed, or again.  0; LAUNCH_REFUSED with a sentence: the DVM has ended.
 * Harmless without a lease. */
int dvm_lease_take(struct dvm_lease *l, const struct job_map *plan, struct errmsg *err);

/* What holds for a job that is spawned.  Harmless without a lease. */
void dvm_lease_bind(const struct dvm_lease *l, struct launch_options *opt);

/* A job of the node has begun or ended: spawned ones use slots, too.  Harmless without a lease. */
void dvm_lease_renew(struct dvm_lease *l);

/* The DVM of that name has another launcher, or has nodes again that were lost: it is answer what
 * the job uses.  Harmless without a lease, and of another DVM. */
void dvm_lease_again(struct dvm_lease *l, pid_t pid, struct slice name);

/* From now on processes are answer of nodes that join the DVM or leave it.  Harmless without a
 * lease.
 */
void dvm_lease_follow(struct dvm_lease *l, struct node *n);
void dvm_lease_unfollow(struct dvm_lease *l); /* before the node is freed; harmless twice */

/* Why nodes are lost: the DVM has ended without a word.  NULL: it has not, or there is no lease. */
const char *dvm_lease_loss(struct dvm_lease *l);

/* What calls.node() was told has been dealt with. */
void dvm_lease_seen(struct dvm_lease *l);

/* A node in the place of a lost one is wanted, for so many ranks; 0: none is.  but: names with
 * commas, or empty. */
void dvm_lease_need(struct dvm_lease *l, uint32_t ranks, struct slice but);
/* May the job use that node of the DVM, too? */
void dvm_lease_ask(struct dvm_lease *l, struct slice name);

/* Harmless twice. */
void dvm_lease_end(struct dvm_lease *l);

#endif
