/* job_fence.c - see job_fence.h. */
#include "core/job_fence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "core/effect.h"
#include "core/exchange_data.h"
#include "core/job_end.h"
#include "core/job_restart.h"

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
    m->ranks = calloc(text.len / 2 + 1, sizeof *m->ranks); /* a rank takes at least two bytes */
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

static void put_list(const struct member_list *m, struct buf *out)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (i)
            buf_byte(out, ',');
        buf_u64(out, m->ranks[i]);
    }
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

/* Several nodes: the members on this node, and whether there are others. */
static int get_group(struct job *j, struct slice name, const struct member_list *m,
                     struct collective_group **group_p)
{
    struct member_list here = { NULL, 0 };
    int rc;

    if (!j->spread)
        return collective_group_get(&j->colls, name, m->ranks, m->count, false, group_p);
    if (!m->ranks)
        return collective_group_get_spread(&j->colls, name, j->mine, j->nmine, NULL, m->count,
                                           false, group_p);
    here.ranks = calloc(m->count + (size_t)1, sizeof *here.ranks);
    if (!here.ranks)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->count; i++) {
        if (job_rank_is_here(j, m->ranks[i]))
            here.ranks[here.count++] = m->ranks[i];
    }
    if (here.count == m->count)
        rc = collective_group_get(&j->colls, name, m->ranks, m->count, false, group_p);
    else
        rc = collective_group_get_spread(&j->colls, name, here.ranks, here.count, m->ranks,
                                         m->count, false, group_p);
    free(here.ranks);
    return rc;
}

static enum answer_status find_group(struct job *j, uint32_t rank, struct slice group,
                                     struct collective_group **group_p)
{
    struct slice who = members_of(group);
    struct member_list m = { NULL, j->plan.nprocs };
    struct buf name = BUF_NULL(1 << 20);
    enum answer_status st = ANSWER_OK;

    /* No list of members that is longer than necessary, and no byte that a name cannot hold. */
    if (group.len > 64 + (size_t)11 * j->plan.nprocs || slice_find(group, '\0') < group.len)
        return ANSWER_BAD_KEY;

    if (slice_is(who, "NODE")) {
        m.count = 0;
        st = node_members(j, j->plan.procs[rank].node, &m);
        buf_slice_put(&name, group);
        buf_printf(&name, "@%u", j->plan.procs[rank].node);
    } else if (slice_is(who, "WORLD")) {
        buf_slice_put(&name, group);
    } else {
        m.count = 0;
        st = listed_members(j, who, &m);
        put_list(&m, &name);
        buf_slice_put(&name, slice_skip(group, who.len)); /* the tag */
    }
    if (st == ANSWER_OK && (!buf_ok(&name) || get_group(j, buf_slice(&name), &m, group_p) < 0))
        st = ANSWER_NO_MEMORY;
    buf_free(&name);
    free(m.ranks);
    return st;
}

/* A member on this node that will not come to the round (NULL: a new one).  It may have come before
 * it ended. */
static bool is_missing(const struct job *j, const struct collective_group *g,
                       const struct collective *c, uint32_t rank)
{
    int64_t at = collective_position(g, rank);

    return at >= 0 && j->procs[rank].unreachable && (!c || !collective_is_here(c, (uint32_t)at));
}

uint32_t job_missing(const struct job *j, const struct collective_group *g, uint32_t rank)
{
    const struct collective *c = j->lost ? collective_next(g, rank) : NULL;

    if (!j->lost || collective_is_behind(g, rank))
        return JOB_NO_RANK;
    if (j->failed && j->culprit < j->plan.nprocs && is_missing(j, g, c, j->culprit))
        return j->culprit;
    for (uint32_t i = 0; i < g->count; i++) {
        if (is_missing(j, g, c, collective_member(g, i)))
            return collective_member(g, i);
    }
    return JOB_NO_RANK;
}

void job_answer_round(struct job *j, const struct collective *c, enum answer_status status)
{
    for (uint32_t i = 0; i < c->group->count; i++) {
        struct proc *p = &j->procs[collective_member(c->group, i)];
        if (!collective_is_here(c, i))
            continue;
        p->fences -= p->fences > 0;
        effects_answer(j->effects, c->tickets[i], answer_status(status));
    }
}

