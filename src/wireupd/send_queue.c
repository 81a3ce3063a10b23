/* send_queue.c - see send_queue.h. */
#include "wireupd/send_queue.h"

#include <errno.h>

#include "base/limit.h"
#include "core/effect.h"
#include "wireupd/multinode_priv.h"

/* A message that cannot be sent is a loss that is reported as such elsewhere; here it is only
 * logged. */
static void post(struct multinode *s, struct msg *m, uint32_t to)
{
    int rc;

    m->to = to;
    rc = to == MSG_EVERYBODY ? membership_broadcast(&s->overlay_io.member, m)
                             : router_send(&s->router, m);
    if (rc < 0 && rc != -EPIPE)
        log_error(&s->node->config.log, "cannot send `%s` to the daemon at position %u: %s",
                  msg_name(m->kind), to, err_text(rc));
}

static void add_number(struct buf *b, uint32_t v)
{
    buf_put(b, &v, sizeof v);
}

/* To the launcher; the launcher's own updates go to all, and are obsolete when all are leaving. */
static void flush_news(struct multinode *s)
{
    struct msg_proc_state *n = &s->news.u.proc_state;
    uint32_t count = (uint32_t)(buf_len(&s->ranks) / sizeof(uint32_t));

    timer_stop(&s->gossip);
    s->urgent = false;
    if (count == 0)
        return;
    n->ranks = (struct part_uints){ (const void *)buf_slice(&s->ranks).ptr, count };
    n->events = (struct part_uints){ (const void *)buf_slice(&s->events).ptr, count };
    n->codes = (struct part_ints){ (const void *)buf_slice(&s->codes).ptr, count };
    n->pids = (struct part_ints){ (const void *)buf_slice(&s->pids).ptr, count };
    s->news.kind = MSG_proc_state;
    if (!share_is_root(s) || !launcher_state_is_leaving(s->node->launcher))
        post(s, &s->news, share_is_root(s) ? MSG_EVERYBODY : 0);
    buf_clear(&s->ranks);
    buf_clear(&s->events);
    buf_clear(&s->codes);
    buf_clear(&s->pids);
}

/* The normal end of a process concerns only those that wait for it in vain: mostly all end at about
 * the same time, and no notification is needed.  The start of a process is implied by the next
 * update about it; but its spawner waits for it. */
static bool may_wait(const struct multinode *s, const struct effect_proc_state *e)
{
    const struct job *j;

    if (share_is_root(s))
        return e->event == PROC_EVENT_EXIT;
    j = share_job(s, e->job);
    return e->event == PROC_EVENT_STARTED && j && j->parent == JOB_NO_RANK && !j->is_asked;
}

void send_queue_news(struct multinode *s, const struct effect_proc_state *e)
{
    if (s->news.u.proc_state.job != e->job)
        flush_news(s);
    s->news.u.proc_state.job = e->job;
    add_number(&s->ranks, e->rank);
    add_number(&s->events, (uint32_t)e->event);
    add_number(&s->codes, (uint32_t)e->code);
    add_number(&s->pids, (uint32_t)e->pid);
    s->urgent = s->urgent || !may_wait(s, e);
}

static void gossip(void *arg)
{
    flush_news(arg);
}

void send_queue_to(struct multinode *s, struct msg *m, uint32_t to)
{
    if (!share_is_root(s))
        flush_news(s);
    post(s, m, to);
}

void send_queue_settle(struct multinode *s)
{
    if (s->urgent)
        flush_news(s);
    else if (buf_len(&s->ranks) && !s->gossip.set)
        timer_set(&s->gossip, share_is_root(s) ? LIMIT_NEWS_MS : LIMIT_STARTED_MS);
}

void send_queue_open(struct multinode *s)
{
    buf_init(&s->ranks, SIZE_MAX / 4);
    buf_init(&s->events, SIZE_MAX / 4);
    buf_init(&s->codes, SIZE_MAX / 4);
    buf_init(&s->pids, SIZE_MAX / 4);
    timer_init(&s->gossip, &s->node->loop, gossip, s);
}

void send_queue_close(struct multinode *s)
{
    timer_stop(&s->gossip);
    buf_free(&s->ranks);
    buf_free(&s->events);
    buf_free(&s->codes);
    buf_free(&s->pids);
}
