/* peer_conn.c - see peer_conn.h.  Reading order: identity; reading; writing; closing; accepting. */
#include "io/peer_conn.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd_pass.h"
#include "base/limit.h"

enum { READ_CHUNK = 64 << 10 };

static uint64_t now_ms(void)
{
    return clock_now_ns() / NS_PER_MS;
}

static void settle(struct peer_conns *all)
{
    if (all->config.host->settle)
        all->config.host->settle(all->config.arg);
}

/* ---- identity -------------------------------------------------------------------------------- */

static void keep_spare(struct peer_conns *all)
{
    if (all->spare_fd < 0 && all->acceptor.fd >= 0)
        all->spare_fd = fcntl(all->acceptor.fd, F_DUPFD_CLOEXEC, 3);
}

static void drop_spare(struct peer_conns *all)
{
    if (all->spare_fd >= 0)
        close(all->spare_fd);
    all->spare_fd = -1;
}

/* Reading the credentials itself needs a descriptor: the spare one is freed for it. */
static int ask_kernel(struct peer_conns *all, int fd, const struct peer_cred *known,
                      struct peer_cred *c_p)
{
    int rc;

    drop_spare(all);
    rc = known ? peer_cred_check(fd, known) : peer_cred_read(fd, c_p);
    keep_spare(all);
    return rc;
}

/* A peer without known credentials is counted in the quota by its address. */
static void refuse_unknown(struct peer_conns *all, int rc)
{
    struct sockaddr_storage room = { .ss_family = AF_INET };
    struct sockaddr_in *at = (void *)&room;
    struct quota_source who;

    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    who = quota_address(&room);
    quota_warn(all->config.quota, &who, now_ms(), all->config.log, "refused a connection to %s: %s",
               all->config.port_name, peer_cred_text(rc));
}

static bool is_served(struct peer_conns *all, uid_t uid)
{
    const struct peer_conn_host *host = all->config.host;
    struct quota_source who;

    if (uid == all->config.uid || (host->expects && host->expects(all->config.arg, uid)))
        return true;
    who = quota_user(uid);
    quota_warn(all->config.quota, &who, now_ms(), all->config.log,
               "refused a connection of another user (%u) to %s", (unsigned)uid,
               all->config.port_name);
    return false;
}

static bool identify(struct peer_conns *all, int fd, struct peer_cred *c_p)
{
    int rc = ask_kernel(all, fd, NULL, c_p);

    if (rc < 0)
        refuse_unknown(all, rc);
    return rc == 0 && is_served(all, c_p->uid);
}

/* With the first bytes: whether they are from the process that was there when the connection was
 * accepted. */
static bool prove(struct peer_conn *c)
{
    int rc;

    if (c->proven)
        return true;
    if (!c->cred.socket) /* we connected to it: its owner has been there since it accepted */
        return identify(c->all, c->fd, &c->cred);
    rc = ask_kernel(c->all, c->fd, &c->cred, NULL);
    if (rc < 0)
        refuse_unknown(c->all, rc);
    return rc == 0;
}

/* ---- greeting -------------------------------------------------------------------------------- */

static void greeting_late(void *arg, struct greeting *g)
{
    const struct peer_conns *all = arg;

    quota_warn(all->config.quota, &g->who, now_ms(), all->config.log,
               "closed a connection to %s: it did not say who it is within %u s",
               all->config.port_name, LIMIT_GREETING_MS / 1000);
    peer_conn_close(LIST_OF(g, struct peer_conn, greeting));
}

/* Until it is let in, its bytes are charged to its source. */
static bool pays(struct peer_conn *c, size_t bytes)
{
    const struct peer_conns_config *o = &c->all->config;

    if (c->peer->job || greeting_received(&c->greeting, bytes, clock_now_ns()))
        return true;
    quota_warn(o->quota, &c->greeting.who, now_ms(), o->log,
               "closed a connection to %s: those that have not said who they are have sent more "
               "than %u MiB",
               o->port_name, LIMIT_GREETING_BYTES >> 20);
    return false;
}

static void report_known(struct peer_conn *c)
{
    const struct peer_conns_config *o = &c->all->config;

    if (!c->known && o->host->known)
        o->host->known(o->arg, c);
    c->known = true;
}

