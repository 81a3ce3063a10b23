/* collective_multijob.c - see collective_multijob.h. */
#include "core/collective_multijob.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/contribution.h"
#include "core/effect_queue.h"
#include "core/proc_connect.h"
#include "core/coll_id.h"
#include "core/contribution_places.h"
#include "core/request.h"
#include "wire/parts.h"

enum { COLLECTIVE_MULTIJOB_NAME_MAX = 1 << 20 };

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = slice_cmp(x->nspace, y->nspace);

    return order ? order : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

struct meeting {
    struct coll_meeting what;
    struct buf name; /* of its group */
    struct member *sorted;
    uint32_t nsorted;
    uint32_t *ids;
    uint64_t nids, room;
    uint32_t *mine; /* of these, the ones that are here */
    uint64_t nmine;
};

static void meeting_free(struct meeting *m)
{
    buf_free(&m->name);
    free(m->sorted);
    free(m->ids);
    free(m->mine);
}

/* The number of processes that the members stand for, or 0: one is unknown. */
static uint64_t count_ids(const struct core *c, const struct request_collective *rq)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < rq->count; i++) {
        const struct job *j = core_job_named(c, rq->members[i].nspace);
        bool all = rq->members[i].rank == REQUEST_ALL_RANKS;
        if (!j || (!all && rq->members[i].rank >= j->plan.nprocs))
            return 0;
        n += all ? j->plan.nprocs : 1;
    }
    return n;
}

static void add_id(struct meeting *m, const struct job *j, uint32_t rank)
{
    m->ids[m->nids++] = j->base + rank;
    if (job_rank_is_here(j, rank))
        m->mine[m->nmine++] = j->base + rank;
}

static void add_ids(struct meeting *m, const struct job *j, uint32_t rank)
{
    if (rank != REQUEST_ALL_RANKS) {
        add_id(m, j, rank);
        return;
    }
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        add_id(m, j, r);
}

static void drop_repeats(uint32_t *ids, uint64_t *n_p)
{
    uint64_t kept = 0;

    qsort(ids, *n_p, sizeof *ids, by_number);
    for (uint64_t i = 0; i < *n_p; i++) {
        if (i == 0 || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    }
    *n_p = kept;
}

static void sort_members(struct meeting *m, const struct request_collective *rq)
{
    memcpy(m->sorted, rq->members, rq->count * sizeof *m->sorted);
    qsort(m->sorted, rq->count, sizeof *m->sorted, by_name);
    for (uint32_t i = 0; i < rq->count; i++) {
        if (i == 0 || by_name(&m->sorted[i], &m->sorted[m->nsorted - 1]) != 0)
            m->sorted[m->nsorted++] = m->sorted[i];
    }
}

static enum answer_status plan_meeting(const struct core *c, const struct request_collective *rq,
                                       struct meeting *m)
{
    if (!coll_id_purpose(rq->purpose, &m->what))
        return ANSWER_BAD_KEY;
    m->room = count_ids(c, rq);
    if (m->room == 0)
        return ANSWER_NOT_FOUND;
    m->sorted = calloc(rq->count, sizeof *m->sorted);
    m->ids = calloc(m->room, sizeof *m->ids);
    m->mine = calloc(m->room, sizeof *m->mine);
    if (!m->sorted || !m->ids || !m->mine)
        return ANSWER_NO_MEMORY;
    sort_members(m, rq);
    for (uint32_t i = 0; i < m->nsorted; i++)
        add_ids(m, core_job_named(c, m->sorted[i].nspace), m->sorted[i].rank);
    m->what.members = m->sorted;
    m->what.nmembers = m->nsorted;
    coll_meeting_write(&m->what, &m->name);
    drop_repeats(m->ids, &m->nids);
    drop_repeats(m->mine, &m->nmine);
    return buf_ok(&m->name) ? ANSWER_OK : ANSWER_NO_MEMORY;
}

static bool has_ended_member(const struct core *c, const struct collective_group *g)
{
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        for (uint32_t r = 0; j->ended + j->lost && r < j->plan.nprocs; r++) {
            bool ended = j->procs[r].state == PROC_STATE_GONE || j->procs[r].unreachable;
            if (ended && collective_includes(g, j->base + r))
                return true;
        }
    }
    return false;
}

