/* core.c - see core.h: each kind of request has one small function; the table picks it. */
#include "core/core.h"

#include "core/control.h"
#include "core/collective_multijob.h"
#include "core/effect.h"
#include "core/modex.h"
#include "core/request.h"
#include "core/startup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

void core_init(struct core *c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
    list_init(&c->jobs);
    nameservice_init(&c->names, seed);
    list_init(&c->lookups);
    list_init(&c->sets);
    pendings_init(&c->waits, seed);
    collective_set_init(&c->meetings, seed);
}

static void drop_lookup(struct nameservice_wait *w)
{
    list_unlink(&w->link);
    free(w->query);
    free(w);
}

void core_free(struct core *c)
{
    LIST_EACH(l, &c->jobs)
    job_free(LIST_OF(l, struct job, link));
    LIST_EACH(l, &c->lookups)
    drop_lookup(LIST_OF(l, struct nameservice_wait, link));
    nameservice_free(&c->names);
    psets_free(&c->sets);
    pendings_free(&c->waits);
    collective_set_free(&c->meetings);
    effects_free(&c->effects);
}

struct job *core_job_order(struct core *c, const struct job_order *o)
{
    const struct job *from = core_job(c, o->parent);
    uint32_t id = o->numbered ? o->id : c->next_job;
    uint32_t base = o->numbered ? o->base : c->next_base;
    struct job *j = job_new(&(struct job_params){ .id = id,
                                                  .parent = o->parent,
                                                  .base = base,
                                                  .nspace = o->nspace,
                                                  .parent_name = from ? from->nspace : NULL,
                                                  .plan = o->plan,
                                                  .region = o->region,
                                                  .seed = c->seed,
                                                  .keep_going = o->keep_going,
                                                  .here = o->here,
                                                  .follows = o->follows,
                                                  .effects = &c->effects,
                                                  .meetings = &c->meetings });

    if (!j)
        return NULL;
    j->wdir = c->wdir;
    j->sessions = o->is_tool ? NULL : c->sessions;
    j->is_tool = o->is_tool;
    j->is_asked = o->is_asked;
    c->next_job = id >= c->next_job ? id + 1 : c->next_job;
    base += j->plan.nprocs;
    c->next_base = base > c->next_base ? base : c->next_base;
    list_append(&c->jobs, &j->link);
    return j;
}

struct job *core_job_add(struct core *c, const char *nspace, struct job_map *plan,
                         struct seg_region *region, uint32_t parent, bool keep_going)
{
    return core_job_order(c, &(struct job_order){ .nspace = nspace,
                                                  .plan = plan,
                                                  .region = region,
                                                  .parent = parent,
                                                  .keep_going = keep_going,
                                                  .here = JOB_ALL_HERE });
}

void core_place(struct core *c, const struct job *j, uint32_t rank)
{
    bool one = rank < j->plan.nprocs;

    if (j->sessions)
        effects_push(&c->effects,
                     EFFECT_WITH(place, .job = j->id, .rank = one ? rank : JOB_NO_RANK));
}

static void bury(struct core *c, const struct job *j)
{
    struct ended_job *g = &c->ended_jobs[c->nended++ % CORE_ENDED_JOBS];

    *g = (struct ended_job){
        .id = j->id, .parent = j->parent, .failed = j->failed, .exit_code = j->exit_code
    };
    snprintf(g->nspace, sizeof g->nspace, "%s", j->nspace);
}

const struct ended_job *core_ended_job(const struct core *c, struct slice nspace)
{
    for (uint32_t i = c->nended; i > 0 && c->nended - i < CORE_ENDED_JOBS; i--) {
        const struct ended_job *g = &c->ended_jobs[(i - 1) % CORE_ENDED_JOBS];
        if (slice_is(nspace, g->nspace))
            return g;
    }
    return NULL;
}

void core_job_remove(struct core *c, struct job *j)
{
    if (!j->is_tool)
        bury(c, j);
    nameservice_drop_job(&c->names, j->id);
    LIST_EACH(l, &c->jobs)
    job_forget(LIST_OF(l, struct job, link), j->id);
    job_free(j);
}

struct job *core_job(const struct core *c, uint32_t id)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (j->id == id)
            return j;
    }
    return NULL;
}

struct job *core_job_named(const struct core *c, struct slice nspace)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (slice_is(nspace, j->nspace))
            return j;
    }
    return NULL;
}

struct job *core_first_job(const struct core *c)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool)
            return j;
    }
    return NULL;
}

