/* allocations.c - see allocations.h.  Reading order: the nodes; ends; requests; those that a
 * scheduler has granted; spawned jobs. */
#include "daemon/allocations.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"
#include "core/effect.h"
#include "core/input.h"
#include "daemon/allocation_refusal.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "daemon/local_job.h"
#include "daemon/process.h"
#include "daemon/signals.h"
#include "daemon/spawn_growth.h"
#include "daemon/spawn_limit.h"
#include "daemon/spawn_wish.h"
#include "pmix_common.h"
#include "server/node_part.h"
#include "server/pmix_scheduler.h"

/* As for the launcher's own time limit. */
enum { LATE_CODE = 124, ID_MAX = 512 };

static const struct node_context *context_of(const struct allocations *a)
{
    return a->jobs->context;
}

static struct core *core_of(const struct allocations *a)
{
    return &context_of(a)->server->core;
}

/* ---- the nodes ------------------------------------------------------------------------------- */

/* All of the launcher's: each plan that is made from its options has them. */
static const struct job_map *nodes_of(const struct allocations *a)
{
    const struct job *first = core_first_job(core_of(a));

    if (context_of(a)->config->tools_like)
        return context_of(a)->config->tools_like;
    return first ? &first->plan : NULL;
}

/* Those that have joined since, at the end of the plan. */
static bool learn(struct allocations *a, const struct job_map *p)
{
    bool good = true;

    while (good && a->all.nnodes < p->nnodes) {
        const struct job_map_node *n = &p->nodes[a->all.nnodes];
        good = reservations_add_node(&a->all, n->name, n->slots) == 0;
    }
    return good;
}

static bool is_ready(struct allocations *a)
{
    const struct job_map *p = nodes_of(a);

    if (a->all.nodes)
        return !context_of(a)->config->tools_like || learn(a, p);
    if (!p || reservations_open(&a->all, p->nnodes) < 0)
        return false;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (reservations_name_node(&a->all, n, p->nodes[n].name, p->nodes[n].slots) < 0) {
            reservations_close(&a->all);
            return false;
        }
    }
    return true;
}

static void count_busy(struct reservations *r, const struct job *j)
{
    for (uint32_t p = 0; p < j->plan.nprocs; p++) {
        uint32_t at = j->plan.procs[p].node;
        const char *name = j->plan.nodes[at].name;
        if (j->procs[p].state == PROC_STATE_GONE)
            continue;
        if (at >= r->nnodes ||
            strcmp(r->nodes[at].name, name) != 0) { /* the plan has fewer nodes */
            for (at = 0; at < r->nnodes && strcmp(r->nodes[at].name, name) != 0; at++)
                ;
        }
        if (at < r->nnodes)
            r->nodes[at].busy++;
    }
}

/* Of several positions with one name the living one counts; one that leaves cannot be had. */
static bool is_gone(const struct cluster_io *s, const struct dvm_leases *leases, const char *name)
{
    bool known = false;

    for (uint32_t p = 0; p < s->router.config.count; p++) {
        enum dvm_node_use use;
        if (!s->names[p] || strcmp(s->names[p], name) != 0 || !cluster_io_has(s, p))
            continue;
        use = leases ? leases->config.use(leases->config.arg, p) : DVM_NODE_FREE;
        known = true;
        if ((p == 0 || router_reaches(&s->router, p)) &&
            (use == DVM_NODE_FREE || use == DVM_NODE_RESERVED))
            return false;
    }
    return known;
}

static void find_lost(struct allocations *a, const struct cluster_io *s, struct slice came)
{
    for (uint32_t n = 0; n < a->all.nnodes; n++)
        a->all.nodes[n].lost =
            is_gone(s, context_of(a)->config->dvm_leases, a->all.nodes[n].name) &&
            !slice_has_item(came, slice_str(a->all.nodes[n].name));
}

/* came: these are held for who asks now. */
static void look_at_nodes(struct allocations *a, struct slice came)
{
    for (uint32_t n = 0; n < a->all.nnodes; n++)
        a->all.nodes[n].busy = 0;
    LIST_EACH(l, &core_of(a)->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool)
            count_busy(&a->all, j);
    }
    if (context_of(a)->cluster)
        find_lost(a, context_of(a)->cluster, came);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void raise_event_of(struct allocations *a, const struct reservation *of, int code,
                           int status)
{
    server_deliver(
        context_of(a)->server,
        INPUT(session_event, .code = code, .session = of->number, .id = slice_str(of->id),
              .req_id = of->req_id ? slice_str(of->req_id) : SLICE_NULL, .status = status));
}

