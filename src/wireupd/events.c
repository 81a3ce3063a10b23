/* events.c - see events.h. */
#include "wireupd/events.h"

#include <stdlib.h>
#include <string.h>

#include "core/effect.h"
#include "wireupd/multinode_priv.h"
#include "wireupd/send_queue.h"

/* Process exits go only to the nodes that have subscribed to them. */
static void tell_event(struct multinode *s, const struct effect_event *e)
{
    struct msg m = { .kind = MSG_event };

    m.u.event.code = e->code;
    m.u.event.range = e->range;
    m.u.event.flags = e->flags;
    m.u.event.nspace = e->nspace;
    m.u.event.rank = e->rank;
    m.u.event.infos = e->infos;
    if (!e->is_exit || !s->heeding) {
        send_queue_to(s, &m, MSG_EVERYBODY);
        return;
    }
    for (uint32_t p = 1; p < s->router.config.count; p++) {
        if (s->heeding[p])
            send_queue_to(s, &m, p);
    }
}

static void ask_ends(struct multinode *s)
{
    struct msg m = { .kind = MSG_subscribe_exits };

    if (!share_is_root(s))
        send_queue_to(s, &m, 0);
}

static void hear_event(struct multinode *s, const struct msg_event *m)
{
    char *nspace = strndup(m->nspace.ptr ? m->nspace.ptr : "", m->nspace.len);
    struct notice n = { .code = (int)m->code,
                        .range = (uint8_t)m->range,
                        .flags = (uint8_t)m->flags,
                        .nspace = nspace,
                        .rank = (uint32_t)m->rank,
                        .infos = m->infos };

    if (nspace)
        server_notify(share_server(s), &n);
    free(nspace);
}

struct heeder {
    struct multinode *multinode;
    uint32_t position;
};

static void tell_kept_end(void *arg, const struct notice *n)
{
    struct heeder *h = arg;
    struct msg m = { .kind = MSG_event };

    m.u.event.code = n->code;
    m.u.event.range = n->range;
    m.u.event.flags = n->flags;
    m.u.event.nspace = slice_str(n->nspace);
    m.u.event.rank = n->rank;
    m.u.event.infos = n->infos;
    send_queue_to(h->multinode, &m, h->position);
}

static void hear_heed(struct multinode *s, uint32_t from)
{
    struct heeder h = { s, from };

    if (!s->heeding || from >= s->router.config.count || s->heeding[from])
        return;
    s->heeding[from] = true;
    server_kept_ends(share_server(s), tell_kept_end, &h);
}

void events_effect(struct multinode *s, const struct effect *e)
{
    if (e->kind == EFFECT_event)
        tell_event(s, &e->u.event);
    else if (e->kind == EFFECT_subscribe_exits)
        ask_ends(s);
}

void events_hear(struct multinode *s, const struct msg *m)
{
    if (m->kind == MSG_event)
        hear_event(s, &m->u.event);
    else if (m->kind == MSG_subscribe_exits)
        hear_heed(s, m->from);
}
