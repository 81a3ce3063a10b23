/* core_request.c - see core_request.h: each kind of request has one small function; the table picks
 * it. */
#include "core/core_request.h"

#include <string.h>

#include "base/limit.h"
#include "core/collective_multijob.h"
#include "core/control.h"
#include "core/core_abort.h"
#include "core/core_call.h"
#include "core/core_names.h"
#include "core/effect.h"
#include "core/foreign_connect.h"
#include "core/group_bootstrap.h"
#include "core/job_attr.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/job_fence.h"
#include "core/job_kvs.h"
#include "core/job_lookup.h"
#include "core/job_node.h"
#include "core/job_ring.h"
#include "core/key_store.h"
#include "core/modex.h"
#include "core/request.h"
#include "core/startup.h"
#include "wire/tcpstore.h"

/* Descriptions of pending requests. */

static void about_get(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.get.key;
}

static void about_get_index(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.get_index.space;
}

static void about_node_get(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.node_get.key;
}

static void about_job_attr(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.job_attr.key;
}

static void about_publish(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.publish.service;
}

static void about_unpublish(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.unpublish.service;
}

static void about_lookup(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.lookup.service;
}

static struct job *owner_of(const struct core_call *k)
{
    struct slice nspace = k->rq->u.modex_get.nspace;

    return nspace.len ? core_known_job(k->core, nspace) : k->job;
}

static void about_modex_get(const struct core_call *k, struct pending *w)
{
    const struct request_modex_get *rq = &k->rq->u.modex_get;
    const struct job *owner = owner_of(k);

    w->name = rq->key;
    if (owner && rq->rank < owner->plan.nprocs) {
        w->owner_job = owner->id;
        w->owner_rank = rq->rank;
    }
}

static void about_spawn(const struct core_call *k, struct pending *w)
{
    const struct spawn_request *s = k->rq->u.spawn.request;

    w->count = spawn_nprocs(s);
    if (s->ncommands)
        w->name = slice_str(s->commands[0].program);
}

typedef void about(const struct core_call *k, struct pending *w);

static void note_wait(const struct core_call *k, about *describe)
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

static enum answer_status do_attach(const struct core_call *k)
{
    k->job->procs[k->rank].speaks = k->rq->u.attach.speaks;
    job_event(k->job, k->rank, PROC_EVENT_ATTACH, 0);
    return ANSWER_OK;
}

static enum answer_status put(const struct core_call *k, struct slice space, struct slice key,
                              struct slice value)
{
    if (control_is_cleanup_key(key))
        return control_register_resources(k->core, k->job, k->rank, value);
    return job_put(k->job, k->rank, space, key, value);
}

static enum answer_status do_put(const struct core_call *k)
{
    const struct request_put *rq = &k->rq->u.put;

    return put(k, rq->space, rq->key, rq->value);
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
static enum answer_status do_put_many(const struct core_call *k)
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
        st = put(k, space, key, value);
        if (st != ANSWER_OK && first == ANSWER_OK) {
            first = st;
            *k->a = ANSWER_TO(put_many, st, .refused = key);
        }
    }
    return rest.len ? ANSWER_BAD_VALUE : first;
}

/* A job may read the stores of connected jobs besides its own. */
static struct job *readable_job(const struct core_call *k, struct slice nspace)
{
    struct job *other = core_job_named(k->core, nspace);

    if (other && (other == k->job || k->job->is_tool || job_is_related(other, k->job)))
        return other;
    return k->job; /* one of its own further spaces, or unknown there */
}

/* Attributes that cost time are determined on request, by the host. */
static enum answer_status ask_host(const struct core_call *k, struct slice key)
{
    struct effect e = EFFECT_WITH(job_attr, .job = k->job->id, .ticket = k->ticket, .key = key);

    if (!k->core->has_topology ||
        (!slice_is(key, "PMI_hwloc_xmlfile") && !slice_is(key, "PMI_netinfo_of_task") &&
         !slice_is(key, CORE_TOPOLOGY) && !slice_starts(key, SLICE(CORE_DISTANCES))))
        return ANSWER_NOT_FOUND;
    if (!effect_own(&e))
        return ANSWER_NO_MEMORY;
    effects_push(&k->core->effects, e);
    return ANSWER_LATER;
}

