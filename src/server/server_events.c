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
#include "wireup_client.h"

struct kept_event {
    struct list link;
    struct notice notice; /* its texts follow it */
    uint32_t slot;        /* unlike those of all other kept events; below LIMIT_KEPT_EVENTS */
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

/* Without memory for it, late registrations miss it (NULL): nothing guarantees how long events are
 * kept. */
static struct kept_event *keep_event(struct server *s, const struct notice *n)
{
    size_t name = strlen(n->nspace) + 1;
    struct kept_event *e = NULL;

    if (!(n->flags & EVENT_NOT_KEPT) && n->infos.len <= LIMIT_KEPT_EVENT_BYTES)
        e = calloc(1, sizeof *e + name + n->infos.len);
    if (!e)
        return NULL;
    e->notice = *n;
    e->notice.but = NULL;
    e->slot = s->next_slot++ % LIMIT_KEPT_EVENTS;
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
    return e;
}

/* Whoever was told of a kept event is not told again when it registers again. */
static void note_notified(struct peer *p, const struct kept_event *e, bool notified)
{
    uint64_t bit = UINT64_C(1) << e->slot % 64;

    if (notified)
        p->notified[e->slot / 64] |= bit;
    else
        p->notified[e->slot / 64] &= ~bit;
}

static bool was_notified(const struct peer *p, const struct kept_event *e)
{
    return p->notified[e->slot / 64] >> e->slot % 64 & 1;
}

static bool is_source(const struct peer *p, const struct notice *n)
{
    return p->job && !(n->flags & EVENT_ABOUT) && p->rank == n->rank &&
           !strcmp(p->job->nspace, n->nspace);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static void load_targets(struct event_targets *t, const struct notice *n)
{
    struct punpack r;

    *t = (struct event_targets){ .n = 0 };
    if (!memmem(n->infos.ptr ? n->infos.ptr : "", n->infos.len, PMIX_EVENT_CUSTOM_RANGE,
                sizeof PMIX_EVENT_CUSTOM_RANGE - 1)) /* most have none, and need no decoding */
        return;
    punpack_init(&r, n->infos, &ptype_own);
    pmsg_read_infos(&r, 0, &t->m);
    for (size_t i = 0; i < t->m.infos.n; i++) {
        const pmix_value_t *v = &t->m.infos.items[i].value;
        if (strcmp(t->m.infos.items[i].key, PMIX_EVENT_CUSTOM_RANGE) != 0)
            continue;
        t->named = true;
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

static void drop_targets(struct event_targets *t)
{
    pmsg_free_infos(&t->m, NULL);
}

bool server_event_is_for(const struct event_targets *t, const char *nspace, uint32_t rank)
{
    for (size_t i = 0; i < t->n; i++) {
        if ((t->procs[i].rank == rank || t->procs[i].rank == PMIX_RANK_WILDCARD) &&
            !strcmp(t->procs[i].nspace, nspace))
            return true;
    }
    return false;
}

static bool concerns(const struct peer *p, const struct notice *n, const struct event_targets *t)
{
    if (!p->job || !p->session || !p->session->ops->notify || p->closing)
        return false;
    if (n->by_server && session_is_host(p))
        return true;
    if ((t->named || n->range == PMIX_RANGE_CUSTOM) &&
        !server_event_is_for(t, p->job->nspace, p->rank))
        return false;
    /* LOCAL, SESSION, GLOBAL: all known processes. */
    return n->range != PMIX_RANGE_NAMESPACE || !strcmp(p->job->nspace, n->nspace);
}

/* Its own event a process tells itself. */
static bool notify(struct server *s, struct peer *p, const struct notice *n)
{
    struct notice mine = *n;

    mine.flags |= is_source(p, n) ? EVENT_OWN : 0;
    if (!p->session->ops->notify(p->session, &mine))
        return false;
    server_mark_dirty(s, p);
    return true;
}

static void spread(struct server *s, const struct notice *n)
{
    struct kept_event *kept;
    struct event_targets t;

    if (n->range == PMIX_RANGE_RM || n->range == PMIX_RANGE_PROC_LOCAL)
        return;
    load_targets(&t, n);
    kept = keep_event(s, n);
    LIST_EACH(l, &s->peers)
    {
        struct peer *p = LIST_OF(l, struct peer, link);
        bool notified = p->registered && p != n->but && concerns(p, n, &t) && notify(s, p, n);
        if (kept)
            note_notified(p, kept, notified);
    }
    if (n->code == PMIX_DEBUGGER_RELEASE)
        server_debug_release(s, n, &t);
    drop_targets(&t);
}

static void let_follow(struct server *s, const struct notice *n, bool is_end)
{
    LIST_EACH(l, &s->peers)
    {
        struct peer *p = LIST_OF(l, struct peer, link);
        if (!p->job || !p->session || !p->session->ops->follow || p->closing || is_source(p, n))
            continue;
        p->session->ops->follow(p->session, n, is_end);
        s->owing = s->owing || p->owes;
        server_mark_dirty(s, p);
    }
}

static void recall(struct server *s, struct peer *p)
{
    LIST_EACH(l, &s->events)
    {
        struct kept_event *e = LIST_OF(l, struct kept_event, link);
        struct notice n = e->notice;
        struct event_targets t;
        n.flags |= EVENT_RECALLED | (is_source(p, &n) ? EVENT_OWN : 0);
        load_targets(&t, &n);
        if (!was_notified(p, e) && concerns(p, &n, &t) && p->session->ops->notify(p->session, &n))
            note_notified(p, e, true);
        drop_targets(&t);
    }
}

bool server_event_is_end(const struct notice *n)
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
        if (server_event_is_end(n))
            fn(arg, &e);
    }
}

void server_event_spread(struct server *s, const struct job *j, const struct notice *n)
{
    struct effect e =
        EFFECT_WITH(event, .job = j ? j->id : JOB_NO_RANK, .nspace = slice_str(n->nspace),
                    .rank = n->rank, .code = n->code, .range = n->range, .flags = n->flags,
                    .is_exit = server_event_is_end(n), .infos = n->infos);

    spread(s, n);
    let_follow(s, n, server_event_is_end(n));
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

    if (n.code == PMIX_READY_FOR_DEBUG)
        server_debug_ready(s, p->job, p->rank);
    server_event_spread(s, p->job, &n);
}

/* For the session's own records. */
static void recall_ends(struct server *s, struct peer *p)
{
    LIST_EACH(l, &s->events)
    {
        const struct notice *n = &LIST_OF(l, struct kept_event, link)->notice;
        if ((n->is_exit || server_event_is_end(n)) && p->session->ops->follow)
            p->session->ops->follow(p->session, n, true);
    }
}

/* Ends have codes of PMIx; programs choose theirs below those, and Wireup's own. */
static bool may_be_ends(const struct request_recall *rq)
{
    int code;

    for (size_t i = 0; i < rq->count && (i + 1) * sizeof code <= rq->codes.len; i++) {
        memcpy(&code, rq->codes.ptr + i * sizeof code, sizeof code);
        if (code >= WIREUP_EVENT_NODE_LEFT)
            return true;
    }
    return false;
}

void server_event_recall(struct server *s, struct peer *p, const struct request_recall *rq)
{
    if (rq->ends || may_be_ends(rq))
        subscribe_exits(s, p);
    if (rq->ends)
        recall_ends(s, p);
    else
        recall(s, p);
}

bool server_on_event(struct server *s, const struct op_event *o, uint64_t now_ns)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct notice n = { .code = o->code,
                        .range = o->range,
                        .flags = o->flags,
                        .nspace = name,
                        .rank = o->rank,
                        .is_exit = o->is_exit,
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
    struct job *j = core_job(&s->core, o->job);

    (void)now_ns;
    if (o->node >= j->plan.nnodes)
        return false;
    j->plan.nodes[o->node].lost = true;
    server_notify_node_down(s, j, o->node);
    return true;
}
