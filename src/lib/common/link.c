/* link.c - see link.h. */
#include "lib/common/link.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fd_pass.h"
#include "base/limit.h"

enum { READ_STEP = 4096 };

static int break_link(struct link *l, int rc)
{
    l->broken = true;
    return rc;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int prepare(struct link *l)
{
    buf_init(&l->in, (size_t)LIMIT_STORE_VALUE + LIMIT_PMI_LINE);
    /* Reserves room for usual replies now: a reply that cannot be stored is a lost connection. */
    return buf_room(&l->in, READ_STEP) ? 0 : -ENOMEM;
}

/* Takes over the inherited descriptor fd: marked close-on-exec until link_close.
 * 0; -EBADF: not open; -ENOMEM. */
static int link_open_fd(struct link *l, int fd)
{
    int flags = fcntl(fd, F_GETFD), rc;

    *l = LINK_NULL;
    if (flags < 0)
        return -errno;
    rc = prepare(l);
    if (rc < 0)
        return rc;
    l->fd = fd;
    if (!(flags & FD_CLOEXEC) && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) == 0)
        l->fd_flags = flags;
    return 0;
}

int link_open_own_fd(struct link *l, int fd)
{
    int rc = link_open_fd(l, fd);

    if (rc < 0)
        close(fd);
    else
        l->ours = true;
    return rc;
}

static int dial(const struct addrinfo *a, int *fd_p)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), one = 1;

    if (fd < 0)
        return -errno;
    if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    *fd_p = fd;
    return 0;
}

/* Splits "host:port" at the last colon; brackets around an IPv6 host go. */
static bool split_address(const char *address, char *host, size_t room, const char **port_p)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;

    if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    if (len == 0 || len >= room || colon[1] == '\0')
        return false;
    memcpy(host, address, len);
    host[len] = '\0';
    *port_p = colon + 1;
    return true;
}

/* Connects to "host:port".  0 or -errno, with a sentence in err. */
static int link_open_port(struct link *l, const char *address, struct errmsg *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    const char *port = NULL;
    char host[NI_MAXHOST];
    int rc;

    *l = LINK_NULL;
    if (!split_address(address, host, sizeof host, &port))
        return errmsg_set(err, -EINVAL, "PMI_PORT=%s is not host:port", address);
    rc = getaddrinfo(host, port, &hints, &list);
    if (rc != 0)
        return errmsg_set(err, rc == EAI_MEMORY ? -ENOMEM : -ENOENT, "PMI_PORT=%s: %s", address,
                          gai_strerror(rc));
    rc = prepare(l);
    if (rc == 0)
        rc = -ECONNREFUSED;
    for (const struct addrinfo *a = list; a && rc != 0 && rc != -ENOMEM; a = a->ai_next)
        rc = dial(a, &l->fd);
    freeaddrinfo(list);
    if (rc < 0) {
        link_close(l);
        return errmsg_set(err, rc, "cannot connect to PMI_PORT=%s: %s", address, err_text(rc));
    }
    l->ours = true;
    return 0;
}

int link_open_env(struct link *l, const struct client_env *env, struct errmsg *err)
{
    int rc;

    if (env->fd < 0)
        return link_open_port(l, env->port, err);
    rc = link_open_fd(l, env->fd);
    if (rc == -ENOMEM)
        return errmsg_set(err, rc, "out of memory");
    return rc < 0 ? errmsg_set(err, rc,
                               "PMI_FD=%d is not an open descriptor (%s): something between the "
                               "launcher and this program has closed it",
                               env->fd, err_text(rc))
                  : 0;
}

void link_close(struct link *l)
{
    if (l->passed >= 0)
        close(l->passed);
    if (l->fd >= 0 && l->ours)
        close(l->fd);
    else if (l->fd >= 0 && l->fd_flags >= 0)
        fcntl(l->fd, F_SETFD, l->fd_flags);
    buf_free(&l->in);
    *l = LINK_NULL;
}

