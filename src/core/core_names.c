/* core_names.c - see core_names.h. */
#include "core/core_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"

/* A name unknown to this launcher may be known to another one of the same user.  Takes over the
 * query; NULL: no memory. */
static enum answer_status ask_neighbours(const struct core_call *k, struct nameservice_query *q)
{
    if (!q)
        return ANSWER_NO_MEMORY;
    q->job = k->job->id;
    q->rank = k->rank;
    q->deadline_ns = core_call_deadline(k, q->timeout_ns);
    effects_push(&k->core->effects,
                 EFFECT_WITH(names, .job = k->job->id, .ticket = k->ticket, .query = q));
    return ANSWER_LATER;
}

/* The name counts against its publisher no more. */
static void uncharge(struct core *c, const struct name_entry *e)
{
    struct job *owner = core_job(c, e->job);

    if (owner && owner->procs[e->rank].names) {
        owner->procs[e->rank].names--;
        proc_drops(&owner->procs[e->rank], strlen(e->service) + e->port.len);
    }
}

/* The result of a look-up: reading a name that may be read once removes it. */
static const struct name_entry *read_name(struct core *c, struct slice service)
{
    const struct name_entry *e = nameservice_read(&c->names, service);

    if (e && e->life == NAME_READ_ONCE)
        uncharge(c, e);
    return e;
}

/* The answer is kept in the query: in a moment the name may have another value. */
static void give_name(struct core *c, struct nameservice_wait *w)
{
    const struct name_entry *e = nameservice_lookup(&c->names, w->query->service);
    struct nameservice_query *q =
        nameservice_query_new(NAMESERVICE_LOOKUP, w->query->service, e->port);

    if (!q)
        return; /* it goes on waiting; the name stays */
    e = read_name(c, w->query->service);
    q->found = true;
    q->type = e->type;
    q->job = e->job;
    q->rank = e->rank;
    free(w->query);
    w->query = q;
}

/* A name has been published: answers the look-ups that wait for it; for a name that may be read
 * once, the oldest one. */
static void wake_lookups(struct core *c, struct slice service)
{
    const struct name_entry *e = nameservice_lookup(&c->names, service);
    bool once = e && e->life == NAME_READ_ONCE, over = false;

    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (over || !slice_eq(w->query->service, service))
            continue;
        if (once)
            give_name(c, w);
        over = once;
        if (once && !w->query->found)
            continue;
        effects_push(&c->effects, EFFECT_WITH(answer, .status = ANSWER_OK, .ticket = w->ticket,
                                              .lookup = w->query));
        w->query = NULL;
        nameservice_wait_free(w);
    }
}

void core_names_drop_lookups(struct core *c, uint64_t first, uint64_t last)
{
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->ticket >= first && w->ticket <= last)
            nameservice_wait_free(w);
    }
}

static enum answer_status wait_for_name(struct core *c, uint64_t ticket,
                                        const struct nameservice_query *q)
{
    struct nameservice_wait *w = calloc(1, sizeof *w);

    if (w)
        w->query = nameservice_query_new(q->op, q->service, SLICE_NULL);
    if (!w || !w->query) {
        free(w);
        return ANSWER_NO_MEMORY;
    }
    w->query->deadline_ns = q->deadline_ns;
    w->ticket = ticket;
    list_append(&c->lookups, &w->link);
    effects_tick_by(&c->effects, q->deadline_ns);
    return ANSWER_LATER;
}

static void answer_name(const struct core *c, const struct name_entry *e, struct answer *a_p)
{
    *a_p = ANSWER_TO(lookup, ANSWER_OK, .port = e->port, .type = e->type,
                     .job = core_job(c, e->job), .rank = e->rank);
}

void core_names_lookup_now(struct core *c, const struct nameservice_query *q, struct answer *a_p)
{
    const struct name_entry *e = q->found ? NULL : read_name(c, q->service);

    *a_p = (struct answer){ .status = ANSWER_NOT_FOUND };
    if (q->found)
        answer_name(c,
                    &(struct name_entry){
                        .port = q->port, .type = q->type, .job = q->job, .rank = q->rank },
                    a_p);
    else if (e)
        answer_name(c, e, a_p);
}

struct name_wish {
    struct slice service, port;
    uint16_t type;
    enum name_life life;
};

static enum answer_status publish(struct core *c, struct job *j, uint32_t rank,
                                  const struct name_wish *n)
{
    struct proc *p = &j->procs[rank];
    int rc;

    if (p->names >= LIMIT_CLIENT_NAMES || !proc_can_keep(p, n->service.len + n->port.len))
        return ANSWER_OVER_QUOTA;
    rc = nameservice_publish(&c->names, n->service, n->port, j->id, rank, n->life, n->type);
    if (rc < 0)
        return ANSWER_NO_MEMORY;
    if (rc != NAMESERVICE_OK)
        return ANSWER_DUPLICATE;
    p->names++;
    proc_keeps(p, n->service.len + n->port.len);
    if (!list_empty(&c->lookups))
        wake_lookups(c, n->service);
    return ANSWER_OK;
}

