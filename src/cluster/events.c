/* events.c - see events.h. */
#include "cluster/events.h"

#include "cluster/msg.h"
#include "core/effect.h"

/* A daemon reports exits to the launcher only as process states: the launcher raises the event. */
static void send_exit(const struct events *s, struct msg *m)
{
    for (uint32_t i = 0; i < s->subscribed.nruns; i++) {
        for (uint32_t k = 0; k < s->subscribed.runs[i].count; k++)
            send_queue_to(s->context->queue, m, s->subscribed.runs[i].first + k);
    }
}

static void send_event(const struct events *s, const struct effect *e)
{
    struct msg m;

    if (!msg_effect(e, &m))
        return;
    if (e->u.event.is_exit && send_queue_is_root(s->context->queue))
        send_exit(s, &m);
    else
        send_queue_to(s->context->queue, &m, MSG_EVERYBODY);
}

static void send_subscription(const struct events *s, const struct effect *e)
{
    struct msg m;

    if (!send_queue_is_root(s->context->queue) && msg_effect(e, &m))
        send_queue_to(s->context->queue, &m, 0);
}

void events_effect(struct events *s, const struct effect *e)
{
    if (e->kind == EFFECT_event)
        send_event(s, e);
    else if (e->kind == EFFECT_subscribe_exits)
        send_subscription(s, e);
}

/* The subscriber that gets the exits that were kept. */
struct newcomer {
    struct send_queue *queue;
    uint32_t position;
};

static void send_kept(void *arg, const struct op_event *e)
{
    const struct newcomer *n = arg;
    struct msg m = { .kind = MSG_event };

    m.u.event = *e;
    send_queue_to(n->queue, &m, n->position);
}

void events_receive(struct events *s, uint32_t from)
{
    const struct core_context *x = s->context;
    struct newcomer n = { x->queue, from };

    if (!send_queue_is_root(x->queue) || rank_set_has(&s->subscribed, from) ||
        rank_set_add(&s->subscribed, from, 1) < 0)
        return;
    x->calls.kept_exits(x->arg, send_kept, &n);
}

void events_lost(struct events *s, uint32_t position)
{
    rank_set_remove(&s->subscribed, position); /* without memory it stays: nothing is sent to it */
}

void events_open(struct events *s, const struct core_context *x)
{
    *s = (struct events){ .context = x };
}

void events_close(struct events *s)
{
    rank_set_free(&s->subscribed);
}
