/* accept.c - see accept.h. */
#include "io/accept.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/limit.h"

enum { BROKEN_CALLERS = 16 };

/* The kernel allocates a descriptor before it looks for a connection. */
static bool somebody_waits(int listener)
{
    struct pollfd p = { .fd = listener, .events = POLLIN };

    return poll(&p, 1, 0) != 0;
}

enum accept_result accept_caller(int listener, int *fd_p, struct sockaddr_storage *from_p)
{
    for (int i = 0; i < BROKEN_CALLERS; i++) {
        socklen_t len = sizeof *from_p;
        int fd = accept4(listener, (struct sockaddr *)from_p, from_p ? &len : NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            *fd_p = fd;
            return ACCEPT_CALLER;
        }
        switch (errno) {
        case EAGAIN: return ACCEPT_NOBODY;
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS: return somebody_waits(listener) ? ACCEPT_NO_ROOM : ACCEPT_NOBODY;
        case EBADF:
        case EINVAL:
        case ENOTSOCK: return ACCEPT_NOBODY; /* closed, or about to be */
        default: break;                      /* that client has gone */
        }
    }
    return ACCEPT_NOBODY; /* the loop tries again, since the listener is still readable */
}

struct accept_turn accept_turn_begin(void)
{
    return (struct accept_turn){ LIMIT_ACCEPT_TURN,
                                 clock_now_ns() + LIMIT_ACCEPT_TURN_MS * NS_PER_MS };
}

bool accept_turn_goes_on(struct accept_turn *t)
{
    return t->left && --t->left && clock_now_ns() < t->until_ns;
}
