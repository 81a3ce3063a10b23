/* core_names.c - see core_names.h. */
#include "core/core_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/name_batch.h"

struct name_proc core_names_proc(const struct core *c, uint32_t job, uint32_t rank)
{
    const struct job *j = core_job(c, job);
    struct name_proc p = { .job = job, .rank = rank };

    if (!j || rank >= j->plan.nprocs)
        return p;
    p.nspace = slice_str(j->nspace);
    p.node = slice_str(j->plan.nodes[j->plan.procs[rank].node].name);
    return p;
}

static struct name_proc reader_of(const struct core *c, const struct nameservice_query *q)
{
    struct name_proc p = core_names_proc(c, q->job, q->rank);

    p.uid = q->uid;
    p.gid = q->gid;
    return p;
}

/* Whether processes of other launchers are in the range.  (They cannot be listed: a list would have
 * to go to all of them.) */
static bool is_wide(const struct name_scope *s)
{
    enum name_range range = s->preferred ? NAME_RANGE_DEFAULT : s->range;

    return range == NAME_RANGE_DEFAULT || range == NAME_RANGE_LOCAL ||
           range == NAME_RANGE_SESSION || range == NAME_RANGE_GLOBAL;
}

/* The host asks the other launchers, or the node that keeps the names. */
static enum answer_status ask_host(const struct core_call *k, const struct nameservice_query *like)
{
    struct nameservice_query *q = nameservice_query_new(like);

    if (!q)
        return ANSWER_NO_MEMORY;
    effects_push(&k->core->effects,
                 EFFECT_WITH(names, .job = k->job->id, .ticket = k->ticket, .query = q));
    return ANSWER_LATER;
}

/* ---- entries that go ------------------------------------------------------------------------- */

/* The name counts against its publisher no more. */
static void uncharge(struct core *c, const struct name_entry *e)
{
    struct job *owner = core_job(c, e->owner.job);

    if (owner && owner->procs[e->owner.rank].names) {
        owner->procs[e->owner.rank].names--;
        proc_drops(&owner->procs[e->owner.rank], e->service.len + e->port.len);
    }
}

static void remove_name(struct core *c, struct name_entry *e)
{
    uncharge(c, e);
    nameservice_remove(&c->names, e);
}

/* A process other than this one still runs the application. */
static bool app_runs(const struct job *j, uint32_t app)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].app == app && j->procs[r].state != PROC_STATE_GONE)
            return true;
    }
    return false;
}

static bool ends_with(const struct name_entry *e, const struct job *j, uint32_t rank)
{
    uint32_t app = j->plan.procs[rank].app;

    if (e->persistence == NAME_OF_PROC)
        return e->owner.rank == rank;
    return e->persistence == NAME_OF_APP && j->plan.procs[e->owner.rank].app == app &&
           !app_runs(j, app);
}

void core_names_stop_lookups(struct core *c, uint32_t job, uint32_t rank)
{
    name_batch_drop(&c->name_batches, job, rank);
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->query->job == job && (rank == JOB_NO_RANK || w->query->rank == rank))
            nameservice_wait_free(w);
    }
}

/* With one application the names of applications go with the job. */
void core_names_proc_ended(struct core *c, const struct job *j, uint32_t rank)
{
    core_names_stop_lookups(c, j->id, rank);
    if (j->plan.napps < 2 && !j->procs[rank].names)
        return;
    LIST_EACH(l, &c->names.all)
    {
        struct name_entry *e = LIST_OF(l, struct name_entry, link);
        if (e->owner.job == j->id && ends_with(e, j, rank))
            remove_name(c, e);
    }
}

void core_names_job_ended(struct core *c, const struct job *j)
{
    core_names_stop_lookups(c, j->id, JOB_NO_RANK);
    LIST_EACH(l, &c->names.all)
    {
        struct name_entry *e = LIST_OF(l, struct name_entry, link);
        if (e->owner.job == j->id && e->persistence != NAME_STAYS)
            nameservice_remove(&c->names, e);
    }
}

/* ---- look-ups that wait ---------------------------------------------------------------------- */

