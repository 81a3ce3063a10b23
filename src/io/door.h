/* door.h - a listening socket in the event loop: connections are accepted one by one, never so many
 * in a turn that other descriptors starve, and a shortage of descriptors is waited out.
 *
 * Out of descriptors, make_room() may close one that is worth less than the new connection; if
 * there is none, the listener pauses for LIMIT_DOOR_REST_MS, or until door_look_again().  It never
 * stays closed.
 */
#ifndef WIREUP_IO_DOOR_H
#define WIREUP_IO_DOOR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "io/loop.h"

struct door_calls {
    /* fd becomes the callee's.  It may close anything but this listener. */
    void (*on_caller)(void *arg, int fd, const struct sockaddr_storage *from);
    /* Closes a descriptor.  False: none can be closed.  May be NULL. */
    bool (*make_room)(void *arg);
};

struct door {
    int fd; /* -1: closed */
    bool resting;
    struct watch watch;
    struct timer rest;
    struct door_calls calls;
    void *arg;
};

#define DOOR_CLOSED ((struct door){ .fd = -1 })

/* fd, a non-blocking listening socket, becomes the struct door's on success.  0 or -errno. */
int door_open(struct door *d, struct loop *l, int fd, const struct door_calls *calls, void *arg);
/* A descriptor has been closed: waiting connections are accepted at once. */
void door_look_again(struct door *d);
void door_close(struct door *d); /* harmless twice, and on DOOR_CLOSED */

#endif