static void wake_others(struct core *c, const struct collective *round, uint64_t but)
{
    for (uint32_t i = 0; i < round->group->count; i++) {
        if (round->tickets[i] != but)
            effects_answer(&c->effects, round->tickets[i],
                           ANSWER_TO(collective, ANSWER_OK, .number = (int64_t)core_meetings(c)));
    }
}

static void answer_all(struct core *c, const struct collective *round, enum answer_status status,
                       uint64_t number)
{
    for (uint32_t i = 0; i < round->group->count; i++) {
        if (collective_is_here(round, i)) /* and has not withdrawn */
            effects_answer(&c->effects, round->tickets[i],
                           ANSWER_TO(collective, status, .number = (int64_t)number));
    }
}

/* ---- several nodes --------------------------------------------------------------------------- */

static void name_parties(const struct core *c, const struct meeting *m, struct contribution *k)
{
    for (uint32_t i = 0; i < k->nparties; i++) {
        const struct job *j = core_job_named(c, m->sorted[i].nspace);
        k->parties[i] = (struct party){ j->id, m->sorted[i].rank };
    }
}

/* This node makes the collective's number. */
static bool is_first(const struct core *c, const struct contribution *k)
{
    struct place *places;
    uint32_t n;
    const struct job *j;
    bool first;

    if (contribution_places(c, k, &places, &n) < 0)
        return false;
    j = n ? core_job(c, places[0].job) : NULL;
    first = j && (!j->spread || places[0].node == j->here);
    free(places);
    return first;
}

static bool push_contribution(struct core *c, const struct meeting *m,
                              const struct collective *round)
{
    struct coll_id id = collective_id(round, 0);
    struct contribution *k = contribution_new(&id, false, m->nsorted);

    if (!k)
        return false;
    name_parties(c, m, k);
    if (is_first(c, k)) {
        c->nmeetings++;
        buf_byte(&k->block, 'M');
        parts_put_uint(&k->block, core_meetings(c));
    }
    if (!buf_ok(&k->block)) {
        contribution_free(k);
        return false;
    }
    return effects_contribute(&c->effects, k->parties[0].job, k);
}

static bool read_number(const struct slice *blocks, uint32_t n, uint64_t *number_p)
{
    for (uint32_t i = 0; i < n; i++) {
        struct slice rest = blocks[i];
        if (rest.len == 0 || rest.ptr[0] != 'M')
            continue;
        rest = slice_skip(rest, 1);
        return parts_get_uint(&rest, number_p);
    }
    return false;
}

void collective_multijob_over(struct core *c, const struct coll_id *id, enum answer_status status,
                              const struct slice *blocks, uint32_t nblocks)
{
    struct collective *round = collective_take_contributed(&c->meetings, id->group, id->generation);
    uint64_t number = 0;

    if (!round)
        return;
    if (status == ANSWER_OK && !read_number(blocks, nblocks, &number))
        number = round->number;
    if (status == ANSWER_OK && number == 0)
        status = ANSWER_FAILED;
    if (status == ANSWER_OK)
        proc_connect_meeting(c, id->kind, round->group->members, round->group->count,
                             round->group->all, round->group->nall);
    answer_all(c, round, status, number);
    round->number = number;
    if (status == ANSWER_OK)
        collective_over(&c->meetings, round);
    else
        collective_free(&c->meetings, round);
}

void collective_multijob_fail(struct core *c, const struct coll_id *id)
{
    struct collective *round = collective_take(&c->meetings, id->group, id->generation);

    if (!round)
        return;
    answer_all(c, round, ANSWER_FAILED, 0);
    collective_free(&c->meetings, round);
}

