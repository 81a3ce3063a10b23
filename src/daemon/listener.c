/* listener.c - see listener.h. */
#include "daemon/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/peer_cred.h"
#include "io/socket_owner.h"
#include "daemon/local_job.h"

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
    const struct peer_conn *c = newcomer->host;

    (void)arg;
    return socket_owner_of(job->procs[rank].pid, &c->cred) > 0;
}

static int store_of(void *arg, const struct peer *p)
{
    struct local_job *w = local_job_of(arg, p->job);

    return w ? memfd_reader(&w->store) : -1;
}

/* A singleton is not our child: the end of its connection is its end. */
static void hung_up(void *arg, struct peer_conn *c, bool refused)
{
    struct node *n = arg;

    if (c == n->singleton)
        server_proc_state(&n->server, c->peer->job, c->peer->rank, PROC_EVENT_EXIT, refused, 0);
}

static void closed(void *arg, struct peer_conn *c)
{
    struct node *n = arg;
    struct task *t = c->owner;

    if (t)
        t->conn = NULL;
    if (c == n->singleton)
        n->singleton = NULL;
}

static void settle(void *arg)
{
    struct node *n = arg;

    turn_end(&n->turn);
}

static const struct peer_conn_host host = {
    .store = store_of, .hung_up = hung_up, .closed = closed, .settle = settle
};

/* The kernel names the process that connected, and with each piece its writer's user: nothing has
 * to be looked up. */
void listener_take(struct node *n, int fd)
{
    static const char word[] = LISTENER_GO_AHEAD;
    struct peer_conn *c = NULL;
    struct peer_cred cred;

    if (peer_cred_read(fd, &cred) == 0 && cred.uid == n->uid && peer_cred_mark(fd) == 0 &&
        send(fd, word, sizeof word - 1, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof word - 1)
        c = peer_conn_accept(&n->conns, fd, &cred);
    if (c)
        c->marked = c->proven = true;
    else
        close(fd);
}

int listener_open(struct node *n)
{
    const struct peer_conns_config config = { .server = &n->server,
                                              .loop = &n->loop,
                                              .quota = &n->quota,
                                              .log = &n->config.log,
                                              .port_name = "the job's port",
                                              .uid = n->uid,
                                              .gid = getgid(),
                                              .host = &host,
                                              .arg = n };

    n->server.identify = find_by_port_id;
    n->server.admit = may_join;
    peer_conns_init(&n->conns, &config);
    return peer_conns_listen(&n->conns);
}