static enum answer_status look_up(const struct core_call *k, struct job *j, uint32_t rank)
{
    const struct request_get *rq = &k->rq->u.get;
    enum answer_status st =
        job_lookup(j, &(struct job_lookup){
                          .space = rq->space, .key = rq->key, .rank = rank, .ticket = k->ticket });

    if (st == ANSWER_OK)
        *k->a = ANSWER_TO(get, st, .value = SLICE(JOB_LOOKUP_FETCHED));
    return st;
}

static enum answer_status do_get(const struct core_call *k)
{
    const struct request_get *rq = &k->rq->u.get;
    struct job *j = k->job;
    struct slice value = SLICE_NULL;
    uint32_t rank = JOB_NO_RANK;
    enum answer_status st;

    if (rq->space.len && !slice_is(rq->space, j->nspace))
        j = readable_job(k, rq->space);
    if (rq->has_rank && rq->rank >= 0 && rq->rank < j->plan.nprocs)
        rank = (uint32_t)rq->rank;
    st = rank != JOB_NO_RANK ? job_get_of(j, rq->space, rank, rq->key, &value)
                             : job_get(j, rq->space, rq->key, &value);
    if (st == ANSWER_NOT_FOUND && j == k->job && !rq->has_rank)
        st = job_attr_made(j, rq->key, &value);
    *k->a = ANSWER_TO(get, st, .value = value);
    if (st == ANSWER_NOT_FOUND && j == k->job)
        st = ask_host(k, rq->key);
    return st == ANSWER_NOT_FOUND ? look_up(k, j, rank) : st;
}

static enum answer_status do_job_attr(const struct core_call *k)
{
    struct slice key = k->rq->u.job_attr.key;
    struct slice value = SLICE_NULL;
    enum answer_status st = job_attr(k->job, key, &value);

    if (st == ANSWER_NOT_FOUND)
        st = job_attr_made(k->job, key, &value);
    *k->a = ANSWER_TO(job_attr, st, .value = value);
    return st == ANSWER_NOT_FOUND ? ask_host(k, key) : st;
}

static enum answer_status do_node_put(const struct core_call *k)
{
    const struct request_node_put *rq = &k->rq->u.node_put;

    if (control_is_cleanup_key(rq->key))
        return control_register_resources(k->core, k->job, k->rank, rq->value);
    return job_node_put(k->job, k->rank, rq->key, rq->value);
}

static enum answer_status do_node_get(const struct core_call *k)
{
    return job_node_get(k->job, k->rank,
                        &(struct node_get){ .key = k->rq->u.node_get.key,
                                            .wait = k->rq->u.node_get.wait,
                                            .idle = k->rq->u.node_get.idle,
                                            .ticket = k->ticket },
                        k->a);
}

static enum answer_status do_ring(const struct core_call *k)
{
    return job_ring(k->job, k->rank, k->rq->u.ring.left, k->rq->u.ring.right, k->ticket, k->now_ns);
}

/* The other nodes are notified: the launcher ends jobs that are connected to one that fails. */
static enum answer_status connect_jobs(const struct core_call *k, const struct job *other, bool on)
{
    enum answer_status st = on ? job_connect(k->job, other->id) : job_disconnect(k->job, other->id);

    if (!on) {
        job_node_apart(k->job);
        job_node_apart(core_job(k->core, other->id));
    }
    if (st == ANSWER_OK && k->core->has_others)
        effects_push(&k->core->effects,
                     EFFECT_WITH(job_connect, .job = k->job->id, .other = other->id, .on = on));
    return st;
}

static enum answer_status do_connect(const struct core_call *k)
{
    const struct job *other = core_job_named(k->core, k->rq->u.connect.job);

    if (!other)
        return ANSWER_NOT_FOUND;
    return other == k->job ? ANSWER_OK : connect_jobs(k, other, true);
}