static void await_first(struct allocations *a)
{
    const struct reservation *first = reservation_first_due(&a->all);

    timer_at(&a->timer, first ? first->deadline_ns : UINT64_MAX);
}

static void send_visitors_off(struct allocations *a)
{
    struct buf names = BUF_NULL(1 << 20);

    reservation_leavers(&a->all, &names);
    if (buf_ok(&names))
        dvm_growth_undo(&a->growths, buf_slice(&names));
    buf_free(&names);
}

static void finish(struct allocations *a, struct reservation *of, int status)
{
    raise_event_of(a, of, PMIX_EVENT_SESSION_END, status);
    reservation_end(&a->all, of);
    await_first(a);
    send_visitors_off(a);
}

/* Its jobs end; their end is no failure of the job that has spawned them. */
static void end_jobs(struct allocations *a, const struct reservation *of)
{
    LIST_EACH(l, &a->jobs->all)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        if (w->job->session != of->number || w->job->phase != JOB_RUNNING)
            continue;
        w->late = true;
        server_abort(context_of(a)->server, w->job, JOB_NO_RANK, LATE_CODE,
                     "job %s: the time of its allocation %s is over", w->job->nspace, of->id);
    }
}

static void time_over(void *arg)
{
    struct allocations *a = arg;
    struct reservation *of;

    while ((of = reservation_first_due(&a->all)) && of->deadline_ns <= clock_now_ns()) {
        end_jobs(a, of);
        finish(a, of, PMIX_ERR_TIMEOUT);
    }
    await_first(a);
    turn_end(context_of(a)->turn);
}

static void scheduler_is_gone(struct allocations *a);
static void withdraw_all(struct allocations *a, uint32_t job);