/* The result of a look-up; reading a name that may be read once removes it. */
static const struct name_entry *read_name(struct core *c, const struct nameservice_query *q,
                                          bool *denied_p)
{
    struct name_proc who = reader_of(c, q);
    struct name_entry *e = nameservice_find(&c->names, q->service, &who, &q->scope, denied_p);

    if (e && e->persistence == NAME_READ_ONCE)
        uncharge(c, e);
    if (e)
        nameservice_read(&c->names, e);
    return e;
}

/* The answer is kept in the query: in a moment the name may have another value. */
static void give_name(struct core *c, struct nameservice_wait *w, const struct name_entry *e)
{
    struct nameservice_query found = *w->query, *q;

    found.port = e->port;
    q = nameservice_query_new(&found);
    if (!q)
        return; /* it goes on waiting; the name stays */
    e = read_name(c, w->query, NULL);
    q->found = true;
    q->type = e->type;
    q->job = e->owner.job;
    q->rank = e->owner.rank;
    free(w->query);
    w->query = q;
}

/* Look-ups that need not be answered any more, as enough others of their batch have been. */
static void end_batches(struct core *c)
{
    if (list_empty(&c->name_batches))
        return;
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (!name_batch_is_over(&c->name_batches, w->query))
            continue;
        effects_answer(&c->effects, w->ticket, answer_status(ANSWER_NOT_FOUND));
        name_batch_count(&c->name_batches, w->query, false);
        nameservice_wait_free(w);
    }
}

/* A name has been published: answers the look-ups that wait for it; for a name that may be read
 * once, the oldest one. */
static void wake_lookups(struct core *c, struct slice service)
{
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        struct name_proc who = reader_of(c, w->query);
        const struct name_entry *e =
            slice_eq(w->query->service, service)
                ? nameservice_find(&c->names, service, &who, &w->query->scope, NULL)
                : NULL;
        struct nameservice_query asked = *w->query; /* by whom */
        bool once = e && e->persistence == NAME_READ_ONCE;
        if (name_batch_is_over(&c->name_batches, w->query))
            continue; /* a name to be read once is for others */
        if (once)
            give_name(c, w, e);
        if (!e || (once && !w->query->found))
            continue;
        name_batch_count(&c->name_batches, &asked, true);
        effects_push(&c->effects, EFFECT_WITH(answer, .status = ANSWER_OK, .ticket = w->ticket,
                                              .lookup = w->query));
        w->query = NULL;
        nameservice_wait_free(w);
    }
    end_batches(c);
}

void core_names_drop_lookups(struct core *c, uint64_t first, uint64_t last)
{
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->ticket < first || w->ticket > last)
            continue;
        name_batch_count(&c->name_batches, w->query, false);
        nameservice_wait_free(w);
    }
}

static enum answer_status wait_for_name(struct core *c, uint64_t ticket,
                                        const struct nameservice_query *q)
{
    struct nameservice_wait *w = calloc(1, sizeof *w);

    if (w)
        w->query = nameservice_query_new(q);
    if (!w || !w->query) {
        free(w);
        return ANSWER_NO_MEMORY;
    }
    w->ticket = ticket;
    list_append(&c->lookups, &w->link);
    effects_tick_by(&c->effects, q->deadline_ns);
    return ANSWER_LATER;
}

static void answer_name(const struct core *c, const struct name_entry *e, struct answer *a_p)
{
    *a_p = ANSWER_TO(lookup, ANSWER_OK, .port = e->port, .type = e->type,
                     .job = core_job(c, e->owner.job), .rank = e->owner.rank);
}

void core_names_lookup_now(struct core *c, const struct nameservice_query *q, struct answer *a_p)
{
    bool denied = false;
    const struct name_entry *e = q->found ? NULL : read_name(c, q, &denied);

    *a_p = (struct answer){ .status = denied ? ANSWER_DENIED : ANSWER_NOT_FOUND };
    if (q->found)
        answer_name(c,
                    &(struct name_entry){ .port = q->port,
                                          .type = q->type,
                                          .owner = { .job = q->job, .rank = q->rank } },
                    a_p);
    else if (e)
        answer_name(c, e, a_p);
}

/* ---- publish --------------------------------------------------------------------------------- */

/* The entry that a publish makes; it borrows all. */
static struct name_entry entry_of(const struct core *c, const struct nameservice_query *q)
{
    struct name_entry e = { .service = q->service,
                            .port = q->port,
                            .type = q->type,
                            .persistence = q->persistence,
                            .scope = q->scope,
                            .access = q->access,
                            .owner = core_names_proc(c, q->job, q->rank) };