/* One has spawned the other, or either has connected to the other. */
static bool is_connected(const struct job *a, const struct job *b)
{
    return a->parent == b->id || b->parent == a->id || job_is_connected(a, b->id) ||
           job_is_connected(b, a->id);
}

/* Ends other because of j, or, when that has happened, updates it with what is known of j's end by
 * now: a process that hangs up is reaped a moment later, and only then its code is known. */
static void blame(struct job *other, const struct job *j)
{
    if (other->blames == j->id) {
        other->exit_code = j->exit_code;
        errmsg_set(&other->reason, 0, "connected job %s failed: %.500s", j->nspace, j->reason.text);
    } else if (other->phase == JOB_RUNNING && !other->failed) {
        other->blames = j->id;
        job_abort(other, JOB_NO_RANK, j->exit_code, "connected job %s failed: %.500s", j->nspace,
                  j->reason.text);
    } else {
        job_abort(other, JOB_NO_RANK, j->exit_code, "%s", j->reason.text);
    }
}

void core_abort_connected(struct core *c, const struct job *j)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *other = LIST_OF(l, struct job, link);
        if (other != j && !other->follows && !other->is_tool && is_connected(other, j))
            blame(other, j);
    }
}

/* Its last process has been reaped: everything about its end is known now. */
static void tell_the_blaming(struct core *c, uint32_t id)
{
    const struct job *j = core_job(c, id);

    LIST_EACH(l, &c->jobs)
    {
        struct job *other = LIST_OF(l, struct job, link);
        if (j && j->failed && other->blames == id)
            blame(other, j);
    }
}

/* ---- one function per kind of request -------------------------------------------------------- */

struct call {
    struct core *core;
    struct job *job;
    uint32_t rank;
    uint64_t ticket;
    const struct request *rq;
    uint64_t now_ns;
    struct answer *a;
};

/* Descriptions of pending requests. */

static void about_get(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.get.key;
}

static void about_node_get(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.node_get.key;
}

static void about_job_attr(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.job_attr.key;
}

static void about_publish(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.publish.service;
}

static void about_unpublish(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.unpublish.service;
}

static void about_lookup(const struct call *k, struct pending *w)
{
    w->name = k->rq->u.lookup.service;
}

static struct job *owner_of(const struct call *k)
{
    struct slice nspace = k->rq->u.modex_get.nspace;

    return nspace.len ? core_job_named(k->core, nspace) : k->job;
}

static void about_modex_get(const struct call *k, struct pending *w)
{
    const struct request_modex_get *rq = &k->rq->u.modex_get;
    const struct job *owner = owner_of(k);

    w->name = rq->key;
    if (owner && rq->rank < owner->plan.nprocs) {
        w->owner_job = owner->id;
        w->owner_rank = rq->rank;
    }
}

static void about_spawn(const struct call *k, struct pending *w)
{
    const struct spawn_request *s = k->rq->u.spawn.request;

    w->count = spawn_nprocs(s);
    if (s->ncommands)
        w->name = slice_str(s->commands[0].program);
}

typedef void about(const struct call *k, struct pending *w);

static void note_wait(const struct call *k, about *describe)
{
    struct pending w = { .ticket = k->ticket,
                         .since_ns = k->now_ns,
                         .job = k->job->id,
                         .rank = k->rank,
                         .kind = k->rq->kind,
                         .owner_job = PENDING_NOBODY,
                         .owner_rank = PENDING_NOBODY };

    describe(k, &w);
    pendings_add(&k->core->waits, &w);
}

static enum answer_status do_attach(const struct call *k)
{
    k->job->procs[k->rank].speaks = k->rq->u.attach.speaks;
    job_event(k->job, k->rank, PROC_EVENT_ATTACH, 0);
    return ANSWER_OK;
}

static enum answer_status do_put(const struct call *k)
{
    const struct request_put *rq = &k->rq->u.put;

    return job_put(k->job, k->rank, rq->space, rq->key, rq->value);
}

static uint32_t read_le(const char *bytes, int n)
{
    uint32_t v = 0;

    while (n--)
        v = v << 8 | (unsigned char)bytes[n];
    return v;
}

/* Cuts one record off: key length (2 bytes), value length (4 bytes), key, value. */
static bool next_record(struct slice *rest, struct slice *key_p, struct slice *value_p)
{
    uint32_t keylen, vallen;

    if (rest->len < 6)
        return false;
    keylen = read_le(rest->ptr, 2);
    vallen = read_le(rest->ptr + 2, 4);
    *rest = slice_skip(*rest, 6);
    if (keylen > rest->len || vallen > rest->len - keylen)
        return false;
    *key_p = slice_head(*rest, keylen);
    *value_p = slice_head(slice_skip(*rest, keylen), vallen);
    *rest = slice_skip(*rest, (size_t)keylen + vallen);
    return true;
}

