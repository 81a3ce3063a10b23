/* overlay_io.h - the member of the cluster (cluster/membership.h) that a daemon is: it connects
 * to ancestors, has a clock, and passes losses and results on to the node.
 */
#ifndef WIREUP_DAEMON_OVERLAY_IO_H
#define WIREUP_DAEMON_OVERLAY_IO_H

#include "io/loop.h"
#include "cluster/membership.h"
#include "daemon/bootstrap.h"

struct cluster_io;

struct overlay_io_config {
    enum overlay_schedule schedule;
    const struct bootstrap_above
        *above; /* a daemon: its parent and the ancestors above; must outlive this */
    uint32_t nabove;
    const struct rank_set *members, *lost; /* as in overlay.h */
    uint64_t last_broadcast;
};

struct overlay_io {
    struct cluster_io *cluster; /* NULL: not open */
    struct overlay_io_config config;
    struct membership member;
    struct timer overdue;
};

/* calls: the functions for messages, links, losses and the end, with their argument `s`; the rest
 * is added here. 0 or -ENOMEM. */
int overlay_io_open(struct overlay_io *w, struct cluster_io *s,
                    const struct overlay_io_config *config, struct membership_calls calls);
void overlay_io_close(struct overlay_io *w); /* harmless twice, and on zeroed memory */

#endif
