/* who_part.c - see who_part.h.  Reading order: writing a part; a picture; reading a part into it.
 */
#include "report/who_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limit.h"
#include "core/proc_look.h"
#include "core/request.h"
#include "core/store_counters.h"
#include "wire/parts.h"

/* The items of a part. */
enum { PART_END, PART_PROC, PART_ROUND, PART_MEETING, PART_WAIT, PART_COUNTER };

/* ---- writing ------------------------------------------------------------------------------------
 * Numbers are varints, texts begin with their length.  A job: its number + 1, items (each begins
 * with its kind), PART_END.  0 ends the jobs; meetings and waits follow, and PART_END. */

static void put_text(struct buf *out, struct slice s)
{
    parts_put_uint(out, s.len);
    buf_slice_put(out, s);
}

static uint64_t age(const struct who_options *o, uint64_t since_ns)
{
    return since_ns && since_ns < o->now_ns ? o->now_ns - since_ns : 0;
}

static void put_look(const struct who_options *o, const struct proc *p, struct buf *out)
{
    struct proc_look look;
    bool known = o->look && p->pid && p->state != PROC_STATE_GONE && o->look(o->arg, p->pid, &look);

    parts_put_uint(out, known);
    if (!known)
        return;
    parts_put_uint(out, (uint64_t)look.pid);
    parts_put_uint(out, (unsigned char)look.state);
    parts_put_uint(out, look.cpu_ns);
    parts_put_uint(out, look.over_ns);
    parts_put_uint(out, look.total_ns);
    parts_put_uint(out, look.rss);
    put_text(out, slice_str(look.waits_in));
    put_text(out, slice_str(look.mpi));
}

static void put_proc(const struct who_options *o, const struct job *j, uint32_t rank,
                     struct buf *out)
{
    const struct proc *p = &j->procs[rank];

    parts_put_uint(out, PART_PROC);
    parts_put_uint(out, rank);
    parts_put_uint(out, p->pid > 0 ? (uint64_t)p->pid : 0);
    parts_put_uint(out, p->state);
    put_text(out, slice_str(p->last_word));
    parts_put_uint(out, age(o, p->last_ns));
    put_look(o, p, out);
}

static void put_members(const struct collective_group *g, struct buf *out)
{
    const uint32_t *all = g->spread ? g->all : g->members;
    uint32_t n = g->spread ? g->nall : g->count;

    parts_put_uint(out, all != NULL);
    parts_put_uint(out, n);
    for (uint32_t i = 0; all && i < n; i++)
        parts_put_uint(out, all[i]);
}

static void put_withdrawn(const struct collective *c, struct buf *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->group->count; i++)
        n += collective_has_withdrawn(c, i);
    parts_put_uint(out, n);
    for (uint32_t i = 0; i < c->group->count; i++) {
        if (collective_has_withdrawn(c, i))
            parts_put_uint(out, collective_member(c->group, i));
    }
}

static void put_round(const struct who_options *o, const struct collective *c, bool meeting,
                      struct buf *out)
{
    const struct collective_group *g = c->group;

    parts_put_uint(out, meeting ? PART_MEETING : PART_ROUND);
    put_text(out, slice_str(g->name));
    parts_put_uint(out, c->generation);
    parts_put_uint(out, age(o, c->since_ns));
    put_members(g, out);
    parts_put_uint(out, c->arrived);
    for (uint32_t i = 0; i < g->count; i++) {
        if (collective_is_here(c, i))
            parts_put_uint(out, collective_member(g, i));
    }
    put_withdrawn(c, out);
}

static void put_rounds(const struct who_options *o, const struct collective_set *s, bool meetings,
                       struct buf *out)
{
    LIST_EACH(gl, &s->all)
    {
        const struct collective_group *g = LIST_OF(gl, struct collective_group, link);
        LIST_EACH(l, &g->rounds)
        put_round(o, LIST_OF(l, struct collective, link), meetings, out);
        LIST_EACH(k, &g->contributed)
        put_round(o, LIST_OF(k, struct collective, link), meetings, out);
    }
}

