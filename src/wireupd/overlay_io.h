/* overlay_io.h - the overlay at work: links of the cluster become links of it, its messages records
 * of those links, its events the doors of cores.
 *
 * The collectives of jobs go this way (overlay/overlay.h): each node brings one block when its
 * members have arrived, blocks are put together in the tree, and all of them come down.  So does
 * what is for everybody: by the launcher, which says it to all, and keeps it for those who come
 * late.
 *
 * A daemon that has lost its parent goes to the nearest of those above it that it can reach
 * (overlay_io_seek); who is lost is told to everybody (node_failure_position()).
 */
#ifndef WIREUP_WIREUPD_OVERLAY_IO_H
#define WIREUP_WIREUPD_OVERLAY_IO_H

#include "core/effect.h"
#include "io/loop.h"
#include "overlay/overlay.h"
#include "wireupd/bootstrap.h"

struct multinode;
struct msg;

struct overlay_io_config {
    enum overlay_schedule schedule;
    const struct bootstrap_above
        *above; /* a daemon: its parent and those above that; lives as long */
    uint32_t nabove;
};

struct overlay_io {
    struct multinode *multinode; /* NULL: not open */
    struct overlay_io_config config;
    struct overlay overlay;
    struct timer overdue;
    uint32_t tried; /* the parent that we have or call */
    bool joined;    /* there was a link to a parent */
    bool turning;
};

/* 0 or -ENOMEM. */
int overlay_io_open(struct overlay_io *w, struct multinode *s,
                    const struct overlay_io_config *config);
void overlay_io_close(struct overlay_io *w); /* harmless twice, and on zeroed memory */

/* A link to a neighbour is up; false: it must not be. */
bool overlay_io_near(struct overlay_io *w, uint32_t position);
/* A link from below is down: its daemon is lost. */
void overlay_io_far(struct overlay_io *w, uint32_t position);
/* There is no link towards the launcher: another one is sought.  False: there is nobody left, and
 * this daemon has to end. */
bool overlay_io_seek(struct overlay_io *w);
/* Launcher: that daemon is lost, whoever noticed. */
void overlay_io_lose(struct overlay_io *w, uint32_t position);

/* To everybody else, once and in order, whatever is lost on the way. */
int overlay_io_tell(struct overlay_io *w, struct msg *m);

/* This node's part in a collective; the core's door comes, perhaps at once. */
void overlay_io_contribute(struct overlay_io *w, const struct contribution *k);

/* A message of an overlay to ours. */
void overlay_io_hear(struct overlay_io *w, const struct msg *m);

#endif
