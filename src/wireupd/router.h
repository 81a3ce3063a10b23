/* cluster.h - the daemons of one launch: links to the neighbours in the tree, messages to any.
 *
 * The launcher is position 0.  A daemon has one link towards it (its parent's) and listens for
 * those below.  Where a position is to be found is learnt from the `ready` that has come from
 * there, so a daemon that comes back by another way is found there.
 *
 * Messages to one position come once and in order, whatever relay is lost (overlay/reliable.h).
 * What finds no way for now waits for one: who was below a lost daemon comes to another, or is
 * lost.
 *
 * Callbacks run from the loop only.
 */
#ifndef WIREUP_WIREUPD_ROUTER_H
#define WIREUP_WIREUPD_ROUTER_H

#include "base/list.h"
#include "io/daemon_link.h"
#include "overlay/msg.h"
#include "overlay/reliable.h"
#include "wireupd/peer_links.h"

struct router_calls {
    /* A message for us (also one for everybody).  It borrows until the call returns. */
    void (*on_message)(void *arg, const struct msg *m);
    /* Launcher: a daemon is there for the first time. */
    void (*on_ready)(void *arg, uint32_t position, struct slice host);
    /* A daemon below us has gone without being asked to; one sentence. */
    void (*on_lost)(void *arg, uint32_t position, const char *why);
    /* There is no link towards the launcher (any more); one sentence.  router_join() may try
     * another. */
    void (*on_orphan)(void *arg, const char *why);
    /* After router_end(): all links are closed. */
    void (*on_closed)(void *arg);
    /* A link is up: to our parent, or to a daemon right below us.  False: it is not wanted, and
     * goes.  May be NULL. */
    bool (*on_near)(void *arg, uint32_t position);
};

struct router_config {
    struct loop *loop;
    const struct log *log;
    struct quota *quota;          /* of strangers; NULL: of the links alone */
    const unsigned char *key;     /* HOP_KEY bytes */
    uint32_t me, count;           /* our position; how many there are, the launcher included */
    uint32_t width;               /* of the tree */
    const char *host;             /* our own name for ourselves */
    const char *interface;        /* NULL: any */
    uint16_t port_low, port_high; /* where we listen; 0, 0: anywhere */
    uint32_t meet_ms; /* how long a piece waits for a link of its own; 0: LIMIT_NODE_MEET_MS */
    uint32_t links;   /* of that kind, at most; 0: LIMIT_NODE_DIRECT */
    struct router_calls calls;
    void *arg;
};

struct router {
    struct router_config config;
    struct daemon_link_net *net;
    struct daemon_link *parent;
    struct list below;          /* struct branch */
    struct daemon_link **route; /* by position; NULL: not below us */
    struct daemon_link **near;  /* by position; NULL: no neighbour */
    bool *known;                /* launcher: has been ready before */
    bool *lost;                 /* by position */
    struct reliable trail;
    struct peer_links direct;
    struct list held; /* struct held: passed on when there is a way again */
    size_t held_bytes;
    uint32_t nready; /* launcher: how many are known, itself included */
    bool leaving;    /* all have been told to go: who closes its link does as it should */
    bool ending;
    struct buf scratch;
};

/* 0, or -errno with a sentence; the cluster is zeroed memory before. */
int router_open(struct router *c, const struct router_config *config, struct errmsg *err);
void router_close(struct router *c); /* at once; harmless twice, and on zeroed memory */

/* Where other daemons may reach us, from now on. */
int router_addresses(struct router *c, struct buf *text, struct errmsg *err);

/* A daemon: towards the launcher.  on_orphan() when it does not come about. */
int router_join(struct router *c, uint32_t parent, struct slice addresses, struct errmsg *err);

/* Sends to a position or to everybody who can be reached now; from is filled in.  0, or -errno:
 * that one is lost or none (-EPIPE), or no memory. */
int router_send(struct router *c, struct msg *m);
/* A piece of an exchange: once and in order too, by a link of its own when one comes up
 * (peer_links.h).
 */
int router_send_piece(struct router *c, struct msg *m);
/* There will be pieces for that one. */
void router_meet(struct router *c, uint32_t position);
/* To a neighbour only, without a number.  -EPIPE: it is none (now). */
int router_send_near(struct router *c, struct msg *m);

/* That position will not come back: its link goes, without a callback, what waits for it is
 * dropped, and what went by it is sent again. */
void router_lost(struct router *c, uint32_t position);
/* All have been told to go: who closes its link from now on does as it should. */
void router_leave(struct router *c);

/* Bytes that wait on the link towards a position. */
size_t router_waiting(const struct router *c, uint32_t position);

/* Nothing more is to be said: waits for those below us to close, then closes towards the launcher.
 * on_closed() comes. */
void router_end(struct router *c);

/* ---- doors of peer_links.c ---- */

/* The message as bytes, in `scratch`: from is filled in.  0, -EMSGSIZE or -ENOMEM. */
int router_put(struct router *c, struct msg *m);
/* Bytes of a message along the tree.  -EPIPE: there is no way now. */
int router_pass(struct router *c, uint32_t to, struct slice bytes);

#endif
