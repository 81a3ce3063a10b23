/* foreign_connect.c - see foreign_connect.h.  Reading order: requests; members; calls; outcomes. */
#include "core/foreign_connect.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/block.h"
#include "core/effect.h"
#include "core/modex_keys.h"

enum { GROUP_NAME_MAX = 1 << 20 };

/* ---- requests -------------------------------------------------------------------------------- */

static bool is_one(enum coll_kind kind)
{
    return kind == COLL_CONNECT || kind == COLL_DISCONNECT || kind == COLL_MEET_FENCE;
}

static bool connects(const struct request_collective *rq, struct coll_meeting *what)
{
    return coll_id_purpose(rq->purpose, what) && is_one(what->kind);
}

const struct member *foreign_connect_stranger(const struct core *c,
                                              const struct request_collective *rq)
{
    for (uint32_t i = 0; i < rq->count; i++) {
        const struct member *m = &rq->members[i];
        if (!core_job_named(c, m->nspace) && !core_ended_job(c, m->nspace))
            return m;
    }
    return NULL;
}

bool foreign_connect_is_meant(const struct core *c, const struct request_collective *rq)
{
    struct coll_meeting what;

    return c->is_manager && connects(rq, &what) && foreign_connect_stranger(c, rq);
}

static bool write_group(const struct request_collective *rq, struct buf *out)
{
    struct member *sorted = calloc(rq->count + (size_t)1, sizeof *sorted);
    struct coll_meeting what;

    if (sorted && connects(rq, &what)) {
        memcpy(sorted, rq->members, rq->count * sizeof *sorted);
        what.members = sorted;
        what.nmembers = coll_meeting_sort(sorted, rq->count);
        coll_meeting_write(&what, out);
    }
    free(sorted);
    return sorted && buf_ok(out);
}

/* All that it has put for other nodes. */
static bool write_values(const struct job *j, uint32_t rank, struct buf *out)
{
    struct block_writer w;

    block_begin(&w, out, j->colls.groups.seed);
    modex_keys_write_all(j, rank, &w);
    block_end(&w);
    return buf_ok(out);
}

enum answer_status foreign_connect_ask(const struct core_call *k)
{
    const struct request_collective *rq = &k->rq->u.collective;
    struct buf group = BUF_NULL(GROUP_NAME_MAX), block = BUF_NULL(LIMIT_BLOCK);
    struct effect e =
        EFFECT_WITH(foreign_connect, .job = k->job->id, .rank = k->rank, .ticket = k->ticket,
                    .nspace = slice_str(k->job->nspace), .timeout_ns = rq->timeout_ns);
    bool good = write_group(rq, &group) && write_values(k->job, k->rank, &block);

    e.u.foreign_connect.group = buf_slice(&group);
    e.u.foreign_connect.block = buf_slice(&block);
    good = good && effect_own(&e) && effects_push(&k->core->effects, e);
    buf_free(&group);
    buf_free(&block);
    return good ? ANSWER_LATER : ANSWER_NO_MEMORY;
}

/* ---- members --------------------------------------------------------------------------------- */

bool foreign_members_read(struct slice group, struct foreign_members *m_p)
{
    struct coll_meeting what;

    *m_p = (struct foreign_members){ .kind = COLL_KINDS };
    if (!coll_meeting_read(group, &what) || !what.nmembers || !is_one(what.kind))
        return false;
    m_p->all = calloc(what.nmembers, sizeof *m_p->all);
    if (!m_p->all)
        return false;
    coll_meeting_members(group, m_p->all);
    m_p->kind = what.kind;
    m_p->n = what.nmembers;
    return true;
}

void foreign_members_free(struct foreign_members *m)
{
    free(m->all);
    m->all = NULL;
    m->n = 0;
}

static bool is_member(const struct foreign_members *m, struct slice nspace, uint32_t rank)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (slice_eq(m->all[i].nspace, nspace) &&
            (m->all[i].rank == rank || m->all[i].rank == REQUEST_ALL_RANKS))
            return true;
    }
    return false;
}

