/* group_bootstrap.c - see group_bootstrap.h.  Reading order: sets of processes; calls; members;
 * outcomes; the decision; requests. */
#include "core/group_bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/group_record.h"

/* Names of groups that nobody waits for, but whose outcome is owed. */
enum { LIMIT_OWING = 1024 };

/* ---- sets of processes ----------------------------------------------------------------------- */

/* Processes by their numbers (job->base + rank), ascending, each once. */
struct id_set {
    uint32_t *ids, n;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void set_tidy(struct id_set *s)
{
    uint32_t kept = 0;

    if (s->n)
        qsort(s->ids, s->n, sizeof *s->ids, by_number);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!kept || s->ids[i] != s->ids[kept - 1])
            s->ids[kept++] = s->ids[i];
    }
    s->n = kept;
}

/* False: no memory. */
static bool set_add(struct id_set *s, const uint32_t *ids, uint32_t n)
{
    uint32_t *more =
        n > UINT32_MAX / 2 - s->n ? NULL : realloc(s->ids, (s->n + n + 1) * sizeof *s->ids);

    if (!more)
        return false;
    s->ids = more;
    if (n)
        memcpy(s->ids + s->n, ids, n * sizeof *ids);
    s->n += n;
    return true;
}

static bool set_has(const struct id_set *s, uint32_t id)
{
    return s->n && bsearch(&id, s->ids, s->n, sizeof *s->ids, by_number);
}

static bool set_take(struct id_set *s, uint32_t id)
{
    uint32_t *at = s->n ? bsearch(&id, s->ids, s->n, sizeof *s->ids, by_number) : NULL;

    if (!at)
        return false;
    s->n--;
    memmove(at, at + 1, (size_t)(s->ids + s->n - at) * sizeof *at);
    return true;
}

static void set_clear(struct id_set *s)
{
    free(s->ids);
    *s = (struct id_set){ NULL, 0 };
}