/* One refused put does not affect the others: the first refusal is returned.  A key of a further
 * space comes as it is stored: the space's name, a NUL, the key. */
static enum answer_status do_put_many(const struct call *k)
{
    struct slice rest = k->rq->u.put_many.records, key, value, space;
    enum answer_status first = ANSWER_OK;

    for (uint32_t i = 0; i < k->rq->u.put_many.count; i++) {
        enum answer_status st;
        size_t nul;
        if (!next_record(&rest, &key, &value))
            return ANSWER_BAD_VALUE;
        nul = slice_find(key, '\0');
        space = nul < key.len ? slice_head(key, nul) : SLICE_NULL;
        if (nul < key.len)
            key = slice_skip(key, nul + 1);
        st = job_put(k->job, k->rank, space, key, value);
        if (st != ANSWER_OK && first == ANSWER_OK) {
            first = st;
            k->a->key = key;
        }
    }
    return rest.len ? ANSWER_BAD_VALUE : first;
}

/* A job may read the stores of connected jobs besides its own. */
static struct job *readable_job(const struct call *k, struct slice nspace)
{
    struct job *other = core_job_named(k->core, nspace);

    if (other && (other == k->job || k->job->is_tool || is_connected(other, k->job)))
        return other;
    return k->job; /* one of its own further spaces, or unknown there */
}

/* Attributes that cost time are determined on request, by the host. */
static enum answer_status ask_host(const struct call *k, struct slice key)
{
    struct effect e = EFFECT_WITH(attr, .job = k->job->id, .ticket = k->ticket, .key = key);

    if (!k->core->has_topology ||
        (!slice_is(key, "PMI_hwloc_xmlfile") && !slice_is(key, CORE_TOPOLOGY)))
        return ANSWER_NOT_FOUND;
    if (!effect_own(&e))
        return ANSWER_NO_MEMORY;
    effects_push(&k->core->effects, e);
    return ANSWER_LATER;
}

static enum answer_status do_get(const struct call *k)
{
    const struct request_get *rq = &k->rq->u.get;
    struct job *j = k->job;
    enum answer_status st;

    if (rq->space.len && !slice_is(rq->space, j->nspace))
        j = readable_job(k, rq->space);
    if (rq->has_rank && rq->rank >= 0 && rq->rank < j->plan.nprocs)
        st = job_get_of(j, rq->space, (uint32_t)rq->rank, rq->key, &k->a->value);
    else
        st = job_get(j, rq->space, rq->key, &k->a->value);
    return st == ANSWER_NOT_FOUND && j == k->job ? ask_host(k, rq->key) : st;
}

static enum answer_status do_job_attr(const struct call *k)
{
    struct slice key = k->rq->u.job_attr.key;
    enum answer_status st = job_attr(k->job, key, &k->a->value);

    return st == ANSWER_NOT_FOUND ? ask_host(k, key) : st;
}

static enum answer_status do_node_put(const struct call *k)
{
    return job_node_put(k->job, k->rank, k->rq->u.node_put.key, k->rq->u.node_put.value);
}

static enum answer_status do_node_get(const struct call *k)
{
    return job_node_get(k->job, k->rank,
                        &(struct node_get){ .key = k->rq->u.node_get.key,
                                            .wait = k->rq->u.node_get.wait,
                                            .idle = k->rq->u.node_get.idle,
                                            .ticket = k->ticket },
                        k->a);
}

static enum answer_status do_ring(const struct call *k)
{
    return job_ring(k->job, k->rank, k->rq->u.ring.left, k->rq->u.ring.right, k->ticket, k->now_ns);
}

/* The other nodes are notified: the launcher ends jobs that are connected to one that fails. */
static enum answer_status tie(const struct call *k, const struct job *other, bool on)
{
    enum answer_status st = on ? job_connect(k->job, other->id) : job_disconnect(k->job, other->id);

    if (st == ANSWER_OK && k->core->has_others)
        effects_push(&k->core->effects,
                     EFFECT_WITH(tie, .job = k->job->id, .other = other->id, .on = on));
    return st;
}

static enum answer_status do_connect(const struct call *k)
{
    const struct job *other = core_job_named(k->core, k->rq->u.connect.job);