static void wake_others(struct job *j, const struct collective *c, uint64_t but)
{
    for (uint32_t i = 0; i < c->group->count; i++) {
        struct proc *p = &j->procs[collective_member(c->group, i)];
        if (c->tickets[i] == but)
            continue;
        p->fences -= p->fences > 0;
        effects_answer(j->effects, c->tickets[i], answer_status(ANSWER_OK));
    }
}

/* Why rank will not come.  A node that does not control the job does not know whether processes of
 * other nodes had called init. */
static void explain(const struct job *j, uint32_t rank, struct errmsg *why)
{
    const struct proc *p = &j->procs[rank];
    bool known = !j->follows || job_rank_is_here(j, rank);
    const char *others = "and others wait for it in a fence";
    const char *abbrev = p->signalled ? sigabbrev_np(p->code) : NULL;
    struct errmsg who;

    errmsg_set(&who, 0, "rank %u on %s (pid %d)", rank,
               j->plan.nodes[j->plan.procs[rank].node].name, p->pid);
    if (p->state != PROC_STATE_GONE)
        errmsg_set(why, 0, "%s no longer takes part, %s", who.text, others);
    else if (p->signalled)
        errmsg_set(why, 0, "%s was killed by signal %d (SIG%s), %s", who.text, p->code,
                   abbrev ? abbrev : "?", others);
    else if (known && !p->joined)
        errmsg_set(why, 0,
                   "%s exited with code %d before it took part: others wait for it in a fence",
                   who.text, p->code);
    else
        errmsg_set(why, 0, "%s exited with code %d%s, %s", who.text, p->code,
                   known && p->left ? " after finalize" : "", others);
}

enum answer_status job_miss(struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    struct errmsg why;

    if (j->keep_going)
        return ANSWER_FAILED;
    explain(j, rank, &why);
    job_abort(j, rank, p->signalled ? 128 + p->code : p->code ? p->code : 1, "%s", why.text);
    return ANSWER_FAILED;
}

void job_fence_forget(struct job *j, uint32_t rank)
{
    uint64_t ticket;

    while (collective_withdraw_rank(&j->colls, rank, &ticket)) {
        j->procs[rank].fences -= j->procs[rank].fences > 0;
        effects_answer(j->effects, ticket, answer_status(ANSWER_FAILED));
    }
}

/* Without memory for a deadline the fence has none. */
static enum answer_status wait_in(struct job *j, struct collective_group *g, uint32_t rank,
                                  uint64_t ticket, uint64_t deadline_ns)
{
    j->procs[rank].fences++;
    if (deadline_ns != UINT64_MAX)
        collective_wait_until(&j->colls, g, rank, ticket, deadline_ns);
    effects_tick_by(j->effects, deadline_ns);
    return ANSWER_LATER;
}

/* All members on this node have arrived; the last one waits with them for the other nodes. */
static enum answer_status contribute(struct job *j, uint32_t rank, struct collective *c,
                                     uint64_t ticket, uint64_t deadline_ns)
{
    if (exchange_data_fence(j, c))
        return wait_in(j, c->group, rank, ticket, deadline_ns);
    j->procs[rank].fences++;
    job_answer_round(j, c, ANSWER_NO_MEMORY);
    collective_free(&j->colls, c);
    job_abort(j, JOB_NO_RANK, 1, "out of memory for a fence of several nodes"); /* others wait */
    return ANSWER_LATER;
}

void job_fence_over(struct job *j, struct slice group, uint64_t generation,
                    enum answer_status status)
{
    struct collective *c = collective_take_contributed(&j->colls, group, generation);

    if (!c) /* it was aborted meanwhile */
        return;
    job_answer_round(j, c,
                     status == ANSWER_OK || status == ANSWER_NO_MEMORY ||
                             status == ANSWER_UNSUPPORTED
                         ? status
                         : ANSWER_FAILED);
    if (status == ANSWER_OK)
        collective_over(&j->colls, c);
    else
        collective_free(&j->colls, c);
}

static void ask_about(struct job *j, uint32_t rank, const struct collective *c)
{
    effects_push(j->effects, EFFECT_WITH(collective_query, .job = j->id, .rank = rank,
                                         .id = collective_id(c, j->id)));
}

static void ask_about_all(struct job *j, uint32_t rank, const struct collective_set *s,
                          uint32_t number)
{
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        if (!g->spread || !collective_includes(g, number))
            continue;
        LIST_EACH(w, &g->rounds)
        ask_about(j, rank, LIST_OF(w, struct collective, link));
        LIST_EACH(k, &g->contributed)
        ask_about(j, rank, LIST_OF(k, struct collective, link));
    }
}

