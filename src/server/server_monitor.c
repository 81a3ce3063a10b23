/* server_monitor.c - heartbeats of clients.  A client that is silent for too long is reported by an
 * event, once. */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/server_priv.h"
#include "wire/pmix_pack.h"

struct monitor {
    struct list link;
    uint32_t peer;
    uint64_t period_ns, due_ns;
    uint32_t drops, missing; /* how many may be missing, and how many are missing in a row */
    bool beaten;             /* in this period */
    int code;
    struct slice name; /* stored after the struct */
    char text[];
};

static struct monitor *find(struct server *s, const struct peer *p, struct slice name)
{
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->peer == p->id && slice_eq(m->name, name))
            return m;
    }
    return NULL;
}

static void drop(struct monitor *m)
{
    list_unlink(&m->link);
    free(m);
}

void server_monitors_free(struct server *s)
{
    LIST_EACH(l, &s->monitors)
    drop(LIST_OF(l, struct monitor, link));
}

void server_monitors_drop(struct server *s, const struct peer *p)
{
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->peer == p->id)
            drop(m);
    }
}

static uint32_t count_of(struct server *s, const struct peer *p)
{
    uint32_t n = 0;

    LIST_EACH(l, &s->monitors)
    n += LIST_OF(l, struct monitor, link)->peer == p->id;
    return n;
}

static enum answer_status begin(struct server *s, const struct peer *p,
                                const struct request_monitor *rq, uint64_t now_ns)
{
    struct monitor *m;

    if (count_of(s, p) >= LIMIT_CLIENT_MONITORS || rq->name.len > PMIX_MAX_KEYLEN)
        return ANSWER_OVER_QUOTA;
    m = calloc(1, sizeof *m + rq->name.len);
    if (!m)
        return ANSWER_NO_MEMORY;
    m->peer = p->id;
    m->period_ns = rq->period_ns;
    m->due_ns = now_ns + rq->period_ns;
    m->drops = rq->drops;
    m->code = rq->code;
    if (rq->name.len)
        memcpy(m->text, rq->name.ptr, rq->name.len);
    m->name = slice_mem(m->text, rq->name.len);
    list_append(&s->monitors, &m->link);
    effects_tick_by(&s->core.effects, m->due_ns);
    return ANSWER_OK;
}

enum answer_status server_monitor_beat(struct server *s, const struct peer *p)
{
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        m->beaten = m->beaten || m->peer == p->id;
    }
    return ANSWER_OK;
}

enum answer_status server_monitor_request(struct server *s, struct peer *p,
                                          const struct request_monitor *rq, uint64_t now_ns)
{
    struct monitor *m = find(s, p, rq->name);

    if (m)
        drop(m);
    if (rq->period_ns)
        return begin(s, p, rq, now_ns);
    return m ? ANSWER_OK : ANSWER_NOT_FOUND;
}

/* It is silent. */
static void alert(struct server *s, const struct monitor *m)
{
    struct peer *p = map_get(&s->by_id, slice_mem(&m->peer, sizeof m->peer));

    if (p && p->job)
        server_notify_silent(s, p->job, p->rank, m->code);
}

uint64_t server_monitors_tick(struct server *s, uint64_t now_ns, bool *notified_p)
{
    uint64_t next = UINT64_MAX;

    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->due_ns <= now_ns) {
            m->missing = m->beaten ? 0 : m->missing + 1;
            m->beaten = false;
            m->due_ns = now_ns + m->period_ns;
            *notified_p = true; /* the count is part of the trace, too */
        }
        if (m->missing > m->drops) {
            alert(s, m);
            drop(m);
            continue;
        }
        next = m->due_ns < next ? m->due_ns : next;
    }
    return next;
}
