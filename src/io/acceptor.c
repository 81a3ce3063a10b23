/* acceptor.c - see acceptor.h. */
#include "io/acceptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/accept.h"

static void rest(struct acceptor *d)
{
    if (timer_set(&d->rest, LIMIT_ACCEPT_PAUSE_MS) < 0)
        return; /* better to spin than to stop accepting */
    d->resting = true;
    watch_want(&d->watch, 0);
}

int acceptor_open_loopback(struct acceptor *d, struct loop *l, const struct acceptor_calls *calls,
                           void *arg, uint16_t *port_p)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons(*port_p),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t len = sizeof at;
    const int yes = 1;
    int rc;

    if (fd < 0)
        return -errno;
    if (*port_p) /* connections of an earlier server there may still be ending */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        rc = -errno;
    else
        rc = acceptor_open(d, l, fd, calls, arg);
    if (rc < 0)
        close(fd);
    else
        *port_p = ntohs(at.sin_port);
    return rc;
}

void acceptor_retry(struct acceptor *d)
{
    if (d->fd < 0 || !d->resting)
        return;
    d->resting = false;
    timer_stop(&d->rest);
    watch_want(&d->watch, LOOP_READ);
}

static void rest_is_over(void *arg)
{
    acceptor_retry(arg);
}

static void acceptor_readable(void *arg)
{
    struct acceptor *d = arg;
    struct accept_turn turn = accept_turn_begin();
    struct sockaddr_storage from;
    enum accept_result rc;
    int fd;

    do {
        memset(&from, 0, sizeof from);
        rc = accept_caller(d->fd, &fd, &from);
        if (rc == ACCEPT_CALLER)
            d->calls.on_caller(d->arg, fd, &from);
        else if (rc == ACCEPT_NO_ROOM && !(d->calls.make_room && d->calls.make_room(d->arg)))
            rest(d);
    } while (rc != ACCEPT_NOBODY && !d->resting && accept_turn_goes_on(&turn));
}

int acceptor_open(struct acceptor *d, struct loop *l, int fd, const struct acceptor_calls *calls,
                  void *arg)
{
    int rc;

    *d = (struct acceptor){ .fd = fd, .calls = *calls, .arg = arg };
    timer_init(&d->rest, l, rest_is_over, d);
    watch_open(&d->watch, l, fd, acceptor_readable, NULL, d);
    rc = watch_want(&d->watch, LOOP_READ);
    if (rc < 0) {
        watch_close(&d->watch);
        d->fd = -1;
    }
    return rc;
}

void acceptor_close(struct acceptor *d)
{
    watch_close(&d->watch);
    timer_stop(&d->rest);
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    d->resting = false;
}