    if (e.scope.range == NAME_RANGE_DEFAULT)
        e.scope.range = NAME_RANGE_SESSION;
    return e;
}

static enum answer_status publish(struct core *c, struct job *j, const struct nameservice_query *q)
{
    struct name_entry e = entry_of(c, q);
    struct proc *p = &j->procs[q->rank];

    if (p->names >= LIMIT_CLIENT_NAMES || !proc_can_keep(p, q->service.len + q->port.len))
        return ANSWER_OVER_QUOTA;
    if (nameservice_rival(&c->names, &e))
        return ANSWER_DUPLICATE;
    if (nameservice_publish(&c->names, &e) < 0)
        return ANSWER_NO_MEMORY;
    p->names++;
    proc_keeps(p, q->service.len + q->port.len);
    if (!list_empty(&c->lookups))
        wake_lookups(c, q->service);
    return ANSWER_OK;
}

enum answer_status core_names_publish(const struct core_call *k)
{
    const struct request_publish *rq = &k->rq->u.publish;
    struct nameservice_query q = { .op = NAMESERVICE_PUBLISH,
                                   .job = k->job->id,
                                   .rank = k->rank,
                                   .deadline_ns = UINT64_MAX,
                                   .persistence = rq->persistence,
                                   .scope = rq->scope,
                                   .access = rq->access,
                                   .timeout_ns = rq->timeout_ns,
                                   .type = rq->type,
                                   .service = rq->service,
                                   .port = rq->port };
    struct name_entry e = entry_of(k->core, &q);

    if (rq->service.len == 0 || rq->service.len > LIMIT_NAME_SERVICE ||
        slice_find(rq->service, '\0') < rq->service.len)
        return ANSWER_BAD_KEY;
    if (rq->port.len > LIMIT_NAME_PORT)
        return ANSWER_BAD_VALUE;
    if (k->core->names_elsewhere)
        return ask_host(k, &q);
    if (nameservice_rival(&k->core->names, &e))
        return ANSWER_DUPLICATE;
    if (k->core->has_neighbours && is_wide(&e.scope))
        return ask_host(k, &q);
    return publish(k->core, k->job, &q);
}

/* ---- unpublish ------------------------------------------------------------------------------- */

static enum answer_status remove_found(struct core *c, struct name_entry *e)
{
    if (!e)
        return ANSWER_NOT_FOUND;
    remove_name(c, e);
    return ANSWER_OK;
}

/* All names of this publisher, or those on one range. */
static enum answer_status remove_all(struct core *c, const struct name_proc *owner,
                                     enum name_range range)
{
    LIST_EACH(l, &c->names.all)
    {
        struct name_entry *e = LIST_OF(l, struct name_entry, link);
        if (e->owner.job == owner->job && e->owner.rank == owner->rank &&
            (range == NAME_RANGE_DEFAULT || range == e->scope.range))
            remove_name(c, e);
    }
    return ANSWER_OK;
}

enum answer_status core_names_withdraw(struct core *c, struct slice service, enum name_range range,
                                       const struct name_proc *owner)
{
    struct name_scope scope = { .range = range };

    if (range != NAME_RANGE_DEFAULT)
        return remove_found(c, nameservice_find_own(&c->names, service, owner, &scope));
    return remove_found(c, nameservice_find(&c->names, service, owner, &scope, NULL));
}

/* PMI-1 and PMI-2: any process withdraws names that it may read.  PMIx: only its own. */
enum answer_status core_names_unpublish(const struct core_call *k)
{
    const struct request_unpublish *rq = &k->rq->u.unpublish;
    struct nameservice_query q = { .op = NAMESERVICE_UNPUBLISH,
                                   .job = k->job->id,
                                   .rank = k->rank,
                                   .deadline_ns = UINT64_MAX,
                                   .own = rq->own,
                                   .timeout_ns = rq->timeout_ns,
                                   .scope = rq->scope,
                                   .service = rq->service };
    struct name_proc who = core_names_proc(k->core, q.job, q.rank);
    enum answer_status st;

