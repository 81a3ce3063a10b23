/* pmix_iof.c - a client's subscriptions to output, and its heartbeats. */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/limit.h"
#include "core/control.h"
#include "core/core.h"
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
        const struct grave *g = j ? NULL : core_grave(p->core, slice_str(procs[i].nspace));
        if (g && (g->parent == p->job->id || p->job->is_tool))
            continue; /* it has ended; some of its output may be kept */
        if (!j)
            return PMIX_ERR_NOT_FOUND;
        if (!control_is_free_to(p->job, j))
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

static void begin_pull(struct command *c, const pmix_proc_t *procs, size_t n, uint16_t channels,
                       size_t theirs)
{
    struct pmix_session *s = c->s;
    struct pmix_pull *p = s->npulls < LIMIT_CLIENT_MONITORS ? add_pull(s, procs, n) : NULL;
    struct ppack w;

    if (!p) {
        pmix_reply_status(s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    p->channels = channels;
    p->theirs = theirs;
    w = pmix_writer(s);
    ppack_status(&w, PMIX_SUCCESS);
    ppack_size(&w, p->id);
    pmix_send(s, c->tag);
    c->cmd = CMD_NONE; /* the kept output follows the reply */
    pmix_ask(c, (struct request){ .kind = REQ_LISTEN });
    for (size_t i = 0; i < n; i++)
        control_listen(s->base.peer->core, p->ear, slice_str(p->procs[i].nspace),
                       p->procs[i].rank == PMIX_RANK_WILDCARD ? REQUEST_ALL_RANKS
                                                              : p->procs[i].rank,
                       channels);
}

void pmix_read_pull(struct command *c)
{
    uint16_t channels = 0;
    int32_t one = 1;
    size_t n, ninfos, theirs;
    pmix_proc_t *procs = punpack_list(&c->r, PMIX_PROC, &n);
    pmix_info_t *infos = punpack_list(&c->r, PMIX_INFO, &ninfos);
    pmix_status_t status;

    punpack(&c->r, &channels, &one, PMIX_IOF_CHANNEL);
    theirs = punpack_size(&c->r);
    if (punpack_ok(&c->r)) {
        status = may_listen(c, procs, n);
        if (status == PMIX_SUCCESS)
            begin_pull(c, procs, n, channels, theirs);
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    free(procs);
    pmix_drop_infos(infos, ninfos);
}

/* A piece without bytes is the end. */
void pmix_read_push(struct command *c)
{
    size_t n, ninfos;
    pmix_proc_t *procs = punpack_list(&c->r, PMIX_PROC, &n);
    pmix_info_t *infos = punpack_list(&c->r, PMIX_INFO, &ninfos);
    struct member *m = arena_array(&c->s->arena, n ? n : 1, sizeof *m);
    struct slice bytes = SLICE_NULL;

    bool none = punpack_ok(&c->r) && !punpack_left(&c->r); /* its own input: it reads that itself */

    if (!none)
        bytes = punpack_bytes(&c->r);
    for (size_t i = 0; m && i < n; i++)
        m[i] = (struct member){ pmix_keep(c, slice_str(procs[i].nspace)), procs[i].rank };
    if (none)
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    else if (punpack_ok(&c->r) && m)
        pmix_ask(c, (struct request){ .kind = REQ_INPUT,
                                      .members = m,
                                      .count = (uint32_t)n,
                                      .value = bytes,
                                      .immediate = bytes.len == 0 });
    free(procs);
    pmix_drop_infos(infos, ninfos);
}

void pmix_read_dereg(struct command *c)
{
    pmix_status_t status = PMIX_ERR_NOT_FOUND;
    size_t n, id;
    pmix_info_t *infos = punpack_list(&c->r, PMIX_INFO, &n);

    pmix_drop_infos(infos, n);
    id = punpack_size(&c->r);
    if (!punpack_ok(&c->r))
        return;
    LIST_EACH(l, &c->s->pulls)
    {
        struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (p->id == id) {
            drop_pull(c->s, p);
            status = PMIX_SUCCESS;
        }
    }
    pmix_reply_status(c->s, c->tag, status);
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
    struct ppack w = pmix_writer(s);
    pmix_proc_t source;
    pmix_info_t complete;
    uint16_t channel = o->channel;
    bool ends = o->bytes.len == 0;

    memset(&source, 0, sizeof source);
    strncpy(source.nspace, o->nspace, PMIX_MAX_NSLEN);
    source.rank = o->rank;
    memset(&complete, 0, sizeof complete);
    strncpy(complete.key, PMIX_IOF_COMPLETE, PMIX_MAX_KEYLEN);
    complete.value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    ppack(&w, &source, 1, PMIX_PROC);
    ppack(&w, &channel, 1, PMIX_IOF_CHANNEL);
    ppack_size(&w, p->theirs);
    ppack_size(&w, ends ? 1 : 0);
    if (ends)
        ppack(&w, &complete, 1, PMIX_INFO);
    ppack_bytes(&w, o->bytes);
    if (ppack_ok(&w))
        pmix_send(s, OUTPUT_TAG);
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

    pmix_ask(c, (struct request){ .kind = REQ_MONITOR,
                                  .key = pmix_keep(c, slice_str(name ? name : "")) });
}

static void begin_monitor(struct command *c, pmix_status_t code, const pmix_info_t *infos, size_t n)
{
    struct request rq = { .kind = REQ_MONITOR,
                          .number = code ? code : PMIX_MONITOR_HEARTBEAT_ALERT };

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_TIME))
            rq.timeout_ns = (pmix_number_of(v) & UINT32_MAX) * NS_PER_S;
        else if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_DROPS))
            rq.count = (uint32_t)pmix_number_of(v);
        else if (!strcmp(infos[i].key, PMIX_MONITOR_ID) && v->type == PMIX_STRING)
            rq.key = pmix_keep(c, slice_str(v->data.string ? v->data.string : ""));
    }
    if (rq.timeout_ns == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        return;
    }
    c->s->monitored = true;
    pmix_ask(c, rq);
}

/* The server itself monitors heartbeats; or stops doing so. */
bool pmix_is_heartbeat(const struct command *c)
{
    struct punpack r = c->r;
    pmix_info_t what;
    int32_t one = 1;
    bool is;

    memset(&what, 0, sizeof what);
    is = punpack(&r, &what, &one, PMIX_INFO) == PTYPE_FINE &&
         (!strcmp(what.key, PMIX_MONITOR_HEARTBEAT) ||
          (c->s->monitored && !strcmp(what.key, PMIX_MONITOR_CANCEL)));
    pmem_free(ptype_find(PMIX_INFO), &what, (size_t)one, NULL);
    return is;
}

/* Monitoring of files and other objects is not supported. */
void pmix_read_monitor(struct command *c)
{
    pmix_info_t what;
    int32_t one = 1;
    pmix_status_t code;
    size_t n;
    pmix_info_t *infos;

    memset(&what, 0, sizeof what);
    punpack(&c->r, &what, &one, PMIX_INFO);
    code = punpack_status(&c->r);
    infos = punpack_list(&c->r, PMIX_INFO, &n);
    if (punpack_ok(&c->r)) {
        if (!strcmp(what.key, PMIX_MONITOR_CANCEL))
            cancel_monitor(c, &what);
        else if (!strcmp(what.key, PMIX_MONITOR_HEARTBEAT))
            begin_monitor(c, code, infos, n);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmem_free(ptype_find(PMIX_INFO), &what, 1, NULL);
    pmix_drop_infos(infos, n);
}
