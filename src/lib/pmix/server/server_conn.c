/* server_conn.c - the connections of a server (io/peer_conn.h): functions of a PMIx server for
 * them.
 *
 * The user of a process must be the one that the host has registered; its rank, one of those
 * expected here.  A tool has a namespace of its own, which goes with its connection. */
#include "lib/pmix/server/server_conn.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/socket_owner.h"
#include "lib/pmix/server/server_forget.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_space.h"

struct peer_cred *sconn_cred(const struct peer *p)
{
    struct peer_conn *c = p->host;

    return &c->cred;
}

static const struct peer_conn *conn_in(const struct list *all, const struct job *job, uint32_t rank)
{
    LIST_EACH(l, all)
    {
        const struct peer_conn *c = LIST_OF(l, const struct peer_conn, link);
        if (c->peer->job == job && (rank == PMIX_RANK_WILDCARD || c->peer->rank == rank) &&
            !c->peer->closing)
            return c;
    }
    return NULL;
}

static const struct peer_conn *conn_of(const struct pserver *s, const struct job *job,
                                       uint32_t rank)
{
    const struct peer_conn *c = conn_in(&s->conns.given, job, rank);

    return c ? c : conn_in(&s->conns.accepted, job, rank);
}

/* Processes are the host's children or descendants; for others there is no way to tell. */
bool sconn_may_join(const struct pserver *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank)
{
    const struct peer_conn *there = conn_of(s, job, rank), *c = newcomer->host;
    pid_t pid;

    if (!there || !there->cred.socket || !c->cred.socket)
        return true;
    pid = socket_owner_below(getpid(), there->cred.socket);
    return pid <= 0 || socket_owner_is_below(pid, c->cred.socket);
}

const struct peer *sconn_own(const struct pserver *s)
{
    const struct peer_conn *c =
        s->own && s->own->job ? conn_of(s, s->own->job, PMIX_RANK_WILDCARD) : NULL;

    return c ? c->peer : NULL;
}

static void close_in(struct list *all, const struct job *job, uint32_t rank)
{
    LIST_EACH(l, all)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (c->peer->job == job && (rank == PMIX_RANK_WILDCARD || c->peer->rank == rank))
            peer_conn_close(c);
    }
}

void sconn_close_of(struct pserver *s, const struct job *job, uint32_t rank)
{
    close_in(&s->conns.given, job, rank);
    close_in(&s->conns.accepted, job, rank);
}

struct peer_conn *sconn_new_for(struct pserver *s, int fd, const struct local *l)
{
    struct peer_conn *c =
        peer_cred_mark(fd) < 0 ? NULL : peer_conn_open(&s->conns, fd, l->space->job, l->rank, true);

    if (c)
        c->cred = (struct peer_cred){ .uid = l->uid, .gid = l->gid, .has_gid = true };
    return c;
}

/* ---- differences from other hosts ------------------------------------------------------------ */

static bool expects(void *arg, uid_t uid)
{
    const struct pserver *s = arg;

    LIST_EACH(l, &s->spaces)
    {
        const struct nspace *n = LIST_OF(l, const struct nspace, link);
        LIST_EACH(p, &n->locals)
        {
            if (LIST_OF(p, const struct local, link)->uid == uid)
                return true;
        }
    }
    return false;
}

static void accepted(void *arg, struct peer_conn *c)
{
    (void)c;
    nspace_settle_all(arg);
}

static int store_of(void *arg, const struct peer *p)
{
    const struct nspace *n = nspace_of(arg, p->job);

    return n ? n->store.reader_fd : -1;
}

static void closed(void *arg, struct peer_conn *c)
{
    struct pserver *s = arg;
    struct nspace *n = nspace_of(s, c->peer->job);

    if (n && !n->is_own)
        forget_events_of(s, c->peer);
    iof_forget(s, c->peer);
    server_hangup(&s->server, c->peer);
    if (n && n->is_tool)
        n->is_over = s->tool_is_over = true;
}

static const struct peer_conn_host host = {
    .expects = expects, .accepted = accepted, .store = store_of, .closed = closed
};

void sconn_called(struct pserver *s, int fd)
{
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        close(fd);
    else
        peer_conns_called(&s->conns, fd);
}

int sconn_listen(struct pserver *s, uint16_t port)
{
    const struct peer_conns_config config = { .server = &s->server,
                                              .loop = &s->loop,
                                              .quota = &s->quota,
                                              .log = &s->log,
                                              .port_name = "the server's port",
                                              .port = port,
                                              .uid = s->uid,
                                              .gid = s->gid,
                                              .host = &host,
                                              .arg = s };

    quota_init(&s->quota, &quota_declines, clock_seed());
    peer_conns_init(&s->conns, &config);
    return peer_conns_listen(&s->conns);
}

void sconn_leaves(struct pserver *s, struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    struct local *l = n ? nspace_local(n, p->rank) : NULL;

    server_leaves(&s->server, p);
    if (l)
        l->finalized = true;
}
