/* listener.c - see listener.h. */
#include "wireupd/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/socket_owner.h"
#include "io/peer_cred.h"
#include "wireupd/process.h"

static bool find_by_port_id(void *arg, int64_t id, struct job **job_p, uint32_t *rank_p)
{
    struct node *n = arg;
    struct job *job = core_job(&n->server.core, n->first_job);

    for (uint32_t r = 0; job && n->port_ids && r < job->plan.nprocs; r++) {
        if (n->port_ids[r] == (uint64_t)id) {
            *job_p = job;
            *rank_p = r;
            return true;
        }
    }
    return false;
}

int listener_make_ids(struct node *n, uint32_t count)
{
    n->port_ids = calloc(count ? count : 1, sizeof *n->port_ids);
    if (!n->port_ids)
        return -ENOMEM;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t base;
        if (getrandom(&base, sizeof base, 0) != (ssize_t)sizeof base)
            return -EIO;
        /* Clients read an int.  Distinct by construction when the count is small. */
        n->port_ids[r] = (base & 0x7fffffff) % (0x7fffffff / count) * count + r;
    }
    return 0;
}

static bool may_join(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank)
{
    const struct link *l = newcomer->host;

    (void)arg;
    return socket_owner_of(job->procs[rank].pid, &l->cred) > 0;
}

static struct link *oldest_stranger(const struct node *n)
{
    LIST_EACH(l, &n->strangers)
    {
        struct link *stranger = LIST_OF(l, struct link, strange);
        if (!stranger->peer->job)
            return stranger;
    }
    return NULL;
}

/* Out of descriptors: closes the oldest unauthenticated connection, unless data that it has just
 * sent identifies it. */
static bool make_room(void *arg)
{
    struct node *n = arg;
    struct link *l = oldest_stranger(n);
    int waiting = 0;

    if (l && ioctl(l->fd, FIONREAD, &waiting) == 0 && waiting > 0)
        link_read(l);
    if (l && oldest_stranger(n) == l)
        link_close(l);
    return l != NULL;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Reading the credentials itself needs a descriptor: the spare one is freed for it. */
static int ask_who(struct node *n, int fd, const struct peer_cred *known, struct peer_cred *c_p)
{
    int rc;

    close_fd(&n->spare_fd);
    rc = known ? peer_cred_check(fd, known) : peer_cred_read(fd, c_p);
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    return rc;
}

static uint64_t now_ms(void)
{
    return clock_now_ns() / NS_PER_MS;
}

static const struct sockaddr_storage *loopback(struct sockaddr_storage *room)
{
    struct sockaddr_in *at = (void *)room;

    *room = (struct sockaddr_storage){ .ss_family = AF_INET };
    at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return room;
}

/* A peer without known credentials is counted in the quota by its address. */
static void refuse_unknown(struct node *n, int rc)
{
    struct sockaddr_storage room;
    struct quota_source who = quota_address(loopback(&room));

    quota_warn(&n->quota, &who, now_ms(), &n->config.log,
               "refused a connection to the job's port: %s", peer_cred_text(rc));
}

/* True: the peer is a process of our own user. */
static bool is_ours(struct node *n, int fd, struct peer_cred *c_p)
{
    int rc = ask_who(n, fd, NULL, c_p);
    struct quota_source who;

    if (rc < 0) {
        refuse_unknown(n, rc);
        return false;
    }
    if (c_p->uid == getuid())
        return true;
    who = quota_user(c_p->uid);
    quota_warn(&n->quota, &who, now_ms(), &n->config.log,
               "refused a connection of another user (%u) to the job's port", (unsigned)c_p->uid);
    return false;
}

bool listener_proves(struct link *l)
{
    int rc;

    if (!l->cred.socket) /* we connected to it: its owner has been there since it accepted */
        return is_ours(l->node, l->fd, &l->cred);
    rc = ask_who(l->node, l->fd, &l->cred, NULL);
    if (rc < 0)
        refuse_unknown(l->node, rc);
    return rc == 0;
}

static void too_late(void *arg, struct greeting *g)
{
    struct node *n = arg;

    quota_warn(&n->quota, &g->who, now_ms(), &n->config.log,
               "closed a connection to the job's port: it did not say who it is within %u s",
               LIMIT_GREETING_MS / 1000);
    link_close(LIST_OF(g, struct link, greeting));
}

bool listener_hears(struct link *l, size_t bytes)
{
    struct node *n = l->node;

    if (l->peer->job || greeting_heard(&l->greeting, bytes, clock_now_ns()))
        return true;
    quota_warn(&n->quota, &l->greeting.who, now_ms(), &n->config.log,
               "closed a connection to the job's port: those that have not said who they are have "
               "sent more than %u MiB",
               LIMIT_GREETING_BYTES >> 20);
    return false;
}

void listener_heard(struct link *l)
{
    if (l->peer->job)
        greeting_end(&l->greeting);
    else if (l->peer->greeted)
        greeting_said(&l->greeting);
}

/* Takes over the descriptor.  NULL: no memory; it is closed. */
static struct link *stranger_new(struct node *n, int fd, const struct peer_cred *cred)
{
    struct link *l = calloc(1, sizeof *l);
    struct peer *peer = l ? server_peer_new(&n->server, NULL, 0, false, l) : NULL;
    const struct quota_source who = quota_user(cred->uid);

    if (!peer) {
        close(fd);
        free(l);
        return NULL;
    }
    link_open(l, n, fd, peer, NULL);
    l->cred = *cred;
    list_append(&n->strangers, &l->strange);
    if (greeting_timer_add(&n->greetings, &l->greeting, &who) == 0)
        return l;
    link_close(l);
    return NULL;
}

static void called(void *arg, int fd, const struct sockaddr_storage *from)
{
    struct node *n = arg;
    struct peer_cred cred;

    (void)from;
    if (is_ours(n, fd, &cred))
        stranger_new(n, fd, &cred);
    else
        close(fd);
}

/* The kernel names the process that connected, and with each piece its writer's user: nothing has
 * to be looked up. */
void listener_take(struct node *n, int fd)
{
    static const char word[] = LISTENER_GO_AHEAD;
    struct peer_cred cred;
    struct link *l;

    if (peer_cred_read(fd, &cred) < 0 || cred.uid != getuid() || peer_cred_mark(fd) < 0 ||
        send(fd, word, sizeof word - 1, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof word - 1) {
        close(fd);
        return;
    }
    l = stranger_new(n, fd, &cred);
    if (l)
        l->marked = l->proven = true;
}

int listener_open(struct node *n)
{
    const struct door_calls calls = { called, make_room };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd, rc;

    n->server.identify = find_by_port_id;
    n->server.admit = may_join;
    greeting_timer_init(&n->greetings, &n->loop, &n->quota, LIMIT_GREETING_MS, too_late, n);
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    if (n->spare_fd < 0)
        return -errno;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        rc = -errno;
    else
        rc = door_open(&n->door, &n->loop, fd, &calls, n);
    if (rc < 0)
        close(fd);
    n->port = ntohs(at.sin_port);
    return rc;
}

void listener_close(struct node *n)
{
    door_close(&n->door);
    greeting_timer_stop(&n->greetings);
    close_fd(&n->spare_fd);
    free(n->port_ids);
    n->port_ids = NULL;
}
