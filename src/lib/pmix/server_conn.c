/* server_conn.c - the connections of a server.
 *
 * The kernel identifies the peer of a connection (io/peer_cred.h): the user of a process must be
 * the one that the host has registered; its rank, one of those expected here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/socket_owner.h"
#include "io/fd_pass.h"
#include "io/peer_cred.h"
#include "lib/pmix/server.h"

struct sconn {
    struct list link;
    struct pserver *s;
    struct peer *peer;
    int fd;
    struct peer_cred cred;
    bool marked;  /* its bytes carry their writer's user (peer_cred_mark()) */
    bool proven;  /* the peer is identified: inherited, or checked after its first message */
    bool blocked; /* the peer does not read */
    size_t held;  /* bytes of its requests that the host has not carried out */
    struct greeting greeting; /* awaited, from one by the port */
    struct swatch watch;
};

enum { READ_CHUNK = 64 << 10 };

struct peer_cred *sconn_cred(const struct peer *p)
{
    struct sconn *c = p->host;

    return &c->cred;
}

static const struct sconn *conn_of(const struct pserver *s, const struct job *job, uint32_t rank)
{
    LIST_EACH(l, &s->conns)
    {
        const struct sconn *c = LIST_OF(l, const struct sconn, link);
        if (c->peer->job == job && c->peer->rank == rank && !c->peer->closing)
            return c;
    }
    return NULL;
}

/* Processes are the host's children or descendants; for others there is no way to tell. */
bool sconn_may_join(const struct pserver *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank)
{
    const struct sconn *there = conn_of(s, job, rank), *c = newcomer->host;
    pid_t pid;

    if (!there || !there->cred.socket || !c->cred.socket)
        return true;
    pid = socket_owner_below(getpid(), there->cred.socket);
    return pid <= 0 || socket_owner_is_below(pid, c->cred.socket);
}

const struct peer *sconn_own(const struct pserver *s)
{
    LIST_EACH(l, &s->conns)
    {
        const struct sconn *c = LIST_OF(l, const struct sconn, link);
        if (s->own && c->peer->job && c->peer->job == s->own->job)
            return c->peer;
    }
    return NULL;
}

/* ---- closing --------------------------------------------------------------------------------- */

static void close_conn(struct sconn *c)
{
    if (c->fd < 0)
        return;
    swatch_close(&c->s->loop, &c->watch);
    greeting_end(&c->greeting);
    iof_forget(c->s, c->peer);
    server_hangup(&c->s->server, c->peer);
    close(c->fd);
    c->fd = -1;
    sport_look_again(c->s);
    list_unlink(&c->link);
    list_append(&c->s->closed_conns, &c->link);
}

/* No turn refers to them any more. */
void sconn_bury(struct pserver *s)
{
    LIST_EACH(l, &s->closed_conns)
    {
        struct sconn *c = LIST_OF(l, struct sconn, link);
        struct nspace *n = nspace_of(s, c->peer->job);
        list_unlink(&c->link);
        server_peer_free(&s->server, c->peer);
        free(c);
        if (n && n->is_tool)
            nspace_free(s, n);
    }
}

void sconn_close_all(struct pserver *s)
{
    sport_close(s);
    LIST_EACH(l, &s->conns)
    close_conn(LIST_OF(l, struct sconn, link));
}

void sconn_close_of(struct pserver *s, const struct job *job, uint32_t rank)
{
    LIST_EACH(l, &s->conns)
    {
        struct sconn *c = LIST_OF(l, struct sconn, link);
        if (c->peer->job == job && (rank == PMIX_RANK_WILDCARD || c->peer->rank == rank))
            close_conn(c);
    }
}

