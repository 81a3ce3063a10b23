/* pmix_iof.c - see pmix_iof.h. */
#include "server/pmix_iof.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/core.h"
#include "core/job_connect.h"
#include "core/request.h"
#include "server/pmix_value.h"

/* Messages of forwarded output have this tag. */
enum { OUTPUT_TAG = 2 };

/* A subscription to output. */
struct pmix_pull {
    struct list link;
    size_t id, theirs;     /* our id of it, and the client's */
    uint64_t subscription; /* that of other nodes */
    uint16_t channels;
    bool is_new; /* the kept output has not been sent yet */
    size_t n;
    pmix_proc_t procs[];
};

/* ---- subscriptions --------------------------------------------------------------------------- */

static void drop_pull(struct pmix_session *s, struct pmix_pull *p)
{
    control_iof_subscribe(s->base.peer->core, p->subscription, SLICE_NULL, REQUEST_ALL_RANKS, 0);
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

    if (p->restricted)
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
    p->subscription = ++s->base.peer->core->last_subscription;
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
    control_iof_subscribe(s->base.peer->core, p->subscription, slice_str(nspace), REQUEST_ALL_RANKS,
                          channels);
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
    pmix_ask(c, (struct request){ .kind = REQ_iof_pull });
    for (size_t i = 0; i < p->n; i++)
        control_iof_subscribe(s->base.peer->core, p->subscription, slice_str(p->procs[i].nspace),
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

/* ---- output ---------------------------------------------------------------------------------- */

void pmix_put_output(struct pmix_session *s, const pmix_proc_t *source, uint16_t channel,
                     size_t ref, const pmix_info_t *infos, size_t ninfos, struct slice bytes)
{
    struct ppack w = pmix_writer(s);

    pmsg_write_output(&w, s->release,
                      &(struct pmsg_output){
                          .source = *source,
                          .channel = channel,
                          .ref = ref,
                          .infos = { ninfos, (pmix_info_t *)(uintptr_t)infos },
                          .bytes = bytes,
                      });
    if (ppack_ok(&w))
        pmix_send(s, OUTPUT_TAG);
}

static bool is_wanted(const struct pmix_pull *p, const struct spoken *o)
{
    if (!(p->channels & o->channel) ||
        (o->subscription ? p->subscription != o->subscription : p->is_new != o->recalled))
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
    pmix_put_output(s, &source, o->channel, p->theirs, &complete, o->bytes.len == 0, o->bytes);
}

bool pmix_output(struct session *base, const struct spoken *o)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;
    bool given = false;

    if (s->state != PMIX_TALKING)
        return false;
    LIST_EACH(l, &s->pulls)
    {
        const struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (is_wanted(p, o)) {
            send_output(s, p, o);
            given = true;
        }
    }
    return given;
}

void pmix_pulls_caught_up(struct session *base)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;

    LIST_EACH(l, &s->pulls)
    LIST_OF(l, struct pmix_pull, link)->is_new = false;
}

/* ---- input ----------------------------------------------------------------------------------- */

static void ask_input(struct command *c, const struct pmsg_iof_push *m)
{
    pmix_ask(c, REQUEST_WITH(input, .members = pmix_keep_members(c, m->procs.items, m->procs.n),
                             .count = (uint32_t)m->procs.n, .bytes = m->bytes));
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

/* No client reads it. */
void pmix_reply_push(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    pmix_reply_status(s, p->tag,
                      a->status == ANSWER_NOT_FOUND ? PMIX_ERR_NOT_SUPPORTED
                                                    : pmix_status_of(a->status));
}
