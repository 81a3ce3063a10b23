/* overlay_io.h - the overlay's I/O: router links become overlay links, overlay messages become
 * records of those links, overlay events become calls of the cores.
 *
 * The collectives of jobs go this way (cluster/overlay.h): each node contributes one block when its
 * members have arrived, the tree combines the blocks, and all blocks come down to every node.
 * Broadcasts also go this way: the launcher sends them to all daemons and keeps them for those that
 * join late.
 *
 * A daemon that has lost its parent joins the nearest ancestor that it can reach (overlay_io_seek);
 * the loss of a daemon is reported to all (node_failure_position()).
 */
#ifndef WIREUP_WIREUPD_OVERLAY_IO_H
#define WIREUP_WIREUPD_OVERLAY_IO_H

#include "core/effect.h"
#include "io/loop.h"
#include "cluster/overlay.h"
#include "wireupd/bootstrap.h"

struct multinode;
struct msg;

struct overlay_io_config {
    enum overlay_schedule schedule;
    const struct bootstrap_above
        *above; /* a daemon: its parent and the ancestors above; must outlive this */
    uint32_t nabove;
};

struct overlay_io {
    struct multinode *multinode; /* NULL: not open */
    struct overlay_io_config config;
    struct overlay overlay;
    struct timer overdue;
    uint32_t tried; /* the parent that we have or are connecting to */
    bool joined;    /* there has been a link to a parent */
    bool turning;
};

/* 0 or -ENOMEM. */
int overlay_io_open(struct overlay_io *w, struct multinode *s,
                    const struct overlay_io_config *config);
void overlay_io_close(struct overlay_io *w); /* harmless twice, and on zeroed memory */

/* A link to a neighbour is up; false: it must be refused. */
bool overlay_io_near(struct overlay_io *w, uint32_t position);
/* A link to a child is down: its daemon is lost. */
void overlay_io_far(struct overlay_io *w, uint32_t position);
/* There is no link towards the launcher: tries the next ancestor.  False: none is left, and this
 * daemon must exit. */
bool overlay_io_seek(struct overlay_io *w);
/* Launcher: that daemon is lost, whichever node noticed. */
void overlay_io_lose(struct overlay_io *w, uint32_t position);

/* To all others, once and in order, whatever is lost on the way. */
int overlay_io_tell(struct overlay_io *w, struct msg *m);

/* This node's contribution to a collective; the core is called with the result, perhaps at once. */
void overlay_io_contribute(struct overlay_io *w, const struct contribution *k);

/* An overlay message from another daemon. */
void overlay_io_hear(struct overlay_io *w, const struct msg *m);

#endif
