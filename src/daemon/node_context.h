/* node_context.h - the surroundings of a node's modules: objects that many of them need and none of
 * them owns.
 *
 * A node makes one; its modules keep the address.  Everything else that a module needs is given to
 * it by name when it is opened.
 */
#ifndef WIREUP_DAEMON_NODE_CONTEXT_H
#define WIREUP_DAEMON_NODE_CONTEXT_H

#include "daemon/launcher_state.h"
#include "daemon/node.h"
#include "daemon/turn.h"

struct cluster_io;
struct distant_launchers;
struct output;
struct startup_timing;

struct node_context {
    const struct node_config *config;
    const struct log *log;
    struct loop *loop;
    const struct turn *turn; /* every handler of an event ends with turn_end() */
    struct server *server;
    struct output *output;
    struct startup_timing *timing;
    enum launcher_state *state;        /* how far the launcher is; a daemon's stays idle */
    struct cluster_io *cluster;        /* NULL: this node is alone */
    struct distant_launchers *distant; /* NULL: none is known */
    int null_fd;                       /* of /dev/null */
};

#endif
