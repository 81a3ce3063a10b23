/* distant_launchers.h - launchers of this user on other machines that share a directory with this
 * one (-launchers-dir): how they find and reach each other.
 *
 * The directory belongs to the user and is closed to others, as is each file in it: `token`, the
 * secret that all of them prove to have (io/join_token.h), and `HOST.PID.launcher` for each, with
 * its addresses (launcher_file.h).  Whoever has the token is taken for the user.
 *
 * A connection to another launcher is a descriptor here, and one at its control socket there; what
 * is between is one encrypted link (io/daemon_link.h) for each.  So who asks launchers of this
 * machine (name_query.h, launcher_search.h) asks these in the same words.  The control socket
 * accepts only the words of launchers from them.
 */
#ifndef WIREUP_DAEMON_DISTANT_LAUNCHERS_H
#define WIREUP_DAEMON_DISTANT_LAUNCHERS_H

#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "daemon/node_context.h"

struct daemon_link_net;

struct distant_launchers_config {
    const char *dir;
    const char *interface;        /* to listen on; NULL: any */
    uint16_t port_low, port_high; /* 0, 0: any */
};

struct distant_launchers {
    const struct node_context *context; /* NULL: not open */
    struct daemon_link_net *net;
    unsigned char *key;
    int dir;  /* of the directory; -1: none */
    int lock; /* of its own file there, open as long as it lives; -1: none */
    char file[300];
    struct list all; /* relays */
    /* Another launcher has connected; the descriptor is the callee's. */
    void (*called)(void *arg, int fd);
    void *arg;
};

/* 0, or -errno with a sentence. */
int distant_launchers_open(struct distant_launchers *d, const struct node_context *c,
                           const struct distant_launchers_config *config,
                           void (*called)(void *arg, int fd), void *arg, struct errmsg *err);
void distant_launchers_close(
    struct distant_launchers *d); /* harmless twice, and on zeroed memory */

/* A non-blocking connection to each of the others; one that is not reached ends.  The number of
 * them, and *fds_p, which the caller frees; 0 if there are none, or no memory.  d NULL: none. */
int distant_launchers_call(struct distant_launchers *d, int **fds_p);

#endif
