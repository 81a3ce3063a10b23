/* iof_forward.c - see iof_forward.h. */
#include "wireupd/iof_forward.h"

#include "base/limit.h"
#include "core/effect.h"
#include "wireupd/node_map.h"
#include "wireupd/multinode_priv.h"
#include "wireupd/send_queue.h"

/* A job that has ended is unknown here; any node may have kept some of its output. */
void iof_forward_ask(struct multinode *s, const struct effect_listen *e)
{
    const struct job *j = core_job_named(&share_server(s)->core, e->nspace);
    bool one = j && e->rank != JOB_NO_RANK && e->rank < j->plan.nprocs;
    uint32_t to = one ? node_map_rank(s, j, e->rank) : MSG_EVERYBODY;
    struct msg m = { .kind = MSG_listen };

    m.u.listen.ear = e->subscription;
    m.u.listen.nspace = e->nspace;
    m.u.listen.rank = e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank;
    m.u.listen.channels = e->channels;
    if (to != s->router.config.me)
        send_queue_to(s, &m, to);
}

/* Output for one subscriber on another node. */
struct saying {
    struct multinode *multinode;
    const struct ear *ear;
};

static void say_to(void *arg, uint32_t rank, uint16_t channel, struct slice bytes)
{
    const struct saying *k = arg;
    struct msg m = { .kind = MSG_iof_data };

    if (!(k->ear->channels & channel))
        return;
    /* A subscriber that does not read loses data, as on one node, so that we need not keep it. */
    if (bytes.len && router_waiting(&k->multinode->router, k->ear->position) > LIMIT_LISTENER_QUEUE)
        return;
    m.u.iof_data.ear = k->ear->id;
    m.u.iof_data.nspace = slice_str(k->ear->nspace);
    m.u.iof_data.rank = rank;
    m.u.iof_data.channel = channel;
    m.u.iof_data.bytes = bytes;
    send_queue_to(k->multinode, &m, k->ear->position);
}

static void hear_listen(struct multinode *s, uint32_t from, const struct msg_listen *m)
{
    uint32_t rank = m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank;
    struct saying k = { .multinode = s };

    if (m->channels == 0) {
        iof_subscribers_drop(&s->iof_subscribers, from, m->ear);
        return;
    }
    k.ear = iof_subscribers_add(&s->iof_subscribers, from, m->ear, m->nspace, rank,
                                (uint16_t)m->channels);
    if (k.ear) /* kept output comes first */
        server_recall(share_server(s), m->nspace, rank, say_to, &k);
}

bool iof_forward_wanted(const struct multinode *s, const struct job *j, uint32_t rank)
{
    return iof_subscribers_next(&s->iof_subscribers, NULL, j->nspace, rank) != NULL;
}

bool iof_forward_said(struct multinode *s, const struct job *j, uint32_t rank, uint16_t channel,
                      struct slice bytes)
{
    struct saying k = { .multinode = s };
    bool heard = false;

    while ((k.ear = iof_subscribers_next(&s->iof_subscribers, k.ear, j->nspace, rank))) {
        say_to(&k, rank, channel, bytes);
        heard = heard || (k.ear->channels & channel);
    }
    return heard;
}

void iof_forward_hear(struct multinode *s, const struct msg *m)
{
    if (m->kind == MSG_listen)
        hear_listen(s, m->from, &m->u.listen);
    else if (m->kind == MSG_iof_data)
        server_overheard(share_server(s), m->u.iof_data.nspace, (uint32_t)m->u.iof_data.rank,
                         (uint16_t)m->u.iof_data.channel, m->u.iof_data.ear, m->u.iof_data.bytes);
}
