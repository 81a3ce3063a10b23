/* server_events.c - events: their targets, and those that the server itself raises.
 *
 * The last ones are kept for later registrations.  All peers are processes of this node.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/server_priv.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"

struct kept_event {
    struct list link;
    struct notice notice; /* its texts follow it */
    char text[];
};

static void forget_oldest(struct server *s)
{
    struct kept_event *e = LIST_OF(list_first(&s->events), struct kept_event, link);

    s->nevents--;
    s->event_bytes -= e->notice.infos.len;
    list_unlink(&e->link);
    free(e);
}

void server_events_free(struct server *s)
{
    while (s->nevents)
        forget_oldest(s);
}

/* Without memory for it, late registrations miss it: nothing guarantees how long events are kept.
 */
static void keep_event(struct server *s, const struct notice *n)
{
    size_t name = strlen(n->nspace) + 1;
    struct kept_event *e = NULL;

    if (n->infos.len <= LIMIT_KEPT_EVENT_BYTES)
        e = calloc(1, sizeof *e + name + n->infos.len);
    if (!e)
        return;
    e->notice = *n;
    e->notice.but = NULL;
    memcpy(e->text, n->nspace, name);
    if (n->infos.len)
        memcpy(e->text + name, n->infos.ptr, n->infos.len);
    e->notice.nspace = e->text;
    e->notice.infos = slice_mem(e->text + name, n->infos.len);
    list_append(&s->events, &e->link);
    s->event_bytes += n->infos.len;
    s->nevents++;
    while (s->nevents > LIMIT_KEPT_EVENTS || s->event_bytes > LIMIT_KEPT_EVENT_BYTES)
        forget_oldest(s);
}