int link_take_fd(struct link *l)
{
    int fd = l->passed;

    l->passed = -1;
    return fd;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Inherited descriptors may be non-blocking; these calls block. */
static int wait_for(struct link *l, short events)
{
    struct pollfd p = { l->fd, events, 0 };

    return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

/* write() to a pipe whose reader is gone raises SIGPIPE; here it is blocked meanwhile and,
 * unless it was pending before, consumed. */
static ssize_t write_quietly(int fd, const void *bytes, size_t n)
{
    const struct timespec at_once = { 0, 0 };
    sigset_t pipe_only, before, waiting;
    ssize_t done;
    int saved;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    done = write(fd, bytes, n);
    saved = errno;
    if (done < 0 && saved == EPIPE && !sigismember(&waiting, SIGPIPE)) {
        while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return done;
}

static ssize_t send_some(struct link *l, struct slice bytes)
{
    ssize_t n;

    if (!l->no_socket) {
        n = send(l->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n >= 0 || errno != ENOTSOCK)
            return n;
        l->no_socket = true;
    }
    return write_quietly(l->fd, bytes.ptr, bytes.len);
}

int link_send(struct link *l, struct slice bytes)
{
    if (l->broken || l->fd < 0)
        return -EPIPE;
    while (bytes.len) {
        ssize_t n = send_some(l, bytes);
        if (n >= 0) {
            bytes = slice_skip(bytes, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int rc = wait_for(l, POLLOUT);
            if (rc < 0)
                return break_link(l, rc);
        } else if (errno != EINTR) {
            return break_link(l, errno == ECONNRESET ? -EPIPE : -errno);
        }
    }
    return 0;
}

/* Uses only the descriptor, which never changes while the link is open. */
void link_send_aside(const struct link *l, struct slice bytes)
{
    ssize_t n = 1;

    while (l->fd >= 0 && bytes.len && n > 0) {
        do {
            n = send(l->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
            if (n < 0 && errno == ENOTSOCK)
                n = write_quietly(l->fd, bytes.ptr, bytes.len);
        } while (n < 0 && errno == EINTR);
        bytes = slice_skip(bytes, n > 0 ? (size_t)n : 0);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

static ssize_t receive_some(struct link *l, char *room, size_t n)
{
    ssize_t got;

    if (!l->no_socket) {
        got = fd_pass_receive(l->fd, room, n, 0, &l->passed);
        if (got >= 0 || errno != ENOTSOCK)
            return got;
        l->no_socket = true;
    }
    return read(l->fd, room, n);
}

/* Receives at least one more byte, at most `want`. */
static int receive(struct link *l, size_t want)
{
    char *room = buf_room(&l->in, want);
    ssize_t n;

    if (!room)
        return break_link(l, l->in.error == BUF_TOO_LONG ? -EMSGSIZE : -ENOMEM);
    for (;;) {
        n = receive_some(l, room, want);
        if (n > 0) {
            buf_commit(&l->in, (size_t)n);
            return 0;
        }
        if (n == 0)
            return break_link(l, -EPIPE);
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            int rc = wait_for(l, POLLIN);
            if (rc < 0)
                return break_link(l, rc);
        } else if (errno != EINTR) {
            return break_link(l, errno == ECONNRESET ? -EPIPE : -errno);
        }
    }
}

static int ready(struct link *l)
{
    buf_take(&l->in, l->lent);
    l->lent = 0;
    return l->broken || l->fd < 0 ? -EPIPE : 0;
}

bool link_has_line(const struct link *l)
{
    struct slice rest = slice_skip(buf_slice(&l->in), l->lent);

    return slice_find(rest, '\n') < rest.len;
}

int link_line(struct link *l, struct slice *line_p)
{
    size_t seen = 0, end;
    int rc = ready(l);

    while (rc == 0) {
        struct slice all = buf_slice(&l->in);
        end = seen + slice_find(slice_skip(all, seen), '\n');
        if (end < all.len) {
            l->lent = end + 1;
            *line_p = slice_head(all, end);
            if (end && all.ptr[end - 1] == '\r')
                line_p->len--;
            return 0;
        }
        seen = all.len;
        if (seen >= LIMIT_PMI_LINE)
            return break_link(l, -EMSGSIZE);
        rc = receive(l, READ_STEP);
    }
    return rc;
}

/* What follows the n bytes has mostly come with them: a length, then its message. */
static size_t at_least_a_step(size_t n)
{
    return n > READ_STEP ? n : READ_STEP;
}

int link_bytes(struct link *l, size_t n, struct slice *bytes_p)
{
    int rc = ready(l);

    if (rc == 0 && n > LIMIT_STORE_VALUE)
        return break_link(l, -EMSGSIZE);
    while (rc == 0 && buf_len(&l->in) < n)
        rc = receive(l, at_least_a_step(n - buf_len(&l->in)));
    if (rc == 0) {
        l->lent = n;
        *bytes_p = slice_head(buf_slice(&l->in), n);
    }
    return rc;
}