/* The whole job is a member, too: it comes last of those of its job. */
static bool is_repeated(const struct foreign_members *m, uint32_t at)
{
    uint32_t last = at;

    while (last + 1 < m->n && slice_eq(m->all[last + 1].nspace, m->all[at].nspace))
        last++;
    return last != at && m->all[last].rank == REQUEST_ALL_RANKS;
}

static bool has_ended(const struct job *j, uint32_t rank)
{
    return j->procs[rank].state == PROC_STATE_GONE || j->procs[rank].unreachable;
}

static bool any_has_ended(const struct job *j, uint32_t rank)
{
    if (rank != REQUEST_ALL_RANKS)
        return has_ended(j, rank);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (has_ended(j, r))
            return true;
    }
    return false;
}

/* How many processes they are.  OK, LOST (a job is not known any more), BAD_KEY (it has no such
 * rank), FAILED (one has ended). */
static enum answer_status count(const struct core *c, const struct foreign_members *m,
                                uint64_t *count_p)
{
    *count_p = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct job *j = core_known_job(c, m->all[i].nspace);
        uint32_t rank = m->all[i].rank;
        if (!j)
            return ANSWER_LOST;
        if (rank != REQUEST_ALL_RANKS && rank >= j->plan.nprocs)
            return ANSWER_BAD_KEY;
        if (any_has_ended(j, rank))
            return ANSWER_FAILED;
        if (!is_repeated(m, i))
            *count_p += rank == REQUEST_ALL_RANKS ? j->plan.nprocs : 1;
    }
    return ANSWER_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_free(struct foreign_call *k)
{
    list_unlink(&k->link);
    free(k);
}

static struct foreign_call *call_new(const struct foreign_call *like)
{
    struct foreign_call *k = calloc(1, sizeof *k + like->nspace.len + like->block.len + 1);

    if (!k)
        return NULL;
    *k = *like;
    if (like->nspace.len)
        memcpy(k->bytes, like->nspace.ptr, like->nspace.len);
    if (like->block.len)
        memcpy(k->bytes + like->nspace.len, like->block.ptr, like->block.len);
    k->nspace = slice_mem(k->bytes, like->nspace.len);
    k->block = slice_mem(k->bytes + like->nspace.len, like->block.len);
    list_init(&k->link);
    return k;
}

static void meeting_free(struct foreign_meeting *m)
{
    LIST_EACH(l, &m->calls)
    call_free(LIST_OF(l, struct foreign_call, link));
    foreign_members_free(&m->members);
    list_unlink(&m->link);
    free(m);
}

static struct foreign_meeting *meeting_new(struct foreign_connects *t, struct slice group)
{
    struct foreign_meeting *m = calloc(1, sizeof *m + group.len + 1);

    if (!m)
        return NULL;
    if (group.len)
        memcpy(m->bytes, group.ptr, group.len);
    m->group = slice_mem(m->bytes, group.len);
    list_init(&m->calls);
    list_append(&t->all, &m->link);
    if (foreign_members_read(m->group, &m->members))
        return m;
    meeting_free(m);
    return NULL;
}

static struct foreign_meeting *meeting_of(struct foreign_connects *t, struct slice group)
{
    LIST_EACH(l, &t->all)
    {
        struct foreign_meeting *m = LIST_OF(l, struct foreign_meeting, link);
        if (slice_eq(m->group, group))
            return m;
    }
    return meeting_new(t, group);
}

