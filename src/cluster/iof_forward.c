/* iof_forward.c - see iof_forward.h. */
#include "cluster/iof_forward.h"

#include "base/limit.h"

/* A job that has ended is unknown here; any node may have kept some of its output. */
void iof_forward_effect(struct iof_forward *f, const struct effect_listen *e)
{
    const struct core_context *x = f->context;
    const struct job *j = core_job_named(x->core, e->nspace);
    bool one = j && e->rank != JOB_NO_RANK && e->rank < j->plan.nprocs;
    uint32_t to = one ? node_map_rank(x->map, j, e->rank) : MSG_EVERYBODY;
    struct msg m = { .kind = MSG_listen };

    m.u.listen.ear = e->subscription;
    m.u.listen.nspace = e->nspace;
    m.u.listen.rank = e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank;
    m.u.listen.channels = e->channels;
    if (to != x->map->me)
        send_queue_to(x->queue, &m, to);
}

/* One subscriber on another node, which gets output. */
struct delivery {
    const struct core_context *context;
    const struct ear *ear;
};

static void deliver(void *arg, uint32_t rank, uint16_t channel, struct slice bytes)
{
    const struct delivery *d = arg;
    struct send_queue *q = d->context->queue;
    struct msg m = { .kind = MSG_iof_data };

    if (!(d->ear->channels & channel))
        return;
    /* A subscriber that does not read loses data, as on one node, so that we need not keep it. */
    if (bytes.len && router_waiting(q->config.router, d->ear->position) > LIMIT_LISTENER_QUEUE)
        return;
    m.u.iof_data.ear = d->ear->id;
    m.u.iof_data.nspace = slice_str(d->ear->nspace);
    m.u.iof_data.rank = rank;
    m.u.iof_data.channel = channel;
    m.u.iof_data.bytes = bytes;
    send_queue_to(q, &m, d->ear->position);
}

static void hear_listen(struct iof_forward *f, uint32_t from, const struct msg_listen *m)
{
    const struct core_context *x = f->context;
    uint32_t rank = m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank;
    struct delivery d = { .context = x };

    if (m->channels == 0) {
        iof_subscribers_drop(&f->subscribers, from, m->ear);
        return;
    }
    d.ear =
        iof_subscribers_add(&f->subscribers, from, m->ear, m->nspace, rank, (uint16_t)m->channels);
    if (d.ear) /* kept output comes first */
        x->calls.recall(x->arg, m->nspace, rank, deliver, &d);
}

void iof_forward_hear(struct iof_forward *f, const struct msg *m)
{
    if (m->kind == MSG_listen)
        hear_listen(f, m->from, &m->u.listen);
    else if (m->kind == MSG_iof_data)
        f->context->calls.overheard(f->context->arg, &m->u.iof_data);
}

bool iof_forward_wanted(const struct iof_forward *f, const struct job *j, uint32_t rank)
{
    return iof_subscribers_next(&f->subscribers, NULL, j->nspace, rank) != NULL;
}

bool iof_forward_output(struct iof_forward *f, const struct job *j, uint32_t rank, uint16_t channel,
                        struct slice bytes)
{
    struct delivery d = { .context = f->context };
    bool wanted = false;

    while ((d.ear = iof_subscribers_next(&f->subscribers, d.ear, j->nspace, rank))) {
        deliver(&d, rank, channel, bytes);
        wanted = wanted || (d.ear->channels & channel);
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
