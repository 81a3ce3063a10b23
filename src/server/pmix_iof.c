/* pmix_iof.c - see pmix_iof.h. */
#include "server/pmix_iof.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/core.h"
#include "core/job_connect.h"
#include "core/effect_queue.h"
#include "core/request.h"
#include "server/iof_queue.h"
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
    struct iof_queue queue;
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
    iof_queue_free(&p->queue);
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

static struct pmix_pull *add_pull(struct pmix_session *s, const pmix_proc_t *procs, size_t n,
                                  const struct iof_options *options)
{
    struct pmix_pull *p =
        s->npulls < LIMIT_CLIENT_MONITORS ? calloc(1, sizeof *p + n * sizeof *procs) : NULL;

    if (!p)
        return NULL;
    iof_queue_init(&p->queue, options, &s->output_held);
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
    struct iof_options options;
    struct pmix_pull *p;
    pmix_proc_t all;

    pmix_set_proc(&all, nspace, PMIX_RANK_WILDCARD);
    iof_options_read(&options, NULL, 0);
    p = add_pull(s, &all, 1, &options);
    if (!p)
        return; /* the job runs, and its output goes elsewhere */
    p->channels = channels;
    s->base.peer->wants_output = true;
    control_iof_subscribe(s->base.peer->core, p->subscription, slice_str(nspace), REQUEST_ALL_RANKS,
                          channels);
}

static bool covers(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return !strcmp(a->nspace, b->nspace) && (a->rank == PMIX_RANK_WILDCARD || a->rank == b->rank);
}

/* Nodes give what they have kept for each subscription: nobody is subscribed to twice. */
static bool is_repeated(const struct pmix_pull *p, size_t i)
{
    for (size_t k = 0; k < p->n; k++) {
        if (k != i && covers(&p->procs[k], &p->procs[i]) &&
            (k < i || !covers(&p->procs[i], &p->procs[k])))
            return true;
    }
    return false;
}

static void subscribe(struct pmix_session *s, const struct pmix_pull *p)
{
    for (size_t i = 0; i < p->n; i++) {
        uint32_t rank = p->procs[i].rank;
        if (!is_repeated(p, i))
            control_iof_subscribe(
                s->base.peer->core, p->subscription, slice_str(p->procs[i].nspace),
                rank == PMIX_RANK_WILDCARD ? REQUEST_ALL_RANKS : rank,
                p->channels && p->queue.options.redirects ? p->channels | IOF_REDIRECTS
                                                          : p->channels);
    }
}

