/* store_callers.c - see store_callers.h. */
#include "daemon/store_callers.h"

#include <stdlib.h>

#include "io/socket_owner.h"

/* A socket that a process of a rank had. */
struct store_caller {
    ino_t socket;
    size_t order; /* ranks themselves come first */
    pid_t holder;
    const struct job *job; /* it may have ended since */
    uint32_t rank;
};

/* One look at all ranks. */
struct look {
    struct store_callers *into;
    struct store_caller now;
};

static void note(void *arg, pid_t holder, ino_t socket)
{
    struct look *l = arg;
    struct store_callers *s = l->into;

    if (s->n == s->room) {
        size_t room = s->room ? s->room * 2 : 256;
        struct store_caller *more = realloc(s->seen, room * sizeof *more);
        if (!more)
            return; /* that socket is not found */
        s->seen = more;
        s->room = room;
    }
    l->now.socket = socket;
    l->now.holder = holder;
    l->now.order = s->n;
    s->seen[s->n++] = l->now;
}

static bool is_here(const struct job *j, uint32_t rank)
{
    return j->procs[rank].pid > 0 && j->procs[rank].state != PROC_STATE_GONE &&
           job_rank_is_here(j, rank);
}

static void look_at_ranks(struct look *l, const struct local_jobs *jobs, bool below)
{
    LIST_EACH(link, &jobs->all)
    {
        l->now.job = LIST_OF(link, struct local_job, link)->job;
        for (uint32_t r = 0; l->now.job && r < l->now.job->plan.nprocs; r++) {
            l->now.rank = r;
            if (is_here(l->now.job, r))
                socket_owner_each(l->now.job->procs[r].pid, below, note, l);
        }
    }
}

static int by_socket(const void *a, const void *b)
{
    const struct store_caller *x = a, *y = b;

    if (x->socket != y->socket)
        return x->socket < y->socket ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void look_again(struct store_callers *s, const struct local_jobs *jobs)
{
    struct look l = { .into = s };

    s->n = 0;
    look_at_ranks(&l, jobs, false);
    look_at_ranks(&l, jobs, true);
    qsort(s->seen, s->n, sizeof *s->seen, by_socket);
}

/* The first that had it. */
static const struct store_caller *seen_with(const struct store_callers *s, ino_t socket)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->seen[middle].socket < socket)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->seen[low].socket == socket ? &s->seen[low] : NULL;
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
    const struct store_caller *c = seen_with(s, socket);

    if (!c || !socket_owner_has(c->holder, socket))
        return NULL;
    *rank_p = c->rank;
    return still_here(c, jobs);
}

struct job *store_callers_find(struct store_callers *s, const struct local_jobs *jobs,
                               const struct peer_cred *cred, uint32_t *rank_p)
{
    struct job *j = cred->socket ? find_seen(s, jobs, cred->socket, rank_p) : NULL;

    if (j || !cred->socket)
        return j;
    look_again(s, jobs);
    return find_seen(s, jobs, cred->socket, rank_p);
}

void store_callers_free(struct store_callers *s)
{
    free(s->seen);
    *s = (struct store_callers){ NULL, 0, 0 };
}