/* False: it is over, and all participants are answered. */
static bool contribute(struct core *c, const struct meeting *m, struct collective *round)
{
    uint32_t before = c->nmeetings;

    if (push_contribution(c, m, round)) {
        if (c->nmeetings != before)
            round->number = core_meetings(c);
        collective_contributed(round);
        return true;
    }
    answer_all(c, round, ANSWER_NO_MEMORY, 0);
    collective_free(&c->meetings, round);
    return false;
}

/* Without memory for a deadline the wait has none. */
static enum answer_status wait_in(struct core *c, struct collective_group *g, uint32_t id,
                                  uint64_t ticket, uint64_t deadline_ns)
{
    if (deadline_ns != UINT64_MAX)
        collective_wait_until(&c->meetings, g, id, ticket, deadline_ns);
    effects_tick_by(&c->effects, deadline_ns);
    return ANSWER_LATER;
}

static int get_group(struct core *c, const struct meeting *m, struct collective_group **group_p)
{
    struct slice name = buf_slice(&m->name);
    uint32_t n = (uint32_t)m->nids, mine = (uint32_t)m->nmine;

    if (n == mine && !(c->reports_collectives && m->what.kind != COLL_MEET_FENCE))
        return collective_group_get(&c->meetings, name, m->ids, n, false, group_p);
    return collective_group_get_spread(&c->meetings, name, m->mine, mine, m->ids, n, false,
                                       group_p);
}

static enum answer_status enter(struct core *c, struct job *j, uint32_t rank, struct meeting *m,
                                uint64_t ticket, uint64_t now_ns, uint64_t deadline_ns)
{
    struct collective_group *g;
    struct collective *round;
    int rc = get_group(c, m, &g);

    if (rc < 0)
        return ANSWER_NO_MEMORY;
    g->kind = m->what.kind;
    if (!collective_is_behind(g, j->base + rank) && has_ended_member(c, g)) {
        collective_group_drop_idle(&c->meetings, g);
        return ANSWER_FAILED;
    }
    rc = collective_enter(g, j->base + rank, ticket, now_ns, &round);
    if (rc == COLLECTIVE_WAITING)
        return wait_in(c, g, j->base + rank, ticket, deadline_ns);
    if (rc == COLLECTIVE_OVER) {
        effects_answer(&c->effects, ticket,
                       ANSWER_TO(collective, ANSWER_OK, .number = (int64_t)round->number));
        collective_paid(&c->meetings, round);
        return ANSWER_LATER;
    }
    if (rc != COLLECTIVE_OK) {
        collective_group_drop_idle(&c->meetings, g);
        return rc == COLLECTIVE_NOT_MEMBER ? ANSWER_BAD_KEY : ANSWER_NO_MEMORY;
    }
    if (g->spread)
        return contribute(c, m, round) ? wait_in(c, g, j->base + rank, ticket, deadline_ns)
                                       : ANSWER_LATER;
    proc_connect_meeting(c, m->what.kind, m->mine, (uint32_t)m->nmine, m->ids, (uint32_t)m->nids);
    c->nmeetings++;
    wake_others(c, round, ticket);
    collective_free(&c->meetings, round);
    return ANSWER_OK;
}

enum answer_status collective_multijob_enter(struct core *c, struct job *j, uint32_t rank,
                                             const struct request_collective *rq, uint64_t ticket,
                                             uint64_t now_ns)
{
    struct meeting m = { .name = BUF_NULL(COLLECTIVE_MULTIJOB_NAME_MAX) };
    uint64_t deadline = rq->timeout_ns ? now_ns + rq->timeout_ns : UINT64_MAX;
    enum answer_status st = plan_meeting(c, rq, &m);

    if (st == ANSWER_OK)
        st = enter(c, j, rank, &m, ticket, now_ns, deadline);
    meeting_free(&m);
    return st;
}

uint64_t collective_multijob_tick(struct core *c, uint64_t now_ns)
{
    uint64_t ticket;
    uint32_t id;

    while (collective_withdraw_late(&c->meetings, now_ns, &id, &ticket))
        effects_answer(&c->effects, ticket, answer_status(ANSWER_TIMEOUT));
    return c->meetings.due;
}
