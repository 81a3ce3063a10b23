/* collective_multijob.c - see collective_multijob.h. */
#include "core/collective_multijob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "core/contribution.h"
#include "core/effect.h"
#include "core/group_record.h"
#include "core/job_restart.h"
#include "core/proc_connect.h"
#include "core/coll_id.h"
#include "core/contribution_places.h"
#include "core/request.h"
#include "wire/parts.h"

enum { COLLECTIVE_MULTIJOB_NAME_MAX = 1 << 20 };

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
static uint64_t count_ids(const struct core *c, const struct member *members, uint32_t count)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct job *j = core_job_named(c, members[i].nspace);
        bool all = members[i].rank == REQUEST_ALL_RANKS;
        if (!j || (!all && members[i].rank >= j->plan.nprocs))
            return 0;
        n += all ? j->plan.nprocs : 1;
    }
    return n;
}

bool collective_multijob_is_over(const struct core *c, const struct member *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!core_job_named(c, members[i].nspace) && core_ended_job(c, members[i].nspace))
            return true;
    }
    return false;
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

static void sort_members(struct meeting *m, const struct member *members, uint32_t count)
{
    memcpy(m->sorted, members, count * sizeof *m->sorted);
    m->nsorted = coll_meeting_sort(m->sorted, count);
}

static enum answer_status plan_members(const struct core *c, const struct member *members,
                                       uint32_t count, struct meeting *m)
{
    m->room = count_ids(c, members, count);
    if (m->room == 0)
        return collective_multijob_is_over(c, members, count) ? ANSWER_FAILED : ANSWER_NOT_FOUND;
    m->sorted = calloc(count, sizeof *m->sorted);
    m->ids = calloc(m->room, sizeof *m->ids);
    m->mine = calloc(m->room, sizeof *m->mine);
    if (!m->sorted || !m->ids || !m->mine)
        return ANSWER_NO_MEMORY;
    sort_members(m, members, count);
    for (uint32_t i = 0; i < m->nsorted; i++)
        add_ids(m, core_job_named(c, m->sorted[i].nspace), m->sorted[i].rank);
    m->what.members = m->sorted;
    m->what.nmembers = m->nsorted;
    coll_meeting_write(&m->what, &m->name);
    drop_repeats(m->ids, &m->nids);
    drop_repeats(m->mine, &m->nmine);
    return buf_ok(&m->name) ? ANSWER_OK : ANSWER_NO_MEMORY;
}

static enum answer_status plan_meeting(const struct core *c, const struct request_collective *rq,
                                       struct meeting *m)
{
    if (!coll_id_purpose(rq->purpose, &m->what))
        return ANSWER_BAD_KEY;
    return plan_members(c, rq->members, rq->count, m);
}

static void answer_others(struct core *c, const struct collective *round, enum answer_status status,
                          uint64_t number, uint64_t but)
{
    for (uint32_t i = 0; i < round->group->count; i++) {
        bool waits = collective_is_here(round, i); /* and has not withdrawn */
        if (waits && round->tickets[i] != COLLECTIVE_ABSENT && round->tickets[i] != but)
            effects_answer(&c->effects, round->tickets[i],
                           ANSWER_TO(collective, status, .number = (int64_t)number));
    }
}

static void answer_all(struct core *c, const struct collective *round, enum answer_status status,
                       uint64_t number)
{
    answer_others(c, round, status, number, COLLECTIVE_ABSENT);
}

/* ---- data of the members --------------------------------------------------------------------- */

/* The data that a member gives to the others, as the note of its arrival. */
struct member_data {
    size_t len;
    char bytes[];
};

static bool has_records(enum coll_kind kind)
{
    return kind == COLL_GROUP || coll_kind_is_flexible(kind);
}

/* NULL in *note_p: it gives nothing.  False: no memory. */
static bool make_note(struct slice data, struct member_data **note_p)
{
    *note_p = data.len ? malloc(sizeof **note_p + data.len) : NULL;
    if (!*note_p)
        return data.len == 0;
    (*note_p)->len = data.len;
    memcpy((*note_p)->bytes, data.ptr, data.len);
    return true;
}

