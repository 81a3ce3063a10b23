/* accept.h - one caller from a listening socket, and what to do when there is none.
 *
 * accept() fails in some twenty ways of which only two matter: the caller has gone or is broken
 * (the next one may be fine), or this machine has no descriptor for it.  Whoever ignores the second
 * spins, since the listener stays readable; whoever stops to listen is deaf until it looks again by
 * itself.  So callers rest for LIMIT_DOOR_REST_MS and look again.
 */
#ifndef WIREUP_IO_ACCEPT_H
#define WIREUP_IO_ACCEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum accept_result {
    ACCEPT_CALLER,  /* *fd_p is close-on-exec and does not block */
    ACCEPT_NOBODY,  /* nobody waits (any more) */
    ACCEPT_NO_ROOM, /* somebody waits, and there is no descriptor or no memory */
};

/* from_p may be NULL. */
enum accept_result accept_caller(int listener, int *fd_p, struct sockaddr_storage *from_p);

/* How much one turn of an event loop may accept. */
struct accept_turn {
    unsigned left;
    uint64_t until_ns;
};

struct accept_turn accept_turn_begin(void);
/* One more is taken; false: the others have to get their turn. */
bool accept_turn_goes_on(struct accept_turn *t);

#endif
