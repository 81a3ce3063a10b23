/* spawn_growth.h - a spawn adds nodes, by name or by file, that the DVM does not have: they join it
 * first (dvm_growth.h), and stay; the spawn goes on when each has come up, or will not.  If the
 * time limit for its start passes before, it fails, and none of them stays.
 */
#ifndef WIREUP_DAEMON_SPAWN_GROWTH_H
#define WIREUP_DAEMON_SPAWN_GROWTH_H

#include "daemon/dvm_growth.h"
#include "daemon/spawn_held.h"

struct local_jobs;

typedef void spawn_growth_fn(struct local_jobs *jobs, const struct spawn_held *h);

struct spawn_growths {
    struct dvm_growths growths;
    struct local_jobs *jobs;
    spawn_growth_fn *go_on;
};

void spawn_growth_open(struct spawn_growths *g, struct local_jobs *jobs, spawn_growth_fn *go_on);
void spawn_growth_close(struct spawn_growths *g); /* harmless twice, and on zeroed memory */

/* True: the request is copied, and goes on later.  False: there is nothing to wait for. */
bool spawn_growth_begin(struct spawn_growths *g, const struct spawn_held *h);

#endif
