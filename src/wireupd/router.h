/* router.h - the daemons of one launch: links to the tree neighbours, messages to any daemon.
 *
 * The launcher is position 0.  A daemon has one link to its parent, towards the launcher, and
 * listens for its children.  The route to a position is learnt from the `ready` message that came
 * from there, so a daemon that rejoins by another path is found there.
 *
 * Messages to one position are delivered once and in order, whatever relay is lost
 * (cluster/reliable.h). A message without a route waits for one: the descendants of a lost daemon
 * rejoin elsewhere, or are lost.
 *
 * Callbacks run from the loop only.
 */
#ifndef WIREUP_WIREUPD_ROUTER_H
#define WIREUP_WIREUPD_ROUTER_H

#include "base/list.h"
#include "io/daemon_link.h"
#include "cluster/msg.h"
#include "cluster/reliable.h"
#include "wireupd/peer_links.h"

struct router_calls {
    /* A message for us, broadcasts included.  It is valid until the call returns. */
    void (*on_message)(void *arg, const struct msg *m);
    /* Launcher: a daemon is ready for the first time. */
    void (*on_ready)(void *arg, uint32_t position, struct slice host);
    /* A daemon below us has disconnected without being asked to; why: one sentence. */
    void (*on_lost)(void *arg, uint32_t position, const char *why);
    /* There is no link towards the launcher (any more); why: one sentence.  router_join() may try
     * another parent. */
    void (*on_orphan)(void *arg, const char *why);
    /* After router_end(): all links are closed. */
    void (*on_closed)(void *arg);
    /* A link to our parent or to a child is up.  False: it is unwanted and is closed.  May be NULL.
     */
    bool (*on_near)(void *arg, uint32_t position);
};

struct router_config {
    struct loop *loop;
    const struct log *log;
    struct quota *quota; /* of unauthenticated connections; NULL: of this router's links alone */
    const unsigned char *key;     /* DAEMON_LINK_KEY bytes */
    uint32_t me, count;           /* our position; the number of positions, the launcher included */
    uint32_t width;               /* of the tree */
    const char *host;             /* our name for this host */
    const char *interface;        /* NULL: any */
    uint16_t port_low, port_high; /* port range to listen on; 0, 0: any */
    uint32_t meet_ms; /* how long a piece waits for its peer link; 0: LIMIT_NODE_MEET_MS */
    uint32_t links;   /* maximum of peer links; 0: LIMIT_NODE_DIRECT */
    struct router_calls calls;
    void *arg;
};

struct router {
    struct router_config config;
    struct daemon_link_net *net;
    struct daemon_link *parent;
    struct list below;          /* struct branch */
    struct daemon_link **route; /* by position; NULL: not below us */
    struct daemon_link **near;  /* by position; NULL: not a neighbour */
    bool *known;                /* launcher: has been ready before */
    bool *lost;                 /* by position */
    struct reliable trail;
    struct peer_links direct;
    struct list held; /* struct held: messages that wait for a route */
    size_t held_bytes;
    uint32_t nready; /* launcher: how many have been ready, itself included */
    bool leaving;    /* all have been told to exit: a link that closes is no error */
    bool ending;
    struct buf scratch;
};

/* 0, or -errno with a sentence; the router must be zeroed memory. */
int router_open(struct router *c, const struct router_config *config, struct errmsg *err);
void router_close(struct router *c); /* at once; harmless twice, and on zeroed memory */

/* Appends the addresses where other daemons reach us; they are valid from now on. */
int router_addresses(struct router *c, struct buf *text, struct errmsg *err);

/* A daemon: connects towards the launcher.  Failure is reported by on_orphan(). */
int router_join(struct router *c, uint32_t parent, struct slice addresses, struct errmsg *err);

/* Sends to a position or to all that can be reached now; fills in `from`.  0, or -errno: that
 * position is lost or invalid (-EPIPE), or no memory. */
int router_send(struct router *c, struct msg *m);
/* A piece of an exchange: also once and in order, by a peer link when one comes up (peer_links.h).
 */
int router_send_piece(struct router *c, struct msg *m);
/* Announces that pieces for that position will follow. */
void router_meet(struct router *c, uint32_t position);
/* To a neighbour only, without a sequence number.  -EPIPE: it is not a neighbour (now). */
int router_send_near(struct router *c, struct msg *m);

/* That position will not come back: closes its link without a callback, drops what waits for it,
 * and resends what had gone through it. */
void router_lost(struct router *c, uint32_t position);
/* All have been told to exit: a link that closes from now on is no error. */
void router_leave(struct router *c);

/* Bytes queued on the link towards a position. */
size_t router_waiting(const struct router *c, uint32_t position);

/* Nothing more will be sent: waits until our children have closed, then closes the link towards the
 * launcher. on_closed() follows. */
void router_end(struct router *c);

/* ---- for peer_links.c ---- */

/* Encodes the message into `scratch` and fills in `from`.  0, -EMSGSIZE or -ENOMEM. */
int router_put(struct router *c, struct msg *m);
/* Sends an encoded message along the tree.  -EPIPE: there is no route now. */
int router_pass(struct router *c, uint32_t to, struct slice bytes);

#endif
