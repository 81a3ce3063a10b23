/* proc_connect.c - see proc_connect.h. */
#include "core/proc_connect.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/job_connect.h"
#include "core/job_node.h"
#include "wire/parts.h"

/* Members of one node. */
struct proc_connect {
    struct part_uints jobs;  /* of all members, on any node */
    struct part_uints of;    /* the job of each member here ... */
    struct part_uints ranks; /* ... and its rank */
};

static const struct part parts[] = {
    { "jobs", PART_UINTS, offsetof(struct proc_connect, jobs) },
    { "of", PART_UINTS, offsetof(struct proc_connect, of) },
    { "ranks", PART_UINTS, offsetof(struct proc_connect, ranks) },
};

enum { NPARTS = sizeof parts / sizeof *parts, PROC_CONNECT_BYTES = 1 << 26 };

/* ---- effects of a connect -------------------------------------------------------------------- */

static void bind_member(struct proc *p, bool on)
{
    if (on)
        p->connections++;
    else if (p->connections)
        p->connections--;
}

static void connect_jobs(struct core *c, const struct proc_connect *b, struct job *j, bool on)
{
    for (uint32_t i = 0; i < b->jobs.n; i++) {
        if (b->jobs.items[i] == j->id || !core_job(c, b->jobs.items[i]))
            continue;
        if (on)
            job_connect(j, b->jobs.items[i]);
        else
            job_disconnect(j, b->jobs.items[i]);
    }
    if (!on)
        job_node_apart(j);
}

static void apply(struct core *c, const struct proc_connect *b, bool on)
{
    const struct job *last = NULL;

    for (uint32_t i = 0; i < b->of.n; i++) {
        struct job *j = core_job(c, b->of.items[i]);
        if (!j || b->ranks.items[i] >= j->plan.nprocs)
            continue;
        if (j != last) /* members of a job are adjacent */
            connect_jobs(c, b, j, on);
        last = j;
        bind_member(&j->procs[b->ranks.items[i]], on);
    }
}

bool proc_connect_receive(struct core *c, struct slice bytes, bool on)
{
    struct arena a = ARENA_NULL(PROC_CONNECT_BYTES);
    struct proc_connect b = { .jobs = { NULL, 0 } };
    bool good = parts_read(parts, NPARTS, bytes, &a, &b) && b.of.n == b.ranks.n;

    if (good)
        apply(c, &b, on);
    arena_free(&a);
    return good;
}

/* ---- members of several launchers ------------------------------------------------------------ */

static uint32_t count_members(const struct core *c, const struct member *members, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct job *j = core_known_job(c, members[i].nspace);
        count += members[i].rank != REQUEST_ALL_RANKS ? 1 : j ? j->plan.nprocs : 0;
    }
    return count;
}

static void add_member(struct proc_connect *b, const struct job *j, uint32_t rank, uint32_t *jobs,
                       uint32_t *of, uint32_t *ranks)
{
    if (!b->jobs.n || jobs[b->jobs.n - 1] != j->id) /* members of a job are adjacent */
        jobs[b->jobs.n++] = j->id;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (rank != REQUEST_ALL_RANKS && rank != r)
            continue;
        of[b->of.n++] = j->id;
        ranks[b->ranks.n++] = r;
    }
}

void proc_connect_write(const struct core *c, const struct member *members, uint32_t n,
                        struct buf *out)
{
    uint32_t room = count_members(c, members, n);
    uint32_t *jobs = calloc(n + (size_t)1, sizeof *jobs);
    uint32_t *of = calloc(room + (size_t)1, sizeof *of);
    uint32_t *ranks = calloc(room + (size_t)1, sizeof *ranks);
    struct proc_connect b = { { jobs, 0 }, { of, 0 }, { ranks, 0 } };

    for (uint32_t i = 0; jobs && of && ranks && i < n; i++) {
        const struct job *j = core_known_job(c, members[i].nspace);
        if (j)
            add_member(&b, j, members[i].rank, jobs, of, ranks);
    }
    if (jobs && of && ranks)
        parts_write(parts, NPARTS, &b, out);
    else
        out->error = BUF_NO_MEMORY;
    free(jobs);
    free(of);
    free(ranks);
}

/* ---- completion of a connect or disconnect --------------------------------------------------- */

/* The members' ids are ascending: those of a job are adjacent. */
static void list_jobs(struct core *c, const uint32_t *all, uint32_t n, uint32_t *jobs,
                      uint32_t *count_p)
{
    const struct job *j = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (j && all[i] - j->base < j->plan.nprocs)
            continue;
        j = core_job_of_id(c, all[i]);
        if (j)
            jobs[(*count_p)++] = j->id;
    }
}

static void list_members(struct core *c, const uint32_t *here, uint32_t n, uint32_t *of,
                         uint32_t *ranks, uint32_t *count_p)
{
    const struct job *j = NULL;

    for (uint32_t i = 0; i < n; i++) {
        if (!j || here[i] - j->base >= j->plan.nprocs)
            j = core_job_of_id(c, here[i]);
        if (!j)
            continue;
        of[*count_p] = j->id;
        ranks[(*count_p)++] = here[i] - j->base;
    }
}

/* A core that does not control jobs reports it. */
static void push_connection(struct core *c, const struct proc_connect *b, bool on)
{
    const struct job *j = b->of.n ? core_job(c, b->of.items[0]) : NULL;
    struct buf bytes = BUF_NULL(PROC_CONNECT_BYTES);

    if (!j || !j->follows)
        return;
    parts_write(parts, NPARTS, b, &bytes);
    if (buf_ok(&bytes))
        effects_push(&c->effects,
                     EFFECT_WITH(proc_connect, .job = j->id, .on = on, .procs = buf_slice(&bytes)));
    else
        c->effects.lost = true;
    buf_free(&bytes);
}

void proc_connect_meeting(struct core *c, enum coll_kind kind, const uint32_t *here, uint32_t nhere,
                          const uint32_t *all, uint32_t nall)
{
    bool on = kind == COLL_CONNECT, off = kind == COLL_DISCONNECT;
    uint32_t *jobs = NULL, *of = NULL, *ranks = NULL, njobs = 0, n = 0;
    struct proc_connect b;

    if (!c->is_manager || !(on || off))
        return;
    jobs = calloc((size_t)nall + 1, sizeof *jobs);
    of = calloc((size_t)nhere + 1, sizeof *of);
    ranks = calloc((size_t)nhere + 1, sizeof *ranks);
    if (jobs && of && ranks) {
        list_jobs(c, all, nall, jobs, &njobs);
        list_members(c, here, nhere, of, ranks, &n);
        b = (struct proc_connect){ { jobs, njobs }, { of, n }, { ranks, n } };
        if (njobs > 1)
            apply(c, &b, on);
        if (njobs > 1)
            push_connection(c, &b, on);
    }
    free(jobs);
    free(of);
    free(ranks);
}