static enum answer_status do_disconnect(const struct core_call *k)
{
    const struct job *other = core_job_named(k->core, k->rq->u.disconnect.job);

    if (!other)
        return ANSWER_NOT_FOUND;
    return other == k->job ? ANSWER_OK : connect_jobs(k, other, false);
}

static enum answer_status do_get_index(const struct core_call *k)
{
    const struct request_get_index *rq = &k->rq->u.get_index;
    struct answer_get_index m = { .key = SLICE_NULL };
    enum answer_status st;

    if (rq->index < 0)
        return ANSWER_NOT_FOUND;
    st = job_get_index(k->job, rq->space, (uint64_t)rq->index, &m.key, &m.value);
    if (st == ANSWER_NOT_FOUND)
        st = job_lookup(k->job, &(struct job_lookup){ .space = rq->space,
                                                      .index = (uint64_t)rq->index,
                                                      .rank = JOB_NO_RANK,
                                                      .ticket = k->ticket });
    *k->a = answer_of_get_index(st, m);
    return st;
}

static enum answer_status do_kvs_create(const struct core_call *k)
{
    struct slice name = SLICE_NULL;
    enum answer_status st = job_space_new(k->job, &name);

    *k->a = ANSWER_TO(kvs_create, st, .space = name);
    return st;
}

static enum answer_status do_kvs_delete(const struct core_call *k)
{
    struct slice name = k->rq->u.kvs_delete.space;
    struct effect e = EFFECT_WITH(kvs_delete, .job = k->job->id, .space = name);
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

static enum answer_status do_fence(const struct core_call *k)
{
    const struct request_fence *rq = &k->rq->u.fence;

    return job_fence_until(k->job, k->rank, rq->group, rq->collect, rq->ways, k->ticket, k->now_ns,
                           core_call_deadline(k, rq->timeout_ns));
}

static enum answer_status do_spawn(const struct core_call *k)
{
    k->rq->u.spawn.request->requestor = k->rank;
    note_wait(k, about_spawn); /* before the request is handed over */
    effects_push(&k->core->effects, EFFECT_WITH(spawn, .job = k->job->id, .ticket = k->ticket,
                                                .request = k->rq->u.spawn.request));
    return ANSWER_LATER;
}

static enum answer_status do_commit(const struct core_call *k)
{
    return modex_commit(k->job, k->rank, k->rq->u.commit.cards, k->rq->u.commit.count);
}

static enum answer_status do_modex_get(const struct core_call *k)
{
    const struct request_modex_get *rq = &k->rq->u.modex_get;
    struct job *owner = owner_of(k);

    if (!owner)
        return ANSWER_NOT_FOUND;
    return modex_get(owner, &(struct modex_get){ .rank = rq->rank,
                                                 .key = rq->key,
                                                 .immediate = rq->immediate,
                                                 .refresh = rq->refresh,
                                                 .extent = (enum ondemand_extent)rq->extent,
                                                 .timeout_ns = rq->timeout_ns,
                                                 .ticket = k->ticket,
                                                 .now_ns = k->now_ns,
                                                 .asker = k->job->base + k->rank });
}

static void about_connect(const struct core_call *k, struct pending *w)
{
    w->name = foreign_connect_stranger(k->core, &k->rq->u.collective)->nspace;
}

static enum answer_status connect_launchers(const struct core_call *k)
{
    enum answer_status st = foreign_connect_ask(k);

    if (st == ANSWER_LATER)
        note_wait(k, about_connect);
    return st;
}

static enum answer_status do_collective(const struct core_call *k)
{
    enum answer_status st;

