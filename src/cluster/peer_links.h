/* peer_links.h - links between daemons that are not neighbours in the tree, for the pieces of
 * exchanges.
 *
 * A link is opened for the first piece to a daemon, and stays.  Tree links are opened by the higher
 * position, from below; peer links are opened by the lower position, whichever end needs them.  So
 * the called end knows the kind of a link by the caller's position, and two daemons that need each
 * other at once make one link.  The called end sends the addresses where it listens through the
 * tree (`meet`), when it is asked or when it needs the link itself.  When an exchange begins, both
 * ends know that they need it, and nobody asks: one message for each link.
 *
 * Pieces are delivered once and in order by either path (cluster/reliable.h; they have their own
 * sequence). They wait for the link to come up (LIMIT_NODE_DIRECT_MS and more); after that, or if it
 * cannot come up, is lost, or would exceed LIMIT_NODE_DIRECT, they go along the tree.  Pieces that
 * may not have arrived when a path fails are resent by the next one.
 *
 * Only pieces go by peer links.  For all else the order between unicasts and broadcasts matters: a
 * daemon that has received a job's announcement sends another node a request about the job, and
 * that node has the announcement too, because both messages went down the same tree.
 *
 * A broken peer link is no evidence about the life of the daemon: the tree detects that.
 */
#ifndef WIREUP_CLUSTER_PEER_LINKS_H
#define WIREUP_CLUSTER_PEER_LINKS_H

#include "base/buf.h"
#include "base/list.h"
#include "base/number_map.h"
#include "cluster/msg_address.h"
#include "cluster/reliable.h"
#include "cluster/router_link.h"

struct router;

struct peer_links {
    struct list all;               /* struct peer_link; least recently used first */
    struct number_map by_position; /* the same */
    struct reliable reliable;
    struct buf here;  /* our addresses, once they have been sent */
    bool has_closed;  /* a link was closed in order: its other end may not know it yet */
    uint64_t wake_ns; /* for when the host has been asked; 0: it has not */
};

void peer_links_open(struct router *c);
void peer_links_close(struct router *c); /* harmless twice, and on zeroed memory */

/* Pieces will follow, to that position or from it, and it knows that, too; it is alive and is not
 * us. So the called end says where it listens, and nobody asks. */
void peer_links_expect(struct router *c, uint32_t to);
/* A piece for m->to, which is alive and is not us; kept until acknowledged.  0, -EMSGSIZE, -ENOMEM.
 */
int peer_links_send(struct router *c, struct msg *m);
/* Acknowledges the pieces of that position. */
void peer_links_note(struct router *c, uint32_t to);
/* Resends the messages along the tree that may not have reached that position, as its path has
 * changed. */
void peer_links_resend(struct router *c, uint32_t to);

/* A `meet` from another daemon. */
void peer_links_on_meet(struct router *c, const struct msg *m);

/* Pieces for that position go by a peer link. */
bool peer_links_is_up(const struct router *c, uint32_t position);
/* This link is a peer link. */
bool peer_links_has(const struct router *c, const struct router_link *l);
/* Something was received on it.  False: this link is none. */
bool peer_links_received(struct router *c, const struct router_link *l);
/* A connection to us, or ours to a peer, is established. */
void peer_links_up(struct router *c, struct router_link *l);
void peer_links_down(struct router *c, struct router_link *l, enum router_down how);

/* That daemon is lost. */
void peer_links_lost(struct router *c, uint32_t position);
/* Time has passed: pieces that have waited long enough go along the tree. */
void peer_links_tick(struct router *c);
/* Closes all links in order; no more are opened. */
void peer_links_end(struct router *c);

#endif