static enum answer_status publish_elsewhere(const struct core_call *k,
                                            const struct request_publish *rq)
{
    struct nameservice_query *q = nameservice_query_new(NAMESERVICE_PUBLISH, rq->service, rq->port);

    if (q) {
        q->type = rq->type;
        q->life = rq->life;
    }
    return ask_neighbours(k, q);
}

enum answer_status core_names_publish(const struct core_call *k)
{
    const struct request_publish *rq = &k->rq->u.publish;

    if (rq->service.len == 0 || rq->service.len > LIMIT_NAME_SERVICE ||
        slice_find(rq->service, '\0') < rq->service.len)
        return ANSWER_BAD_KEY;
    if (rq->port.len > LIMIT_NAME_PORT)
        return ANSWER_BAD_VALUE;
    if (k->core->names_elsewhere)
        return publish_elsewhere(k, rq);
    if (nameservice_lookup(&k->core->names, rq->service))
        return ANSWER_DUPLICATE;
    if (k->core->has_neighbours)
        return publish_elsewhere(k, rq);
    return publish(k->core, k->job, k->rank,
                   &(struct name_wish){ rq->service, rq->port, rq->type, rq->life });
}

enum answer_status core_names_withdraw(struct core *c, struct slice service)
{
    const struct name_entry *e = nameservice_lookup(&c->names, service);

    if (e)
        uncharge(c, e);
    return nameservice_unpublish(&c->names, service) == NAMESERVICE_OK ? ANSWER_OK
                                                                       : ANSWER_NOT_FOUND;
}

enum answer_status core_names_unpublish(const struct core_call *k)
{
    struct slice service = k->rq->u.unpublish.service;
    enum answer_status st = ANSWER_NOT_FOUND;

    if (!k->core->names_elsewhere)
        st = core_names_withdraw(k->core, service);
    if (st == ANSWER_NOT_FOUND && (k->core->names_elsewhere || k->core->has_neighbours))
        return ask_neighbours(k, nameservice_query_new(NAMESERVICE_UNPUBLISH, service, SLICE_NULL));
    return st;
}

static struct nameservice_query *lookup_query(const struct request_lookup *rq)
{
    struct nameservice_query *q =
        nameservice_query_new(NAMESERVICE_LOOKUP, rq->service, SLICE_NULL);

    if (q) {
        q->wait = rq->wait;
        q->timeout_ns = rq->timeout_ns;
    }
    return q;
}

/* No other launcher to ask: the query only holds the wait. */
static enum answer_status wait_alone(const struct core_call *k)
{
    struct nameservice_query *q = lookup_query(&k->rq->u.lookup);
    enum answer_status st;

    if (!q)
        return ANSWER_NO_MEMORY;
    q->deadline_ns = core_call_deadline(k, q->timeout_ns);
    st = wait_for_name(k->core, k->ticket, q);
    free(q);
    return st;
}

enum answer_status core_names_lookup(const struct core_call *k)
{
    const struct request_lookup *rq = &k->rq->u.lookup;
    const struct name_entry *e;

    if (k->core->names_elsewhere)
        return ask_neighbours(k, lookup_query(rq));
    e = read_name(k->core, rq->service);
    if (!e && k->core->has_neighbours)
        return ask_neighbours(k, lookup_query(rq));
    if (!e && rq->wait)
        return wait_alone(k);
    if (!e)
        return ANSWER_NOT_FOUND;
    answer_name(k->core, e, k->a);
    return ANSWER_OK;
}

void core_names_receive(struct core *c, uint64_t ticket, const struct nameservice_query *q,
                        bool found, struct slice port, struct answer *a_p)
{
    struct job *j = core_job(c, q->job);

    *a_p = answer_status(found ? ANSWER_OK : ANSWER_NOT_FOUND);
    if (q->op == NAMESERVICE_LOOKUP)
        *a_p = ANSWER_TO(lookup, a_p->status, .port = port);
    if (q->op == NAMESERVICE_LOOKUP && !found) {
        core_names_lookup_now(c, q, a_p); /* published here while the neighbours were asked? */
        if (a_p->status == ANSWER_NOT_FOUND && q->wait)
            a_p->status = wait_for_name(c, ticket, q);
    }
    if (q->op == NAMESERVICE_PUBLISH)
        a_p->status = found ? ANSWER_DUPLICATE
                      : j   ? publish(c, j, q->rank,
                                      &(struct name_wish){ q->service, q->port, q->type, q->life })
                            : ANSWER_FAILED;
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
        nameservice_wait_free(w);
    }
    return next;
}