void allocations_job_ended(struct allocations *a, const struct job *j)
{
    withdraw_all(a, j->id);
    if (j->is_tool && scheduler_ended(&a->scheduler, j))
        scheduler_is_gone(a);
    if (!a->all.nodes || j->is_tool)
        return;
    LIST_EACH(l, &a->all.all)
    {
        struct reservation *of = LIST_OF(l, struct reservation, link);
        if (of->owner == j->id)
            finish(a, of, PMIX_SUCCESS);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

struct allocation_call {
    struct allocations *a;
    const struct op_allocate *e;
    struct reservation_wish wish;
    struct reservation *of; /* the one that it is about; NULL: it has ended, or there is none */
    char id[ID_MAX];        /* of that */
    uint32_t number;
    struct slice came; /* nodes that the resource manager has given for it */
    const char *why;   /* a node that it needs has not joined, a sentence; NULL: all have */
};

/* So many nodes, whichever. */
static bool extends_by_number(const struct op_allocate *e)
{
    return e->directive == PMIX_ALLOC_EXTEND && e->num_nodes && !e->num_cpus && !e->nodes.len &&
           !e->exclude.len;
}

static enum answer_status allocate_new(struct allocation_call *k)
{
    struct allocations *a = k->a;
    const char *name = core_of(a)->name ? core_of(a)->name : "wireup";
    enum answer_status st = reservation_make(&a->all, name, &k->wish, &k->of);

    if (st == ANSWER_OK)
        raise_event_of(a, k->of, PMIX_EVENT_SESSION_START, 0);
    return st;
}

static enum answer_status extend(struct allocation_call *k)
{
    if (!k->of) /* the DVM */
        return k->came.len ? ANSWER_OK : ANSWER_OVER_QUOTA;
    return reservation_extend(&k->a->all, k->of, &k->wish);
}

/* Some of its nodes, or all of it. */
static enum answer_status release(struct allocation_call *k)
{
    if (k->e->nodes.len) {
        enum answer_status st = reservation_lend(&k->a->all, k->of, k->e->nodes);
        send_visitors_off(k->a);
        return st;
    }
    finish(k->a, k->of, PMIX_SUCCESS);
    k->of = NULL;
    return ANSWER_OK;
}

static enum answer_status reacquire(struct allocation_call *k)
{
    return reservation_reacquire(&k->a->all, k->of);
}

/* To every job of the session; returns their number. */
static uint32_t signal_jobs(const struct allocation_call *k, int sig, bool ends)
{
    uint32_t count = 0;

    LIST_EACH(l, &core_of(k->a)->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        struct op_signal m = {
            .job = j->id, .rank = JOB_NO_RANK, .signal = sig, .ends_procs = ends
        };
        if (j->session != k->of->number || j->phase == JOB_ENDED)
            continue;
        count++;
        if (!sig)
            continue;
        if (ends)
            server_deliver(context_of(k->a)->server,
                           INPUT(signal, .job = j->id, .rank = JOB_NO_RANK, .signal = sig,
                                 .ends_procs = true));
        signals_effect(k->a->processes, &m);
    }
    return count;
}

static enum answer_status send_signal(struct allocation_call *k)
{
    if (k->e->signal <= 0 || k->e->signal > SIGRTMAX)
        return ANSWER_BAD_VALUE;
    signal_jobs(k, k->e->signal, false);
    return ANSWER_OK;
}

static enum answer_status terminate(struct allocation_call *k)
{
    signal_jobs(k, SIGTERM, true);
    return release(k);
}

static enum answer_status complete(struct allocation_call *k)
{
    return signal_jobs(k, 0, false) ? ANSWER_OVER_QUOTA : release(k);
}

/* What its processes have in memory stays theirs. */
static enum answer_status preempt(struct allocation_call *k)
{
    struct buf nodes = BUF_NULL(1 << 24);
    enum answer_status st = ANSWER_NOT_FOUND;

    if (reservation_list(&k->a->all, k->of, &nodes))
        st = buf_ok(&nodes) ? reservation_lend(&k->a->all, k->of, buf_slice(&nodes))
                            : ANSWER_NO_MEMORY;
    if (st == ANSWER_OK)
        signal_jobs(k, SIGSTOP, false);
    buf_free(&nodes);
    return st;
}

static enum answer_status restore(struct allocation_call *k)
{
    enum answer_status st = reacquire(k);

    if (st == ANSWER_OK)
        signal_jobs(k, SIGCONT, false);
    return st;
}

static enum answer_status (*directive_of(uint8_t directive))(struct allocation_call *k)
{
    switch (directive) {
    case PMIX_ALLOC_NEW: return allocate_new;
    case PMIX_ALLOC_EXTEND: return extend;
    case PMIX_ALLOC_RELEASE: return release;
    case PMIX_ALLOC_REAQUIRE: return reacquire;
    case RESERVATION_SIGNAL: return send_signal;
    case RESERVATION_TERMINATE: return terminate;
    case RESERVATION_COMPLETE: return complete;
    case RESERVATION_PREEMPT: return preempt;
    case RESERVATION_RESTORE: return restore;
    default: return NULL;
    }
}

/* Its owner and the scheduler may; when the owner has gone, everybody. */
static bool is_allowed(const struct allocation_call *k)
{
    const struct core *core = core_of(k->a);

    return k->of->owner == k->e->job || !core_job(core, k->of->owner) ||
           (core->scheduler.connection && core->scheduler.job == k->e->job);
}

/* The extension of a job that names no allocation: of that in which it runs, else of the DVM. */
static bool finds_none_named(struct allocation_call *k)
{
    const struct op_allocate *e = k->e;
    const struct job *j = core_job(core_of(k->a), e->job);
    uint32_t session = j ? j->session : 0;

    if (!extends_by_number(e) || e->id.len || e->session)
        return false;
    k->of = reservation_find(&k->a->all, SLICE_NULL, session, SLICE_NULL, 0);
    return k->of || (context_of(k->a)->config->submits && !e->seconds);
}

static enum answer_status find_own(struct allocation_call *k)
{
    const struct op_allocate *e = k->e;

    k->of = reservation_find(&k->a->all, e->id, e->session, e->req_id, e->job);
    if (!k->of)
        return finds_none_named(k) ? ANSWER_OK : ANSWER_NOT_FOUND;
    snprintf(k->id, sizeof k->id, "%s", k->of->id);
    k->number = k->of->number;
    return is_allowed(k) ? ANSWER_OK : ANSWER_DENIED;
}

static enum answer_status carry_out(struct allocation_call *k)
{
    enum answer_status (*run)(struct allocation_call *) = directive_of(k->e->directive);
    enum answer_status st = ANSWER_OK;

    if (!run || !is_ready(k->a))
        return run ? ANSWER_NO_MEMORY : ANSWER_FAILED;
    look_at_nodes(k->a, k->came);
    if (k->e->directive != PMIX_ALLOC_NEW)
        st = find_own(k);
    return st == ANSWER_OK ? run(k) : st;
}

static void answer(const struct allocation_call *k, const struct answer *a)
{
    const struct node_context *c = context_of(k->a);

    if (!c->cluster || !rpc_answer(&c->cluster->dispatch.rpc, k->e->ticket, a))
        server_answer(c->server, k->e->ticket, a);
}

/* Of what has been carried out; nodes: memory for the answer. */
static struct answer describe(const struct allocation_call *k, struct buf *nodes)
{
    const struct reservation *of = k->of;

    if (of)
        reservation_list(&k->a->all, of, nodes);
    else
        buf_slice_put(nodes, k->came);
    return ANSWER_TO(allocate, buf_ok(nodes) ? ANSWER_OK : ANSWER_NO_MEMORY,
                     .id = slice_str(of ? of->id : k->id), .nodes = buf_slice(nodes),
                     .session = of ? of->number : k->number,
                     .seconds = of ? reservation_seconds(of, k->wish.now_ns) : 0);
}

static void refuse(const struct allocation_call *k, enum answer_status status)
{
    struct errmsg why;

    if (k->why && (status == ANSWER_NOT_FOUND || status == ANSWER_OVER_QUOTA))
        errmsg_set(&why, 0, "%s", k->why);
    else
        allocation_refusal(&k->a->all, k->e->directive, k->of != NULL, status,
                           getenv("SLURM_JOB_ID"), &why);
    log_info(context_of(k->a)->log, "an allocation is refused: %s", why.text);
    answer(k, &(struct answer){ .status = status, .text = slice_str(why.text) });
}

static void answer_with(const struct allocation_call *k, enum answer_status status)
{
    struct buf nodes = BUF_NULL(1 << 24);
    struct answer a;

    if (status == ANSWER_OK) {
        a = describe(k, &nodes);
        answer(k, &a);
    } else {
        refuse(k, status);
    }
    buf_free(&nodes);
}

static struct allocation_call call_of(struct allocations *a, const struct op_allocate *e)
{
    return (struct allocation_call){ .a = a,
                                     .e = e,
                                     .wish = { .owner = e->job,
                                               .req_id = e->req_id,
                                               .num_nodes = e->num_nodes,
                                               .num_cpus = e->num_cpus,
                                               .nodes = e->nodes,
                                               .exclude = e->exclude,
                                               .duration_ns = e->seconds * NS_PER_S,
                                               .now_ns = clock_now_ns() } };
}

/* Likewise, but with this status, and with infos of the scheduler's. */
static void answer_of_scheduler(const struct allocation_call *k, pmix_status_t status,
                                struct slice infos, const struct answer *own)
{
    struct buf bytes = BUF_NULL(1 << 24);
    struct answer a;

    pmix_grant_infos(infos, own, &bytes);
    a = ANSWER_TO(allocate, ANSWER_OK, .session = status, .nodes = buf_slice(&bytes),
                  .of_scheduler = 1);
    answer(k, buf_ok(&bytes) ? &a : &(struct answer){ .status = ANSWER_NO_MEMORY });
    buf_free(&bytes);
}

/* ---- nodes that join for a request ----------------------------------------------------------- */

static bool is_known(const struct allocations *a, struct slice name)
{
    for (uint32_t n = 0; n < a->all.nnodes; n++) {
        if (slice_is(name, a->all.nodes[n].name))
            return !a->all.nodes[n].lost;
    }
    return false;
}

/* Of "[USER@]NODE[:SLOTS]"; an address with colons is a node, too. */
static struct slice node_of(struct slice item)
{
    size_t at = slice_find(item, '@'), colon;

    if (at < item.len)
        item = slice_skip(item, at + 1);
    if (item.len && item.ptr[0] == '[')
        return slice_head(slice_skip(item, 1), slice_find(item, ']') - 1);
    colon = slice_find(item, ':');
    if (colon < item.len && slice_find(slice_skip(item, colon + 1), ':') < item.len - colon - 1)
        return item;
    return slice_head(item, colon);
}

static void put_once(struct slice item, struct buf *out)
{
    if (!slice_has_item(buf_slice(out), item))
        buf_printf(out, "%s" SLICE_FMT, buf_len(out) ? "," : "", SLICE_ARG(item));
}

static void put_unknown(const struct allocations *a, struct slice nodes, struct buf *out)
{
    while (nodes.len) {
        struct slice item = slice_trim(slice_cut(&nodes, ','));
        struct slice name = node_of(item);
        if (name.len && !is_known(a, name))
            put_once(item, out);
    }
}

/* (No node has a blank in its name.) */
void allocations_names(struct slice nodes, struct buf *out)
{
    while (nodes.len) {
        struct slice name = node_of(slice_trim(slice_cut(&nodes, ',')));
        if (name.len && slice_find(name, ' ') == name.len)
            put_once(name, out);
    }
}

void allocations_unknown(struct allocations *a, struct slice nodes, struct buf *out)
{
    if (!is_ready(a))
        return;
    look_at_nodes(a, SLICE_NULL);
    put_unknown(a, nodes, out);
}

static void free_request(struct effect *e)
{
    effect_drop(e);
    free(e);
}

static void drop_request(void *request)
{
    free_request(request);
}

/* A copy that owns its texts; NULL: no memory. */
static struct effect *copy_request(const struct op_allocate *e)
{
    struct effect *copy = calloc(1, sizeof *copy);

    if (copy)
        *copy = (struct effect){ .kind = EFFECT_allocate, .u.allocate = *e };
    if (copy && effect_own(copy))
        return copy;
    free(copy);
    return NULL;
}

/* The nodes join, and it goes on.  False: it does not. */
static bool grow_for(struct allocations *a, const struct op_allocate *e, struct slice nodes)
{
    struct effect *request = copy_request(e);
    struct buf all = BUF_NULL(1 << 20);
    bool grows;

    allocations_names(e->nodes, &all);
    grows =
        request && buf_ok(&all) && dvm_growth_begin(&a->growths, request, nodes, buf_slice(&all));
    if (request && !grows) { /* who answers is not here */
        request->u.allocate.ticket = 0;
        free_request(request);
    }
    buf_free(&all);
    return grows;
}

/* True: it goes on when they have joined. */
static bool must_grow(struct allocation_call *k)
{
    struct allocations *a = k->a;
    struct buf unknown = BUF_NULL(1 << 20);
    bool grows = false;

    if (!k->e->nodes.len || !context_of(a)->config->resize || !is_ready(a))
        return false;
    if (k->e->directive != PMIX_ALLOC_NEW &&
        (k->e->directive != PMIX_ALLOC_EXTEND || find_own(k) != ANSWER_OK))
        return false;
    look_at_nodes(a, SLICE_NULL);
    put_unknown(a, k->e->nodes, &unknown);
    if (buf_len(&unknown) && buf_ok(&unknown))
        grows = grow_for(a, k->e, buf_slice(&unknown));
    buf_free(&unknown);
    return grows;
}

/* The nodes come from the resource manager, and it goes on.  False: it does not. */
static bool must_submit(const struct allocation_call *k, enum answer_status status)
{
    struct allocations *a = k->a;
    struct effect *request;

    if (status != ANSWER_OVER_QUOTA || !extends_by_number(k->e) || !context_of(a)->config->submits)
        return false;
    request = copy_request(k->e);
    if (request && dvm_growth_more(&a->growths, request, k->e->num_nodes))
        return true;
    if (request) {
        request->u.allocate.ticket = 0;
        free_request(request);
    }
    return false;
}

static void take_those_that_came(struct allocation_call *k, struct slice joined)
{
    if (!extends_by_number(k->e) || !joined.len)
        return;
    k->came = joined;
    k->wish.nodes = joined;
    k->wish.num_nodes = 0;
}

/* All, or none: what has joined in vain leaves. */
static void go_on(void *arg, void *request, struct slice joined, const char *why)
{
    const struct effect *e = request;
    struct allocations *a = arg;
    struct allocation_call k = call_of(a, &e->u.allocate);
    enum answer_status st;

    take_those_that_came(&k, joined);
    st = carry_out(&k);
    k.why = why[0] ? why : NULL;
    if (st == ANSWER_OK && k.of)
        reservation_visits(&a->all, k.of, joined);
    else if (st != ANSWER_OK || !k.came.len)
        dvm_growth_undo(&a->growths, joined);
    answer_with(&k, st);
    free_request(request);
    await_first(a);
    turn_end(context_of(a)->turn);
}

static bool is_of_job(const void *arg, const void *request)
{
    const uint32_t *job = arg;

    return ((const struct effect *)request)->u.allocate.job == *job;
}

/* Under which name it was asked for; a request without one has the empty name. */
static bool is_same(const void *arg, const void *request)
{
    const struct op_allocate *one = arg, *other = &((const struct effect *)request)->u.allocate;

    return one->job == other->job && slice_eq(one->req_id, other->req_id);
}

/* True: there was one. */
static bool withdraw(struct allocations *a, bool (*is)(const void *arg, const void *request),
                     const void *arg)
{
    struct effect *e = dvm_growth_withdraw(&a->growths, is, arg);
    struct allocation_call k;

    if (!e)
        return false;
    k = call_of(a, &e->u.allocate);
    k.why = "the request was cancelled";
    answer_with(&k, ANSWER_OVER_QUOTA);
    free_request(e);
    return true;
}

/* Nobody is there for the answers. */
static void withdraw_all(struct allocations *a, uint32_t job)
{
    struct effect *e;

    while ((e = dvm_growth_withdraw(&a->growths, is_of_job, &job))) {
        e->u.allocate.ticket = 0;
        free_request(e);
    }
}

static void cancel(struct allocation_call *k)
{
    if (withdraw(k->a, is_same, k->e))
        answer_with(k, ANSWER_OK);
    else
        answer_with(k, ANSWER_NOT_FOUND);
}

void allocations_request(struct allocations *a, const struct op_allocate *e)
{
    struct allocation_call k = call_of(a, e);
    pmix_status_t refused = PMIX_SUCCESS;
    enum answer_status status;
    uint32_t number;

    if (scheduler_ask(&a->scheduler, e, &number)) {
        if (!number)
            answer_with(&k, ANSWER_NO_MEMORY);
        return;
    }
    if (e->infos.len)
        refused = pmix_alloc_check(e->infos);
    if (refused != PMIX_SUCCESS) {
        answer_of_scheduler(&k, refused, SLICE_NULL, NULL);
    } else if (e->directive == PMIX_ALLOC_REQ_CANCEL) {
        cancel(&k);
    } else if (must_grow(&k)) {
        return;
    } else {
        status = carry_out(&k);
        if (!must_submit(&k, status))
            answer_with(&k, status);
    }
    await_first(a);
}

/* ---- requests that a scheduler has granted --------------------------------------------------- */

/* It has decided for which nodes, how long, and under which name. */
static void take_grant(struct allocation_call *k, const struct pmix_grant *g)
{
    if (g->nodes) {
        k->wish.nodes = slice_str(g->nodes);
        k->wish.num_nodes = k->wish.num_cpus = 0;
    }
    if (g->seconds)
        k->wish.duration_ns = g->seconds * NS_PER_S;
    if (g->id && k->e->directive == PMIX_ALLOC_NEW)
        k->wish.id = slice_str(g->id);
}

static void grant(struct allocations *a, const struct op_allocate *e, struct slice infos)
{
    struct allocation_call k = call_of(a, e);
    struct buf nodes = BUF_NULL(1 << 24);
    struct pmix_grant g;
    enum answer_status status = pmix_grant_read(infos, &g) ? ANSWER_OK : ANSWER_NO_MEMORY;
    struct answer own;

    take_grant(&k, &g);
    if (status == ANSWER_OK)
        status = carry_out(&k);
    if (status == ANSWER_OK) {
        own = describe(&k, &nodes);
        answer_of_scheduler(&k, PMIX_SUCCESS, infos, &own);
    } else {
        answer_with(&k, status);
    }
    buf_free(&nodes);
    pmix_grant_free(&g);
    await_first(a);
}

static void go_on_spawning(struct allocations *a, struct spawn_held *h)
{
    a->jobs->growths->go_on(a->jobs, h);
    spawn_held_free(h);
}

static int reserve(struct allocations *a, const struct reservation_wish *w, uint32_t *session_p,
                   struct errmsg *err);

/* The job that is spawned will own it. */
static void grant_spawn(struct allocations *a, const struct op_allocate *e,
                        const struct op_scheduled *o, struct spawn_held *h)
{
    struct allocation_call k = call_of(a, e);
    struct pmix_grant g = { .id = NULL };

    h->failure = SPAWN_NO_NODES;
    if (o->status != PMIX_SUCCESS && o->status != PMIX_OPERATION_SUCCEEDED) {
        errmsg_set(&h->why, 0, "the scheduler does not grant the nodes (status %d)", o->status);
    } else if (!pmix_grant_read(o->infos, &g)) {
        errmsg_set(&h->why, 0, "out of memory");
    } else {
        take_grant(&k, &g);
        k.wish.owner = 0;
        if (reserve(a, &k.wish, &h->session, &h->why) == 0)
            h->failure = 0;
    }
    pmix_grant_free(&g);
    go_on_spawning(a, h);
}

/* An answer that comes later is about no request any more. */
static void grant_is_late(void *arg, uint32_t number, struct spawn_held *h)
{
    struct allocations *a = arg;

    free_request(scheduler_take(&a->scheduler, number));
    h->failure = errmsg_set(&h->why, SPAWN_LATE,
                            "the scheduler has not granted the nodes within its time limit of %u s",
                            spawn_limit_seconds(h->request));
    go_on_spawning(a, h);
    turn_end(context_of(a)->turn);
}

void allocations_scheduled(struct allocations *a, const struct op_scheduled *o)
{
    struct effect *e = scheduler_take(&a->scheduler, o->number);
    struct spawn_held *h = spawn_grant_take(&a->grants, o->number);
    struct allocation_call k;

    if (!e)
        return;
    k = call_of(a, &e->u.allocate);
    if (h)
        grant_spawn(a, &e->u.allocate, o, h);
    else if (o->status == PMIX_SUCCESS || o->status == PMIX_OPERATION_SUCCEEDED)
        grant(a, &e->u.allocate, o->infos);
    else
        answer_of_scheduler(&k, o->status, o->infos, NULL);
    free_request(e);
}

static void scheduler_is_gone(struct allocations *a)
{
    struct allocation_call k;
    struct spawn_held *h;
    struct effect *e;

    while ((h = spawn_grant_take_any(&a->grants))) {
        h->failure = errmsg_set(&h->why, SPAWN_NO_NODES,
                                "the scheduler, which was asked for the nodes, has ended");
        go_on_spawning(a, h);
    }
    while ((e = scheduler_take_any(&a->scheduler))) {
        k = call_of(a, &e->u.allocate);
        if (e->u.allocate.ticket) /* else it was for a spawn */
            answer_of_scheduler(&k, PMIX_ERR_LOST_CONNECTION, SLICE_NULL, NULL);
        free_request(e);
    }
}

/* ---- spawned jobs ---------------------------------------------------------------------------- */

static int find_session(const struct allocations *a, const struct spawn_request *rq,
                        const struct job *parent, uint32_t *session_p, struct errmsg *err)
{
    struct slice id = spawn_info_of_all(rq->commands, rq->ncommands, SPAWN_ALLOC);
    struct slice req = spawn_info_of_all(rq->commands, rq->ncommands, SPAWN_ALLOC_REQ);
    struct slice word = spawn_info_of_all(rq->commands, rq->ncommands, SPAWN_ALLOC_SESSION);
    const struct reservation *of;
    uint32_t number = 0;

    *session_p = 0;
    if (word.len && !slice_u32(word, &number))
        return errmsg_set(err, SPAWN_BAD_REQUEST, "there is no session " SLICE_FMT,
                          SLICE_ARG(slice_head(word, 20)));
    of = a ? reservation_find(&a->all, id, number, req, parent->id) : NULL;
    if ((id.len || number || req.len) && !of)
        return errmsg_set(err, SPAWN_NO_NODES, "there is no allocation " SLICE_FMT,
                          SLICE_ARG(slice_head(id.len    ? id
                                               : req.len ? req
                                                         : word,
                                               200)));
    if (!of && a && parent->session)
        of = reservation_find(&a->all, SLICE_NULL, parent->session, SLICE_NULL, 0);
    *session_p = of ? of->number : 0;
    return 0;
}

static int no_allocation(enum answer_status status, struct errmsg *err)
{
    switch (status) {
    case ANSWER_OVER_QUOTA:
        return errmsg_set(err, SPAWN_NO_NODES, "not so many nodes are free as the job is to have");
    case ANSWER_NOT_FOUND:
        return errmsg_set(err, SPAWN_NO_NODES,
                          "the list of nodes to reserve has one that the launcher does not have");
    case ANSWER_DUPLICATE:
        return errmsg_set(err, SPAWN_BAD_REQUEST, "there is an allocation with that request id");
    default: return errmsg_set(err, SPAWN_NO_RESOURCES, "out of memory");
    }
}

/* Nobody owns it yet. */
static int reserve(struct allocations *a, const struct reservation_wish *w, uint32_t *session_p,
                   struct errmsg *err)
{
    const char *name = core_of(a)->name ? core_of(a)->name : "wireup";
    struct reservation *of = NULL;
    enum answer_status status = ANSWER_NO_MEMORY;

    if (is_ready(a)) {
        look_at_nodes(a, SLICE_NULL);
        status = reservation_make(&a->all, name, w, &of);
    }
    if (status != ANSWER_OK)
        return no_allocation(status, err);
    *session_p = of->number;
    return 0;
}

/* Of its own nodes; w gets the present time. */
static int reserve_own(struct allocations *a, const struct job *parent, struct reservation_wish *w,
                       uint32_t *session_p, struct errmsg *err)
{
    const struct core *core = core_of(a);

    if (core->scheduler.connection && core->scheduler.job != parent->id)
        return errmsg_set(err, SPAWN_NO_NODES,
                          "the scheduler was not asked for the nodes: ask it by "
                          "PMIx_Allocation_request, and name the allocation that it gives");
    w->now_ns = clock_now_ns();
    return reserve(a, w, session_p, err);
}

bool allocations_ask(struct allocations *a, const struct spawn_held *h)
{
    return a->jobs && spawn_grant_ask(&a->grants, &a->scheduler, h);
}

int allocations_for_spawn(struct allocations *a, const struct spawn_request *rq,
                          const struct job *parent, uint32_t *session_p, bool *made_p,
                          struct errmsg *err)
{
    struct reservation_wish w;
    int rc = spawn_wish_read(rq, &w, made_p, err);

    if (rc == 0 && *made_p && !a)
        rc = errmsg_set(err, SPAWN_NO_NODES, "this launcher has no nodes to reserve");
    if (rc == 0)
        rc = *made_p ? reserve_own(a, parent, &w, session_p, err)
                     : find_session(a, rq, parent, session_p, err);
    *made_p = *made_p && rc == 0;
    return rc;
}

static struct reservation *numbered(const struct allocations *a, uint32_t session)
{
    return reservation_find(&a->all, SLICE_NULL, session, SLICE_NULL, 0);
}

void allocations_give(struct allocations *a, uint32_t session, const struct job *to)
{
    struct reservation *of = numbered(a, session);

    of->owner = to->id;
    raise_event_of(a, of, PMIX_EVENT_SESSION_START, 0);
    await_first(a);
}

void allocations_drop(struct allocations *a, uint32_t session)
{
    reservation_end(&a->all, numbered(a, session));
}

static bool may_use(const struct allocations *a, const char *node, uint32_t session)
{
    const struct reservation *of = a ? reservation_of(&a->all, slice_str(node)) : NULL;

    return (of ? of->number : 0) == session;
}

/* Of a reservation nodes count that `like` does not have: they are the launcher's. */
int allocations_view(const struct allocations *a, const struct job_map *like, uint32_t session,
                     struct job_map *view_p, struct errmsg *err)
{
    const struct job_map *from = session ? nodes_of(a) : like;
    uint32_t n = 0;

    *view_p = *like;
    arena_init(&view_p->arena, (size_t)1 << 30);
    view_p->nodes = arena_array(&view_p->arena, from->nnodes + (size_t)1, sizeof *view_p->nodes);
    if (!view_p->nodes)
        return errmsg_set(err, SPAWN_NO_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < from->nnodes; i++) {
        if (may_use(a, from->nodes[i].name, session))
            view_p->nodes[n++] = from->nodes[i];
    }
    view_p->nnodes = n;
    return n ? 0
             : errmsg_set(err, SPAWN_NO_NODES,
                          session
                              ? "the allocation has no node any more"
                              : "all nodes are reserved; name the allocation that the job is for");
}

int allocations_check(const struct allocations *a, const struct job_map *plan, uint32_t session,
                      struct errmsg *err)
{
    for (uint32_t n = 0; n < plan->nnodes; n++) {
        const struct job_map_node *node = &plan->nodes[n];
        if (node->nprocs && !may_use(a, node->name, session))
            return errmsg_set(err, SPAWN_NO_NODES, "node %s is %s", node->name,
                              session ? "not in the allocation of the job"
                                      : "reserved, and the job names no allocation");
    }
    return 0;
}

bool allocations_has(const struct allocations *a, const char *node)
{
    return a && reservation_of(&a->all, slice_str(node));
}

void allocations_write(const struct allocations *a, struct buf *out)
{
    node_part_write_allocations(context_of(a)->server, &a->all, clock_now_ns(), out);
}

void allocations_open(struct allocations *a, struct local_jobs *jobs, struct processes *p)
{
    *a = (struct allocations){ .jobs = jobs, .processes = p };
    jobs->allocations = a;
    timer_init(&a->timer, jobs->context->loop, time_over, a);
    scheduler_open(&a->scheduler, jobs->context->server);
    spawn_grants_open(&a->grants, jobs->context->loop, grant_is_late, a);
    dvm_growths_open(&a->growths, jobs->context,
                     &(struct dvm_growth_calls){ go_on, drop_request, a });
}

void allocations_close(struct allocations *a)
{
    if (!a->jobs)
        return;
    timer_stop(&a->timer);
    dvm_growths_close(&a->growths);
    reservations_close(&a->all);
    scheduler_close(&a->scheduler);
    spawn_grants_close(&a->grants);
    a->jobs->allocations = NULL;
    a->jobs = NULL;
}
