/* client_conn.c - see client_conn.h. */
#include "lib/pmix/client/client_conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd_pass.h"
#include "base/limit.h"
#include "pmix.h"

enum {
    DIAL_TRIES = 10,       /* a server's listen queue may be full for a moment */
    SMALL_OUT = 64 * 1024, /* a larger buffer is freed after use */
    GREETING_MAX = 4 + 2 * (PMIX_MAX_NSLEN + 5) + 4,
};

/* ---- opening and closing --------------------------------------------------------------------- */

void conn_reset(struct conn *c)
{
    memset(c, 0, offsetof(struct conn, stage));
    c->fd = -1;
}

static int dial_once(const struct pmix_uri *uri, int *fd_p)
{
    int fd = socket(uri->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, rc;

    if (fd < 0)
        return -errno;
    do
        rc = connect(fd, (const void *)&uri->address, uri->address_len);
    while (rc < 0 && errno == EINTR);
    if (rc < 0 && errno != EISCONN) {
        rc = -errno;
        close(fd);
        return rc;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    *fd_p = fd;
    return 0;
}

void conn_take(struct conn *c, int fd)
{
    conn_reset(c);
    buf_init(&c->out, LIMIT_PMIX_MESSAGE);
    c->fd = fd;
}

int conn_dial(struct conn *c, const struct pmix_uri *uri, struct errmsg *err)
{
    int rc = -ECONNREFUSED;

    conn_reset(c);
    buf_init(&c->out, LIMIT_PMIX_MESSAGE);
    for (int i = 0; i < DIAL_TRIES && (rc == -ECONNREFUSED || rc == -EALREADY); i++)
        rc = dial_once(uri, &c->fd);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot connect to the PMIx server: %s", err_text(rc));
    return 0;
}

/* A record lock belongs to the process, not to the descriptor: of all processes that have
 * inherited the socket one at a time gets it, until it closes the socket or exits. */
static bool lock_socket(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_SETLK, &whole) == 0;
}

int conn_adopt(struct conn *c, int fd)
{
    struct sockaddr_storage name;
    socklen_t len = sizeof name;
    int flags = fcntl(fd, F_GETFD);

    conn_reset(c);
    if (flags < 0 || getsockname(fd, (void *)&name, &len) < 0 || name.ss_family != AF_UNIX)
        return -ENOTSOCK;
    /* An inherited descriptor never has this flag: another library of this process has set it. */
    if ((flags & FD_CLOEXEC) || !lock_socket(fd))
        return -EBUSY;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    buf_init(&c->out, LIMIT_PMIX_MESSAGE);
    c->fd = fd;
    c->inherited = true;
    return 0;
}

void conn_close(struct conn *c)
{
    struct flock none = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (c->fd >= 0 && c->inherited) {
        fcntl(c->fd, F_SETFD, 0);
        fcntl(c->fd, F_SETLK, &none);
    } else if (c->fd >= 0) {
        close(c->fd);
    }
    free(c->f.bytes);
    buf_free(&c->out);
    conn_reset(c);
}

void conn_abandon(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->f.bytes);
    buf_free(&c->out);
    conn_reset(c);
}

/* ---- hello ----------------------------------------------------------------------------------- */

/* Sockets may have been made non-blocking by the process that we inherit them from. */
static int wait_until(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd p = { fd, events, 0 };
    uint64_t now = clock_now_ns();
    int rc = 0;

    if (now < deadline_ns)
        rc = poll(&p, 1, (int)((deadline_ns - now) / NS_PER_MS + 1));
    if (rc < 0 && errno == EINTR)
        return 0;
    return rc < 0 ? -errno : rc == 0 ? -ETIMEDOUT : 0;
}

static int send_hello(struct conn *c, uint64_t deadline_ns)
{
    int rc = conn_flush(c);

    while (rc == 1) {
        rc = wait_until(c->fd, POLLOUT, deadline_ns);
        if (rc == 0)
            rc = conn_flush(c);
    }
    return rc;
}

/* Receives at most n bytes; a descriptor may come along. */
static int receive_greeting(struct conn *c, char *room, size_t n, int *passed_p)
{
    ssize_t got = fd_pass_receive(c->fd, room, n, MSG_DONTWAIT, passed_p);

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
    return got == 0 ? -ECONNREFUSED : (int)got;
}

static int await_welcome(struct conn *c, struct welcome *w, uint64_t deadline_ns, int *passed_p)
{
    char bytes[GREETING_MAX];
    size_t have = 0, want = welcome_length(w, SLICE_NULL);
    int rc = 0;

    while (rc == 0 && have < want) {
        rc = wait_until(c->fd, POLLIN, deadline_ns);
        if (rc == 0)
            rc = receive_greeting(c, bytes + have, sizeof bytes - have, passed_p);
        if (rc > 0) {
            have += (size_t)rc;
            rc = 0;
        }
        want = welcome_length(w, slice_mem(bytes, have));
    }
    if (rc == 0) { /* the bytes after it belong to the first messages */
        welcome_read(w, slice_mem(bytes, want));
        c->end = have - want;
        memcpy(c->stage, bytes + want, c->end);
    }
    return rc == -ECONNRESET || rc == -EPIPE ? -ECONNREFUSED : rc;
}

static const char *who_of(const struct hello *h)
{
    return h->nspace && *h->nspace ? h->nspace : "a tool,";
}

static int explain(int rc, const struct hello *h, struct errmsg *err)
{
    if (rc == -ECONNREFUSED)
        return errmsg_set(err, rc,
                          "the PMIx server (version %.40s) closed the connection of %s rank %u "
                          "without an answer; this is Wireup %s, which offered encoding %s and "
                          "security %s",
                          h->server, who_of(h), h->rank, WIREUP_VERSION, h->encoding, h->security);
    if (rc == -ETIMEDOUT)
        return errmsg_set(err, rc, "the process at the address of the PMIx server does not answer");
    return errmsg_set(err, rc, "the handshake with the PMIx server failed: %s", err_text(rc));
}

