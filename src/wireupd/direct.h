/* direct.h - links between daemons that are no neighbours in the tree, for the pieces of exchanges.
 *
 * One comes up when there is the first piece for somebody, and stays.  The tree's links are called
 * from below, by the one with the higher position; these are called by the one with the lower
 * position, whoever wants them.  So who is called knows by the caller's position which kind it is,
 * and two that want each other at once make one link.  Where the called one waits it says through
 * the tree (`meet`), when it is asked or when it wants the link itself.
 *
 * Pieces come once and in order, by whatever way (overlay/trail.h; their trail is their own).  They
 * wait LIMIT_NODE_MEET_MS for the link to come up; then, or when it cannot come up, is lost, or
 * would be one too many (LIMIT_NODE_DIRECT), they go along the tree.  What may not have arrived
 * when a way ends goes again by the next one.
 *
 * Nothing but pieces goes this way.  Else the order counts between what is said to one and what is
 * said to all: who has heard of a job asks another node about it, and that one has heard of it,
 * because both words went down the same tree.
 *
 * A link that breaks says nothing about the life of the daemon: that is the tree's to find out.
 */
#ifndef WIREUP_WIREUPD_DIRECT_H
#define WIREUP_WIREUPD_DIRECT_H

#include "base/buf.h"
#include "base/list.h"
#include "io/hop.h"
#include "overlay/msg.h"
#include "overlay/trail.h"

struct cluster;

struct direct_links {
    struct list all; /* struct direct; the one that was used longest ago first */
    struct trail trail;
    struct buf here; /* our addresses, once they were told */
};

/* 0 or -ENOMEM. */
int direct_open(struct cluster *c);
void direct_close(struct cluster *c); /* harmless twice, and on zeroed memory */

/* There will be pieces for that one, which lives and is not us. */
void direct_want(struct cluster *c, uint32_t to);
/* A piece for m->to, which lives and is not us; kept until it has come.  0, -EMSGSIZE, -ENOMEM. */
int direct_send(struct cluster *c, struct msg *m);
/* The other end is told what has come of its pieces. */
void direct_note(struct cluster *c, uint32_t to);
/* What that one may not have got along the tree, which has changed. */
void direct_say_again(struct cluster *c, uint32_t to);

/* A `meet` of another daemon. */
void direct_hear(struct cluster *c, const struct msg *m);

/* Pieces for that one go by a link of their own. */
bool direct_is_up(const struct cluster *c, uint32_t position);
/* This link is one of ours. */
bool direct_has(const struct cluster *c, const struct hop *h);
/* Something has come by it. */
void direct_heard(struct cluster *c, const struct hop *h);
/* We are called, or our call is answered. */
void direct_up(struct cluster *c, struct hop *h);
void direct_down(struct cluster *c, struct hop *h, enum hop_down how);

/* That daemon is lost. */
void direct_lost(struct cluster *c, uint32_t position);
/* All say good-bye; no more come up. */
void direct_end(struct cluster *c);

#endif
