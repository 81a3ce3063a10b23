/* foreign_launchers.h - connects between jobs of several launchers of one user on one machine: the
 * launcher's part (EFFECT_foreign_connect).
 *
 * A call names members by namespaces.  When their jobs are all known (launcher_links.h), the call
 * goes to the launcher that decides (core/foreign_connect.h), which sends the members' modex values
 * and the outcome to all others.  A launcher ends only processes that it has started: jobs of two
 * launchers do not end together.
 */
#ifndef WIREUP_DAEMON_FOREIGN_LAUNCHERS_H
#define WIREUP_DAEMON_FOREIGN_LAUNCHERS_H

#include "core/foreign_connect.h"
#include "daemon/foreign_values.h"
#include "daemon/launcher_links.h"

struct op_foreign_connect;

struct foreign_launchers {
    const struct node_context *context; /* NULL: not open */
    struct launcher_links links;
    struct list calls; /* that wait for searches */
    struct list asked; /* calls that another launcher decides about */
    struct foreign_connects connects;
    struct foreign_values values;
    struct timer due; /* a time-out of these passes */
    uint64_t last_ticket;
};

void foreign_launchers_open(struct foreign_launchers *d, const struct node_context *c,
                            struct foreign_jobs *jobs);
void foreign_launchers_close(
    struct foreign_launchers *d); /* harmless twice, and on zeroed memory */

/* A process calls; its answer follows, now or later. */
void foreign_launchers_connect(struct foreign_launchers *d, const struct op_foreign_connect *e);

#endif