static bool is_source(const struct peer *p, const struct notice *n)
{
    return p->job && p->rank == n->rank && !strcmp(p->job->nspace, n->nspace);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* The targets of a notification with the range CUSTOM. */
struct targets {
    struct pmsg_infos m;
    const pmix_proc_t *procs;
    size_t n;
};

static void load_targets(struct targets *t, const struct notice *n)
{
    struct punpack r;

    *t = (struct targets){ .n = 0 };
    if (n->range != PMIX_RANGE_CUSTOM || n->infos.len == 0)
        return;
    punpack_init(&r, n->infos, &ptype_own);
    pmsg_read_infos(&r, 0, &t->m);
    for (size_t i = 0; i < t->m.infos.n; i++) {
        const pmix_value_t *v = &t->m.infos.items[i].value;
        if (strcmp(t->m.infos.items[i].key, PMIX_EVENT_CUSTOM_RANGE) != 0)
            continue;
        if (v->type == PMIX_PROC) {
            t->procs = v->data.proc;
            t->n = 1;
        } else if (v->type == PMIX_DATA_ARRAY && v->data.darray &&
                   v->data.darray->type == PMIX_PROC) {
            t->procs = v->data.darray->array;
            t->n = v->data.darray->size;
        }
    }
}

static void drop_targets(struct targets *t)
{
    pmsg_free_infos(&t->m, NULL);
}

static bool is_target(const struct targets *t, const struct peer *p)
{
    for (size_t i = 0; i < t->n; i++) {
        if ((t->procs[i].rank == p->rank || t->procs[i].rank == PMIX_RANK_WILDCARD) &&
            !strcmp(t->procs[i].nspace, p->job->nspace))
            return true;
    }
    return false;
}

static bool concerns(const struct peer *p, const struct notice *n, const struct targets *t)
{
    if (!p->job || !p->session || !p->session->ops->notify || p->closing)
        return false;
    if (n->by_server && session_is_host(p))
        return true;
    switch (n->range) {
    case PMIX_RANGE_NAMESPACE: return !strcmp(p->job->nspace, n->nspace);
    case PMIX_RANGE_CUSTOM: return is_target(t, p);
    default: return true; /* LOCAL, SESSION, GLOBAL: all known processes */
    }
}

static void spread(struct server *s, const struct notice *n)
{
    struct targets t;

    if (n->range == PMIX_RANGE_RM || n->range == PMIX_RANGE_PROC_LOCAL)
        return;
    load_targets(&t, n);
    LIST_EACH(l, &s->peers)
    {
        struct peer *p = LIST_OF(l, struct peer, link);
        if (!p->registered || p == n->but || !concerns(p, n, &t) ||
            is_source(p, n)) /* told itself */
            continue;
        p->session->ops->notify(p->session, n);
        server_mark_dirty(s, p);
    }
    drop_targets(&t);
    if (!(n->flags & EVENT_NOT_KEPT))
        keep_event(s, n);
}

static void let_follow(struct server *s, const struct notice *n, bool is_end)
{
    LIST_EACH(l, &s->peers)
    {
        struct peer *p = LIST_OF(l, struct peer, link);
        if (!p->job || !p->session || !p->session->ops->follow || p->closing || is_source(p, n))
            continue;
        p->session->ops->follow(p->session, n, is_end);
        server_mark_dirty(s, p);
    }
}

static void recall(struct server *s, struct peer *p)
{
    LIST_EACH(l, &s->events)
    {
        struct notice n = LIST_OF(l, struct kept_event, link)->notice;
        struct targets t;
        n.flags |= EVENT_RECALLED | (is_source(p, &n) ? EVENT_OWN : 0);
        load_targets(&t, &n);
        if (concerns(p, &n, &t))
            p->session->ops->notify(p->session, &n);
        drop_targets(&t);
    }
}

/* The server's own event for everybody: a process or a job has ended. */
static bool is_end(const struct notice *n)
{
    return n->by_server && n->range == PMIX_RANGE_SESSION;
}

/* Most programs never register for exits, and to notify N processes on as many nodes of all is N
 * times N. */
static void subscribe_exits(struct server *s, const struct peer *p)
{
    if (!s->core.has_others || s->exits_subscribed)
        return;
    s->exits_subscribed = true;
    effects_push(&s->core.effects,
                 EFFECT_WITH(subscribe_exits, .job = p->job->id, .rank = p->rank));
}

void server_kept_exits(const struct server *s, server_exit_fn *fn, void *arg)
{
    LIST_EACH(l, &s->events)
    {
        const struct notice *n = &LIST_OF(l, struct kept_event, link)->notice;
        struct op_event e = { .job = JOB_NO_RANK,
                              .nspace = slice_str(n->nspace),
                              .rank = n->rank,
                              .code = n->code,
                              .range = n->range,
                              .flags = n->flags,
                              .is_exit = true,
                              .infos = n->infos };
        if (is_end(n))
            fn(arg, &e);
    }
}

/* Other nodes are notified when it is for more than this one. */
static void spread_everywhere(struct server *s, const struct job *j, const struct notice *n)
{
    struct effect e = EFFECT_WITH(event, .job = j->id, .nspace = slice_str(n->nspace),
                                  .rank = n->rank, .code = n->code, .range = n->range,
                                  .flags = n->flags, .is_exit = is_end(n), .infos = n->infos);

    spread(s, n);
    let_follow(s, n, is_end(n));
    if (!s->core.has_others || n->range == PMIX_RANGE_RM || n->range == PMIX_RANGE_LOCAL ||
        n->range == PMIX_RANGE_PROC_LOCAL)
        return;
    if (effect_own(&e))
        effects_push(&s->core.effects, e);
}

void server_event_notify(struct server *s, struct peer *p, const struct request_notify *rq)
{
    struct notice n = { .code = rq->code,
                        .range = rq->range,
                        .flags = rq->flags,
                        .nspace = p->job->nspace,
                        .rank = p->rank,
                        .infos = rq->infos };

    spread_everywhere(s, p->job, &n);
}

void server_event_recall(struct server *s, struct peer *p, const struct request_recall *rq)
{
    if (rq->count || rq->ends)
        subscribe_exits(s, p);
    if (!rq->ends)
        recall(s, p);
}

/* ---- the server's own ------------------------------------------------------------------------ */

/* Only clients registered for this very code are notified: a default handler often ends its
 * process. */
static void notify(struct server *s, const struct job *j, struct notice *n, const char *status_key,
                   pmix_value_t status)
{
    struct buf bytes = BUF_NULL(LIMIT_KEPT_EVENT_BYTES);
    pmix_info_t infos[2];
    pmix_proc_t proc;
    struct ppack w;

    memset(infos, 0, sizeof infos);
    memset(&proc, 0, sizeof proc);
    strncpy(proc.nspace, n->nspace, PMIX_MAX_NSLEN);
    proc.rank = n->rank;
    strncpy(infos[0].key, PMIX_EVENT_AFFECTED_PROC, PMIX_MAX_KEYLEN);
    infos[0].value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = &proc };
    strncpy(infos[1].key, status_key, PMIX_MAX_KEYLEN);
    infos[1].value = status;
    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { 2, infos } });
    n->flags = EVENT_BY_CODE;
    n->by_server = true;
    n->infos = buf_slice(&bytes);
    /* The controlling node raises the event of an exit: to everybody, once, and when it is final.
     */
    if (ppack_ok(&w) && !(is_end(n) && j->follows && s->core.has_others))
        spread_everywhere(s, j, n);
    buf_free(&bytes);
}

void server_notify_end(struct server *s, const struct job *j, uint32_t rank, int event, int code)
{
    notify(s, j,
           &(struct notice){
               .code = event, .range = PMIX_RANGE_SESSION, .nspace = j->nspace, .rank = rank },
           PMIX_EXIT_CODE, (pmix_value_t){ .type = PMIX_INT, .data.integer = code });
}

void server_notify_disconnected(struct server *s, struct job *j, uint32_t rank, int event, int code)
{
    struct proc *p = &j->procs[rank];

    if (p->connections && event != PMIX_ERR_PROC_TERM_WO_SYNC)
        server_notify_end(s, j, rank, PMIX_ERR_PROC_TERM_WO_SYNC, code);
    p->connections = 0;
}