static void put_record(const struct core *c, const struct collective *round, uint32_t at,
                       struct buf *out)
{
    uint32_t id = collective_member(round->group, at);
    const struct job *j = core_job_of_id(c, id);
    const struct member_data *note = round->notes ? round->notes[at] : NULL;
    struct group_record r = { .kind = GROUP_ABSENT };

    if (!j || (round->tickets[at] != COLLECTIVE_ABSENT && !note))
        return;
    r.job = j->id;
    r.rank = id - j->base;
    if (note) {
        r.kind = GROUP_DATA;
        r.data = slice_mem(note->bytes, note->len);
    }
    group_record_put(out, &r);
}

static void put_records(const struct core *c, const struct collective *round, struct buf *out)
{
    for (uint32_t i = 0; has_records(round->group->kind) && i < round->group->count; i++)
        put_record(c, round, i, out);
}

/* For each job of a member here.  0, -ENOMEM. */
static int keep_for_jobs(struct core *c, const struct collective *round, uint64_t number,
                         struct slice name, struct slice records)
{
    const struct job *last = NULL;
    int rc = 0;

    for (uint32_t i = 0; i < round->group->count && rc == 0; i++) {
        const struct job *j = core_job_of_id(c, collective_member(round->group, i));
        if (j && j != last)
            rc = group_store_keep(&c->group_data, number, j->id, name, records);
        last = j;
    }
    return rc;
}

/* Keeps what the nodes have contributed for the sessions of the members here. */
static enum answer_status keep_records(struct core *c, const struct collective *round,
                                       uint64_t number, const struct slice *blocks, uint32_t n)
{
    struct buf all = BUF_NULL(LIMIT_GROUP_RECORDS);
    struct coll_meeting m;
    int rc = 0;

    if (!has_records(round->group->kind) || !coll_meeting_read(slice_str(round->group->name), &m))
        return ANSWER_OK;
    for (uint32_t i = 0; i < n; i++)
        buf_slice_put(&all, blocks[i]);
    if (m.kind == COLL_UNGROUP) /* the name stays that of the construct */
        m.name = SLICE_NULL;
    if (buf_ok(&all))
        rc = keep_for_jobs(c, round, number, m.name, buf_slice(&all));
    else
        rc = -ENOMEM;
    buf_free(&all);
    return rc < 0 ? ANSWER_NO_MEMORY : ANSWER_OK;
}

/* ---- several nodes --------------------------------------------------------------------------- */

/* The participants, as the name of the group has them. */
static struct contribution *new_contribution(const struct core *c, const struct collective *round)
{
    struct coll_id id = collective_id(round, 0);
    struct contribution *k = NULL;
    struct coll_meeting m;
    struct member *members;

    if (!coll_meeting_read(id.group, &m))
        return NULL;
    members = calloc((size_t)m.nmembers + 1, sizeof *members);
    if (members)
        k = contribution_new(&id, false, m.nmembers);
    if (k)
        coll_meeting_members(id.group, members);
    for (uint32_t i = 0; k && i < m.nmembers; i++) {
        const struct job *j = core_job_named(c, members[i].nspace);
        k->parties[i] = (struct party){ j ? j->id : JOB_NO_RANK, members[i].rank };
    }
    free(members);
    return k;
}

/* This node makes the collective's number.  In a flexible kind each does, as any may be lost. */
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

static bool push_contribution(struct core *c, struct collective *round)
{
    struct contribution *k = new_contribution(c, round);

    if (!k)
        return false;
    if (coll_kind_is_flexible(round->group->kind) || is_first(c, k)) {
        c->nmeetings++;
        round->number = core_meetings(c);
        group_record_put(&k->block,
                         &(struct group_record){ GROUP_NUMBER, .number = round->number });
    }
    put_records(c, round, &k->block);
    if (!buf_ok(&k->block)) {
        contribution_free(k);
        return false;
    }
    return effects_contribute(&c->effects, k->parties[0].job, k);
}

