/* bootstrap_overlay.h - what a daemon that joins later has to know of the others: the options
 * "members", "lost" and "broadcasts" of its record (bootstrap.h).
 *
 * Sets of positions are written as runs: "0-4,7".  A record without these options is for a launch
 * in which all positions have a node from the beginning.
 */
#ifndef WIREUP_DAEMON_BOOTSTRAP_OVERLAY_H
#define WIREUP_DAEMON_BOOTSTRAP_OVERLAY_H

#include "cluster/overlay.h"
#include "daemon/bootstrap.h"

/* What this daemon knows now; adds nothing if all positions are members.  0 or -ENOMEM. */
int bootstrap_overlay_put(struct arena *a, struct bootstrap *b, const struct overlay *o);

bool bootstrap_overlay_is(const char *option); /* the name of one of them */

struct bootstrap_overlay {
    struct rank_set members, lost;
    uint64_t last_broadcast;
    bool given; /* the record has the options */
};

/* 0; BOOTSTRAP_BAD with a sentence; -ENOMEM.  bootstrap_overlay_free() in any case. */
int bootstrap_overlay_get(const struct bootstrap *b, struct bootstrap_overlay *k,
                          struct errmsg *err);
void bootstrap_overlay_free(struct bootstrap_overlay *k);

#endif
