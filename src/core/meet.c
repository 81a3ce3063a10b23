/* meet.c - see meet.h. */
#include "core/meet.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { MEET_NAME_MAX = 1 << 20 };

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
    struct buf name;
    struct member *sorted;
    uint32_t *ids;
    uint64_t nids, room;
};

static void meeting_free(struct meeting *m)
{
    buf_free(&m->name);
    free(m->sorted);
    free(m->ids);
}

/* How many processes the members are, or 0: somebody is unknown. */
static uint64_t count_ids(const struct core *c, const struct request *rq)
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

static void add_ids(struct meeting *m, const struct job *j, uint32_t rank)
{
    if (rank != REQUEST_ALL_RANKS) {
        m->ids[m->nids++] = j->base + rank;
        return;
    }
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        m->ids[m->nids++] = j->base + r;
}

static void drop_repeats(struct meeting *m)
{
    uint64_t kept = 0;

    qsort(m->ids, m->nids, sizeof *m->ids, by_number);
    for (uint64_t i = 0; i < m->nids; i++) {
        if (i == 0 || m->ids[i] != m->ids[kept - 1])
            m->ids[kept++] = m->ids[i];
    }
    m->nids = kept;
}

static enum answer_status plan_meeting(const struct core *c, const struct request *rq,
                                       struct meeting *m)
{
    m->room = count_ids(c, rq);
    if (m->room == 0)
        return ANSWER_NOT_FOUND;
    m->sorted = calloc(rq->count, sizeof *m->sorted);
    m->ids = calloc(m->room, sizeof *m->ids);
    if (!m->sorted || !m->ids)
        return ANSWER_NO_MEMORY;
    memcpy(m->sorted, rq->members, rq->count * sizeof *m->sorted);
    qsort(m->sorted, rq->count, sizeof *m->sorted, by_name);
    buf_slice_put(&m->name, rq->key);
    for (uint32_t i = 0; i < rq->count; i++) {
        buf_byte(&m->name, ' ');
        buf_slice_put(&m->name, m->sorted[i].nspace);
        buf_byte(&m->name, '.');
        buf_u64(&m->name, m->sorted[i].rank);
        add_ids(m, core_job_named(c, m->sorted[i].nspace), m->sorted[i].rank);
    }
    drop_repeats(m);
    return buf_ok(&m->name) ? ANSWER_OK : ANSWER_NO_MEMORY;
}

static bool has_ended_member(const struct core *c, const struct coll_group *g)
{
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        for (uint32_t r = 0; j->ended + j->lost && r < j->plan.nprocs; r++) {
            bool ended = j->procs[r].state == LIFE_GONE || j->procs[r].unreachable;
            if (ended && coll_position(g, j->base + r) >= 0)
                return true;
        }
    }
    return false;
}

static void wake_others(struct core *c, const struct job *j, const struct coll *round, uint64_t but)
{
    for (uint32_t i = 0; i < round->group->count; i++) {
        if (round->tickets[i] != but)
            effects_push(&c->effects, (struct effect){ .kind = EFFECT_ANSWER,
                                                       .status = ANSWER_OK,
                                                       .job = j->id,
                                                       .number = c->nmeetings,
                                                       .ticket = round->tickets[i] });
    }
}

static enum answer_status enter(struct core *c, struct job *j, uint32_t rank, struct meeting *m,
                                uint64_t ticket, uint64_t now_ns, uint64_t deadline_ns)
{
    struct coll_group *g;
    struct coll *round;
    int rc =
        coll_group_get(&c->meetings, buf_slice(&m->name), m->ids, (uint32_t)m->nids, false, &g);

    if (rc < 0)
        return ANSWER_NO_MEMORY;
    if (has_ended_member(c, g)) {
        coll_group_drop_idle(&c->meetings, g);
        return ANSWER_FAILED;
    }
    rc = coll_enter(g, j->base + rank, ticket, now_ns, &round);
    if (rc == COLL_WAITING) {
        if (deadline_ns != UINT64_MAX) /* no memory: waited for without */
            coll_wait_until(&c->meetings, g, j->base + rank, ticket, deadline_ns);
        return ANSWER_LATER;
    }
    if (rc != COLL_OK) {
        coll_group_drop_idle(&c->meetings, g);
        return rc == COLL_NOT_MEMBER ? ANSWER_BAD_KEY : ANSWER_NO_MEMORY;
    }
    c->nmeetings++;
    wake_others(c, j, round, ticket);
    coll_free(&c->meetings, round);
    return ANSWER_OK;
}

enum answer_status meet_enter(struct core *c, struct job *j, uint32_t rank,
                              const struct request *rq, uint64_t ticket, uint64_t now_ns)
{
    struct meeting m = { .name = BUF_NULL(MEET_NAME_MAX) };
    uint64_t deadline = rq->timeout_ns ? now_ns + rq->timeout_ns : UINT64_MAX;
    enum answer_status st = plan_meeting(c, rq, &m);

    if (st == ANSWER_OK)
        st = enter(c, j, rank, &m, ticket, now_ns, deadline);
    meeting_free(&m);
    return st;
}

uint64_t meet_tick(struct core *c, uint64_t now_ns)
{
    uint64_t ticket;
    uint32_t id;

    while (coll_withdraw_late(&c->meetings, now_ns, &id, &ticket))
        effects_push(
            &c->effects,
            (struct effect){ .kind = EFFECT_ANSWER, .status = ANSWER_TIMEOUT, .ticket = ticket });
    return c->meetings.due;
}
