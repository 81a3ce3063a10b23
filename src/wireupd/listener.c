/* listener.c - see listener.h. */
#include "wireupd/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/holder.h"
#include "io/peer_cred.h"
#include "wireupd/task.h"

enum { LISTENER_AGAIN_MS = 100 };

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
    return holder_is_below(job->procs[rank].pid, l->cred.socket);
}

static void listen_again(void *arg)
{
    struct node *n = arg;

    watch_want(&n->listener, LOOP_READ);
}

/* Out of descriptors: the oldest of those who have not said who they are has to go.  Without one,
 * nobody is let in for a while: a listener that cannot accept would keep the loop busy. */
static void make_place(struct node *n)
{
    LIST_EACH(l, &n->strangers)
    {
        struct link *stranger = LIST_OF(l, struct link, strange);
        if (!stranger->peer->job) {
            link_close(stranger);
            return;
        }
    }
    watch_want(&n->listener, 0);
    timer_set(&n->relisten, LISTENER_AGAIN_MS);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The question itself needs a descriptor. */
static int ask_who(struct node *n, int fd, const struct peer_cred *known, struct peer_cred *c_p)
{
    int rc;

    close_fd(&n->spare_fd);
    rc = known ? peer_cred_check(fd, known) : peer_cred_read(fd, c_p);
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    return rc;
}

/* One of our own user, or nobody. */
static bool is_ours(struct node *n, int fd, struct peer_cred *c_p)
{
    int rc = ask_who(n, fd, NULL, c_p);

    if (rc < 0)
        log_warn(&n->config.log, "refused a connection to the job's port: %s", peer_cred_text(rc));
    else if (c_p->uid != getuid())
        log_warn(&n->config.log, "refused a connection of another user (%u) to the job's port",
                 (unsigned)c_p->uid);
    return rc == 0 && c_p->uid == getuid();
}

bool listener_proves(struct link *l)
{
    int rc;

    if (!l->cred.socket) /* we have called it: it is there since it has accepted */
        return is_ours(l->node, l->fd, &l->cred);
    rc = ask_who(l->node, l->fd, &l->cred, NULL);
    if (rc < 0)
        log_warn(&l->node->config.log, "refused a connection to the job's port: %s",
                 peer_cred_text(rc));
    return rc == 0;
}

static void listen_door(void *arg)
{
    struct node *n = arg;
    int fd = accept4(n->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct peer_cred cred;
    struct link *l;
    struct peer *peer;

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            make_place(n);
        return;
    }
    if (!is_ours(n, fd, &cred)) {
        close(fd);
        return;
    }
    l = calloc(1, sizeof *l);
    peer = l ? server_peer_new(&n->server, NULL, 0, false, l) : NULL;
    if (!peer) {
        close(fd);
        free(l);
        return;
    }
    link_open(l, n, fd, peer, NULL);
    l->cred = cred;
    list_append(&n->strangers, &l->strange);
}

int listener_open(struct node *n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;

    timer_init(&n->relisten, &n->loop, listen_again, n);
    n->server.identify = find_by_port_id;
    n->server.admit = may_join;
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    if (n->spare_fd < 0)
        return -errno;
    n->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (n->listen_fd < 0 || bind(n->listen_fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(n->listen_fd, SOMAXCONN) < 0 ||
        getsockname(n->listen_fd, (struct sockaddr *)&at, &len) < 0)
        return -errno;
    n->port = ntohs(at.sin_port);
    watch_open(&n->listener, &n->loop, n->listen_fd, listen_door, NULL, n);
    return watch_want(&n->listener, LOOP_READ);
}

void listener_close(struct node *n)
{
    watch_close(&n->listener);
    timer_stop(&n->relisten);
    close_fd(&n->spare_fd);
    close_fd(&n->listen_fd);
    free(n->port_ids);
    n->port_ids = NULL;
}