    if (!other)
        return ANSWER_NOT_FOUND;
    return other == k->job ? ANSWER_OK : tie(k, other, true);
}

static enum answer_status do_disconnect(const struct call *k)
{
    const struct job *other = core_job_named(k->core, k->rq->u.disconnect.job);

    if (!other)
        return ANSWER_NOT_FOUND;
    return other == k->job ? ANSWER_OK : tie(k, other, false);
}

static enum answer_status do_get_index(const struct call *k)
{
    const struct request_get_index *rq = &k->rq->u.get_index;

    if (rq->index < 0)
        return ANSWER_NOT_FOUND;
    return job_get_index(k->job, rq->space, (uint64_t)rq->index, &k->a->key, &k->a->value);
}

static enum answer_status do_kvs_create(const struct call *k)
{
    return job_space_new(k->job, &k->a->value);
}

static enum answer_status do_kvs_delete(const struct call *k)
{
    struct slice name = k->rq->u.kvs_delete.space;
    struct effect e = EFFECT_WITH(space, .job = k->job->id, .name = name);
    enum answer_status st;

    if (k->core->has_others && !effect_own(&e))
        return ANSWER_NO_MEMORY;
    st = job_space_delete(k->job, name);
    if (st == ANSWER_OK && k->core->has_others)
        effects_push(&k->core->effects, e);
    else
        effect_drop(&e);
    return st;
}

/* The requester's deadline. */
static uint64_t deadline_of(const struct call *k, uint64_t timeout_ns)
{
    return timeout_ns ? k->now_ns + timeout_ns : UINT64_MAX;
}

static enum answer_status do_fence(const struct call *k)
{
    const struct request_fence *rq = &k->rq->u.fence;

    return job_fence_until(k->job, k->rank, rq->group, rq->collect, rq->ways, k->ticket, k->now_ns,
                           deadline_of(k, rq->timeout_ns));
}

/* A name unknown to this launcher may be known to another one of the same user.  Takes over the
 * query; NULL: no memory. */
static enum answer_status ask_neighbours(const struct call *k, struct nameservice_query *q)
{
    if (!q)
        return ANSWER_NO_MEMORY;
    q->job = k->job->id;
    q->rank = k->rank;
    q->deadline_ns = deadline_of(k, q->timeout_ns);
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
        drop_lookup(w);
    }
}

void core_lookups_drop(struct core *c, uint64_t first, uint64_t last)
{
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->ticket >= first && w->ticket <= last)
            drop_lookup(w);
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
    return ANSWER_LATER;
}

static void answer_name(const struct core *c, const struct name_entry *e, struct answer *a_p)
{
    a_p->status = ANSWER_OK;
    a_p->value = e->port;
    a_p->type = e->type;
    a_p->about = core_job(c, e->job);
    a_p->rank = e->rank;
}

void core_lookup_now(struct core *c, const struct nameservice_query *q, struct answer *a_p)
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

static enum answer_status publish_elsewhere(const struct call *k, const struct request_publish *rq)
{
    struct nameservice_query *q = nameservice_query_new(NAMESERVICE_PUBLISH, rq->service, rq->port);

    if (q) {
        q->type = rq->type;
        q->life = rq->life;
    }
    return ask_neighbours(k, q);
}

static enum answer_status do_publish(const struct call *k)
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

enum answer_status core_unpublish(struct core *c, struct slice service)
{
    const struct name_entry *e = nameservice_lookup(&c->names, service);

    if (e)
        uncharge(c, e);
    return nameservice_unpublish(&c->names, service) == NAMESERVICE_OK ? ANSWER_OK
                                                                       : ANSWER_NOT_FOUND;
}

static enum answer_status do_unpublish(const struct call *k)
{
    struct slice service = k->rq->u.unpublish.service;
    enum answer_status st = ANSWER_NOT_FOUND;

    if (!k->core->names_elsewhere)
        st = core_unpublish(k->core, service);
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
static enum answer_status wait_alone(const struct call *k)
{
    struct nameservice_query *q = lookup_query(&k->rq->u.lookup);
    enum answer_status st;

