/* overhear.c - see overhear.h. */
#include "wireupd/overhear.h"

#include "base/limit.h"
#include "wireupd/places.h"
#include "wireupd/share_priv.h"
#include "wireupd/tell.h"

/* A job that has ended is not known any more; something of what it said may be kept anywhere. */
void overhear_ask(struct share *s, const struct effect *e)
{
    const struct job *j = core_job_named(&share_server(s)->core, effect_key(e));
    bool one = j && e->rank != JOB_NO_RANK && e->rank < j->plan.nprocs;
    uint32_t to = one ? places_rank(s, j, e->rank) : MSG_EVERYBODY;
    struct msg m = { .kind = MSG_listen };

    m.u.listen.ear = e->ticket;
    m.u.listen.nspace = effect_key(e);
    m.u.listen.rank = e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank;
    m.u.listen.channels = (uint64_t)e->number;
    if (to != s->cluster.config.me)
        tell_to(s, &m, to);
}

/* What is to be said to an ear of another node. */
struct saying {
    struct share *share;
    const struct ear *ear;
};

static void say_to(void *arg, uint32_t rank, uint16_t channel, struct slice bytes)
{
    const struct saying *k = arg;
    struct msg m = { .kind = MSG_said };

    if (!(k->ear->channels & channel))
        return;
    /* Who does not read misses some, as on one node, rather than making us keep it. */
    if (bytes.len && cluster_waiting(&k->share->cluster, k->ear->position) > LIMIT_LISTENER_QUEUE)
        return;
    m.u.said.ear = k->ear->id;
    m.u.said.nspace = slice_str(k->ear->nspace);
    m.u.said.rank = rank;
    m.u.said.channel = channel;
    m.u.said.bytes = bytes;
    tell_to(k->share, &m, k->ear->position);
}

static void hear_listen(struct share *s, uint32_t from, const struct msg_listen *m)
{
    uint32_t rank = m->rank < 0 ? JOB_NO_RANK : (uint32_t)m->rank;
    struct saying k = { .share = s };

    if (m->channels == 0) {
        ears_drop(&s->ears, from, m->ear);
        return;
    }
    k.ear = ears_add(&s->ears, from, m->ear, m->nspace, rank, (uint16_t)m->channels);
    if (k.ear) /* what was kept comes first */
        server_recall(share_server(s), m->nspace, rank, say_to, &k);
}

bool overhear_wanted(const struct share *s, const struct job *j, uint32_t rank)
{
    return ears_next(&s->ears, NULL, j->nspace, rank) != NULL;
}

bool overhear_said(struct share *s, const struct job *j, uint32_t rank, uint16_t channel,
                   struct slice bytes)
{
    struct saying k = { .share = s };
    bool heard = false;

    while ((k.ear = ears_next(&s->ears, k.ear, j->nspace, rank))) {
        say_to(&k, rank, channel, bytes);
        heard = heard || (k.ear->channels & channel);
    }
    return heard;
}

void overhear_hear(struct share *s, const struct msg *m)
{
    if (m->kind == MSG_listen)
        hear_listen(s, m->from, &m->u.listen);
    else if (m->kind == MSG_said)
        server_overheard(share_server(s), m->u.said.nspace, (uint32_t)m->u.said.rank,
                         (uint16_t)m->u.said.channel, m->u.said.ear, m->u.said.bytes);
}
