/* iof_forward.c - see iof_forward.h. */
#include "cluster/iof_forward.h"

#include "base/limit.h"
#include "cluster/msg.h"
#include "core/control.h"
#include "core/effect.h"

/* A job that has ended is unknown here; any node may have kept some of its output. */
void iof_forward_effect(struct iof_forward *f, const struct effect *e)
{
    const struct core_context *x = f->context;
    const struct op_iof_subscribe *o = &e->u.iof_subscribe;
    const struct job *j = core_job_named(x->core, o->nspace);
    bool one = j && o->rank != JOB_NO_RANK && o->rank < j->plan.nprocs;
    uint32_t to = one ? node_map_rank(x->map, j, o->rank) : MSG_EVERYBODY;
    struct msg m;

    if (to != x->map->me && msg_effect(e, &m))
        send_queue_to(x->queue, &m, to);
}

/* One subscriber on another node, which gets output. */
struct delivery {
    const struct core_context *context;
    const struct iof_subscription *to;
};

static void deliver(void *arg, uint32_t rank, uint16_t channel, struct slice bytes)
{
    const struct delivery *d = arg;
    struct send_queue *q = d->context->queue;
    struct msg m = MSG_WITH(iof_data, .subscription = d->to->id, .nspace = slice_str(d->to->nspace),
                            .rank = rank, .channel = channel, .bytes = bytes);

    if (!(d->to->channels & channel))
        return;
    /* A subscriber that does not read loses data, as on one node, so that we need not keep it. */
    if (bytes.len && router_waiting(q->config.router, d->to->position) > LIMIT_LISTENER_QUEUE)
        return;
    send_queue_to(q, &m, d->to->position);
}

void iof_forward_receive(struct iof_forward *f, uint32_t from, const struct op_iof_subscribe *m)
{
    const struct core_context *x = f->context;
    struct delivery d = { .context = x };

    if (m->channels == 0) {
        iof_subscribers_drop(&f->subscribers, from, m->subscription);
        return;
    }
    d.to = iof_subscribers_add(&f->subscribers, from, m->subscription, m->nspace, m->rank,
                               m->channels);
    if (d.to) /* kept output comes first */
        x->calls.recall(x->arg, m->nspace, m->rank, deliver, &d);
}

bool iof_forward_wanted(const struct iof_forward *f, const struct job *j, uint32_t rank)
{
    return iof_subscribers_next(&f->subscribers, NULL, j->nspace, rank) != NULL;
}

bool iof_forward_redirects(const struct iof_forward *f, const struct job *j, uint32_t rank,
                           uint16_t channel)
{
    const struct iof_subscription *to = NULL;

    while ((to = iof_subscribers_next(&f->subscribers, to, j->nspace, rank))) {
        if (to->channels & IOF_REDIRECTS && to->channels & channel)
            return true;
    }
    return false;
}

bool iof_forward_output(struct iof_forward *f, const struct job *j, uint32_t rank, uint16_t channel,
                        struct slice bytes)
{
    struct delivery d = { .context = f->context };
    bool wanted = false;

    while ((d.to = iof_subscribers_next(&f->subscribers, d.to, j->nspace, rank))) {
        deliver(&d, rank, channel, bytes);
        wanted = wanted || (d.to->channels & channel);
    }
    return wanted;
}

void iof_forward_lost(struct iof_forward *f, uint32_t position)
{
    iof_subscribers_lost(&f->subscribers, position);
}

void iof_forward_open(struct iof_forward *f, const struct core_context *x)
{
    f->context = x;
    iof_subscribers_init(&f->subscribers);
}

void iof_forward_close(struct iof_forward *f)
{
    iof_subscribers_free(&f->subscribers);
}