/* The least of the numbers that the nodes have made. */
static bool read_number(const struct slice *blocks, uint32_t n, uint64_t *number_p)
{
    uint64_t number;
    bool found = false;

    for (uint32_t i = 0; i < n; i++) {
        if (!group_record_number(blocks[i], &number))
            continue;
        *number_p = found && *number_p < number ? *number_p : number;
        found = true;
    }
    return found;
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
        status = keep_records(c, round, number, blocks, nblocks);
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

void collective_multijob_forget(struct core *c, const struct job *j)
{
    struct collective *round;

    while ((round = collective_take_with(&c->meetings, j->base, j->plan.nprocs))) {
        answer_all(c, round, ANSWER_FAILED, 0);
        collective_free(&c->meetings, round);
    }
}

/* Those of the job know of the start thereby. */
static void note_epoch(struct job *j, const struct collective *round)
{
    for (uint32_t i = 0; i < round->group->count; i++) {
        uint32_t rank = collective_member(round->group, i) - j->base;
        if (collective_is_here(round, i) && rank < j->plan.nprocs)
            j->procs[rank].epoch = j->epoch;
    }
}

void collective_multijob_restarted(struct core *c, struct job *j)
{
    struct collective *round;

    collective_forget_owed(&c->meetings, j->base, j->plan.nprocs);
    while ((round = collective_take_with(&c->meetings, j->base, j->plan.nprocs))) {
        note_epoch(j, round);
        answer_all(c, round, ANSWER_RESTARTED, 0);
        collective_free(&c->meetings, round);
    }
}

/* False: it is over, and all participants are answered. */
static bool contribute(struct core *c, struct collective *round)
{
    if (push_contribution(c, round)) {
        collective_contributed(round);
        return true;
    }
    answer_all(c, round, ANSWER_NO_MEMORY, 0);
    collective_free(&c->meetings, round);
    return false;
}

/* All members of this node have arrived, or are left out, and there are no others.  The status is
 * for the one that is not answered yet. */
static enum answer_status complete_here(struct core *c, struct collective *round, uint64_t but)
{
    struct buf records = BUF_NULL(LIMIT_GROUP_RECORDS);
    enum answer_status status = ANSWER_NO_MEMORY;
    struct slice all;

    c->nmeetings++;
    put_records(c, round, &records);
    all = buf_slice(&records);
    if (buf_ok(&records))
        status = keep_records(c, round, core_meetings(c), &all, 1);
    answer_others(c, round, status, core_meetings(c), but);
    collective_free(&c->meetings, round);
    buf_free(&records);
    return status;
}

/* ---- members that end without taking part ---------------------------------------------------- */

/* One that returns has not: its start ends the collectives of its job. */
static bool has_ended(const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    return (p->state == PROC_STATE_GONE && !p->returns) || p->unreachable;
}

/* Whether a member of this node has ended without having arrived where this one would.  (Whether
 * those of other nodes have, their nodes know: ask_nodes_of_ended.) */
static bool misses_ended(const struct core *c, const struct collective_group *g, uint32_t id)
{
    const struct collective *round = collective_next(g, id);

    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t member = collective_member(g, i);
        const struct job *j = core_job_of_id(c, member);
        if (j && has_ended(j, member - j->base) && !(round && collective_is_here(round, i)))
            return true;
    }
    return false;
}

/* Leaves a member of this node out of the round where it is missing.  True: that one is complete
 * here. */
static bool leave_out(struct core *c, struct collective_group *g, uint32_t id)
{
    struct collective *round;

    switch (collective_enter(g, id, COLLECTIVE_ABSENT, 0, &round)) {
    case COLLECTIVE_OK: break;
    case COLLECTIVE_OVER: collective_paid(&c->meetings, round); return false;
    default: return false;
    }
    if (g->spread)
        contribute(c, round);
    else
        complete_here(c, round, COLLECTIVE_ABSENT);
    return true;
}

void collective_multijob_gone(struct core *c, struct job *j, uint32_t rank)
{
    struct collective *round;

    while (has_ended(j, rank) && (round = collective_lacking(&c->meetings, j->base + rank)))
        leave_out(c, round->group, j->base + rank);
}

/* The members of the round that had ended before it began are left out.  Those of other nodes are
 * their nodes' to leave out: these may not know of the round.  True: it is complete here. */
