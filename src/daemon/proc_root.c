/* proc_root.c - see proc_root.h. */
#include "daemon/proc_root.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/socket_owner.h"
#include "io/root.h"

/* Of a process that was looked at. */
struct known_root {
    struct list link;
    uint32_t job, rank;
    bool same_root, same_ipc;
    int fd; /* of another root; -1: it could not be determined, or is the same */
};

static void forget(struct known_root *r)
{
    list_unlink(&r->link);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

void proc_roots_open(struct proc_roots *p, const struct core *core, const struct peer_conns *conns)
{
    *p = (struct proc_roots){ .core = core, .conns = conns };
    list_init(&p->all);
}

void proc_roots_close(struct proc_roots *p)
{
    if (!p->core)
        return;
    LIST_EACH(l, &p->all)
    forget(LIST_OF(l, struct known_root, link));
}

static void forget_ended_jobs(struct proc_roots *p)
{
    LIST_EACH(l, &p->all)
    {
        struct known_root *r = LIST_OF(l, struct known_root, link);
        if (!core_job(p->core, r->job))
            forget(r);
    }
}

static struct known_root *find(struct proc_roots *p, uint32_t job, uint32_t rank)
{
    LIST_EACH(l, &p->all)
    {
        struct known_root *r = LIST_OF(l, struct known_root, link);
        if (r->job == job && r->rank == rank)
            return r;
    }
    return NULL;
}

static bool is_elsewhere(const void *arg, pid_t pid)
{
    const pid_t *started = arg;

    return !root_is_same(*started, pid);
}

static bool is_other(const void *arg, pid_t pid)
{
    const pid_t *started = arg;

    return pid != *started;
}

/* Most ranks are the process that was started.  Others are its descendants, and hold a connection;
 * where the connection is inherited, and so held by all of them, the choice does not matter as long
 * as all have the same root.  0: they do not. */
static pid_t process_of(const struct proc_roots *p, const struct job *job, uint32_t rank)
{
    pid_t started = job->procs[rank].pid, holder;

    if (!socket_owner_find(started, is_other, &started))
        return started;
    LIST_EACH(l, &p->conns->accepted)
    {
        const struct peer_conn *c = LIST_OF(l, const struct peer_conn, link);
        if (c->peer->job != job || c->peer->rank != rank)
            continue;
        holder = socket_owner_of(started, &c->cred);
        if (holder > 0)
            return holder;
    }
    return socket_owner_find(started, is_elsewhere, &started) ? 0 : started;
}

static struct known_root *new_root(struct proc_roots *p, uint32_t job, uint32_t rank)
{
    struct known_root *r = calloc(1, sizeof *r);

    if (!r) {
        p->lost = true;
        return NULL;
    }
    *r = (struct known_root){ .job = job, .rank = rank, .fd = -1 };
    list_init(&r->link);
    list_append(&p->all, &r->link);
    return r;
}

/* Who is as we are may change its root later; who is not is not looked at again. */
void proc_root_note(struct proc_roots *p, uint32_t job, uint32_t rank)
{
    const struct job *j = core_job(p->core, job);
    struct known_root *r;
    pid_t pid;
    int fd = -1, rc;

    forget_ended_jobs(p);
    if (!j || rank >= j->plan.nprocs || j->procs[rank].pid <= 0)
        return;
    r = find(p, job, rank);
    if (r && !(r->same_root && r->same_ipc))
        return;
    pid = process_of(p, j, rank);
    rc = pid > 0 ? root_of(pid, &fd) : -EAGAIN;
    if (r && rc == -ENOENT)
        return;
    if (!r)
        r = new_root(p, job, rank);
    if (r) {
        r->same_root = rc == 0;
        r->same_ipc = pid > 0 && root_shares_ipc(pid);
        r->fd = fd;
    } else if (fd >= 0) {
        close(fd);
    }
}

bool proc_root_find(struct proc_roots *p, uint32_t job, uint32_t rank, int *fd_p)
{
    const struct known_root *r = find(p, job, rank);

    *fd_p = r && !r->same_root ? r->fd : 0;
    return r ? *fd_p >= 0 : !p->lost;
}

bool proc_root_shares_ipc(struct proc_roots *p, uint32_t job, uint32_t rank)
{
    const struct known_root *r = find(p, job, rank);

    return r ? r->same_ipc : !p->lost;
}