static void put_waits(const struct who_options *o, const struct core *c, struct buf *out)
{
    LIST_EACH(l, &c->waits.all)
    {
        const struct pending *one = LIST_OF(l, struct pending, link);
        parts_put_uint(out, PART_WAIT);
        parts_put_uint(out, one->job);
        parts_put_uint(out, one->rank);
        parts_put_uint(out, one->kind);
        parts_put_uint(out, one->owner_job);
        parts_put_uint(out, one->owner_rank);
        parts_put_uint(out, one->count);
        parts_put_uint(out, age(o, one->since_ns));
        put_text(out, one->name);
    }
}

static void put_counter(const struct who_options *o, const struct job *j,
                        const struct store_counter *c, struct buf *out)
{
    parts_put_uint(out, PART_COUNTER);
    put_text(out, store_counter_key(c));
    parts_put_uint(out, age(o, c->since_ns));
    parts_put_uint(out, c->asked_ns != 0);
    parts_put_uint(out, age(o, c->asked_ns));
    parts_put_uint(out, c->count);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (store_counter_has(c, r))
            parts_put_uint(out, r);
    }
}

static void put_counters(const struct who_options *o, const struct job *j, struct buf *out)
{
    for (int i = 0; j->counters && i < STORE_COUNTERS; i++) {
        if (j->counters->all[i].ranks)
            put_counter(o, j, &j->counters->all[i], out);
    }
}

void who_part(const struct core *c, const struct who_options *o, struct buf *out)
{
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (j->is_tool || !who_wants(j, o->job))
            continue;
        parts_put_uint(out, j->id + UINT64_C(1));
        for (uint32_t r = 0; r < j->plan.nprocs; r++) {
            if (job_rank_is_here(j, r))
                put_proc(o, j, r, out);
        }
        put_rounds(o, &j->colls, false, out);
        put_counters(o, j, out);
        parts_put_uint(out, PART_END);
    }
    parts_put_uint(out, 0);
    put_rounds(o, &c->meetings, true, out);
    put_waits(o, c, out);
    parts_put_uint(out, PART_END);
}

/* ---- a picture ----------------------------------------------------------------------------------
 * A core that was never alive: jobs with borrowed plans, processes as they were reported, rounds
 * with the members that have arrived. */

struct who_picture {
    struct core core;
    uint64_t now_ns, tickets;
    struct arena texts;
};

static void job_drop(struct job *j)
{
    list_unlink(&j->link);
    collective_set_free(&j->colls);
    store_counters_free(j->counters);
    free(j->procs);
    free(j);
}

static void proc_copy(struct proc *p, const struct proc *from)
{
    p->pid = from->pid;
    p->state = from->state;
    p->code = from->code;
    p->signalled = from->signalled;
    p->unreachable = from->unreachable;
    p->left = from->left;
}

/* Of the job itself only constant members are used. */
static bool job_copy(struct who_picture *p, const struct job *from)
{
    struct job *j = calloc(1, sizeof *j);

    if (!j)
        return false;
    j->id = from->id;
    j->base = from->base;
    j->nspace = from->nspace;
    j->is_adopted = from->is_adopted;
    j->plan = from->plan;
    list_init(&j->link);
    collective_set_init(&j->colls, from->id);
    list_append(&p->core.jobs, &j->link);
    j->procs = calloc(from->plan.nprocs ? from->plan.nprocs : 1, sizeof *j->procs);
    for (uint32_t r = 0; j->procs && r < from->plan.nprocs; r++)
        proc_copy(&j->procs[r], &from->procs[r]);
    return j->procs != NULL;
}

struct who_picture *who_picture_new(const struct core *c, uint64_t now_ns)
{
    struct who_picture *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    core_init(&p->core, 1);
    arena_init(&p->texts, 1 << 28);
    p->now_ns = now_ns;
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool && !job_copy(p, j))
            return who_picture_free(p);
    }
    return p;
}

struct who_picture *who_picture_free(struct who_picture *p)
{
    if (!p)
        return NULL;
    LIST_EACH(l, &p->core.jobs)
    job_drop(LIST_OF(l, struct job, link));
    core_free(&p->core);
    arena_free(&p->texts);
    free(p);
    return NULL;
}

const struct core *who_picture_core(const struct who_picture *p)
{
    return &p->core;
}

int who_picture_report(const struct who_picture *p, const struct who_options *o, struct buf *out)
{
    struct who_options options = *o;

    options.now_ns = p->now_ns;
    return who_report(&p->core, &options, out);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    struct who_picture *p;
    struct slice rest;
    bool bad, no_memory;
};