    if (!q)
        return ANSWER_NO_MEMORY;
    q->deadline_ns = deadline_of(k, q->timeout_ns);
    st = wait_for_name(k->core, k->ticket, q);
    free(q);
    return st;
}

static enum answer_status do_lookup(const struct call *k)
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

void core_names_heard(struct core *c, uint64_t ticket, const struct nameservice_query *q,
                      bool found, struct slice port, struct answer *a_p)
{
    struct job *j = core_job(c, q->job);

    *a_p = (struct answer){ .status = found ? ANSWER_OK : ANSWER_NOT_FOUND };
    if (q->op == NAMESERVICE_LOOKUP)
        a_p->value = port;
    if (q->op == NAMESERVICE_LOOKUP && !found) {
        core_lookup_now(c, q, a_p); /* published here while the neighbours were asked? */
        if (a_p->status == ANSWER_NOT_FOUND && q->wait)
            a_p->status = wait_for_name(c, ticket, q);
    }
    if (q->op == NAMESERVICE_PUBLISH)
        a_p->status = found ? ANSWER_DUPLICATE
                      : j   ? publish(c, j, q->rank,
                                      &(struct name_wish){ q->service, q->port, q->type, q->life })
                            : ANSWER_FAILED;
}

static enum answer_status do_spawn(const struct call *k)
{
    note_wait(k, about_spawn); /* before the request is handed over */
    effects_push(&k->core->effects, EFFECT_WITH(spawn, .job = k->job->id, .ticket = k->ticket,
                                                .request = k->rq->u.spawn.request));
    return ANSWER_LATER;
}

static enum answer_status do_commit(const struct call *k)
{
    return modex_commit(k->job, k->rank, k->rq->u.commit.cards, k->rq->u.commit.count);
}

static enum answer_status do_modex_get(const struct call *k)
{
    const struct request_modex_get *rq = &k->rq->u.modex_get;
    struct job *owner = owner_of(k);

    if (!owner)
        return ANSWER_NOT_FOUND;
    return modex_get(owner, &(struct modex_get){ .rank = rq->rank,
                                                 .key = rq->key,
                                                 .immediate = rq->immediate,
                                                 .timeout_ns = rq->timeout_ns,
                                                 .ticket = k->ticket,
                                                 .now_ns = k->now_ns,
                                                 .asker = k->job->base + k->rank });
}

static enum answer_status do_collective(const struct call *k)
{
    enum answer_status st = collective_multijob_enter(k->core, k->job, k->rank,
                                                      &k->rq->u.collective, k->ticket, k->now_ns);

    k->a->number = (int64_t)core_meetings(k->core);
    return st;
}

static enum answer_status do_signal(const struct call *k)
{
    return control_signal(k->core, k->job, &k->rq->u.signal);
}

static enum answer_status do_input(const struct call *k)
{
    return control_input(k->core, k->job, k->ticket, &k->rq->u.input);
}

static enum answer_status do_register_cleanup(const struct call *k)
{
    return control_register_cleanup(k->core, k->job, k->rank, &k->rq->u.register_cleanup);
}

static enum answer_status do_log(const struct call *k)
{
    return control_log(k->core, k->job, k->rank, &k->rq->u.log);
}

static enum answer_status do_credential(const struct call *k)
{
    return control_credential(k->core, k->job, k->ticket, &k->rq->u.credential);
}

static enum answer_status do_finalize(const struct call *k)
{
    job_event(k->job, k->rank, PROC_EVENT_FINALIZE, 0);
    return ANSWER_OK;
}

static const char *family_of(uint8_t speaks)
{
    return speaks == SPEAKS_PMIX ? "PMIx" : "PMI";
}

/* Why an MPI library may have aborted without a message of its own: another library is in the same
 * job, and uses another protocol.  The text is empty, or begins with "; ". */
static void say_mixture(const struct job *j, uint32_t rank, struct errmsg *text)
{
    uint8_t mine = j->procs[rank].speaks;

    text->text[0] = '\0';
    for (uint32_t r = 0; r < j->plan.nprocs && mine; r++) {
        uint8_t other = j->procs[r].speaks;
        if (other == 0 || (other == SPEAKS_PMIX) == (mine == SPEAKS_PMIX))
            continue;
        errmsg_set(
            text, 0,
            "; it speaks %s and rank %u %s: if they have different MPI libraries, run them as "
            "jobs of their own",
            family_of(mine), r, family_of(other));
        return;
    }
}

static enum answer_status do_abort(const struct call *k)
{
    const struct request_abort *rq = &k->rq->u.abort;
    const struct job_map *p = &k->job->plan;
    struct slice why = slice_head(rq->message, 512);
    struct errmsg mixture = { "" };