static bool has_ended(const struct core *c, uint32_t id)
{
    const struct job *j = core_job_of_id(c, id);
    const struct proc *p = j ? &j->procs[id - j->base] : NULL;

    return !p || p->state == PROC_STATE_GONE || p->unreachable;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The list of a request, one by one, in its order; a job (REQUEST_ALL_RANKS) gives all of its. */
static enum answer_status expand(const struct core *c, struct slice list, struct id_set *s)
{
    uint32_t number, rank;

    while (list.len) {
        const struct job *j;
        if (!parts_get_u32(&list, &number) || !parts_get_u32(&list, &rank))
            return ANSWER_BAD_VALUE;
        j = core_job(c, number);
        if (!j || (rank != REQUEST_ALL_RANKS && rank >= j->plan.nprocs) || s->n > c->next_base)
            return ANSWER_NOT_FOUND;
        for (uint32_t r = rank == REQUEST_ALL_RANKS ? 0 : rank;
             r < (rank == REQUEST_ALL_RANKS ? j->plan.nprocs : rank + 1); r++) {
            if (!set_add(s, &(uint32_t){ j->base + r }, 1))
                return ANSWER_NO_MEMORY;
        }
    }
    return ANSWER_OK;
}

struct call {
    struct list link;
    uint64_t ticket, deadline_ns;
    uint64_t leaders; /* how many there are; 0: it is none, and waits to be added */
    uint32_t id;
    bool tolerant;
    struct id_set added;
    struct slice order, data;
    char bytes[];
};

/* The calls under one name. */
struct group_bootstrap {
    struct list link;
    struct list calls; /* in the order of their arrival */
    struct map by_id;
    uint32_t nleaders;
    bool fresh;             /* what follows is right */
    struct id_set expected; /* all that the leaders add, and are none */
    uint32_t missing;       /* of these, so many live ones have not called */
    bool lacks;             /* a member has ended */
    bool job_ended;         /* since the first call: its processes are not known any more */
    /* of earlier outcomes */
    struct id_set owed;    /* these have failed, and do not know it yet */
    uint64_t owed_leaders; /* and so many leaders, who are none of `informed` */
    bool lost_leader;      /* one of them will never come */
    struct id_set informed;
    char name[];
};

static struct slice key_of(const uint32_t *id)
{
    return slice_mem((const char *)id, sizeof *id);
}

static struct call *call_of(const struct group_bootstrap *g, uint32_t id)
{
    return map_get(&g->by_id, key_of(&id));
}

static struct call *call_new(const struct request_group_bootstrap *rq)
{
    struct call *k = calloc(1, sizeof *k + rq->order.len + rq->data.len + 1);

    if (!k)
        return NULL;
    list_init(&k->link);
    k->leaders = rq->leaders;
    k->tolerant = rq->tolerant;
    if (rq->order.len)
        memcpy(k->bytes, rq->order.ptr, rq->order.len);
    if (rq->data.len)
        memcpy(k->bytes + rq->order.len, rq->data.ptr, rq->data.len);
    k->order = slice_mem(k->bytes, rq->order.len);
    k->data = slice_mem(k->bytes + rq->order.len, rq->data.len);
    return k;
}

static void call_free(struct call *k)
{
    set_clear(&k->added);
    free(k);
}

static void drop_call(struct group_bootstrap *g, struct call *k)
{
    map_del(&g->by_id, key_of(&k->id));
    list_unlink(&k->link);
    g->nleaders -= k->leaders > 0;
    g->fresh = false;
    call_free(k);
}

static struct group_bootstrap *find(const struct core *c, struct slice name)
{
    LIST_EACH(l, &c->bootstraps)
    {
        struct group_bootstrap *g = LIST_OF(l, struct group_bootstrap, link);
        if (slice_is(name, g->name))
            return g;
    }
    return NULL;
}

static struct group_bootstrap *get(struct core *c, struct slice name)
{
    struct group_bootstrap *g = find(c, name);

    if (g)
        return g;
    g = calloc(1, sizeof *g + name.len + 1);
    if (!g)
        return NULL;
    if (name.len)
        memcpy(g->name, name.ptr, name.len);
    list_init(&g->calls);
    map_init(&g->by_id, c->seed);
    list_append(&c->bootstraps, &g->link);
    return g;
}

static void bootstrap_free(struct group_bootstrap *g)
{
    LIST_EACH(l, &g->calls)
    drop_call(g, LIST_OF(l, struct call, link));
    list_unlink(&g->link);
    map_free(&g->by_id);
    set_clear(&g->expected);
    set_clear(&g->owed);
    set_clear(&g->informed);
    free(g);
}

void group_bootstraps_free(struct core *c)
{
    LIST_EACH(l, &c->bootstraps)
    bootstrap_free(LIST_OF(l, struct group_bootstrap, link));
}

static const struct call *first_leader(const struct group_bootstrap *g)
{
    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        if (k->leaders)
            return k;
    }
    return NULL;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_leader(const struct group_bootstrap *g, uint32_t id)
{
    const struct call *k = call_of(g, id);

    return k && k->leaders;
}

static bool join_added(struct group_bootstrap *g)
{
    g->expected.n = 0;
    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        if (k->leaders && !set_add(&g->expected, k->added.ids, k->added.n))
            return false;
    }
    set_tidy(&g->expected);
    return true;
}

static bool misses_member(const struct core *c, const struct group_bootstrap *g)
{
    for (uint32_t i = 0; i < g->expected.n; i++) {
        if (has_ended(c, g->expected.ids[i]))
            return true;
    }
    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        if (k->leaders && has_ended(c, k->id))
            return true;
    }
    return false;
}

/* False: no memory. */
static bool refresh(const struct core *c, struct group_bootstrap *g)
{
    uint32_t kept = 0;

    if (g->fresh)
        return true;
    if (!join_added(g))
        return false;
    g->missing = 0;
    for (uint32_t i = 0; i < g->expected.n; i++) {
        uint32_t id = g->expected.ids[i];
        if (is_leader(g, id))
            continue;
        g->expected.ids[kept++] = id;
        g->missing += !call_of(g, id) && !has_ended(c, id);
    }
    g->expected.n = kept;
    g->lacks = misses_member(c, g);
    g->fresh = true;
    return true;
}

