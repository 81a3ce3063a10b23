/* weave.h - the overlay at work: links of the cluster become links of it, its messages records of
 * those links, its events the doors of cores.
 *
 * The collectives of jobs go this way (overlay/overlay.h): each node brings one block when its
 * members have arrived, blocks are put together in the tree, and all of them come down.  So does
 * what is for everybody: by the launcher, which says it to all, and keeps it for those who come
 * late.
 *
 * A daemon that has lost its parent goes to the nearest of those above it that it can reach
 * (weave_seek); who is lost is told to everybody (loss_position()).
 */
#ifndef WIREUP_WIREUPD_WEAVE_H
#define WIREUP_WIREUPD_WEAVE_H

#include "core/effect.h"
#include "io/loop.h"
#include "overlay/overlay.h"
#include "wireupd/boot.h"

struct share;
struct msg;

struct weave_config {
    enum overlay_schedule schedule;
    const struct boot_above *above; /* a daemon: its parent and those above that; lives as long */
    uint32_t nabove;
};

struct weave {
    struct share *share; /* NULL: not open */
    struct weave_config config;
    struct overlay overlay;
    struct timer overdue;
    uint32_t tried; /* the parent that we have or call */
    bool joined;    /* there was a link to a parent */
    bool turning;
};

/* 0 or -ENOMEM. */
int weave_open(struct weave *w, struct share *s, const struct weave_config *config);
void weave_close(struct weave *w); /* harmless twice, and on zeroed memory */

/* A link to a neighbour is up; false: it must not be. */
bool weave_near(struct weave *w, uint32_t position);
/* A link from below is down: its daemon is lost. */
void weave_far(struct weave *w, uint32_t position);
/* There is no link towards the launcher: another one is sought.  False: there is nobody left, and
 * this daemon has to end. */
bool weave_seek(struct weave *w);
/* Launcher: that daemon is lost, whoever noticed. */
void weave_lose(struct weave *w, uint32_t position);

/* To everybody else, once and in order, whatever is lost on the way. */
int weave_tell(struct weave *w, struct msg *m);

/* This node's part in a collective; the core's door comes, perhaps at once. */
void weave_contribute(struct weave *w, const struct contribution *k);

/* A message of an overlay to ours. */
void weave_hear(struct weave *w, const struct msg *m);

#endif