void sconn_forget_job(struct pserver *s, const struct job *job)
{
    LIST_EACH(l, &s->closed_conns)
    {
        struct sconn *c = LIST_OF(l, struct sconn, link);
        if (c->peer->job == job)
            c->peer->job = NULL;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static int store_of(struct sconn *c)
{
    const struct nspace *n = c->peer->pass_store ? nspace_of(c->s, c->peer->job) : NULL;

    return n ? n->store.reader_fd : -1;
}

/* A peer that does not read is not read from either, except for a little; nor is one that
 * requests more than the host carries out. */
static void settle_watch(struct sconn *c)
{
    bool little = !c->blocked || buf_len(&c->peer->out) < LIMIT_CLIENT_BACKLOG;

    swatch_want(&c->s->loop, &c->watch,
                (c->blocked ? SLOOP_WRITE : 0) |
                    (little && c->held < LIMIT_CLIENT_ASKS ? SLOOP_READ : 0));
}

void sconn_hold(const struct peer *p, size_t n)
{
    struct sconn *c = p->host;

    c->held += n;
    settle_watch(c);
}

void sconn_let_go(const struct peer *p, size_t n)
{
    struct sconn *c = p->host;

    c->held -= n;
    settle_watch(c);
}

void sconn_flush(struct sconn *c)
{
    if (c->fd < 0)
        return;
    while (buf_len(&c->peer->out)) {
        ssize_t n = fd_pass_send(c->fd, buf_slice(&c->peer->out), store_of(c));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN && !c->peer->hung_up) {
            c->blocked = true;
            settle_watch(c);
            return;
        }
        if (n < 0)
            n = (ssize_t)buf_len(&c->peer->out); /* unread: the hang-up will follow */
        server_wrote(&c->s->server, c->peer, (size_t)n);
    }
    c->blocked = false;
    if (c->peer->closing)
        close_conn(c);
    else
        settle_watch(c);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Until the peer has identified itself: whether the data is from the process that was there when
 * the connection was accepted. */
static bool still_who_came(const struct sconn *c)
{
    int rc = c->proven ? 0 : sport_ask(c->s, c->fd, &c->cred, NULL);

    if (rc < 0)
        log_warn(&c->s->log, "refused a connection: %s", peer_cred_text(rc));
    return rc == 0;
}

/* Until it is let in, what it sends is charged to its user. */
static bool may_say(struct sconn *c, size_t n)
{
    uint64_t now_ns = clock_now_ns();

    if (c->peer->job || greeting_heard(&c->greeting, n, now_ns))
        return true;
    quota_warn(&c->s->quota, &c->greeting.who, now_ns / NS_PER_MS, &c->s->log,
               "closed a connection of user %u: those that have not said who they are have sent "
               "more than %u MiB",
               (unsigned)c->cred.uid, LIMIT_GREETING_BYTES >> 20);
    return false;
}

static void let_in(struct sconn *c)
{
    if (c->greeting.quota)
        quota_call_back(&c->s->quota, &c->greeting.who);
    greeting_end(&c->greeting);
}

/* A process that was given its connection may have changed its user since. */
static ssize_t read_chunk(struct sconn *c, char *chunk, size_t room)
{
    ssize_t n;
    uid_t uid;

    if (!c->marked)
        return recv(c->fd, chunk, room, MSG_DONTWAIT);
    n = peer_cred_recv(c->fd, chunk, room, &uid);
    if (n > 0 && uid != c->cred.uid)
        server_lessen(&c->s->server, c->peer);
    return n;
}

static void conn_ready(void *arg, unsigned what)
{
    struct sconn *c = arg;
    char chunk[READ_CHUNK];
    ssize_t n;

    if (what & SLOOP_WRITE)
        sconn_flush(c);
    if (!(what & SLOOP_READ) || c->fd < 0)
        return;
    n = read_chunk(c, chunk, sizeof chunk);
    if (n > 0 && still_who_came(c) && may_say(c, (size_t)n)) {
        server_input(&c->s->server, c->peer, slice_mem(chunk, (size_t)n), clock_now_ns());
        c->proven = c->proven || c->peer->job;
        if (c->peer->job)
            let_in(c);
        else if (c->peer->greeted)
            greeting_said(&c->greeting);
    } else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
        server_hangup(&c->s->server, c->peer);
    }
}

struct sconn *sconn_new(struct pserver *s, int fd, struct job *job, uint32_t rank, bool can_pass_fd)
{
    struct sconn *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->s = s;
    c->fd = fd;
    c->cred = (struct peer_cred){ .uid = s->uid, .gid = s->gid, .has_gid = true };
    c->proven = job != NULL; /* made by ourselves */
    list_init(&c->link);
    c->peer = server_peer_new(&s->server, job, rank, can_pass_fd, c);
    if (!c->peer || swatch_open(&s->loop, &c->watch, fd, SLOOP_READ, conn_ready, c) < 0) {
        server_peer_free(&s->server, c->peer);
        free(c);
        return NULL;
    }
    list_append(&s->conns, &c->link);
    return c;
}

struct sconn *sconn_new_for(struct pserver *s, int fd, const struct local *l)
{
    struct sconn *c =
        peer_cred_mark(fd) < 0 ? NULL : sconn_new(s, fd, l->space->job, l->rank, true);

    if (!c)
        return NULL;
    c->marked = true;
    c->cred = (struct peer_cred){ .uid = l->uid, .gid = l->gid, .has_gid = true };
    return c;
}

void sconn_came(struct sconn *c, const struct peer_cred *cred)
{
    struct quota_source who = quota_user(cred->uid);

    c->cred = *cred;
    greeting_begin(&c->s->greetings, &c->greeting, &who, clock_now_ns());
}

uint64_t sconn_tick(struct pserver *s, uint64_t now_ns)
{
    struct greeting *g;

    while ((g = greetings_late(&s->greetings, now_ns))) {
        struct sconn *c = LIST_OF(g, struct sconn, greeting);
        quota_warn(&s->quota, &g->who, now_ns / NS_PER_MS, &s->log,
                   "closed a connection of user %u: it did not say who it is within %u s",
                   (unsigned)c->cred.uid, LIMIT_GREETING_MS / 1000);
        close_conn(c);
    }
    return greetings_due(&s->greetings);
}