static uint64_t number(struct reader *r, uint64_t most)
{
    uint64_t v = 0;

    if (!r->bad && (!parts_get_uint(&r->rest, &v) || v > most))
        r->bad = true;
    return r->bad ? 0 : v;
}

static struct slice text(struct reader *r)
{
    uint64_t n = number(r, SIZE_MAX);
    struct slice s = slice_head(r->rest, n);

    r->bad = r->bad || n > r->rest.len;
    if (r->bad)
        return SLICE_NULL;
    r->rest = slice_skip(r->rest, n);
    return s;
}

/* A copy that lives as long as the picture; NULL for nothing. */
static const char *kept(struct reader *r, struct slice s)
{
    char *copy = s.len ? arena_str(&r->p->texts, s) : NULL;

    r->no_memory = r->no_memory || (s.len && !copy);
    return copy;
}

static uint64_t since(const struct reader *r, uint64_t ago)
{
    return ago < r->p->now_ns ? r->p->now_ns - ago : 1;
}

static void copy_text(char *to, size_t size, struct slice s)
{
    size_t n = s.len < size ? s.len : size - 1;

    for (size_t i = 0; i < n; i++) /* it goes to a terminal */
        to[i] = s.ptr[i] < ' ' || s.ptr[i] > '~' ? '?' : s.ptr[i];
    to[n] = '\0';
}

/* NULL: the process was not looked at. */
static const struct proc_look *read_look(struct reader *r)
{
    struct proc_look look = { .pid = 0 }, *kept_look;

    if (number(r, 1) == 0)
        return NULL;
    look.pid = (int)number(r, INT32_MAX);
    look.state = (char)number(r, 127);
    look.cpu_ns = number(r, UINT64_MAX);
    look.over_ns = number(r, UINT64_MAX);
    look.total_ns = number(r, UINT64_MAX);
    look.rss = number(r, UINT64_MAX);
    copy_text(look.waits_in, sizeof look.waits_in, text(r));
    copy_text(look.mpi, sizeof look.mpi, text(r));
    if (r->bad)
        return NULL;
    kept_look = arena_alloc(&r->p->texts, sizeof *kept_look);
    r->no_memory = r->no_memory || !kept_look;
    if (kept_look)
        *kept_look = look;
    return kept_look;
}

static void read_proc(struct reader *r, struct job *j)
{
    uint32_t rank = (uint32_t)number(r, UINT32_MAX);
    int pid = (int)number(r, INT32_MAX);
    enum proc_state state = (enum proc_state)number(r, PROC_STATES - 1);
    struct slice word = text(r);
    uint64_t ago = number(r, UINT64_MAX);
    const struct proc_look *look = read_look(r);
    struct proc *p;

    if (r->bad || !j || rank >= j->plan.nprocs)
        return;
    p = &j->procs[rank];
    p->pid = pid;
    p->state = state;
    p->look = look;
    p->last_word = kept(r, word);
    p->last_ns = since(r, ago);
}

/* All the members of a group; *members_p NULL: 0..n-1. */
static uint32_t read_members(struct reader *r, uint32_t **members_p)
{
    bool listed = number(r, 1) != 0;
    uint32_t n = (uint32_t)number(r, UINT32_MAX - 1);

    *members_p = NULL;
    if (r->bad || !listed)
        return n;
    if (n > r->rest.len) { /* each takes a byte */
        r->bad = true;
        return 0;
    }
    *members_p = calloc(n + (size_t)1, sizeof **members_p);
    r->no_memory = r->no_memory || !*members_p;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = (uint32_t)number(r, UINT32_MAX);
        if (*members_p)
            (*members_p)[i] = m;
        r->bad = r->bad || (*members_p && i && (*members_p)[i] <= (*members_p)[i - 1]);
    }
    return n;
}

/* Skips them when c is NULL. */
static void read_arrivals(struct reader *r, struct collective *c)
{
    uint32_t n = (uint32_t)number(r, UINT32_MAX);

    for (uint32_t i = 0; i < n && !r->bad; i++) {
        uint32_t member = (uint32_t)number(r, UINT32_MAX);
        if (c)
            collective_note_arrival(c, member);
    }
    n = (uint32_t)number(r, UINT32_MAX);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        uint32_t member = (uint32_t)number(r, UINT32_MAX);
        if (c && !collective_note_withdrawal(c, member))
            r->no_memory = true;
    }
}

