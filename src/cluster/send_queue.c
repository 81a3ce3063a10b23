/* send_queue.c - see send_queue.h. */
#include "cluster/send_queue.h"

#include <errno.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "core/effect.h"

static void send_to(void *queue, struct msg *m, uint32_t to)
{
    struct send_queue *q = queue;
    int rc;

    m->to = to;
    rc = to == MSG_EVERYBODY ? membership_broadcast(q->config.member, m)
                             : router_send(q->config.router, m);
    if (rc < 0 && rc != -EPIPE)
        log_error(q->config.log, "cannot send `%s` to the daemon at position %u: %s",
                  msg_name(m->kind), to, err_text(rc));
}

static void add_number(struct buf *b, uint32_t v)
{
    buf_put(b, &v, sizeof v);
}

/* To the launcher; the launcher's own go to all, and are obsolete when all are leaving. */
static void flush(struct send_queue *q)
{
    struct msg m = MSG_WITH(proc_states, .job = q->job);
    struct op_proc_states *n = &m.u.proc_states;
    uint32_t count = (uint32_t)(buf_len(&q->ranks) / sizeof(uint32_t));
    bool root = send_queue_is_root(q);

    q->urgent = false;
    if (count == 0)
        return;
    bundles_flush(&q->bundles);
    n->ranks = (struct part_uints){ (const void *)buf_slice(&q->ranks).ptr, count };
    n->events = (struct part_uints){ (const void *)buf_slice(&q->events).ptr, count };
    n->codes = (struct part_ints){ (const void *)buf_slice(&q->codes).ptr, count };
    n->pids = (struct part_ints){ (const void *)buf_slice(&q->pids).ptr, count };
    if (!root || !router_state_is_leaving(q->config.router->state))
        send_to(q, &m, root ? MSG_EVERYBODY : 0);
    buf_clear(&q->ranks);
    buf_clear(&q->events);
    buf_clear(&q->codes);
    buf_clear(&q->pids);
}

/* The normal end of a process concerns only those that wait for it in vain: mostly all end at about
 * the same time, and no notification is needed.  The start of a process is implied by the next
 * update about it; but its spawner waits for it. */
static bool may_wait(const struct send_queue *q, const struct op_proc_state *e)
{
    const struct job *j;

    if (send_queue_is_root(q))
        return e->event == PROC_EVENT_EXIT;
    j = core_job(q->config.core, e->job);
    return e->event == PROC_EVENT_STARTED && j && j->parent == JOB_NO_RANK && !j->is_asked;
}

void send_queue_state(struct send_queue *q, const struct op_proc_state *e)
{
    if (q->job != e->job)
        flush(q);
    q->job = e->job;
    add_number(&q->ranks, e->rank);
    add_number(&q->events, (uint32_t)e->event);
    add_number(&q->codes, (uint32_t)e->code);
    add_number(&q->pids, (uint32_t)e->pid);
    q->urgent = q->urgent || !may_wait(q, e);
    if (e->event == PROC_EVENT_RESTART) /* it keeps its place among the results of collectives */
        flush(q);
}

void send_queue_to(struct send_queue *q, struct msg *m, uint32_t to)
{
    bundles_flush(&q->bundles);
    if (!send_queue_is_root(q))
        flush(q);
    send_to(q, m, to);
}

void send_queue_bundled(struct send_queue *q, struct msg *m, uint32_t to)
{
    if (!send_queue_is_root(q))
        flush(q);
    bundles_add(&q->bundles, m, to);
}

void send_queue_settle(struct send_queue *q)
{
    bundles_flush(&q->bundles);
    if (q->urgent) {
        flush(q);
    } else if (buf_len(&q->ranks) && !q->woken) {
        q->woken = true;
        q->config.wake(q->config.arg,
                       send_queue_is_root(q) ? LIMIT_EXIT_REPORT_MS : LIMIT_START_REPORT_MS);
    }
}

void send_queue_tick(struct send_queue *q)
{
    q->woken = false;
    flush(q);
}

void send_queue_open(struct send_queue *q, const struct send_queue_config *config)
{
    *q = (struct send_queue){ .config = *config };
    bundles_open(&q->bundles, send_to, q);
    buf_init(&q->ranks, SIZE_MAX / 4);
    buf_init(&q->events, SIZE_MAX / 4);
    buf_init(&q->codes, SIZE_MAX / 4);
    buf_init(&q->pids, SIZE_MAX / 4);
}

void send_queue_close(struct send_queue *q)
{
    bundles_close(&q->bundles);
    buf_free(&q->ranks);
    buf_free(&q->events);
    buf_free(&q->codes);
    buf_free(&q->pids);
}
