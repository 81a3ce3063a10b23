/* acceptor.h - a listening socket in the event loop: connections are accepted one by one, never so
 * many in a turn that other descriptors starve, and a shortage of descriptors is waited out.
 *
 * Out of descriptors, make_room() may close one that is worth less than the new connection; if
 * there is none, the listener pauses for LIMIT_ACCEPT_PAUSE_MS, or until acceptor_retry().  It
 * never stays closed.
 */
#ifndef WIREUP_IO_ACCEPTOR_H
#define WIREUP_IO_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "io/loop.h"

struct acceptor_calls {
    /* fd becomes the callee's.  It may close anything but this listener. */
    void (*on_caller)(void *arg, int fd, const struct sockaddr_storage *from);
    /* Closes a descriptor.  False: none can be closed.  May be NULL. */
    bool (*make_room)(void *arg);
};

struct acceptor {
    int fd; /* -1: closed */
    bool resting;
    struct watch watch;
    struct timer rest;
    struct acceptor_calls calls;
    void *arg;
};

#define ACCEPTOR_CLOSED ((struct acceptor){ .fd = -1 })

/* fd, a non-blocking listening socket, becomes the struct acceptor's on success.  0 or -errno. */
int acceptor_open(struct acceptor *d, struct loop *l, int fd, const struct acceptor_calls *calls,
                  void *arg);
/* The same with a socket of its own, at a port of the loopback address: *port_p, or, if that is 0,
 * one that the system chooses, which it becomes. */
int acceptor_open_loopback(struct acceptor *d, struct loop *l, const struct acceptor_calls *calls,
                           void *arg, uint16_t *port_p);
/* A descriptor has been closed: waiting connections are accepted at once. */
void acceptor_retry(struct acceptor *d);
void acceptor_close(struct acceptor *d); /* harmless twice, and on ACCEPTOR_CLOSED */

#endif
