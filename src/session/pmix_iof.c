/* pmix_iof.c - a client's subscriptions to output, and its heartbeats. */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/limit.h"
#include "core/control.h"
#include "core/core.h"
#include "core/job_connect.h"
#include "core/request.h"
#include "session/pmix_priv.h"

/* ---- subscriptions to output ----------------------------------------------------------------- */

static void drop_pull(struct pmix_session *s, struct pmix_pull *p)
{
    control_listen(s->base.peer->core, p->ear, SLICE_NULL, REQUEST_ALL_RANKS, 0);
    list_unlink(&p->link);
    s->npulls--;
    s->base.peer->core->listeners--;
    free(p);
}

void pmix_pulls_free(struct pmix_session *s)
{
    LIST_EACH(l, &s->pulls)
    drop_pull(s, LIST_OF(l, struct pmix_pull, link));
}

static pmix_status_t may_listen(const struct command *c, const pmix_proc_t *procs, size_t n)
{
    const struct peer *p = c->s->base.peer;

    if (p->lesser)
        return PMIX_ERR_NO_PERMISSIONS;
    for (size_t i = 0; i < n; i++) {
        const struct job *j = core_job_named(p->core, slice_str(procs[i].nspace));
        const struct ended_job *g = j ? NULL : core_ended_job(p->core, slice_str(procs[i].nspace));
        if (g && (g->parent == p->job->id || p->job->is_tool))
            continue; /* it has ended; some of its output may be kept */
        if (!j)
            return PMIX_ERR_NOT_FOUND;
        if (!job_may_act_on(p->job, j))
            return PMIX_ERR_NO_PERMISSIONS;
    }
    return n ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static struct pmix_pull *add_pull(struct pmix_session *s, const pmix_proc_t *procs, size_t n)
{
    struct pmix_pull *p = calloc(1, sizeof *p + n * sizeof *procs);

    if (!p)
        return NULL;
    p->n = n;
    p->is_new = true;
    p->id = ++s->last_pull;
    p->ear = ++s->base.peer->core->last_ear;
    memcpy(p->procs, procs, n * sizeof *procs);
    list_append(&s->pulls, &p->link);
    s->npulls++;
    s->base.peer->core->listeners++;
    return p;
}

void pmix_forward(struct pmix_session *s, const char *nspace, uint16_t channels)
{
    struct pmix_pull *p;
    pmix_proc_t all;

    pmix_set_proc(&all, nspace, PMIX_RANK_WILDCARD);
    p = s->npulls < LIMIT_CLIENT_MONITORS ? add_pull(s, &all, 1) : NULL;
    if (!p)
        return; /* the job runs, and its output goes elsewhere */
    p->channels = channels;
    s->base.peer->wants_output = true;
    control_listen(s->base.peer->core, p->ear, slice_str(nspace), REQUEST_ALL_RANKS, channels);
}

static void begin_pull(struct command *c, const struct pmsg_iof_pull *m)
{
    struct pmix_session *s = c->s;
    struct pmix_pull *p =
        s->npulls < LIMIT_CLIENT_MONITORS ? add_pull(s, m->procs.items, m->procs.n) : NULL;
    struct pmsg_iof_pulled pulled = { .has = PMSG_BIT(iof_pulled, ref) };
    struct ppack w;

    if (!p) {
        pmix_reply_status(s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    p->channels = m->channels;
    p->theirs = m->ref;
    pulled.ref = p->id;
    w = pmix_writer(s);
    pmsg_write_iof_pulled(&w, s->release, &pulled);
    pmix_send(s, c->tag);
    c->cmd = CMD_NONE; /* the kept output follows the reply */
    pmix_ask(c, (struct request){ .kind = REQ_listen });
    for (size_t i = 0; i < p->n; i++)
        control_listen(s->base.peer->core, p->ear, slice_str(p->procs[i].nspace),
                       p->procs[i].rank == PMIX_RANK_WILDCARD ? REQUEST_ALL_RANKS
                                                              : p->procs[i].rank,
                       p->channels);
}

void pmix_read_pull(struct command *c)
{
    struct pmsg_iof_pull m;

    if (pmsg_read_iof_pull(&c->r, c->s->release, &m) == PTYPE_FINE) {
        pmix_status_t status = may_listen(c, m.procs.items, m.procs.n);
        if (status == PMIX_SUCCESS)
            begin_pull(c, &m);
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    pmsg_free_iof_pull(&m, NULL);
}

static void ask_input(struct command *c, const struct pmsg_iof_push *m)
{
    size_t n = m->procs.n;
    struct member *to = arena_array(&c->s->arena, n ? n : 1, sizeof *to);

    if (!to)
        return;
    for (size_t i = 0; i < n; i++)
        to[i] = (struct member){ pmix_keep(c, slice_str(m->procs.items[i].nspace)),
                                 m->procs.items[i].rank };
    pmix_ask(c, REQUEST_WITH(input, .members = to, .count = (uint32_t)n, .bytes = m->bytes));
}

/* A piece without bytes is the end; without a piece it is the client's own input, which it reads
 * itself. */
void pmix_read_push(struct command *c)
{
    struct pmsg_iof_push m;

    if (pmsg_read_iof_push(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (PMSG_HAS(&m, iof_push, bytes))
            ask_input(c, &m);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_iof_push(&m, NULL);
}

static pmix_status_t forget_pull(struct pmix_session *s, size_t id)
{
    pmix_status_t status = PMIX_ERR_NOT_FOUND;

    LIST_EACH(l, &s->pulls)
    {
        struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (p->id == id) {
            drop_pull(s, p);
            status = PMIX_SUCCESS;
        }
    }
    return status;
}

void pmix_read_dereg(struct command *c)
{
    struct pmsg_iof_dereg m;

    if (pmsg_read_iof_dereg(&c->r, c->s->release, &m) == PTYPE_FINE)
        pmix_reply_status(c->s, c->tag, forget_pull(c->s, m.ref));
    pmsg_free_iof_dereg(&m, NULL);
}

static bool is_wanted(const struct pmix_pull *p, const struct spoken *o)
{
    if (!(p->channels & o->channel) || (o->ear ? p->ear != o->ear : p->is_new != o->recalled))
        return false;
    for (size_t i = 0; i < p->n; i++) {
        if ((p->procs[i].rank == o->rank || p->procs[i].rank == PMIX_RANK_WILDCARD) &&
            !strcmp(p->procs[i].nspace, o->nspace))
            return true;
    }
    return false;
}

static void send_output(struct pmix_session *s, const struct pmix_pull *p, const struct spoken *o)
{
    pmix_proc_t source;
    pmix_info_t complete;

    pmix_set_proc(&source, o->nspace, o->rank);
    memset(&complete, 0, sizeof complete);
    strncpy(complete.key, PMIX_IOF_COMPLETE, PMIX_MAX_KEYLEN);
    complete.value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    pmix_send_output(s->base.peer, &source, o->channel, p->theirs, &complete, o->bytes.len == 0,
                     o->bytes);
}

bool pmix_output(struct session *base, const struct spoken *o)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;
    bool said = false;

    if (s->state != PMIX_TALKING)
        return false;
    LIST_EACH(l, &s->pulls)
    {
        const struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (is_wanted(p, o)) {
            send_output(s, p, o);
            said = true;
        }
    }
    return said;
}

void pmix_pulls_caught_up(struct session *base)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;

    LIST_EACH(l, &s->pulls)
    LIST_OF(l, struct pmix_pull, link)->is_new = false;
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

static void cancel_monitor(struct command *c, const pmix_info_t *what)
{
    const char *name = what->value.type == PMIX_STRING ? what->value.data.string : NULL;

    pmix_ask(c, REQUEST_WITH(monitor, .name = pmix_keep(c, slice_str(name ? name : ""))));
}

static void begin_monitor(struct command *c, pmix_status_t code, const pmix_info_t *infos, size_t n)
{
    struct request_monitor rq = { .code = code ? code : PMIX_MONITOR_HEARTBEAT_ALERT };

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_TIME))
            rq.period_ns = (pmix_number_of(v) & UINT32_MAX) * NS_PER_S;
        else if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_DROPS))
            rq.drops = (uint32_t)pmix_number_of(v);
        else if (!strcmp(infos[i].key, PMIX_MONITOR_ID) && v->type == PMIX_STRING)
            rq.name = pmix_keep(c, slice_str(v->data.string ? v->data.string : ""));
    }
    if (rq.period_ns == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        return;
    }
    c->s->monitored = true;
    pmix_ask(c, (struct request){ .kind = REQ_monitor, .u.monitor = rq });
}

/* The server itself monitors heartbeats; or stops doing so. */
bool pmix_is_heartbeat(const struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_monitor m;
    bool is = pmsg_read_monitor(&r, c->s->release, &m) == PTYPE_FINE &&
              (!strcmp(m.monitor.key, PMIX_MONITOR_HEARTBEAT) ||
               (c->s->monitored && !strcmp(m.monitor.key, PMIX_MONITOR_CANCEL)));

    pmsg_free_monitor(&m, NULL);
    return is;
}

/* Monitoring of files and other objects is not supported. */
void pmix_read_monitor(struct command *c)
{
    struct pmsg_monitor m;

    if (pmsg_read_monitor(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (!strcmp(m.monitor.key, PMIX_MONITOR_CANCEL))
            cancel_monitor(c, &m.monitor);
        else if (!strcmp(m.monitor.key, PMIX_MONITOR_HEARTBEAT))
            begin_monitor(c, m.error, m.infos.items, m.infos.n);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_monitor(&m, NULL);
}