    if (foreign_connect_is_meant(k->core, &k->rq->u.collective))
        return connect_launchers(k);
    st = collective_multijob_enter(k->core, k->job, k->rank, &k->rq->u.collective, k->ticket,
                                   k->now_ns);
    *k->a = ANSWER_TO(collective, st, .number = (int64_t)core_meetings(k->core));
    return st;
}

static enum answer_status do_signal(const struct core_call *k)
{
    return control_signal(k->core, k->job, &k->rq->u.signal);
}

static enum answer_status do_input(const struct core_call *k)
{
    return control_input(k->core, k->job, k->ticket, &k->rq->u.input);
}

static enum answer_status do_cancel_cleanup(const struct core_call *k)
{
    return control_cancel_cleanup(k->job, k->rank, k->rq->u.cancel_cleanup.id);
}

static enum answer_status do_register_cleanup(const struct core_call *k)
{
    return control_register_cleanup(k->core, k->job, k->rank, &k->rq->u.register_cleanup);
}

static enum answer_status do_log(const struct core_call *k)
{
    return control_log(k->core, k->job, k->rank, &k->rq->u.log);
}

static enum answer_status do_credential(const struct core_call *k)
{
    return control_credential(k->core, k->job, k->rank, k->ticket, &k->rq->u.credential);
}

/* The host has the nodes: the launcher does it, or asks its own. */
static enum answer_status do_allocate(const struct core_call *k)
{
    const struct request_allocate *rq = &k->rq->u.allocate;
    struct effect e = EFFECT_WITH(
        allocate, .job = k->job->id, .ticket = k->ticket, .directive = rq->directive,
        .signal = rq->signal, .id = rq->id, .session = rq->session, .req_id = rq->req_id,
        .num_nodes = rq->num_nodes, .num_cpus = rq->num_cpus, .nodes = rq->nodes,
        .exclude = rq->exclude, .seconds = rq->seconds, .rank = k->rank, .infos = rq->infos);

    if (!k->core->is_manager)
        return ANSWER_FAILED;
    if (!effect_own(&e) || !effects_push(&k->core->effects, e))
        return ANSWER_NO_MEMORY;
    return ANSWER_LATER;
}

static enum answer_status do_scheduled(const struct core_call *k)
{
    const struct request_scheduled *rq = &k->rq->u.scheduled;
    struct effect e =
        EFFECT_WITH(scheduled, .number = rq->number, .status = rq->status, .infos = rq->infos);

    return effect_own(&e) && effects_push(&k->core->effects, e) ? ANSWER_OK : ANSWER_NO_MEMORY;
}

/* Another node decides about the group. */
static enum answer_status pass_bootstrap_on(const struct core_call *k)
{
    const struct request_group_bootstrap *rq = &k->rq->u.group_bootstrap;
    struct effect e = EFFECT_WITH(group_bootstrap, .job = k->job->id, .rank = k->rank,
                                  .ticket = k->ticket, .group = rq->group, .leaders = rq->leaders,
                                  .tolerant = rq->tolerant, .added = rq->added, .order = rq->order,
                                  .data = rq->data, .timeout_ns = rq->timeout_ns);

    if (!effect_own(&e) || !effects_push(&k->core->effects, e))
        return ANSWER_NO_MEMORY;
    return ANSWER_LATER;
}

static enum answer_status do_group_bootstrap(const struct core_call *k)
{
    if (!k->core->is_manager)
        return ANSWER_UNSUPPORTED;
    return k->core->names_elsewhere ? pass_bootstrap_on(k) : group_bootstrap_enter(k);
}

static void about_group_bootstrap(const struct core_call *k, struct pending *w)
{
    w->name = k->rq->u.group_bootstrap.group;
}

static void about_node_parts(const struct core_call *k, struct pending *w)
{
    (void)k;
    (void)w;
}

/* The node of the launcher keeps it. */
static enum answer_status ask_keeper(struct core *c, const struct job *j, uint32_t rank,
                                     uint64_t ticket, const struct request_store *rq)
{
    struct effect e =
        EFFECT_WITH(store_query, .job = j->id, .rank = rank, .ticket = ticket, .query = rq->query,
                    .connection = rq->connection, .args = rq->args);

    if (!effect_own(&e) || !effects_push(&c->effects, e))
        return ANSWER_NO_MEMORY;
    return ANSWER_LATER;
}

static enum answer_status do_store(const struct core_call *k)
{
    const struct request_store *rq = &k->rq->u.store;

