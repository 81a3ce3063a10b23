/* door.h - a listening socket in the event loop: callers come one by one, never so many in a turn
 * that others wait, and a moment without descriptors passes by itself.
 *
 * Out of descriptors, make_room() may close one that is worth less than the caller; where there is
 * none, the door rests for LIMIT_DOOR_REST_MS, or until door_look_again().  A door never stays
 * shut.
 */
#ifndef WIREUP_IO_DOOR_H
#define WIREUP_IO_DOOR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "io/loop.h"

struct door_calls {
    /* fd becomes the callee's.  It may close anything but the door. */
    void (*on_caller)(void *arg, int fd, const struct sockaddr_storage *from);
    /* Closes a descriptor.  False: none can go.  May be NULL. */
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

/* fd, a listening socket that does not block, becomes the door's if that works.  0 or -errno. */
int door_open(struct door *d, struct loop *l, int fd, const struct door_calls *calls, void *arg);
/* A descriptor has been closed: who waits is let in at once. */
void door_look_again(struct door *d);
void door_close(struct door *d); /* harmless twice, and on DOOR_CLOSED */

#endif