/* The job's processes on that node; NULL: no memory, or none. */
static pmix_proc_t *procs_of(const struct job *j, uint32_t node, size_t *n_p)
{
    pmix_proc_t *procs = calloc((size_t)j->plan.nodes[node].nprocs + 1, sizeof *procs);
    size_t n = 0;

    for (uint32_t r = 0; procs && r < j->plan.nprocs && n < j->plan.nodes[node].nprocs; r++) {
        if (j->plan.procs[r].node != node)
            continue;
        strncpy(procs[n].nspace, j->nspace, PMIX_MAX_NSLEN);
        procs[n++].rank = r;
    }
    *n_p = n;
    return procs;
}

bool server_on_event(struct server *s, const struct op_event *o, uint64_t now_ns)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct notice n = { .code = o->code,
                        .range = o->range,
                        .flags = o->flags,
                        .nspace = name,
                        .rank = o->rank,
                        .infos = o->infos,
                        .but = o->except ? server_peer(s, o->except) : NULL };

    (void)now_ns;
    if (o->nspace.len >= sizeof name)
        return false;
    memcpy(name, o->nspace.ptr ? o->nspace.ptr : "", o->nspace.len);
    name[o->nspace.len] = '\0';
    spread(s, &n);
    let_follow(s, &n, o->is_exit);
    return true;
}

bool server_on_node_down(struct server *s, const struct op_node_down *o, uint64_t now_ns)
{
    const struct job *j = core_job(&s->core, o->job);
    struct buf bytes = BUF_NULL(LIMIT_KEPT_EVENT_BYTES);
    struct notice n = { .code = PMIX_EVENT_NODE_DOWN,
                        .range = PMIX_RANGE_SESSION,
                        .flags = EVENT_BY_CODE,
                        .nspace = j->nspace,
                        .rank = PMIX_RANK_WILDCARD };
    pmix_data_array_t list = { .type = PMIX_PROC };
    pmix_info_t infos[3];
    struct ppack w;

    (void)now_ns;
    if (o->node >= j->plan.nnodes)
        return false;
    memset(infos, 0, sizeof infos);
    list.array = procs_of(j, o->node, &list.size);
    strncpy(infos[0].key, PMIX_HOSTNAME, PMIX_MAX_KEYLEN);
    infos[0].value.type = PMIX_STRING;
    infos[0].value.data.string = (char *)(uintptr_t)j->plan.nodes[o->node].name;
    strncpy(infos[1].key, PMIX_NODEID, PMIX_MAX_KEYLEN);
    infos[1].value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = o->node };
    strncpy(infos[2].key, PMIX_EVENT_AFFECTED_PROCS, PMIX_MAX_KEYLEN);
    infos[2].value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &list };
    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { 3, infos } });
    n.infos = buf_slice(&bytes);
    n.by_server = true;
    if (list.array && ppack_ok(&w))
        spread_everywhere(s, j, &n);
    free(list.array);
    buf_free(&bytes);
    return true;
}

void server_notify_lost(struct server *s, const struct job *j, uint32_t rank)
{
    notify(s, j,
           &(struct notice){ .code = PMIX_ERR_LOST_CONNECTION,
                             .range = PMIX_RANGE_NAMESPACE,
                             .nspace = j->nspace,
                             .rank = rank },
           PMIX_HOSTNAME,
           (pmix_value_t){ .type = PMIX_STRING,
                           .data.string =
                               (char *)(uintptr_t)j->plan.nodes[j->plan.procs[rank].node].name });
}

void server_notify_silent(struct server *s, const struct job *j, uint32_t rank, int code)
{
    notify(s, j,
           &(struct notice){
               .code = code, .range = PMIX_RANGE_NAMESPACE, .nspace = j->nspace, .rank = rank },
           PMIX_PROC_PID,
           (pmix_value_t){ .type = PMIX_PID, .data.pid = (pid_t)j->procs[rank].pid });
}

/* How a job ended, as a PMIx status. */
static pmix_status_t term_status(const struct job *j)
{
    const struct proc *p = j->culprit < j->plan.nprocs ? &j->procs[j->culprit] : NULL;

    if (!j->failed)
        return PMIX_SUCCESS;
    if (!p)
        return PMIX_ERR_JOB_ABORTED;
    if (p->commanded)
        return PMIX_ERR_JOB_KILLED_BY_CMD;
    if (p->signalled)
        return PMIX_ERR_JOB_ABORTED_BY_SIG;
    return p->code ? PMIX_ERR_JOB_NON_ZERO_TERM : PMIX_ERR_JOB_TERM_WO_SYNC;
}

static void notify_of_job(struct server *s, const struct job *j, int code)
{
    notify(s, j,
           &(struct notice){ .code = code,
                             .range = PMIX_RANGE_SESSION,
                             .nspace = j->nspace,
                             .rank = PMIX_RANK_WILDCARD },
           PMIX_JOB_TERM_STATUS,
           (pmix_value_t){ .type = PMIX_STATUS, .data.status = term_status(j) });
}

void server_notify_job_end(struct server *s, const struct job *j)
{
    if (!j || j->is_tool)
        return;
    notify_of_job(s, j, PMIX_EVENT_JOB_END);
    if (j->failed && (j->npartners || j->blames != JOB_NO_RANK)) /* together with others, as one */
        notify_of_job(s, j, PMIX_ERR_JOB_TERM_WO_SYNC);
}