    if (rq->query >= TCPSTORE_QUERIES)
        return ANSWER_NOT_FOUND;
    if (!k->core->names_elsewhere)
        return key_store_request(k);
    k->job->procs[k->rank].uses_store = true;
    return ask_keeper(k->core, k->job, k->rank, k->ticket, rq);
}

void core_store_leave(struct core *c, struct job *j, uint32_t rank, uint32_t connection)
{
    struct request_store rq = { .query = TCPSTORE_CANCEL_WAIT, .connection = connection };

    if (c->names_elsewhere)
        ask_keeper(c, j, rank, 0, &rq);
    else
        key_store_leave(c, j, rank, connection);
}

static enum answer_status do_node_parts(const struct core_call *k)
{
    if (!k->core->is_manager)
        return ANSWER_NOT_FOUND;
    effects_push(&k->core->effects,
                 EFFECT_WITH(node_parts, .ticket = k->ticket, .parts = k->rq->u.node_parts.parts,
                             .local = k->rq->u.node_parts.local));
    return ANSWER_LATER;
}

static enum answer_status do_finalize(const struct core_call *k)
{
    job_event(k->job, k->rank, PROC_EVENT_FINALIZE, 0);
    return ANSWER_OK;
}

static const struct {
    enum answer_status (*run)(const struct core_call *);
    about *describe; /* when it has to wait; NULL: it never does, or is reported elsewhere */
} table[REQ_KINDS] = {
    [REQ_attach] = { do_attach, NULL },
    [REQ_put] = { do_put, NULL },
    [REQ_put_many] = { do_put_many, NULL },
    [REQ_get] = { do_get, about_get },
    [REQ_get_index] = { do_get_index, about_get_index },
    [REQ_kvs_create] = { do_kvs_create, NULL },
    [REQ_kvs_delete] = { do_kvs_delete, NULL },
    [REQ_fence] = { do_fence, NULL },
    [REQ_node_put] = { do_node_put, NULL },
    [REQ_node_get] = { do_node_get, about_node_get },
    [REQ_job_attr] = { do_job_attr, about_job_attr },
    [REQ_ring] = { do_ring, NULL },
    [REQ_connect] = { do_connect, NULL },
    [REQ_disconnect] = { do_disconnect, NULL },
    [REQ_publish] = { core_names_publish, about_publish },
    [REQ_unpublish] = { core_names_unpublish, about_unpublish },
    [REQ_lookup] = { core_names_lookup, about_lookup },
    [REQ_spawn] = { do_spawn, NULL },
    [REQ_commit] = { do_commit, NULL },
    [REQ_modex_get] = { do_modex_get, about_modex_get },
    [REQ_collective] = { do_collective, NULL },
    [REQ_group_bootstrap] = { do_group_bootstrap, about_group_bootstrap },
    [REQ_signal] = { do_signal, NULL },
    [REQ_input] = { do_input, NULL },
    [REQ_register_cleanup] = { do_register_cleanup, NULL },
    [REQ_cancel_cleanup] = { do_cancel_cleanup, NULL },
    [REQ_log] = { do_log, NULL },
    [REQ_credential] = { do_credential, NULL },
    [REQ_node_parts] = { do_node_parts, about_node_parts },
    [REQ_allocate] = { do_allocate, NULL },
    [REQ_scheduled] = { do_scheduled, NULL },
    [REQ_store] = { do_store, key_store_describe },
    [REQ_finalize] = { do_finalize, NULL },
    [REQ_abort] = { core_abort, NULL },
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t core_tick(struct core *c, uint64_t now_ns)
{
    uint64_t next = earlier(collective_multijob_tick(c, now_ns), core_names_tick(c, now_ns));

    next = earlier(next, group_bootstrap_tick(c, now_ns));
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        uint64_t due = earlier(modex_tick(j, now_ns), job_fences_tick(j, now_ns));
        next = earlier(due, next);
    }
    LIST_EACH(f, &c->foreign)
    next = earlier(modex_tick(LIST_OF(f, struct job, link), now_ns), next);
    return next;
}

void core_request(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                  const struct request *rq, uint64_t now_ns, struct answer *a_p)
{
    struct core_call k = { c, j, rank, ticket, rq, now_ns, a_p };
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