void job_fence_ask(struct job *j, uint32_t rank)
{
    ask_about_all(j, rank, &j->colls, rank);
    if (j->meetings)
        ask_about_all(j, rank, j->meetings, j->base + rank);
}

void job_ask_about_lost(struct job *j, const struct collective *c)
{
    const struct collective_group *g = c->group;

    for (uint32_t i = 0; j->lost && g->spread && i < g->nall; i++) {
        uint32_t rank = g->all ? g->all[i] : i;
        if (j->procs[rank].unreachable && !job_rank_is_here(j, rank))
            ask_about(j, rank, c);
    }
}

void job_fence_receive(struct job *j, uint32_t rank, struct slice group, uint64_t generation,
                       bool will_complete)
{
    struct collective *c = will_complete ? NULL : collective_take(&j->colls, group, generation);

    if (!c)
        return;
    if (c->arrived)
        job_miss(j, rank);
    job_answer_round(j, c, ANSWER_FAILED);
    collective_free(&j->colls, c);
}

static void note_wishes(struct collective *c, bool collect, struct slice ways)
{
    c->collect = c->collect || collect;
    if (!c->ways[0] && ways.len)
        snprintf(c->ways, sizeof c->ways, SLICE_FMT, SLICE_ARG(ways));
}

static enum answer_status enter(struct job *j, struct collective_group *g, uint32_t rank,
                                bool collect, struct slice ways, uint64_t ticket, uint64_t now_ns,
                                uint64_t deadline_ns)
{
    uint32_t lost = job_missing(j, g, rank);
    bool fresh = j->lost && !collective_next(g, rank);
    struct collective *c;

    if (lost != JOB_NO_RANK)
        return job_miss(j, lost);
    if (j->procs[rank].fences >= LIMIT_CLIENT_FENCES)
        return ANSWER_OVER_QUOTA;
    switch (collective_enter(g, rank, ticket, now_ns, &c)) {
    case COLLECTIVE_OK: break;
    case COLLECTIVE_WAITING:
        note_wishes(c, collect, ways);
        if (fresh)
            job_ask_about_lost(j, c);
        return wait_in(j, g, rank, ticket, deadline_ns);
    case COLLECTIVE_OVER: collective_paid(&j->colls, c); return ANSWER_OK;
    case COLLECTIVE_NOT_MEMBER: return ANSWER_BAD_KEY;
    default: return ANSWER_NO_MEMORY;
    }
    note_wishes(c, collect, ways);
    if (fresh)
        job_ask_about_lost(j, c);
    if (g->spread)
        return contribute(j, rank, c, ticket, deadline_ns);
    seg_publish(&j->store);
    wake_others(j, c, ticket);
    collective_free(&j->colls, c);
    return ANSWER_OK;
}

enum answer_status job_fence_until(struct job *j, uint32_t rank, struct slice group, bool collect,
                                   struct slice ways, uint64_t ticket, uint64_t now_ns,
                                   uint64_t deadline_ns)
{
    struct collective_group *g = j->world;
    enum answer_status st = group.len ? find_group(j, rank, group, &g) : ANSWER_OK;

    if (st != ANSWER_OK)
        return st;
    st = job_restart_is_news(j, rank)
             ? ANSWER_RESTARTED
             : enter(j, g, rank, collect, ways, ticket, now_ns, deadline_ns);
    if (st != ANSWER_OK && st != ANSWER_LATER)
        collective_group_drop_idle(&j->colls, g);
    return st;
}

enum answer_status job_fence(struct job *j, uint32_t rank, struct slice group, bool collect,
                             uint64_t ticket, uint64_t now_ns)
{
    return job_fence_until(j, rank, group, collect, SLICE_NULL, ticket, now_ns, UINT64_MAX);
}

uint64_t job_fences_tick(struct job *j, uint64_t now_ns)
{
    uint64_t ticket;
    uint32_t rank;

    while (collective_withdraw_late(&j->colls, now_ns, &rank, &ticket)) {
        j->procs[rank].fences -= j->procs[rank].fences > 0;
        effects_answer(j->effects, ticket, answer_status(ANSWER_TIMEOUT));
    }
    return j->colls.due;
}
