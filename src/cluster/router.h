/* router.h - routes and delivers messages between the daemons of one launch: over the links of the
 * tree to any daemon, once and in order, whatever relay is lost.
 *
 * Sans-IO: no descriptor, no clock.  The host (daemon/router_io.h, or the simulator) reports links
 * that come up and go down and the bytes that arrive on them, with the time; the router
 * acts on links by the functions of router_link.h.
 *
 * The launcher is position 0.  A daemon has one link to its parent, towards the launcher, and links
 * from its children.  The routes to a position below are learnt from the `ready` messages that came
 * from there, so a daemon that rejoins by another path is found there; everything else goes up.
 *
 * Messages to one position are numbered, kept until they are acknowledged, and sent again when a
 * route has changed (reliable.h).  A message without a route waits for one: the descendants of a
 * lost daemon rejoin elsewhere, or are lost.
 */
#ifndef WIREUP_CLUSTER_ROUTER_H
#define WIREUP_CLUSTER_ROUTER_H

#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "cluster/msg_address.h"
#include "cluster/peer_links.h"
#include "cluster/rank_set.h"
#include "cluster/reliable.h"
#include "cluster/router_link.h"
#include "cluster/router_state.h"
#include "cluster/tree.h"

/* Events of the router.  These functions may call it. */
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
    /* After router_end(): all links are closed.  Once. */
    void (*on_closed)(void *arg);
    /* A link to our parent or to a child is up.  False: it is unwanted and is closed.  May be NULL.
     */
    bool (*on_near)(void *arg, uint32_t position);
};

struct router_config {
    const struct log *log;
    uint32_t me, count; /* our position; the number of positions, the launcher included */
    uint32_t width;     /* of the tree */
    const char *host;   /* our name for this host */
    uint32_t meet_ms;   /* how long a piece waits for its peer link; 0: by the job's size */
    uint32_t links;     /* maximum of peer links; 0: LIMIT_NODE_DIRECT */
    struct router_actions actions;
    struct router_calls calls;
    void *arg; /* of the calls */
};

/* A link to a child. */
struct router_branch {
    uint32_t position;
    struct router_link *link;
    struct rank_set reach; /* positions that have announced themselves through it */
};

struct router {
    struct router_config config;
    struct router_link *parent; /* up or connecting */
    bool parent_up;
    struct router_branch *below; /* by position, ascending */
    uint32_t nbelow, room;
    struct rank_set ready, lost; /* other daemons, by their state (route_state.def) */
    struct reliable reliable;
    struct peer_links direct;
    struct list held; /* struct held: messages that wait for a route */
    size_t held_bytes;
    uint64_t now_ns; /* the time of the last call that brings it */
    enum router_state state;
    struct buf scratch;
};

void router_open(struct router *c, const struct router_config *config);
/* Harmless twice, and on zeroed memory; links are the host's to close. */
void router_close(struct router *c);

/* ---- reports of the host ---- */

/* A link to our parent or a peer has come up, or another daemon has connected to us. */
void router_link_up(struct router *c, struct router_link *l, uint64_t now_ns);
/* A link is gone, or could not come up; why: one sentence. */
void router_link_down(struct router *c, struct router_link *l, enum router_down how,
                      const char *why);
/* A message has arrived on it. */
void router_bytes(struct router *c, struct router_link *l, struct slice bytes, uint64_t now_ns);
/* The time of the last `wake` has come. */
void router_tick(struct router *c, uint64_t now_ns);
/* A daemon: the link towards the launcher that is connecting now. */
void router_join(struct router *c, struct router_link *parent);

/* ---- sending ---- */

/* Sends to a position or to all that can be reached now; fills in `from`.  0, or -errno: that
 * position is lost or invalid (-EPIPE), or no memory. */
int router_send(struct router *c, struct msg *m);
/* A piece of an exchange: also once and in order, by a peer link when one comes up (peer_links.h).
 */
int router_send_piece(struct router *c, struct msg *m, uint64_t now_ns);
/* Pieces will follow, to that position or from it, and it knows that, too. */
void router_meet(struct router *c, uint32_t position, uint64_t now_ns);
/* To a neighbour only, without a sequence number.  -EPIPE: it is not a neighbour (now). */
int router_send_near(struct router *c, struct msg *m);

/* Bytes queued on the link towards a position. */
size_t router_waiting(const struct router *c, uint32_t position);

/* ---- losses and the end ---- */

/* That position will not come back: closes its link without a callback, drops the messages
 * that wait for it, and resends those that went through it. */
void router_lost(struct router *c, uint32_t position);
bool router_is_lost(const struct router *c, uint32_t position);
/* A daemon below us has announced itself, and there is a link towards it. */
bool router_reaches(const struct router *c, uint32_t position);
/* The position at the other end of our link towards the launcher, if it is up; TREE_NONE. */
uint32_t router_parent(const struct router *c);
/* All have been told to exit: a link that closes from now on is no error. */
void router_leave(struct router *c);
/* Nothing more will be sent: waits until our children have closed, then closes the link towards the
 * launcher. on_closed() follows. */
void router_end(struct router *c);

/* ---- for peer_links.c ---- */

/* Encodes the message into `scratch` and fills in `from`.  0, -EMSGSIZE or -ENOMEM. */
int router_put(struct router *c, struct msg *m);
/* Sends an encoded message along the tree.  -EPIPE: there is no route now. */
int router_pass(struct router *c, uint32_t to, struct slice bytes);
/* There is a link of the tree to that position. */
bool router_is_near(const struct router *c, uint32_t position);

#endif
