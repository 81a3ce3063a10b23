/* coming_node.h - a node that joins a running tree, as its launcher sees it: of a DVM
 * (dvm_members.h), or of a job (job_members.h).  It has a position (remote_add()); its parent is
 * its nearest living ancestor, which starts its daemon as soon as that is itself a member; or it
 * comes by itself.
 */
#ifndef WIREUP_LAUNCH_COMING_NODE_H
#define WIREUP_LAUNCH_COMING_NODE_H

#include "launch/remote.h"

struct coming_node {
    bool started;    /* its daemon is being started, or comes by itself */
    uint32_t parent; /* ... by that position; 0: the launcher, or itself */
};

/* Goes on with it; called whenever something has changed.  NULL, or why it will not come. */
const char *coming_node_look(struct coming_node *n, struct remote *f, uint32_t position);

#endif