static bool bears_ends(const struct group_bootstrap *g)
{
    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        if (k->leaders && !k->tolerant)
            return false;
    }
    return true;
}

/* Who is known not to be a leader that is missing. */
static bool is_known(const struct group_bootstrap *g, uint32_t id)
{
    return call_of(g, id) || set_has(&g->expected, id);
}

/* How many live processes, besides these, might be a leader that has not called, up to `enough`;
 * and whether one that might have been has ended. */
static uint64_t count_others(const struct core *c, const struct group_bootstrap *g,
                             const struct id_set *besides, uint64_t enough, bool *ended_p)
{
    uint64_t alive = 0;

    *ended_p = g->job_ended;
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        for (uint32_t r = 0; alive < enough && r < j->plan.nprocs; r++) {
            if (is_known(g, j->base + r) || (besides && set_has(besides, j->base + r)))
                continue;
            if (has_ended(c, j->base + r))
                *ended_p = true;
            else
                alive++;
        }
    }
    return alive;
}

static bool anybody_ended(const struct core *c, const struct group_bootstrap *g)
{
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (j->lost || j->ended)
            return true;
    }
    return g->job_ended;
}

/* How many leaders have not called; nobody knows it before the first has: at least one. */
static uint64_t missing_leaders(const struct group_bootstrap *g)
{
    const struct call *first = first_leader(g);

    if (first && first->leaders == GROUP_LEADERS_NAMED) /* they are expected with the added ones */
        return 0;
    return first ? first->leaders - g->nleaders : 1;
}

static bool lacks_leaders_for_ever(const struct core *c, const struct group_bootstrap *g)
{
    uint64_t missing = missing_leaders(g);
    bool ended;

    return missing && anybody_ended(c, g) && count_others(c, g, NULL, missing, &ended) < missing &&
           ended;
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void answer(struct core *c, const struct call *k, enum answer_status status, uint64_t number,
                   struct slice records)
{
    effects_answer(
        &c->effects, k->ticket,
        ANSWER_TO(group_bootstrap, status, .number = (int64_t)number, .records = records));
}

/* A leader of a group that has failed will never come: those that it would have added wait in
 * vain. */
static void fail_orphans(struct core *c, struct group_bootstrap *g)
{
    refresh(c, g);
    LIST_EACH(l, &g->calls)
    {
        struct call *k = LIST_OF(l, struct call, link);
        if (k->leaders || set_has(&g->informed, k->id) || set_has(&g->expected, k->id))
            continue;
        answer(c, k, ANSWER_FAILED, 0, SLICE_NULL);
        drop_call(g, k);
    }
}

/* What was owed to processes that have ended, or will not call as leaders, is forgotten. */
static void prune(struct core *c, struct group_bootstrap *g)
{
    uint64_t before = g->owed_leaders;
    uint32_t kept = 0;
    bool ended;

    for (uint32_t i = 0; i < g->owed.n; i++) {
        if (!has_ended(c, g->owed.ids[i]))
            g->owed.ids[kept++] = g->owed.ids[i];
    }
    g->owed.n = kept;
    if (before)
        g->owed_leaders = count_others(c, g, &g->informed, before, &ended);
    g->lost_leader = g->lost_leader || g->owed_leaders < before;
    if (g->owed_leaders)
        return;
    if (g->lost_leader)
        fail_orphans(c, g);
    g->lost_leader = false;
    if (!g->owed.n)
        set_clear(&g->informed);
}

/* Nothing waits under the name, and nothing is owed: it is forgotten.  So are the oldest of too
 * many. */
static void forget_idle(struct core *c)
{
    uint32_t n = 0;

    LIST_EACH(l, &c->bootstraps)
    n += list_empty(&LIST_OF(l, struct group_bootstrap, link)->calls);
    LIST_EACH(l, &c->bootstraps)
    {
        struct group_bootstrap *g = LIST_OF(l, struct group_bootstrap, link);
        bool idle = list_empty(&g->calls);
        if (idle && ((!g->owed.n && !g->owed_leaders) || n > LIMIT_OWING)) {
            bootstrap_free(g);
            n--;
        }
    }
}

/* Added ones that have not called are owed the outcome.  Without memory for that they are not. */
static void owe(const struct core *c, struct group_bootstrap *g, const struct id_set *added)
{
    for (uint32_t i = 0; i < added->n; i++) {
        uint32_t id = added->ids[i];
        if (!call_of(g, id) && !has_ended(c, id) && !set_has(&g->informed, id))
            set_add(&g->owed, &id, 1);
    }
    set_tidy(&g->owed);
}

/* It fails for all who wait, and for those who should have come. */
static void fail(struct core *c, struct group_bootstrap *g, enum answer_status status)
{
    uint64_t missing = g->nleaders ? missing_leaders(g) : 0;
    bool ended;

    owe(c, g, &g->expected);
    if (missing)
        g->owed_leaders += count_others(c, g, &g->informed, missing, &ended);
    LIST_EACH(l, &g->calls)
    {
        struct call *k = LIST_OF(l, struct call, link);
        answer(c, k, status, 0, SLICE_NULL);
        if (g->owed_leaders || g->owed.n)
            set_add(&g->informed, &k->id, 1);
        drop_call(g, k);
    }
    set_tidy(&g->informed);
}

/* Of those that are alive, in *m: leaders and added ones, the least number first. */
static bool list_members(const struct core *c, const struct group_bootstrap *g, struct id_set *m)
{
    uint32_t kept = 0;
    bool good = set_add(m, g->expected.ids, g->expected.n);

    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        good = good && (!k->leaders || set_add(m, &k->id, 1));
    }
    if (!good)
        return false;
    set_tidy(m);
    for (uint32_t i = 0; i < m->n; i++) {
        if (!has_ended(c, m->ids[i]))
            m->ids[kept++] = m->ids[i];
    }
    m->n = kept;
    return true;
}