static bool leave_out_ended(struct core *c, struct collective *round)
{
    struct collective_group *g = round->group;

    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t id = collective_member(g, i);
        const struct job *j = core_job_of_id(c, id);
        if (j && !collective_is_here(round, i) && has_ended(j, id - j->base) && leave_out(c, g, id))
            return true;
    }
    return false;
}

static void ask_nodes_of_ended(struct core *c, struct collective *round)
{
    const struct collective_group *g = round->group;

    round->asked = true;
    for (uint32_t i = 0; g->spread && i < g->nall; i++) {
        uint32_t id = g->all ? g->all[i] : i;
        const struct job *j = core_job_of_id(c, id);
        if (j && !job_rank_is_here(j, id - j->base) && has_ended(j, id - j->base))
            effects_push(&c->effects,
                         EFFECT_WITH(collective_query, .job = j->id, .rank = id - j->base,
                                     .id = collective_id(round, 0)));
    }
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

/* How often processes of all jobs of the meeting have been started again. */
static uint64_t count_epochs(const struct core *c, const struct meeting *m)
{
    const struct job *last = NULL;
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->nsorted; i++) {
        const struct job *j = core_job_named(c, m->sorted[i].nspace);
        n += j && j != last ? j->epoch : 0;
        last = j;
    }
    return n;
}

static int get_group(struct core *c, const struct meeting *m, struct collective_group **group_p)
{
    struct slice name = buf_slice(&m->name);
    uint32_t n = (uint32_t)m->nids, mine = (uint32_t)m->nmine;

    collective_set_begin_at(&c->meetings, job_restart_first_round(count_epochs(c, m)));
    if (n == mine && !(c->reports_collectives && m->what.kind != COLL_MEET_FENCE))
        return collective_group_get(&c->meetings, name, m->ids, n, false, group_p);
    return collective_group_get_spread(&c->meetings, name, m->mine, mine, m->ids, n, false,
                                       group_p);
}

/* All members of this node have arrived, the requester last. */
static enum answer_status complete(struct core *c, const struct meeting *m,
                                   struct collective *round, uint32_t id, uint64_t ticket,
                                   uint64_t deadline_ns)
{
    if (round->group->spread)
        return contribute(c, round) ? wait_in(c, round->group, id, ticket, deadline_ns)
                                    : ANSWER_LATER;
    proc_connect_meeting(c, m->what.kind, m->mine, (uint32_t)m->nmine, m->ids, (uint32_t)m->nids);
    return complete_here(c, round, ticket);
}

/* *note is the round's once it has arrived. */
static enum answer_status arrive(struct core *c, struct collective_group *g,
                                 const struct meeting *m, uint32_t id, struct member_data **note,
                                 uint64_t ticket, uint64_t now_ns, uint64_t deadline_ns)
{
    struct collective *round;
    int rc = collective_enter_with(g, id, ticket, now_ns, *note, &round);

    if (rc == COLLECTIVE_WAITING || rc == COLLECTIVE_OK)
        *note = NULL;
    if ((rc == COLLECTIVE_WAITING || rc == COLLECTIVE_OK) && !round->asked)
        ask_nodes_of_ended(c, round);
    switch (rc) {
    case COLLECTIVE_WAITING:
        wait_in(c, g, id, ticket, deadline_ns);
        if (coll_kind_is_flexible(g->kind) && !round->contributed)
            leave_out_ended(c, round);
        return ANSWER_LATER;
    case COLLECTIVE_OK: return complete(c, m, round, id, ticket, deadline_ns);
    case COLLECTIVE_OVER:
        effects_answer(&c->effects, ticket,
                       ANSWER_TO(collective, ANSWER_OK, .number = (int64_t)round->number));
        collective_paid(&c->meetings, round);
        return ANSWER_LATER;
    default:
        collective_group_drop_idle(&c->meetings, g);
        return rc == COLLECTIVE_NOT_MEMBER ? ANSWER_BAD_KEY : ANSWER_NO_MEMORY;
    }
}

