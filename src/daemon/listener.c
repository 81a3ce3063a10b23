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
#include "daemon/process.h"

static bool may_join(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank)
{
    const struct peer_conn *c = newcomer->host;

    (void)arg;
    return socket_owner_of(job->procs[rank].pid, &c->cred) > 0;
}

/* Whoever starts the processes of such a job may start a rank twice, and both at once: the first
 * one has the rank from its number on, before it takes part. */
static bool is_twin(const struct listener *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank)
{
    const struct proc *p = &job->procs[rank];
    bool taken = p->lines || s->claims[rank];

    if (!job->is_adopted ||
        (p->state != PROC_STATE_GONE && (!taken || may_join(NULL, newcomer, job, rank))))
        return false;
    log_warn(s->context->log, "refused a second process for rank %u, which %s", rank,
             p->state == PROC_STATE_GONE ? "has ended" : "is connected");
    return true;
}

static bool find_by_port_id(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                            uint32_t *rank_p)
{
    struct listener *s = arg;
    struct job *job = core_job(&s->context->server->core, s->jobs->first);

    for (uint32_t r = 0; job && s->port_ids && r < job->plan.nprocs; r++) {
        if (s->port_ids[r] != (uint64_t)id)
            continue;
        if (is_twin(s, newcomer, job, r))
            return false;
        if (!s->claims[r])
            s->claims[r] = newcomer->host;
        *job_p = job;
        *rank_p = r;
        return true;
    }
    return false;
}

/* Its rank is free, unless it has taken part. */
static void unclaim(struct listener *s, const struct peer_conn *c)
{
    const struct peer *p = c->peer;

    if (s->claims && p->job && p->job->id == s->jobs->first && s->claims[p->rank] == c)
        s->claims[p->rank] = NULL;
}

int listener_make_ids(struct listener *s, uint32_t count)
{
    s->port_ids = calloc(count ? count : 1, sizeof *s->port_ids);
    s->claims = calloc(count ? count : 1, sizeof(struct peer_conn *));
    if (!s->port_ids || !s->claims)
        return -ENOMEM;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t base;
        if (getrandom(&base, sizeof base, 0) != (ssize_t)sizeof base)
            return -EIO;
        /* Clients read an int.  Distinct by construction when the count is small. */
        s->port_ids[r] = (base & 0x7fffffff) % (0x7fffffff / count) * count + r;
    }
    return 0;
}

static int store_of(void *arg, const struct peer *p)
{
    const struct listener *s = arg;
    struct local_job *w = local_job_of(s->jobs, p->job);

    return w ? memfd_reader(&w->store) : -1;
}

/* A process of a job whose processes we did not start: its pid is needed by those who ask for it,
 * and tells its children from others. */
static void known(void *arg, struct peer_conn *c)
{
    struct listener *s = arg;
    const struct peer *p = c->peer;

    if (!p->job->is_adopted || p->job->procs[p->rank].pid)
        return;
    peer_cred_find_process(&c->cred, 0);
    if (c->cred.pid > 0)
        server_proc_state(s->context->server, p->job, p->rank, PROC_EVENT_STARTED, 0, c->cred.pid);
}

/* The last of a process that has taken part. */
static bool is_last(const struct peer *p)
{
    return p->job && p->job->is_adopted && p->attached && !p->job->procs[p->rank].lines;
}

/* Such processes are not our children: the end of their connections is their end. */
static void hung_up(void *arg, struct peer_conn *c, bool refused)
{
    struct listener *s = arg;

    if (c == s->singleton || is_last(c->peer))
        server_proc_state(s->context->server, c->peer->job, c->peer->rank, PROC_EVENT_EXIT, refused,
                          0);
}

static void closed(void *arg, struct peer_conn *c)
{
    struct listener *s = arg;
    struct task *t = c->owner;

    unclaim(s, c);
    if (t)
        t->conn = NULL;
    if (c == s->singleton)
        s->singleton = NULL;
}

static void settle(void *arg)
{
    struct listener *s = arg;

    turn_end(s->context->turn);
}

static const struct peer_conn_host host = {
    .known = known, .store = store_of, .hung_up = hung_up, .closed = closed, .settle = settle
};

/* The kernel names the process that connected, and with each piece its writer's user: nothing has
 * to be looked up. */
void listener_take(struct listener *s, int fd)
{
    static const char word[] = LISTENER_GO_AHEAD;
    struct peer_conn *c = NULL;
    struct peer_cred cred;

    if (peer_cred_read(fd, &cred) == 0 && cred.uid == s->conns.config.uid &&
        peer_cred_mark(fd) == 0 &&
        send(fd, word, sizeof word - 1, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof word - 1)
        c = peer_conn_accept(&s->conns, fd, &cred);
    if (c)
        c->marked = c->proven = true;
    else
        close(fd);
}

int listener_open(struct listener *s, const struct node_context *c, const struct local_jobs *jobs,
                  struct quota *quota)
{
    const struct peer_conns_config config = { .server = c->server,
                                              .loop = c->loop,
                                              .quota = quota,
                                              .log = c->log,
                                              .port_name = "the job's port",
                                              .uid = getuid(),
                                              .gid = getgid(),
                                              .host = &host,
                                              .arg = s };

    s->context = c;
    s->jobs = jobs;
    s->stores = ACCEPTOR_CLOSED;
    c->server->identify = find_by_port_id;
    c->server->admit = may_join;
    c->server->arg = s;
    peer_conns_init(&s->conns, &config);
    return peer_conns_listen(&s->conns);
}

void listener_close(struct listener *s)
{
    if (s->context)
        acceptor_close(&s->stores);
    peer_conns_close(&s->conns);
    store_callers_free(&s->callers);
    free(s->port_ids);
    free(s->claims);
    s->port_ids = NULL;
    s->claims = NULL;
}

/* ---- the stores of jobs ---------------------------------------------------------------------- */

static struct job *whose(void *arg, const struct peer_cred *cred, uint32_t *rank_p)
{
    struct listener *s = arg;
    struct job *j = store_callers_find(&s->callers, s->jobs, cred, rank_p);

    if (!j)
        log_warn(s->context->log,
                 "refused a connection to the store of a job: it is from no process of one here");
    return j;
}

static void store_called(void *arg, int fd, const struct sockaddr_storage *from)
{
    struct listener *s = arg;

    (void)from; /* a loopback address */
    peer_conns_store_called(&s->conns, fd, whose, s);
}

uint16_t listener_store_port(struct listener *s)
{
    const struct acceptor_calls calls = { store_called, NULL };

    if (!s->store_port &&
        acceptor_open_loopback(&s->stores, s->context->loop, &calls, s, &s->store_port) < 0)
        log_warn(s->context->log, "no port for the stores of jobs can be opened");
    return s->store_port;
}