static void read_round(struct reader *r, struct collective_set *s, uint64_t most)
{
    struct slice name = text(r);
    uint64_t generation = number(r, UINT64_MAX), ago = number(r, UINT64_MAX);
    uint32_t *members, n = read_members(r, &members);
    struct collective_group *g;
    struct collective *c = NULL;

    if (!r->bad && !r->no_memory && s && n <= most) {
        if (collective_group_get(s, name, members, n, true, &g) == 0 && g->count == n)
            c = collective_round(g, generation, since(r, ago));
        r->no_memory = r->no_memory || !c;
    }
    free(members);
    read_arrivals(r, c);
}

static void read_wait(struct reader *r)
{
    struct pending one = { .ticket = ++r->p->tickets };

    one.job = (uint32_t)number(r, UINT32_MAX);
    one.rank = (uint32_t)number(r, UINT32_MAX);
    one.kind = (uint32_t)number(r, REQ_KINDS - 1);
    one.owner_job = (uint32_t)number(r, UINT32_MAX);
    one.owner_rank = (uint32_t)number(r, UINT32_MAX);
    one.count = number(r, UINT64_MAX);
    one.since_ns = since(r, number(r, UINT64_MAX));
    one.name = text(r);
    if (!r->bad && who_knows(one.kind))
        pendings_add(&r->p->core.waits, &one);
}

static void read_counter(struct reader *r, struct job *j)
{
    struct slice key = text(r);
    uint64_t since_ns = since(r, number(r, UINT64_MAX));
    bool asked = number(r, 1) != 0;
    uint64_t asked_ns = since(r, number(r, UINT64_MAX));
    uint32_t n = (uint32_t)number(r, UINT32_MAX);

    for (uint32_t i = 0; i < n && !r->bad; i++) {
        uint32_t rank = (uint32_t)number(r, UINT32_MAX);
        if (!r->bad && j && rank < j->plan.nprocs)
            store_counters_add(&j->counters, key, rank, j->plan.nprocs, 1, since_ns);
    }
    if (!r->bad && j && asked)
        store_counters_add(&j->counters, key, 0, j->plan.nprocs, 0, asked_ns);
}

static void read_job(struct reader *r, struct job *j)
{
    uint64_t kind;

    while (!r->bad && (kind = number(r, PART_COUNTER)) != PART_END) {
        if (kind == PART_PROC)
            read_proc(r, j);
        else if (kind == PART_COUNTER)
            read_counter(r, j);
        else if (kind != PART_ROUND)
            r->bad = true;
        else
            read_round(r, j ? &j->colls : NULL, j ? j->plan.nprocs : 0);
    }
}

static void read_rest(struct reader *r)
{
    uint64_t kind;

    while (!r->bad && (kind = number(r, PART_WAIT)) != PART_END) {
        if (kind == PART_WAIT)
            read_wait(r);
        else if (kind == PART_MEETING)
            read_round(r, &r->p->core.meetings, LIMIT_JOB_PROCS);
        else
            r->bad = true;
    }
}

int who_picture_add(struct who_picture *p, struct slice part)
{
    struct reader r = { .p = p, .rest = part };
    uint64_t id;

    while (!r.bad && (id = number(&r, UINT32_MAX)) != 0)
        read_job(&r, core_job(&p->core, (uint32_t)id - 1));
    read_rest(&r);
    if (r.no_memory)
        return -ENOMEM;
    return r.bad || r.rest.len ? 1 : 0;
}

int who_picture_stack(struct who_picture *p, uint32_t job, uint32_t rank, struct slice stack)
{
    struct job *j = core_job(&p->core, job);
    struct proc_look *with;

    if (!j || rank >= j->plan.nprocs || !j->procs[rank].look)
        return 0;
    with = arena_alloc(&p->texts, sizeof *with);
    if (!with)
        return -ENOMEM;
    *with = *j->procs[rank].look;
    with->stack = arena_str(&p->texts, stack);
    j->procs[rank].look = with;
    return with->stack ? 0 : -ENOMEM;
}
