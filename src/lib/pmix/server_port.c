/* server_port.c - the listening socket of a server: whom it accepts, and that it never stays
 * closed.
 *
 * Connections of users whom the host has not registered are closed unread, before they take the
 * places, or the descriptors, of expected processes; the log lines about them are charged to their
 * users (quota.h).  Without a free descriptor the socket pauses for a moment; it resumes by the
 * clock, and as soon as a connection is closed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/accept.h"
#include "lib/pmix/server.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void keep_spare(struct pserver *s)
{
    if (s->spare_fd < 0)
        s->spare_fd = fcntl(s->loop.wake, F_DUPFD_CLOEXEC, 3);
}

/* The check itself needs a descriptor. */
int sport_ask(struct pserver *s, int fd, const struct peer_cred *known, struct peer_cred *c_p)
{
    int rc;

    close_fd(&s->spare_fd);
    rc = known ? peer_cred_check(fd, known) : peer_cred_read(fd, c_p);
    keep_spare(s);
    return rc;
}

/* ---- pausing --------------------------------------------------------------------------------- */

static void rest(struct pserver *s)
{
    s->port_rests_until = clock_now_ns() + LIMIT_DOOR_REST_MS * NS_PER_MS;
    swatch_want(&s->loop, &s->listener, 0);
}

void sport_look_again(struct pserver *s)
{
    if (s->port_rests_until == UINT64_MAX)
        return;
    s->port_rests_until = UINT64_MAX;
    swatch_want(&s->loop, &s->listener, SLOOP_READ);
}

uint64_t sport_tick(struct pserver *s, uint64_t now_ns)
{
    if (s->port_rests_until <= now_ns)
        sport_look_again(s);
    return s->port_rests_until;
}

/* ---- accepting ------------------------------------------------------------------------------- */

static bool is_expected(const struct pserver *s, uid_t uid)
{
    LIST_EACH(l, &s->spaces)
    {
        const struct nspace *n = LIST_OF(l, const struct nspace, link);
        LIST_EACH(p, &n->locals)
        {
            if (LIST_OF(p, const struct local, link)->uid == uid)
                return true;
        }
    }
    return uid == s->uid;
}

static void caller(struct pserver *s, int fd, const struct sockaddr_storage *from)
{
    uint64_t now_ms = clock_now_ns() / NS_PER_MS;
    struct quota_source who = quota_address(from);
    struct peer_cred cred;
    int rc = sport_ask(s, fd, NULL, &cred), one = 1;
    struct sconn *c;

    if (rc < 0)
        quota_warn(&s->quota, &who, now_ms, &s->log, "refused a connection: %s",
                   peer_cred_text(rc));
    if (rc == 0 && !is_expected(s, cred.uid)) {
        who = quota_user(cred.uid);
        quota_warn(&s->quota, &who, now_ms, &s->log,
                   "refused a connection of user %u: no process of that user is expected here",
                   (unsigned)cred.uid);
        rc = -EPERM;
    }
    if (rc == 0)
        who = quota_user(cred.uid);
    if (rc == 0 && cred.uid != s->uid && !quota_call(&s->quota, &who, now_ms))
        rc = -EAGAIN; /* closed unread */
    c = rc == 0 ? sconn_new(s, fd, NULL, 0, false) : NULL;
    if (!c) {
        close(fd);
        return;
    }
    sconn_came(c, &cred);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void listener_ready(void *arg, unsigned what)
{
    struct pserver *s = arg;
    struct accept_turn turn = accept_turn_begin();
    struct sockaddr_storage from;
    enum accept_result rc;
    int fd;

    (void)what;
    do {
        rc = accept_caller(s->listen_fd, &fd, &from);
        if (rc == ACCEPT_CALLER)
            caller(s, fd, &from);
    } while (rc == ACCEPT_CALLER && accept_turn_goes_on(&turn));
    if (rc == ACCEPT_NO_ROOM)
        rest(s);
    nspace_settle_all(s);
}

/* ---- opening and closing --------------------------------------------------------------------- */

int sport_open(struct pserver *s)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;

    quota_init(&s->quota, &quota_declines, clock_seed());
    greetings_init(&s->greetings, &s->quota, LIMIT_GREETING_MS * NS_PER_MS);
    keep_spare(s);
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(s->listen_fd, SOMAXCONN) < 0 ||
        getsockname(s->listen_fd, (struct sockaddr *)&at, &len) < 0)
        return -errno;
    s->port = ntohs(at.sin_port);
    return swatch_open(&s->loop, &s->listener, s->listen_fd, SLOOP_READ, listener_ready, s);
}

void sport_close(struct pserver *s)
{
    s->port_rests_until = UINT64_MAX;
    swatch_close(&s->loop, &s->listener);
    close_fd(&s->listen_fd);
    close_fd(&s->spare_fd);
    quota_tell(&s->quota, &s->log);
}