    if (k->job->is_tool) /* its end concerns no other process */
        return ANSWER_OK;
    if (why.len == 0)
        say_mixture(k->job, k->rank, &mixture);
    job_abort(k->job, k->rank, rq->code,
              "rank %u on %s (pid %d) aborted with code %d%s" SLICE_FMT "%s", k->rank,
              p->nodes[p->procs[k->rank].node].name, k->job->procs[k->rank].pid, rq->code,
              why.len ? ": " : "", SLICE_ARG(why), mixture.text);
    return ANSWER_OK;
}

static const struct {
    enum answer_status (*run)(const struct call *);
    about *describe; /* when it has to wait; NULL: it never does, or is reported elsewhere */
} table[REQ_KINDS] = {
    [REQ_attach] = { do_attach, NULL },
    [REQ_put] = { do_put, NULL },
    [REQ_put_many] = { do_put_many, NULL },
    [REQ_get] = { do_get, about_get },
    [REQ_get_index] = { do_get_index, NULL },
    [REQ_kvs_create] = { do_kvs_create, NULL },
    [REQ_kvs_delete] = { do_kvs_delete, NULL },
    [REQ_fence] = { do_fence, NULL },
    [REQ_node_put] = { do_node_put, NULL },
    [REQ_node_get] = { do_node_get, about_node_get },
    [REQ_job_attr] = { do_job_attr, about_job_attr },
    [REQ_ring] = { do_ring, NULL },
    [REQ_connect] = { do_connect, NULL },
    [REQ_disconnect] = { do_disconnect, NULL },
    [REQ_publish] = { do_publish, about_publish },
    [REQ_unpublish] = { do_unpublish, about_unpublish },
    [REQ_lookup] = { do_lookup, about_lookup },
    [REQ_spawn] = { do_spawn, NULL },
    [REQ_commit] = { do_commit, NULL },
    [REQ_modex_get] = { do_modex_get, about_modex_get },
    [REQ_collective] = { do_collective, NULL },
    [REQ_signal] = { do_signal, NULL },
    [REQ_input] = { do_input, NULL },
    [REQ_register_cleanup] = { do_register_cleanup, NULL },
    [REQ_log] = { do_log, NULL },
    [REQ_credential] = { do_credential, NULL },
    [REQ_finalize] = { do_finalize, NULL },
    [REQ_abort] = { do_abort, NULL },
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t core_tick(struct core *c, uint64_t now_ns)
{
    uint64_t next = collective_multijob_tick(c, now_ns);

    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        uint64_t due = earlier(modex_tick(j, now_ns), job_fences_tick(j, now_ns));
        next = earlier(due, next);
    }
    LIST_EACH(l, &c->lookups)
    {
        struct nameservice_wait *w = LIST_OF(l, struct nameservice_wait, link);
        if (w->query->deadline_ns > now_ns) {
            next = w->query->deadline_ns < next ? w->query->deadline_ns : next;
            continue;
        }
        effects_push(&c->effects,
                     EFFECT_WITH(answer, .status = ANSWER_TIMEOUT, .ticket = w->ticket));
        drop_lookup(w);
    }
    return next;
}

void core_request(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                  const struct request *rq, uint64_t now_ns, struct answer *a_p)
{
    struct call k = { c, j, rank, ticket, rq, now_ns, a_p };
    struct proc *p = &j->procs[rank];

    *a_p = (struct answer){ .status = ANSWER_OK };
    if (!table[rq->kind].run) {
        a_p->status = ANSWER_FAILED; /* REQ_identify: not a request to a job */
        return;
    }
    p->last_ns = now_ns;
    p->last_word = request_word(rq->kind);
    if (c->startup && c->startup->job == j->id)
        startup_request(c->startup, rank, rq, now_ns);
    a_p->status = table[rq->kind].run(&k);
    if (a_p->status == ANSWER_LATER && table[rq->kind].describe)
        note_wait(&k, table[rq->kind].describe);
}

/* The queue is empty, so there is room for at least some. */
static void make_good(struct core *c)
{
    bool lost = c->effects.lost;

    c->effects.lost = false;
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (lost)
            job_abort(j, JOB_NO_RANK, 1, "the launcher ran out of memory");
        job_settle(j);
    }
}

static bool take_effect(struct core *c, struct effect *e_p)
{
    if (effects_pop(&c->effects, e_p))
        return true;
    if (!c->effects.lost)
        return false;
    make_good(c);
    return effects_pop(&c->effects, e_p);
}

bool core_effect(struct core *c, struct effect *e_p)
{
    if (!take_effect(c, e_p))
        return false;
    if (e_p->kind == EFFECT_job_ended)
        tell_the_blaming(c, e_p->u.job_ended.job);
    return true;
}
