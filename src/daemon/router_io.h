/* router_io.h - the links and the clock of the router (cluster/router.h): its actions become calls
 * of io/daemon_link.h, and events of links become calls of the router.
 */
#ifndef WIREUP_DAEMON_ROUTER_IO_H
#define WIREUP_DAEMON_ROUTER_IO_H

#include "cluster/router.h"
#include "io/daemon_link.h"

struct router_io_config {
    struct router_config router; /* without the actions */
    struct loop *loop;
    struct quota *quota; /* of unauthenticated connections; NULL: of this router's links alone */
    const unsigned char *key;     /* DAEMON_LINK_KEY bytes */
    const char *interface;        /* NULL: any */
    uint16_t port_low, port_high; /* port range to listen on; 0, 0: any */
    uint32_t members;             /* positions that have a node at first: these may call; 0: all */
};

struct router_io {
    struct router_io_config config;
    struct router *router;
    struct daemon_link_net *net;
    struct timer wake;
};

/* Opens the router, too.  0, or -errno with a sentence; both must be zeroed memory. */
int router_io_open(struct router_io *w, struct router *c, const struct router_io_config *config,
                   struct errmsg *err);
/* At once, with the router; harmless twice, and on zeroed memory. */
void router_io_close(struct router_io *w);

/* Appends the addresses where other daemons reach us; they are valid from now on. */
int router_io_addresses(struct router_io *w, struct buf *text, struct errmsg *err);

/* A link to an ancestor, for router_join().  NULL with a sentence. */
struct router_link *router_io_connect(struct router_io *w, uint32_t ancestor,
                                      struct slice addresses, struct errmsg *err);
/* A daemon: connects towards the launcher.  Failure is reported by the router's on_orphan(). */
int router_io_join(struct router_io *w, uint32_t parent, struct slice addresses,
                   struct errmsg *err);

#endif