static struct slice order_of(const struct group_bootstrap *g)
{
    LIST_EACH(l, &g->calls)
    {
        const struct call *k = LIST_OF(l, struct call, link);
        if (k->order.len)
            return k->order;
    }
    return SLICE_NULL;
}

/* Members that the order names come first, as it names them.  False: no memory. */
static bool put_in_order(const struct core *c, struct slice order, struct id_set *m)
{
    struct id_set wanted = { NULL, 0 }, out = { NULL, 0 };
    bool good = expand(c, order, &wanted) != ANSWER_NO_MEMORY;

    for (uint32_t i = 0; good && i < wanted.n; i++) {
        if (set_take(m, wanted.ids[i]))
            good = set_add(&out, &wanted.ids[i], 1);
    }
    good = good && set_add(&out, m->ids, m->n);
    set_clear(&wanted);
    set_clear(m);
    *m = out;
    return good;
}

static void put_records(const struct core *c, const struct group_bootstrap *g,
                        const struct id_set *m, struct buf *out)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct job *j = core_job_of_id(c, m->ids[i]);
        const struct call *k = call_of(g, m->ids[i]);
        struct group_record r = { .kind = GROUP_MEMBER };
        if (!j || !k)
            continue;
        r.job = j->id;
        r.rank = m->ids[i] - j->base;
        group_record_put(out, &r);
        r.kind = GROUP_DATA;
        r.data = k->data;
        if (r.data.len)
            group_record_put(out, &r);
    }
}

/* Leaders that have ended go with the others; who has not been added goes on waiting. */
static void give(struct core *c, struct group_bootstrap *g, const struct id_set *expected,
                 struct slice records)
{
    uint64_t number;

    c->nmeetings++;
    number = core_meetings(c);
    LIST_EACH(l, &g->calls)
    {
        struct call *k = LIST_OF(l, struct call, link);
        if (!k->leaders && !set_has(expected, k->id))
            continue;
        answer(c, k, ANSWER_OK, number, records);
        drop_call(g, k);
    }
}

