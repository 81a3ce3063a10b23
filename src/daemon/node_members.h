/* node_members.h - all nodes of a launcher or DVM with what is free on them, for queries
 * (server/node_part.h): also nodes that no job has a process on, of which daemons know nothing, and
 * processes that other launchers have on the nodes of a DVM.
 */
#ifndef WIREUP_DAEMON_NODE_MEMBERS_H
#define WIREUP_DAEMON_NODE_MEMBERS_H

#include "base/buf.h"

struct node_context;

/* Launcher: appends its part; nothing elsewhere, nor if this node is alone. */
void node_members_write(const struct node_context *c, struct buf *out);

#endif