    if (k->core->names_elsewhere)
        return ask_host(k, &q);
    if (rq->own && !rq->service.len)
        return remove_all(k->core, &who, rq->scope.range);
    if (rq->own)
        return remove_found(k->core,
                            nameservice_find_own(&k->core->names, rq->service, &who, &rq->scope));
    st = core_names_withdraw(k->core, rq->service, NAME_RANGE_DEFAULT, &who);
    return st == ANSWER_NOT_FOUND && k->core->has_neighbours ? ask_host(k, &q) : st;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

/* The launchers that could be asked have been: from the names published here the look-up is
 * answered, or it waits. */
static enum answer_status decide_lookup(struct core *c, uint64_t ticket,
                                        const struct nameservice_query *q, struct answer *a_p)
{
    core_names_lookup_now(c, q, a_p);
    if (a_p->status == ANSWER_NOT_FOUND && q->wait && !name_batch_is_over(&c->name_batches, q))
        a_p->status = wait_for_name(c, ticket, q);
    if (a_p->status == ANSWER_LATER)
        return ANSWER_LATER;
    name_batch_count(&c->name_batches, q, a_p->status == ANSWER_OK);
    end_batches(c);
    return a_p->status;
}

enum answer_status core_names_lookup(const struct core_call *k)
{
    const struct request_lookup *rq = &k->rq->u.lookup;
    struct core *c = k->core;
    struct nameservice_query q = { .op = NAMESERVICE_LOOKUP,
                                   .job = k->job->id,
                                   .rank = k->rank,
                                   .wait = rq->wait,
                                   .timeout_ns = rq->timeout_ns,
                                   .deadline_ns = core_call_deadline(k, rq->timeout_ns),
                                   .scope = rq->scope,
                                   .service = rq->service,
                                   .uid = rq->uid,
                                   .gid = rq->gid,
                                   .batch = rq->batch,
                                   .batch_needed = rq->batch_needed,
                                   .batch_total = rq->batch_total };
    struct name_proc who = reader_of(c, &q);

    if (!c->names_elsewhere && name_batch_open(&c->name_batches, &q) < 0)
        return ANSWER_NO_MEMORY;
    if (c->names_elsewhere || (c->has_neighbours && is_wide(&rq->scope) &&
                               !nameservice_find(&c->names, rq->service, &who, &rq->scope, NULL)))
        return ask_host(k, &q);
    return decide_lookup(c, k->ticket, &q, k->a);
}

/* ---- answers of neighbours, and time-outs ---------------------------------------------------- */

void core_names_receive(struct core *c, uint64_t ticket, const struct nameservice_query *q,
                        bool found, struct slice port, uint16_t type, struct answer *a_p)
{
    struct job *j = core_job(c, q->job);

    *a_p = answer_status(found ? ANSWER_OK : ANSWER_NOT_FOUND);
    if (q->op == NAMESERVICE_LOOKUP)
        *a_p = ANSWER_TO(lookup, a_p->status, .port = port, .type = type);
    if (q->op == NAMESERVICE_LOOKUP && found) {
        name_batch_count(&c->name_batches, q, true);
        end_batches(c);
    }
    if (q->op == NAMESERVICE_LOOKUP && !found) /* published here while they were asked? */
        decide_lookup(c, ticket, q, a_p);
    if (q->op == NAMESERVICE_PUBLISH)
        a_p->status = found ? ANSWER_DUPLICATE : j ? publish(c, j, q) : ANSWER_FAILED;
}

void core_names_ask_again(struct core *c, struct slice service)
{
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (!c->has_neighbours || !slice_eq(w->query->service, service) ||
            !is_wide(&w->query->scope))
            continue;
        effects_push(&c->effects, EFFECT_WITH(names, .job = w->query->job, .ticket = w->ticket,
                                              .query = w->query));
        w->query = NULL;
        nameservice_wait_free(w);
    }
}

uint64_t core_names_tick(struct core *c, uint64_t now_ns)
{
    uint64_t next = UINT64_MAX;

    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->query->deadline_ns > now_ns) {
            next = w->query->deadline_ns < next ? w->query->deadline_ns : next;
            continue;
        }
        effects_answer(&c->effects, w->ticket, answer_status(ANSWER_TIMEOUT));
        name_batch_count(&c->name_batches, w->query, false);
        nameservice_wait_free(w);
    }
    return next;
}