static bool has_called(const struct foreign_meeting *m, const struct foreign_call *like)
{
    LIST_EACH(l, &m->calls)
    {
        const struct foreign_call *k = LIST_OF(l, struct foreign_call, link);
        if (k->rank == like->rank && slice_eq(k->nspace, like->nspace))
            return true;
    }
    return false;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

/* It is over for all that have called. */
static void end(struct foreign_connects *t, struct foreign_meeting *m, enum answer_status status)
{
    list_unlink(&m->link);
    list_init(&m->link);
    if (status == ANSWER_OK)
        t->calls.complete(t->arg, m);
    LIST_EACH(l, &m->calls)
    t->calls.answer(t->arg, LIST_OF(l, struct foreign_call, link), status);
    meeting_free(m);
}

/* Ends it if it can be decided. */
static void decide(struct foreign_connects *t, struct foreign_meeting *m)
{
    uint64_t needed;
    enum answer_status status = count(t->core, &m->members, &needed);

    if (status != ANSWER_OK || m->ncalls >= needed)
        end(t, m, status);
}

void foreign_connects_enter(struct foreign_connects *t, struct slice group,
                            const struct foreign_call *k)
{
    struct foreign_meeting *m = meeting_of(t, group);
    struct foreign_call *kept = NULL;
    enum answer_status status = ANSWER_NO_MEMORY;

    if (m && (!is_member(&m->members, k->nspace, k->rank) || has_called(m, k)))
        status = ANSWER_BAD_KEY;
    else if (m)
        kept = call_new(k);
    if (kept) {
        list_append(&m->calls, &kept->link);
        m->ncalls++;
        decide(t, m);
        return;
    }
    t->calls.answer(t->arg, k, status);
    if (m && !m->ncalls)
        meeting_free(m);
}

void foreign_connects_gone(struct foreign_connects *t, struct slice nspace, uint32_t rank)
{
    LIST_EACH(l, &t->all)
    {
        struct foreign_meeting *m = LIST_OF(l, struct foreign_meeting, link);
        if (is_member(&m->members, nspace, rank))
            decide(t, m);
    }
}

/* True: none is left, and the meeting is freed. */
static bool drop_call(struct foreign_meeting *m, struct foreign_call *k)
{
    call_free(k);
    if (--m->ncalls)
        return false;
    meeting_free(m);
    return true;
}

static struct foreign_call *call_from(struct foreign_meeting *m, uint32_t from)
{
    LIST_EACH(l, &m->calls)
    {
        struct foreign_call *k = LIST_OF(l, struct foreign_call, link);
        if (k->from == from)
            return k;
    }
    return NULL;
}

void foreign_connects_lost(struct foreign_connects *t, uint32_t from)
{
    LIST_EACH(l, &t->all)
    {
        struct foreign_meeting *m = LIST_OF(l, struct foreign_meeting, link);
        struct foreign_call *k;
        bool over = false;
        while (from && !over && (k = call_from(m, from)))
            over = drop_call(m, k);
        if (!over)
            decide(t, m);
    }
}

static struct foreign_call *late_call(struct foreign_meeting *m, uint64_t now_ns, uint64_t *next)
{
    LIST_EACH(l, &m->calls)
    {
        struct foreign_call *k = LIST_OF(l, struct foreign_call, link);
        if (k->deadline_ns <= now_ns)
            return k;
        *next = k->deadline_ns < *next ? k->deadline_ns : *next;
    }
    return NULL;
}

uint64_t foreign_connects_tick(struct foreign_connects *t, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;

    LIST_EACH(l, &t->all)
    {
        struct foreign_meeting *m = LIST_OF(l, struct foreign_meeting, link);
        struct foreign_call *k;
        bool over = false;
        while (!over && (k = late_call(m, now_ns, &next))) {
            t->calls.answer(t->arg, k, ANSWER_TIMEOUT);
            over = drop_call(m, k);
        }
    }
    return next;
}

void foreign_connects_open(struct foreign_connects *t, const struct core *c,
                           const struct foreign_connects_calls *calls, void *arg)
{
    *t = (struct foreign_connects){ .core = c, .calls = *calls, .arg = arg };
    list_init(&t->all);
}

void foreign_connects_close(struct foreign_connects *t)
{
    LIST_EACH(l, &t->all)
    meeting_free(LIST_OF(l, struct foreign_meeting, link));
}
