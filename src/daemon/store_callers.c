/* store_callers.c - see store_callers.h. */
#include "daemon/store_callers.h"

#include <stdlib.h>

#include "io/socket_owner.h"

enum { SEEN_MAX = 16 << 10 }; /* hints: when they are too many, they are forgotten */

/* A socket that a process of a rank had. */
struct store_caller {
    ino_t socket;
    pid_t holder;
    int fd;
    uint32_t rank;
    const struct job *job; /* it may have ended since */
};

/* A look for one socket. */
struct look {
    struct store_callers *into;
    const struct local_jobs *jobs;
    ino_t wanted;
    bool below; /* at descendants of ranks */
    struct store_caller now;
};

static bool has_room(struct store_callers *s)
{
    size_t room = s->room ? s->room * 2 : 256;
    struct store_caller *more;

    if (s->n == SEEN_MAX)
        s->n = 0;
    if (s->n < s->room)
        return true;
    more = realloc(s->seen, room * sizeof *more);
    if (!more)
        return false;
    s->seen = more;
    s->room = room;
    return true;
}

static bool note(void *arg, pid_t holder, int fd, ino_t socket)
{
    struct look *l = arg;

    if (!has_room(l->into))
        return false; /* that socket is not found */
    l->now.socket = socket;
    l->now.holder = holder;
    l->now.fd = fd;
    l->into->seen[l->into->n++] = l->now;
    return socket == l->wanted;
}

static bool is_here(const struct job *j, uint32_t rank)
{
    return j->procs[rank].pid > 0 && j->procs[rank].state != PROC_STATE_GONE &&
           job_rank_is_here(j, rank);
}

/* A rank that is a descendant of another one is looked at for itself. */
static bool is_no_rank(void *arg, pid_t pid)
{
    const struct look *l = arg;

    LIST_EACH(link, &l->jobs->all)
    {
        const struct job *j = LIST_OF(link, struct local_job, link)->job;
        for (uint32_t r = 0; j && r < j->plan.nprocs; r++) {
            if (j->procs[r].pid == pid && is_here(j, r))
                return false;
        }
    }
    return true;
}

/* The ranks of all jobs are counted in their order. */
static bool look_between(struct look *l, size_t from, size_t to)
{
    const struct socket_visitor v = { note, is_no_rank, l, l->into->last };
    size_t at = 0;

    LIST_EACH(link, &l->jobs->all)
    {
        l->now.job = LIST_OF(link, struct local_job, link)->job;
        for (uint32_t r = 0; l->now.job && r < l->now.job->plan.nprocs; r++, at++) {
            if (at < from || at >= to || !is_here(l->now.job, r))
                continue;
            l->now.rank = r;
            if (!socket_owner_visit(l->now.job->procs[r].pid, l->below, &v))
                continue;
            l->into->next[l->below] = l->below ? at : at + 1;
            l->into->last = l->now.holder;
            return true;
        }
    }
    return false;
}

/* Once around, at ranks or below them. */
static bool look_around(struct look *l)
{
    size_t next = l->into->next[l->below];

    return look_between(l, next, SIZE_MAX) || look_between(l, 0, next);
}

static bool look_for(struct store_callers *s, const struct local_jobs *jobs, ino_t socket)
{
    struct look ranks = { .into = s, .jobs = jobs, .wanted = socket };
    struct look below = { .into = s, .jobs = jobs, .wanted = socket, .below = true };

    return look_around(&ranks) || look_around(&below);
}

static struct job *still_here(const struct store_caller *c, const struct local_jobs *jobs)
{
    LIST_EACH(link, &jobs->all)
    {
        struct job *j = LIST_OF(link, struct local_job, link)->job;
        if (j && j == c->job && c->rank < j->plan.nprocs && is_here(j, c->rank))
            return j;
    }
    return NULL;
}

static struct job *find_seen(const struct store_callers *s, const struct local_jobs *jobs,
                             ino_t socket, uint32_t *rank_p)
{
    struct job *j = NULL;

    for (size_t i = 0; i < s->n && !j; i++) {
        const struct store_caller *c = &s->seen[i];
        if (c->socket != socket || !socket_owner_has_at(c->holder, c->fd, socket))
            continue;
        *rank_p = c->rank;
        j = still_here(c, jobs);
    }
    return j;
}

struct job *store_callers_find(struct store_callers *s, const struct local_jobs *jobs,
                               const struct peer_cred *cred, uint32_t *rank_p)
{
    struct job *j = cred->socket ? find_seen(s, jobs, cred->socket, rank_p) : NULL;

    if (j || !cred->socket || !look_for(s, jobs, cred->socket))
        return j;
    return find_seen(s, jobs, cred->socket, rank_p);
}

void store_callers_free(struct store_callers *s)
{
    free(s->seen);
    *s = (struct store_callers){ .seen = NULL };
}
