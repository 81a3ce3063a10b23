/* job_fence.c - who meets whom: the groups of a job's fences.
 *
 * A group is written `WORLD:tag`, `NODE:tag` or `r1,r2,...:tag`; nothing at all means `WORLD:0`.
 * Equal names are the same fence; NODE means the caller's node, so its number joins the name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "core/job.h"

struct member_list {
    uint32_t *ranks;
    uint32_t count;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void drop_repeats(struct member_list *m)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->count; i++) {
        if (i == 0 || m->ranks[i] != m->ranks[kept - 1])
            m->ranks[kept++] = m->ranks[i];
    }
    m->count = kept;
}

/* "3,0,7" as ascending ranks. */
static enum answer_status listed_members(const struct job *j, struct slice text,
                                         struct member_list *m)
{
    m->ranks = calloc(text.len / 2 + 1, sizeof *m->ranks); /* a rank takes two bytes at least */
    if (!m->ranks)
        return ANSWER_NO_MEMORY;
    while (text.len) {
        uint32_t *r = &m->ranks[m->count];
        if (!slice_u32(slice_trim(slice_cut(&text, ',')), r) || *r >= j->plan.nprocs)
            return ANSWER_BAD_KEY;
        m->count++;
    }
    qsort(m->ranks, m->count, sizeof *m->ranks, by_number);
    drop_repeats(m);
    return m->count ? ANSWER_OK : ANSWER_BAD_KEY;
}

static enum answer_status node_members(const struct job *j, uint32_t node, struct member_list *m)
{
    m->ranks = calloc(j->plan.nodes[node].nprocs + 1, sizeof *m->ranks);
    if (!m->ranks)
        return ANSWER_NO_MEMORY;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node == node && m->count < j->plan.nodes[node].nprocs)
            m->ranks[m->count++] = r;
    }
    return ANSWER_OK;
}

/* The part before the last colon; without a colon all of it. */
static struct slice members_of(struct slice group)
{
    size_t at = group.len;

    while (at && group.ptr[at - 1] != ':')
        at--;
    return at ? slice_head(group, at - 1) : group;
}

static enum answer_status find_group(struct job *j, uint32_t rank, struct slice group,
                                     struct coll_group **group_p)
{
    struct slice who = members_of(group);
    struct member_list m = { NULL, j->plan.nprocs };
    struct buf name = BUF_NULL(1 << 20);
    enum answer_status st = ANSWER_OK;

    /* No list of members that is not longer than need be, and no byte that a name cannot hold. */
    if (group.len > 64 + (size_t)11 * j->plan.nprocs || slice_find(group, '\0') < group.len)
        return ANSWER_BAD_KEY;

    buf_slice_put(&name, group);
    if (slice_is(who, "NODE")) {
        m.count = 0;
        st = node_members(j, j->plan.procs[rank].node, &m);
        buf_printf(&name, "@%u", j->plan.procs[rank].node);
    } else if (!slice_is(who, "WORLD")) {
        m.count = 0;
        st = listed_members(j, who, &m);
    }
    if (st == ANSWER_OK && (!buf_ok(&name) || coll_group_get(&j->colls, buf_slice(&name), m.ranks,
                                                             m.count, false, group_p) < 0))
        st = ANSWER_NO_MEMORY;
    buf_free(&name);
    free(m.ranks);
    return st;
}

static bool has_lost_member(const struct job *j, const struct coll_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (j->procs[coll_member(g, i)].unreachable)
            return true;
    }
    return false;
}

static void wake_others(struct job *j, const struct coll *c, uint64_t but)
{
    for (uint32_t i = 0; i < c->group->count; i++) {
        struct proc *p = &j->procs[coll_member(c->group, i)];
        if (c->tickets[i] == but)
            continue;
        p->fences -= p->fences > 0;
        effects_push(j->effects, (struct effect){ .kind = EFFECT_ANSWER,
                                                  .status = ANSWER_OK,
                                                  .job = j->id,
                                                  .ticket = c->tickets[i] });
    }
}

enum answer_status job_miss(struct job *j)
{
    uint32_t r = 0;

    while (r + 1 < j->plan.nprocs && !j->procs[r].unreachable)
        r++;
    if (!j->keep_going)
        job_abort(j, r, 1, "rank %u on %s (pid %d) has ended, and others wait for it in a fence", r,
                  j->plan.nodes[j->plan.procs[r].node].name, j->procs[r].pid);
    return ANSWER_FAILED;
}

/* Without memory for a deadline the fence is waited for without one. */
static enum answer_status wait_in(struct job *j, struct coll_group *g, uint32_t rank,
                                  uint64_t ticket, uint64_t deadline_ns)
{
    j->procs[rank].fences++;
    if (deadline_ns != UINT64_MAX)
        coll_wait_until(&j->colls, g, rank, ticket, deadline_ns);
    return ANSWER_LATER;
}

static enum answer_status enter(struct job *j, struct coll_group *g, uint32_t rank, uint64_t ticket,
                                uint64_t now_ns, uint64_t deadline_ns)
{
    struct coll *c;

    if (j->lost && has_lost_member(j, g))
        return job_miss(j);
    if (j->procs[rank].fences >= LIMIT_CLIENT_FENCES)
        return ANSWER_OVER_QUOTA;
    switch (coll_enter(g, rank, ticket, now_ns, &c)) {
    case COLL_OK: break;
    case COLL_WAITING: return wait_in(j, g, rank, ticket, deadline_ns);
    case COLL_NOT_MEMBER: return ANSWER_BAD_KEY;
    default: return ANSWER_NO_MEMORY;
    }
    seg_publish(&j->store);
    wake_others(j, c, ticket);
    coll_free(&j->colls, c);
    return ANSWER_OK;
}

enum answer_status job_fence_until(struct job *j, uint32_t rank, struct slice group,
                                   uint64_t ticket, uint64_t now_ns, uint64_t deadline_ns)
{
    struct coll_group *g = j->world;
    enum answer_status st = group.len ? find_group(j, rank, group, &g) : ANSWER_OK;

    if (st != ANSWER_OK)
        return st;
    st = enter(j, g, rank, ticket, now_ns, deadline_ns);
    if (st != ANSWER_OK && st != ANSWER_LATER)
        coll_group_drop_idle(&j->colls, g);
    return st;
}

enum answer_status job_fence(struct job *j, uint32_t rank, struct slice group, uint64_t ticket,
                             uint64_t now_ns)
{
    return job_fence_until(j, rank, group, ticket, now_ns, UINT64_MAX);
}

uint64_t job_fences_tick(struct job *j, uint64_t now_ns)
{
    uint64_t ticket;
    uint32_t rank;

    while (coll_withdraw_late(&j->colls, now_ns, &rank, &ticket)) {
        j->procs[rank].fences -= j->procs[rank].fences > 0;
        effects_push(j->effects, (struct effect){ .kind = EFFECT_ANSWER,
                                                  .status = ANSWER_TIMEOUT,
                                                  .job = j->id,
                                                  .ticket = ticket });
    }
    return j->colls.due;
}
