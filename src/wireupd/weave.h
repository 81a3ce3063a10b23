/* weave.h - the overlay at work: links of the cluster become links of it, its messages records of
 * those links, its events the doors of cores.
 *
 * The collectives of jobs go this way (overlay/overlay.h): each node brings one block when its
 * members have arrived, blocks are put together in the tree, and all of them come down.
 */
#ifndef WIREUP_WIREUPD_WEAVE_H
#define WIREUP_WIREUPD_WEAVE_H

#include "core/effect.h"
#include "overlay/overlay.h"

struct share;
struct msg_overlay;
struct msg;

struct weave {
    struct share *share; /* NULL: not open */
    struct overlay overlay;
};

/* 0 or -ENOMEM. */
int weave_open(struct weave *w, struct share *s, enum overlay_schedule schedule);
void weave_close(struct weave *w); /* harmless twice, and on zeroed memory */

/* A link to a neighbour is up, or down. */
void weave_near(struct weave *w, uint32_t position);
void weave_far(struct weave *w, uint32_t position);

/* This node's part in a collective; the core's door comes, perhaps at once. */
void weave_contribute(struct weave *w, const struct contribution *k);

/* A message of an overlay to ours. */
void weave_hear(struct weave *w, const struct msg *m);

#endif
