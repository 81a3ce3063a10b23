/* accept.h - accepts one connection from a listening socket, and reports why there is none.
 *
 * accept() fails in some twenty ways of which only two matter: the client has gone or is broken
 * (the next one may be fine), or this machine has no descriptor for it.  A caller that ignores the
 * second spins, since the listener stays readable; one that stops polling the listener is not woken
 * again.  So callers pause for LIMIT_ACCEPT_PAUSE_MS and try again.
 */
#ifndef WIREUP_IO_ACCEPT_H
#define WIREUP_IO_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum accept_result {
    ACCEPT_CALLER,  /* *fd_p is close-on-exec and non-blocking */
    ACCEPT_NOBODY,  /* no connection waits (any more) */
    ACCEPT_NO_ROOM, /* one waits, but there is no descriptor or no memory */
};

/* from_p may be NULL. */
enum accept_result accept_caller(int listener, int *fd_p, struct sockaddr_storage *from_p);

/* How much one turn of an event loop may accept. */
struct accept_turn {
    unsigned left;
    uint64_t until_ns;
};

struct accept_turn accept_turn_begin(void);
/* Counts one more connection; false: stop, the other descriptors must get their turn. */
bool accept_turn_goes_on(struct accept_turn *t);

#endif
