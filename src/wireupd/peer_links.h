/* peer_links.h - links between daemons that are no neighbours in the tree, for the pieces of
 * exchanges.
 *
 * One comes up when there is the first piece for somebody, and stays.  The tree's links are called
 * from below, by the one with the higher position; these are called by the one with the lower
 * position, whoever wants them.  So who is called knows by the caller's position which kind it is,
 * and two that want each other at once make one link.  Where the called one waits it says through
 * the tree (`meet`), when it is asked or when it wants the link itself.
 *
 * Pieces come once and in order, by whatever way (overlay/reliable.h; their trail is their own).
 * They wait LIMIT_NODE_MEET_MS for the link to come up; then, or when it cannot come up, is lost,
 * or would be one too many (LIMIT_NODE_DIRECT), they go along the tree.  What may not have arrived
 * when a way ends goes again by the next one.
 *
 * Nothing but pieces goes this way.  Else the order counts between what is said to one and what is
 * said to all: who has heard of a job asks another node about it, and that one has heard of it,
 * because both words went down the same tree.
 *
 * A link that breaks says nothing about the life of the daemon: that is the tree's to find out.
 */
#ifndef WIREUP_WIREUPD_PEER_LINKS_H
#define WIREUP_WIREUPD_PEER_LINKS_H

#include "base/buf.h"
#include "base/list.h"
#include "io/daemon_link.h"
#include "overlay/msg.h"
#include "overlay/reliable.h"

struct router;

struct peer_links {
    struct list all; /* struct peer_link; the one that was used longest ago first */
    struct reliable trail;
    struct buf here; /* our addresses, once they were told */
};

/* 0 or -ENOMEM. */
int peer_links_open(struct router *c);
void peer_links_close(struct router *c); /* harmless twice, and on zeroed memory */

/* There will be pieces for that one, which lives and is not us. */
void peer_links_want(struct router *c, uint32_t to);
/* A piece for m->to, which lives and is not us; kept until it has come.  0, -EMSGSIZE, -ENOMEM. */
int peer_links_send(struct router *c, struct msg *m);
/* The other end is told what has come of its pieces. */
void peer_links_note(struct router *c, uint32_t to);
/* What that one may not have got along the tree, which has changed. */
void peer_links_say_again(struct router *c, uint32_t to);

/* A `meet` of another daemon. */
void peer_links_hear(struct router *c, const struct msg *m);

/* Pieces for that one go by a link of their own. */
bool peer_links_is_up(const struct router *c, uint32_t position);
/* This link is one of ours. */
bool peer_links_has(const struct router *c, const struct daemon_link *h);
/* Something has come by it. */
void peer_links_heard(struct router *c, const struct daemon_link *h);
/* We are called, or our call is answered. */
void peer_links_up(struct router *c, struct daemon_link *h);
void peer_links_down(struct router *c, struct daemon_link *h, enum daemon_link_down how);

/* That daemon is lost. */
void peer_links_lost(struct router *c, uint32_t position);
/* All say good-bye; no more come up. */
void peer_links_end(struct router *c);

#endif