static void complete(struct core *c, struct group_bootstrap *g)
{
    struct id_set m = { NULL, 0 }, expected = { NULL, 0 };
    struct buf records = BUF_NULL(LIMIT_GROUP_RECORDS);
    bool good = list_members(c, g, &m) && put_in_order(c, order_of(g), &m);

    if (good)
        put_records(c, g, &m, &records);
    if (good && buf_ok(&records)) {
        expected = g->expected;
        g->expected = (struct id_set){ NULL, 0 };
        give(c, g, &expected, buf_slice(&records));
    } else {
        fail(c, g, ANSWER_NO_MEMORY);
    }
    set_clear(&expected);
    set_clear(&m);
    buf_free(&records);
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* Who waits to be added and ends is nobody's. */
static void drop_ended(const struct core *c, struct group_bootstrap *g)
{
    LIST_EACH(l, &g->calls)
    {
        struct call *k = LIST_OF(l, struct call, link);
        if (!k->leaders && has_ended(c, k->id))
            drop_call(g, k);
    }
}

/* Something has changed: a call, an end, a time-out. */
static void decide(struct core *c, struct group_bootstrap *g)
{
    if (list_empty(&g->calls))
        return;
    if (!refresh(c, g)) {
        fail(c, g, ANSWER_NO_MEMORY);
        return;
    }
    if ((g->lacks && !bears_ends(g)) || lacks_leaders_for_ever(c, g))
        fail(c, g, ANSWER_FAILED);
    else if (g->nleaders && !missing_leaders(g) && !g->missing)
        complete(c, g);
}

void group_bootstrap_gone(struct core *c, const struct job *j, uint32_t rank)
{
    if (list_empty(&c->bootstraps) || !has_ended(c, j->base + rank))
        return;
    LIST_EACH(l, &c->bootstraps)
    {
        struct group_bootstrap *g = LIST_OF(l, struct group_bootstrap, link);
        drop_ended(c, g);
        g->fresh = false;
        decide(c, g);
        prune(c, g);
    }
    forget_idle(c);
}

void group_bootstrap_job_ended(struct core *c)
{
    LIST_EACH(l, &c->bootstraps)
    {
        struct group_bootstrap *g = LIST_OF(l, struct group_bootstrap, link);
        g->job_ended = true;
        drop_ended(c, g);
        g->fresh = false;
        decide(c, g);
        prune(c, g);
    }
    forget_idle(c);
}

static void withdraw_late(struct core *c, struct group_bootstrap *g, uint64_t now_ns)
{
    bool any = false;

    LIST_EACH(l, &g->calls)
    {
        struct call *k = LIST_OF(l, struct call, link);
        if (k->deadline_ns > now_ns) {
            if (k->deadline_ns < c->bootstraps_due_ns)
                c->bootstraps_due_ns = k->deadline_ns;
            continue;
        }
        answer(c, k, ANSWER_TIMEOUT, 0, SLICE_NULL);
        drop_call(g, k);
        any = true;
    }
    if (any)
        decide(c, g);
}

uint64_t group_bootstrap_tick(struct core *c, uint64_t now_ns)
{
    if (c->bootstraps_due_ns > now_ns)
        return c->bootstraps_due_ns;
    c->bootstraps_due_ns = UINT64_MAX;
    LIST_EACH(l, &c->bootstraps)
    withdraw_late(c, LIST_OF(l, struct group_bootstrap, link), now_ns);
    forget_idle(c);
    return c->bootstraps_due_ns;
}

/* ---- requests -------------------------------------------------------------------------------- */

void group_bootstrap_put(struct buf *out, const struct job *j, uint32_t rank)
{
    parts_put_uint(out, j->id);
    parts_put_uint(out, rank);
}

/* Of leaders that know each other. */
static bool adds_others(const struct call *a, const struct call *b)
{
    return a->leaders == GROUP_LEADERS_NAMED &&
           (a->added.n != b->added.n ||
            (a->added.n &&
             memcmp(a->added.ids, b->added.ids, a->added.n * sizeof *a->added.ids) != 0));
}

/* A leader whose word is not that of the others. */
static bool contradicts(const struct group_bootstrap *g, const struct call *k)
{
    const struct call *first = first_leader(g);
    struct slice order = order_of(g);
    bool full = first && first->leaders != GROUP_LEADERS_NAMED && !missing_leaders(g);

    if (first && k->leaders && (first->leaders != k->leaders || full || adds_others(first, k)))
        return true;
    return k->order.len && order.len && !slice_eq(k->order, order);
}

/* Of a leader that comes when the group has failed: who waits to be added by it, and who will. */
static void fail_added(struct core *c, struct group_bootstrap *g, const struct id_set *added)
{
    struct id_set informed = { NULL, 0 };

    for (uint32_t i = 0; i < added->n; i++) {
        struct call *k = call_of(g, added->ids[i]);
        if (!k || k->leaders || set_has(&g->informed, k->id))
            continue;
        answer(c, k, ANSWER_FAILED, 0, SLICE_NULL);
        set_add(&informed, &k->id, 1);
        drop_call(g, k);
    }
    set_add(&g->informed, informed.ids, informed.n);
    set_tidy(&g->informed);
    set_clear(&informed);
    owe(c, g, added);
}

/* The caller belongs to a group that has failed. */
static bool is_paid(struct core *c, struct group_bootstrap *g, const struct call *k)
{
    bool named = set_take(&g->owed, k->id);
    bool leads = k->leaders && g->owed_leaders && !set_has(&g->informed, k->id);

    if (!named && !leads)
        return false;
    g->owed_leaders -= leads;
    set_add(&g->informed, &k->id, 1); /* it may be one of those that it adds */
    set_tidy(&g->informed);
    fail_added(c, g, &k->added);
    prune(c, g);
    return true;
}

static enum answer_status take(struct core *c, struct group_bootstrap *g, struct call *k)
{
    if (has_ended(c, k->id) || is_paid(c, g, k))
        return ANSWER_FAILED;
    if (call_of(g, k->id) || contradicts(g, k))
        return ANSWER_BAD_KEY;
    if (map_put(&g->by_id, key_of(&k->id), k, NULL) < 0)
        return ANSWER_NO_MEMORY;
    if (list_empty(&g->calls))
        g->job_ended = false;
    list_append(&g->calls, &k->link);
    g->nleaders += k->leaders > 0;
    if (k->leaders)
        g->fresh = false;
    else if (g->fresh && set_has(&g->expected, k->id))
        g->missing--;
    return ANSWER_LATER;
}

static enum answer_status check_order(const struct core *c, struct slice order)
{
    struct id_set s = { NULL, 0 };
    enum answer_status st = expand(c, order, &s);

    set_clear(&s);
    return st;
}

static struct call *read_call(const struct core_call *k, enum answer_status *status_p)
{
    const struct request_group_bootstrap *rq = &k->rq->u.group_bootstrap;
    struct call *call = call_new(rq);

    *status_p = call ? expand(k->core, rq->added, &call->added) : ANSWER_NO_MEMORY;
    if (*status_p == ANSWER_OK)
        *status_p = check_order(k->core, rq->order);
    if (*status_p != ANSWER_OK) {
        if (call)
            call_free(call);
        return NULL;
    }
    set_tidy(&call->added);
    call->ticket = k->ticket;
    call->id = k->job->base + k->rank;
    call->deadline_ns = core_call_deadline(k, rq->timeout_ns);
    return call;
}

static void wait_for(struct core *c, const struct call *call)
{
    if (call->deadline_ns < c->bootstraps_due_ns)
        c->bootstraps_due_ns = call->deadline_ns;
    effects_tick_by(&c->effects, call->deadline_ns);
}

enum answer_status group_bootstrap_enter(const struct core_call *k)
{
    struct core *c = k->core;
    struct group_bootstrap *g;
    enum answer_status st;
    struct call *call;

    call = read_call(k, &st);
    if (!call)
        return st;
    g = get(c, k->rq->u.group_bootstrap.group);
    st = g ? take(c, g, call) : ANSWER_NO_MEMORY;
    if (st == ANSWER_LATER) {
        wait_for(c, call);
        decide(c, g);
        prune(c, g);
    } else {
        call_free(call);
    }
    forget_idle(c);
    return st;
}