static enum answer_status enter(struct core *c, struct job *j, uint32_t rank,
                                const struct meeting *m, struct slice data, uint64_t ticket,
                                uint64_t now_ns, uint64_t deadline_ns)
{
    struct collective_group *g;
    enum answer_status st;
    struct member_data *note;

    if (get_group(c, m, &g) < 0)
        return ANSWER_NO_MEMORY;
    g->kind = m->what.kind;
    if (!coll_kind_is_flexible(g->kind) && !collective_is_behind(g, j->base + rank) &&
        misses_ended(c, g, j->base + rank)) {
        collective_group_drop_idle(&c->meetings, g);
        return ANSWER_FAILED;
    }
    if (!make_note(data, &note)) {
        collective_group_drop_idle(&c->meetings, g);
        return ANSWER_NO_MEMORY;
    }
    st = arrive(c, g, m, j->base + rank, &note, ticket, now_ns, deadline_ns);
    free(note);
    return st;
}

enum answer_status collective_multijob_enter(struct core *c, struct job *j, uint32_t rank,
                                             const struct request_collective *rq, uint64_t ticket,
                                             uint64_t now_ns)
{
    struct meeting m = { .name = BUF_NULL(COLLECTIVE_MULTIJOB_NAME_MAX) };
    uint64_t deadline = rq->timeout_ns ? now_ns + rq->timeout_ns : UINT64_MAX;
    enum answer_status st = plan_meeting(c, rq, &m);

    if (st == ANSWER_OK && job_restart_is_news(j, rank))
        st = ANSWER_RESTARTED;
    if (st == ANSWER_OK)
        st = enter(c, j, rank, &m, rq->data, ticket, now_ns, deadline);
    meeting_free(&m);
    return st;
}

/* The group that another node has asked about, made if need be; NULL: no memory, or not a name that
 * fits the jobs here. */
static struct collective_group *group_asked_about(struct core *c, struct slice name)
{
    struct meeting m = { .name = BUF_NULL(COLLECTIVE_MULTIJOB_NAME_MAX) };
    struct collective_group *g = NULL;
    struct coll_meeting what;
    struct member *members = NULL;

    if (coll_meeting_read(name, &what) && what.nmembers)
        members = calloc(what.nmembers, sizeof *members);
    if (members) {
        coll_meeting_members(name, members);
        m.what = what;
        if (plan_members(c, members, what.nmembers, &m) == ANSWER_OK &&
            slice_eq(buf_slice(&m.name), name) && get_group(c, &m, &g) == 0)
            g->kind = what.kind;
    }
    meeting_free(&m);
    free(members);
    return g;
}

/* The round of a flexible group that another node has begun and this one perhaps not: without the
 * rank, and without all others here that had ended by then. */
static bool open_asked(struct core *c, const struct job *j, uint32_t rank, const struct coll_id *id)
{
    struct collective_group *g = group_asked_about(c, id->group);
    struct collective *round;

    if (!g)
        return false;
    if (g->generation == id->generation && collective_position(g, j->base + rank) >= 0) {
        leave_out(c, g, j->base + rank);
        round = collective_find(&c->meetings, id->group, id->generation);
        if (round && !round->contributed)
            leave_out_ended(c, round);
        return true;
    }
    collective_group_drop_idle(&c->meetings, g);
    return false;
}

bool collective_multijob_asked(struct core *c, const struct job *j, uint32_t rank,
                               const struct coll_id *id)
{
    bool open;

    if (collective_has_contributed(&c->meetings, id->group, id->generation, j->base + rank))
        return true;
    open = collective_find(&c->meetings, id->group, id->generation) != NULL;
    if (!coll_kind_is_flexible(id->kind) || open || !has_ended(j, rank) ||
        !job_rank_is_here(j, rank))
        return false;
    return open_asked(c, j, rank, id);
}

uint64_t collective_multijob_tick(struct core *c, uint64_t now_ns)
{
    uint64_t ticket;
    uint32_t id;

    while (collective_withdraw_late(&c->meetings, now_ns, &id, &ticket))
        effects_answer(&c->effects, ticket, answer_status(ANSWER_TIMEOUT));
    return c->meetings.due;
}