/* After bytes: it may have said who it is, and may have been let in. */
static void note_greeting(struct peer_conn *c)
{
    if (c->peer->job) {
        if (c->counted)
            quota_uncount_connection(c->all->config.quota, &c->greeting.who);
        c->proven = true;
        c->counted = false;
        greeting_end(&c->greeting);
        report_known(c);
    } else if (c->peer->greeted) {
        greeting_complete(&c->greeting);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A process that was given its connection may have changed its user since. */
static ssize_t receive(struct peer_conn *c, char *chunk)
{
    ssize_t n;
    uid_t uid;

    if (!c->marked)
        return recv(c->fd, chunk, READ_CHUNK, MSG_DONTWAIT);
    n = peer_cred_recv(c->fd, chunk, READ_CHUNK, &uid);
    if (n > 0 && uid != c->cred.uid)
        server_rights_lost(c->all->config.server, c->peer);
    return n;
}

/* With the first bytes. */
static void report_owner(struct peer_conn *c)
{
    struct server *s = c->all->config.server;
    gid_t gid = c->cred.has_gid ? c->cred.gid : s->core.gid;

    if (c->peer->uid != c->cred.uid || c->peer->gid != gid)
        server_owner(s, c->peer, c->cred.uid, gid);
}

/* False: closed, or nothing to read now. */
static bool take(struct peer_conn *c)
{
    const struct peer_conns_config *o = &c->all->config;
    char chunk[READ_CHUNK];
    ssize_t n = receive(c, chunk);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n > 0 && prove(c) && pays(c, (size_t)n)) {
        report_owner(c);
        server_read(o->server, c->peer, clock_now_ns(), slice_mem(chunk, (size_t)n));
        note_greeting(c);
        return true;
    }
    watch_want(&c->watch, 0);
    server_hangup(o->server, c->peer);
    if (o->host->hung_up)
        o->host->hung_up(o->arg, c, n > 0);
    return false;
}

/* A client of OpenPMIx leaves its kernel the choice to hold a small message back until the one
 * before is acknowledged, and ours would wait 40 ms for a reply to send the acknowledgement with.
 * Of a message that has no reply, or not yet, it is sent at once. */
static void acknowledge(struct peer_conns *all)
{
    int one = 1;

    if (all->unanswered)
        setsockopt(all->unanswered->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
    all->unanswered = NULL;
}

static void readable(void *arg)
{
    struct peer_conn *c = arg;
    struct peer_conns *all = c->all;

    all->unanswered = c->called && all->config.host->settle ? c : NULL;
    take(c);
    settle(all);
    acknowledge(all);
}

void peer_conn_drain(struct peer_conn *c)
{
    int left = 0;

    if (ioctl(c->fd, FIONREAD, &left) < 0)
        return;
    do {
        left -= READ_CHUNK;
    } while (!c->peer->closing && take(c) && left > -READ_CHUNK);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void watch_peer(struct peer_conn *c)
{
    bool little = !c->blocked || buf_len(&c->peer->out) < LIMIT_CLIENT_BACKLOG;

    if (c->peer->hung_up)
        return;
    watch_want(&c->watch, (c->blocked ? LOOP_WRITE : 0U) |
                              (little && c->held < LIMIT_CLIENT_UPCALLS ? LOOP_READ : 0U));
}

void peer_conn_hold(struct peer_conn *c, size_t bytes)
{
    c->held += bytes;
    watch_peer(c);
}

void peer_conn_release(struct peer_conn *c, size_t bytes)
{
    c->held -= bytes;
    watch_peer(c);
}

static int store_to_attach(const struct peer_conn *c)
{
    const struct peer_conns_config *o = &c->all->config;

    return c->peer->pass_store && o->host->store ? o->host->store(o->arg, c->peer) : -1;
}

void peer_conn_flush(struct peer_conn *c)
{
    while (buf_len(&c->peer->out)) {
        ssize_t n = fd_pass_send(c->fd, buf_slice(&c->peer->out), store_to_attach(c));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && !c->peer->hung_up) {
            c->blocked = true;
            watch_peer(c);
            return;
        }
        if (c == c->all->unanswered)
            c->all->unanswered = NULL;
        if (n < 0)
            n = (ssize_t)buf_len(&c->peer->out); /* nobody reads: the hang-up will follow */
        server_wrote(c->all->config.server, c->peer, (size_t)n);
    }
    c->blocked = false;
    if (c->peer->closing)
        peer_conn_close(c);
    else
        watch_peer(c);
}

static void writable(void *arg)
{
    peer_conn_flush(arg);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* What becomes a connection: of the process, if job is not NULL. */
struct opening {
    struct job *job;
    uint32_t rank;
    bool inherited, store;
};

static struct peer *new_peer(struct server *s, const struct opening *o, struct peer_conn *c)
{
    return o->store ? server_store_peer_new(s, o->job, o->rank, c)
                    : server_peer_new(s, o->job, o->rank, o->inherited, c);
}

static struct peer_conn *open_conn(struct peer_conns *all, int fd, const struct opening *o)
{
    struct peer_conn *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->peer = new_peer(all->config.server, o, c);
    watch_open(&c->watch, all->config.loop, fd, readable, writable, c);
    if (!c->peer || watch_want(&c->watch, LOOP_READ) < 0) {
        server_peer_free(all->config.server, c->peer);
        free(c);
        return NULL;
    }
    c->all = all;
    c->fd = fd;
    c->cred.uid = all->config.uid;
    c->cred.gid = all->config.gid;
    c->cred.has_gid = o->inherited;
    c->proven = o->inherited;
    c->known = o->job != NULL;
    c->marked = o->inherited && peer_cred_is_marked(fd);
    list_append(o->inherited ? &all->given : &all->accepted, &c->link);
    return c;
}

struct peer_conn *peer_conn_open(struct peer_conns *all, int fd, struct job *job, uint32_t rank,
                                 bool inherited)
{
    return open_conn(all, fd, &(struct opening){ job, rank, inherited, false });
}

struct peer_conn *peer_conn_accept(struct peer_conns *all, int fd, const struct peer_cred *cred)
{
    struct peer_conn *c = peer_conn_open(all, fd, NULL, 0, false);
    const struct quota_source who = quota_user(cred->uid);

    if (!c)
        return NULL;
    c->cred = *cred;
    if (greeting_timer_add(&all->greetings, &c->greeting, &who) == 0)
        return c;
    watch_close(&c->watch); /* the descriptor stays the caller's */
    c->fd = -1;
    peer_conn_close(c);
    return NULL;
}

void peer_conn_close(struct peer_conn *c)
{
    struct peer_conns *all;

    if (!c)
        return;
    all = c->all;
    if (c == all->unanswered)
        all->unanswered = NULL;
    watch_close(&c->watch);
    greeting_end(&c->greeting);
    list_unlink(&c->link);
    if (c->fd >= 0)
        close(c->fd);
    acceptor_retry(&all->acceptor);
    if (all->config.host->closed)
        all->config.host->closed(all->config.arg, c);
    server_peer_free(all->config.server, c->peer);
    free(c);
}

/* ---- accepting ------------------------------------------------------------------------------- */

/* A user other than ours may call so often; a call that ends in a process of a job gives its place
 * back.  False: closed unread. */
static bool may_call(struct peer_conns *all, uid_t uid, bool *counted_p)
{
    struct quota_source who = quota_user(uid);

    *counted_p = uid != all->config.uid;
    return !*counted_p || quota_count_connection(all->config.quota, &who, now_ms());
}

static void called(void *arg, int fd, const struct sockaddr_storage *from)
{
    struct peer_conns *all = arg;
    struct peer_conn *c = NULL;
    struct peer_cred cred;
    bool counted = false;
    int one = 1;

    (void)from; /* a loopback address */
    if (identify(all, fd, &cred) && may_call(all, cred.uid, &counted))
        c = peer_conn_accept(all, fd, &cred);
    if (!c) {
        close(fd);
        return;
    }
    c->counted = counted;
    c->called = true;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (all->config.host->accepted)
        all->config.host->accepted(all->config.arg, c);
}

void peer_conns_called(struct peer_conns *all, int fd)
{
    called(all, fd, NULL);
}

void peer_conns_store_called(struct peer_conns *all, int fd, peer_conn_whose_fn *whose, void *arg)
{
    struct opening o = { .store = true };
    struct peer_conn *c = NULL;
    struct peer_cred cred;
    int one = 1;

    if (identify(all, fd, &cred))
        o.job = whose(arg, &cred, &o.rank);
    if (o.job)
        c = open_conn(all, fd, &o);
    if (!c) {
        close(fd);
        return;
    }
    c->cred = cred;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static struct peer_conn *oldest_unauthenticated(const struct peer_conns *all)
{
    LIST_EACH(l, &all->accepted)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (!c->peer->job && !c->peer->greeted)
            return c;
    }
    return NULL;
}

/* Out of descriptors: closes the oldest connection that has not said who it is, unless bytes that
 * it has just sent do. */
static bool make_room(void *arg)
{
    struct peer_conns *all = arg;
    struct peer_conn *c = oldest_unauthenticated(all);
    int waiting = 0;

    if (!c)
        return false;
    if (ioctl(c->fd, FIONREAD, &waiting) == 0 && waiting > 0)
        readable(c);
    if (oldest_unauthenticated(all) == c)
        peer_conn_close(c);
    return true;
}

void peer_conns_init(struct peer_conns *all, const struct peer_conns_config *config)
{
    *all = (struct peer_conns){ .config = *config, .acceptor = ACCEPTOR_CLOSED, .spare_fd = -1 };
    list_init(&all->given);
    list_init(&all->accepted);
    greeting_timer_init(&all->greetings, config->loop, config->quota, LIMIT_GREETING_MS,
                        greeting_late, all);
}

int peer_conns_listen(struct peer_conns *all)
{
    const struct acceptor_calls calls = { called, make_room };
    uint16_t port = all->config.port;
    int rc = acceptor_open_loopback(&all->acceptor, all->config.loop, &calls, all, &port);

    all->port = rc == 0 ? port : 0;
    if (rc == 0)
        keep_spare(all);
    return rc;
}

static void close_all(struct list *conns)
{
    LIST_EACH(l, conns)
    peer_conn_close(LIST_OF(l, struct peer_conn, link));
}

void peer_conns_close(struct peer_conns *all)
{
    if (!all->config.server) /* never opened */
        return;
    acceptor_close(&all->acceptor);
    drop_spare(all);
    close_all(&all->given);
    close_all(&all->accepted);
    greeting_timer_stop(&all->greetings);
}
