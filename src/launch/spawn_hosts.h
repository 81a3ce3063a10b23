/* spawn_hosts.h - the nodes that a command of a spawn request names, in lists and in files.
 *
 * Files are read by the launcher, as its user: that is who asks, for no other user's process can
 * (server/rights.h).  They must be plain files: a pipe would hold up all jobs.
 */
#ifndef WIREUP_LAUNCH_SPAWN_HOSTS_H
#define WIREUP_LAUNCH_SPAWN_HOSTS_H

#include "base/err.h"
#include "core/spawn.h"
#include "launch/hosts.h"

/* Appends those of host, hosts, add-host, add-hosts, hostfile and add-hostfile.  0; SPAWN_NO_NODES
 * or SPAWN_BAD_REQUEST with a sentence; -ENOMEM. */
int spawn_hosts_named(struct arena *a, const struct spawn_command *c, struct host_list *list,
                      struct errmsg *err);

/* Appends, as in -hosts, those of add-host, add-hosts and add-hostfile of all commands.  Those of a
 * file with a port of their own are left out, for no list can say it, and so are those that cannot
 * be read: spawn_hosts_named() tells why. */
void spawn_hosts_added(const struct spawn_request *rq, struct buf *out);
/* The same of all words that name nodes. */
void spawn_hosts_all(const struct spawn_request *rq, struct buf *out);

#endif