static void begin_pull(struct command *c, const struct pmsg_iof_pull *m,
                       const struct iof_options *options)
{
    struct pmix_session *s = c->s;
    struct pmix_pull *p = add_pull(s, m->procs.items, m->procs.n, options);
    struct pmsg_iof_pulled pulled = { .has = PMSG_BIT(iof_pulled, ref) };
    struct ppack w;

    if (!p) {
        pmix_reply_status(s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    p->channels = m->channels & PMIX_FWD_ALL_CHANNELS;
    p->theirs = m->ref;
    pulled.ref = p->id;
    w = pmix_writer(s);
    pmsg_write_iof_pulled(&w, s->release, &pulled);
    pmix_send(s, c->tag);
    c->cmd = CMD_NONE; /* the kept output follows the reply */
    pmix_ask(c, (struct request){ .kind = REQ_iof_pull });
    subscribe(s, p);
}

void pmix_read_pull(struct command *c)
{
    struct pmsg_iof_pull m;

    if (pmsg_read_iof_pull(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct iof_options options;
        pmix_status_t status = may_listen(c, m.procs.items, m.procs.n);
        if (status == PMIX_SUCCESS)
            status = iof_options_read(&options, m.infos.items, m.infos.n);
        if (status == PMIX_SUCCESS)
            begin_pull(c, &m, &options);
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    pmsg_free_iof_pull(&m, NULL);
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

static void send_piece(struct pmix_session *s, const struct pmix_pull *p, const struct spoken *o)
{
    pmix_proc_t source;
    pmix_info_t complete;

    pmix_set_proc(&source, o->nspace, o->rank);
    memset(&complete, 0, sizeof complete);
    strncpy(complete.key, PMIX_IOF_COMPLETE, PMIX_MAX_KEYLEN);
    complete.value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    pmix_put_output(s, &source, o->channel, p->theirs, &complete, o->bytes.len == 0, o->bytes);
}

static bool is_blocked(const struct pmix_session *s, const struct pmix_pull *p)
{
    return p->is_new || buf_len(&s->base.peer->out) > LIMIT_LISTENER_OUT;
}

/* The end of a stream is a piece without bytes. */
static void drain(struct pmix_session *s, struct pmix_pull *p)
{
    struct iof_piece *i = NULL;

    while (!is_blocked(s, p) && (i = iof_queue_first(&p->queue))) {
        struct spoken o = { .nspace = i->nspace, .rank = i->rank, .channel = i->channel };
        o.bytes = buf_slice(&i->bytes);
        if (o.bytes.len)
            send_piece(s, p, &o);
        o.bytes = SLICE_NULL;
        if (i->ends)
            send_piece(s, p, &o);
        iof_queue_drop(&p->queue, i);
    }
    if (iof_queue_first(&p->queue))
        s->base.peer->holds_output = true;
}

void pmix_pulls_drain(struct session *base)
{
    struct pmix_session *s = pmix_session_of(base);

    base->peer->holds_output = false;
    LIST_EACH(l, &s->pulls)
    drain(s, LIST_OF(l, struct pmix_pull, link));
}

uint64_t pmix_pulls_tick(struct session *base, uint64_t now_ns)
{
    struct pmix_session *s = pmix_session_of(base);
    uint64_t wall_ns = now_ns + base->peer->core->wall_offset_ns, next = UINT64_MAX;

    LIST_EACH(l, &s->pulls)
    {
        struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        uint64_t due = iof_queue_tick(&p->queue, now_ns, wall_ns, is_blocked(s, p));
        next = due < next ? due : next;
        drain(s, p);
    }
    base->peer->gathers_output = next != UINT64_MAX;
    return next;
}

static void send_output(struct pmix_session *s, struct pmix_pull *p, const struct spoken *o)
{
    if (!is_blocked(s, p) && iof_queue_is_idle(&p->queue)) {
        send_piece(s, p, o);
        return;
    }
    if (iof_queue_put(&p->queue, o, is_blocked(s, p))) {
        s->base.peer->gathers_output = true;
        effects_tick_by(&s->base.peer->core->effects, 1);
    }
    drain(s, p);
}

bool pmix_output(struct session *base, const struct spoken *o)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;
    bool given = false;

    if (s->state != PMIX_TALKING)
        return false;
    LIST_EACH(l, &s->pulls)
    {
        struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (is_wanted(p, o)) {
            send_output(s, p, o);
            given = true;
            if (o->redirected_p && p->queue.options.redirects)
                *o->redirected_p = true;
        }
    }
    return given;
}

void pmix_pulls_caught_up(struct session *base)
{
    struct pmix_session *s = (struct pmix_session *)(void *)base;

    LIST_EACH(l, &s->pulls)
    LIST_OF(l, struct pmix_pull, link)->is_new = false;
    pmix_pulls_drain(base);
}

static pmix_status_t forget_pull(struct pmix_session *s, size_t id)
{
    pmix_status_t status = PMIX_ERR_NOT_FOUND;

    LIST_EACH(l, &s->pulls)
    {
        struct pmix_pull *p = LIST_OF(l, struct pmix_pull, link);
        if (p->id == id) {
            iof_queue_flush(&p->queue);
            p->is_new = false;
            drain(s, p);
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

/* ---- input ----------------------------------------------------------------------------------- */

static struct pmix_pending *ask_input(struct command *c, const struct pmsg_iof_push *m,
                                      struct slice bytes)
{
    return pmix_ask(c,
                    REQUEST_WITH(input, .members = pmix_keep_members(c, m->procs.items, m->procs.n),
                                 .count = (uint32_t)m->procs.n, .bytes = bytes));
}

/* The end that follows is answered. */
static void reply_later(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    (void)s;
    (void)p;
    (void)a;
}

static bool is_complete(const struct pmsg_iof_push *m)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        if (!strcmp(m->infos.items[i].key, PMIX_IOF_COMPLETE) &&
            pmix_flag_of(&m->infos.items[i].value))
            return true;
    }
    return false;
}

/* A piece without bytes is the end; without a piece it is the client's own input, which it reads
 * itself. */
void pmix_read_push(struct command *c)
{
    struct pmsg_iof_push m;

    if (pmsg_read_iof_push(&c->r, c->s->release, &m) == PTYPE_FINE) {
        bool ends = is_complete(&m);
        struct pmix_pending *p = NULL;
        if (!ends && !PMSG_HAS(&m, iof_push, bytes))
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        else if (!ends || m.bytes.len)
            p = ask_input(c, &m, m.bytes);
        if (ends && p)
            p->reply = reply_later;
        if (ends && (p || !m.bytes.len))
            ask_input(c, &m, SLICE_NULL);
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