int conn_greet(struct conn *c, const struct hello *h, struct welcome *w, int *passed_p,
               struct errmsg *err)
{
    uint64_t deadline_ns = clock_now_ns() + LIMIT_PMIX_GREETING_MS * NS_PER_MS;
    int rc;

    *passed_p = -1;
    hello_put(&c->out, h);
    rc = buf_ok(&c->out) ? send_hello(c, deadline_ns) : -ENOMEM;
    if (rc == -EPIPE)
        rc = -ECONNREFUSED;
    if (rc == 0)
        rc = await_welcome(c, w, deadline_ns, passed_p);
    if (rc < 0)
        return explain(rc, h, err);
    if (w->status != 0)
        return errmsg_set(err, CONN_REFUSED,
                          "the PMIx server (version %.40s) refused %s rank %u with %s; this is "
                          "Wireup %s, which offered encoding %s and security %s",
                          h->server, who_of(h), h->rank, PMIx_Error_string(w->status),
                          WIREUP_VERSION, h->encoding, h->security);
    c->index = w->index;
    return 0;
}

/* ---- sending --------------------------------------------------------------------------------- */

size_t conn_begin(struct conn *c)
{
    static const char blank[CONN_HEADER];
    size_t from = buf_len(&c->out);

    buf_put(&c->out, blank, sizeof blank);
    return from;
}

void conn_drop(struct conn *c, size_t from)
{
    buf_cut(&c->out, from);
    c->out.error = BUF_FINE;
}

bool conn_end(struct conn *c, size_t from, uint32_t tag)
{
    uint32_t words[CONN_HEADER / 4] = { htonl(c->index), htonl(tag), 0, 0 };

    if (!buf_ok(&c->out)) {
        conn_drop(c, from);
        return false;
    }
    words[2] = htonl((uint32_t)(buf_len(&c->out) - from - CONN_HEADER));
    memcpy(c->out.mem + c->out.start + from, words, sizeof words);
    return true;
}

int conn_flush(struct conn *c)
{
    while (buf_len(&c->out)) {
        struct slice bytes = buf_slice(&c->out);
        ssize_t n = send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0)
            buf_take(&c->out, (size_t)n);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return 1;
        else if (errno != EINTR)
            return -EPIPE;
    }
    if (c->out.cap > SMALL_OUT)
        buf_free(&c->out);
    return 0;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* A long message is received straight into its own memory. */
static bool is_direct(const struct conn *c)
{
    return c->at == c->end && c->have_header == CONN_HEADER && c->f.len - c->have >= CONN_STAGE;
}

/* Makes room for the rest, as it comes: the length alone is not trusted. */
static int make_room(struct conn *c)
{
    size_t room = c->room ? c->room * 2 : LIMIT_PMIX_TRUST;
    unsigned char *more;

    if (c->have < c->room)
        return 0;
    if (room > c->f.len)
        room = c->f.len;
    more = realloc(c->f.bytes, room);
    if (!more)
        return -ENOMEM;
    c->f.bytes = more;
    c->room = room;
    return 0;
}

int conn_receive(struct conn *c, bool wait)
{
    bool direct = is_direct(c);
    unsigned char *to;
    size_t n;
    ssize_t got;

    if (direct) {
        int rc = make_room(c);
        if (rc < 0)
            return rc;
        to = c->f.bytes + c->have;
        n = c->room - c->have;
    } else {
        if (c->at == c->end)
            c->at = c->end = 0;
        to = c->stage + c->end;
        n = CONN_STAGE - c->end;
    }
    if (n == 0)
        return 1; /* the stage is full: it must be parsed first */
    got = recv(c->fd, to, n, wait ? 0 : MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait) {
        struct pollfd p = { c->fd, POLLIN, 0 };
        poll(&p, 1, -1);
        return 0;
    }
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -EPIPE;
    if (got == 0)
        return -EPIPE;
    if (direct)
        c->have += (size_t)got;
    else
        c->end += (size_t)got;
    return (int)got;
}

static size_t take_staged(struct conn *c, unsigned char *to, size_t want)
{
    size_t n = c->end - c->at < want ? c->end - c->at : want;

    memcpy(to, c->stage + c->at, n);
    c->at += n;
    return n;
}

static int read_header(struct conn *c)
{
    uint32_t words[CONN_HEADER / 4];

    c->have_header += take_staged(c, c->header + c->have_header, CONN_HEADER - c->have_header);
    if (c->have_header < CONN_HEADER)
        return 0;
    memcpy(words, c->header, sizeof words);
    c->f = (struct frame){ .tag = ntohl(words[1]), .len = ntohl(words[2]) };
    c->have = c->room = 0;
    return c->f.len > LIMIT_PMIX_MESSAGE ? -EMSGSIZE : 1;
}

int conn_frame(struct conn *c, struct frame *f_p)
{
    int rc;

    if (c->have_header < CONN_HEADER) {
        rc = read_header(c);
        if (rc <= 0)
            return rc;
    }
    while (c->have < c->f.len && c->at < c->end) {
        rc = make_room(c);
        if (rc < 0)
            return rc;
        c->have += take_staged(c, c->f.bytes + c->have, c->room - c->have);
    }
    if (c->have < c->f.len)
        return 0;
    *f_p = c->f;
    c->f = (struct frame){ 0 };
    c->have_header = c->have = c->room = 0;
    return 1;
}
