/* server_monitor.c - monitors that clients ask for: their own heartbeats, files that have to
 * change, and what processes and nodes use.  What does not move for too long is reported by an
 * event, once, and is not monitored any more.  Usage is sampled at once, which is the reply, and
 * then in each period, which are events.
 *
 * The server sees no file: the host looks (EFFECT_file_look), and tells what it has seen; and it
 * gathers what the nodes tell of usage (EFFECT_node_parts).
 */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/pmix_usage.h"
#include "server/server_priv.h"
#include "wire/pmix_pack.h"

/* What was seen of a file. */
struct looks {
    uint64_t size;
    int64_t accessed_ns, modified_ns;
};

struct monitor {
    struct list link;
    uint64_t id;
    uint32_t peer;
    uint64_t period_ns, due_ns;
    uint32_t drops, missing; /* how many may be missing, and how many are missing in a row */
    bool beaten;             /* in this period */
    bool looking;            /* the host has not told yet */
    bool seen;               /* there is something to compare with */
    uint8_t watches;         /* of the file */
    uint32_t usage;          /* what the nodes tell; both 0: heartbeats */
    bool local;              /* this node alone does */
    uint8_t range;
    int code;
    struct looks last;
    struct slice name; /* these are stored after the struct; a NUL follows the name */
    struct slice file, infos;
    char text[];
};

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

static struct peer *peer_of(struct server *s, const struct monitor *m)
{
    return map_get(&s->by_id, slice_mem(&m->peer, sizeof m->peer));
}

/* ---- begin and end --------------------------------------------------------------------------- */

static bool begins(const struct request_monitor *rq)
{
    return rq->period_ns || rq->usage;
}

/* A monitor of the same name is replaced; without names, one of the same object. */
static bool is_replaced(const struct monitor *m, const struct request_monitor *rq)
{
    return slice_eq(m->name, rq->name) &&
           (rq->name.len || (slice_eq(m->file, rq->file) && m->usage == rq->usage));
}

static bool is_ended(const struct monitor *m, const struct request_monitor *rq)
{
    if (begins(rq))
        return is_replaced(m, rq);
    return rq->all || slice_eq(m->name, rq->name);
}

/* True: there were some. */
static bool end_some(struct server *s, const struct peer *p, const struct request_monitor *rq)
{
    bool there = false;

    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->peer != p->id || !is_ended(m, rq))
            continue;
        drop(m);
        there = true;
    }
    return there;
}

static uint32_t count_of(struct server *s, const struct peer *p)
{
    uint32_t n = 0;

    LIST_EACH(l, &s->monitors)
    n += LIST_OF(l, struct monitor, link)->peer == p->id;
    return n;
}

static bool is_path(struct slice path)
{
    return path.len && path.len < LIMIT_CLEANUP_PATH && path.ptr[0] == '/' &&
           slice_find(path, '\0') == path.len;
}

static enum answer_status check(struct server *s, const struct peer *p,
                                const struct request_monitor *rq)
{
    if (rq->watches && !is_path(rq->file))
        return ANSWER_BAD_VALUE;
    if (count_of(s, p) >= LIMIT_CLIENT_MONITORS || rq->name.len > PMIX_MAX_KEYLEN)
        return ANSWER_OVER_QUOTA;
    return ANSWER_OK;
}

static struct slice keep(char **at_p, struct slice text)
{
    char *at = *at_p;

    if (text.len)
        memcpy(at, text.ptr, text.len);
    *at_p += text.len;
    return slice_mem(at, text.len);
}

static struct monitor *monitor_new(const struct request_monitor *rq)
{
    struct monitor *m = calloc(1, sizeof *m + rq->name.len + 1 + rq->file.len + rq->infos.len);
    char *at;

    if (!m)
        return NULL;
    at = m->text;
    m->name = keep(&at, rq->name);
    at++;
    m->file = keep(&at, rq->file);
    m->infos = keep(&at, rq->infos);
    m->usage = rq->usage;
    m->local = rq->local;
    m->period_ns = rq->period_ns;
    m->drops = rq->drops;
    m->code = rq->code;
    m->range = rq->range;
    m->watches = rq->watches;
    return m;
}

/* One at a time: the host's answer may take longer than the period. */
static void look(struct server *s, const struct peer *p, struct monitor *m)
{
    struct effect e = EFFECT_WITH(file_look, .job = p->job->id, .rank = p->rank, .monitor = m->id,
                                  .path = m->file);

    if (m->looking || !effect_own(&e))
        return;
    m->looking = effects_push(&s->core.effects, e);
}

static bool ask_nodes(struct server *s, uint64_t ticket, uint32_t usage, bool local)
{
    return effects_push(&s->core.effects,
                        EFFECT_WITH(node_parts, .ticket = ticket, .parts = usage, .local = local));
}

static enum answer_status begin(struct server *s, const struct peer *p,
                                const struct request_monitor *rq, uint64_t now_ns)
{
    enum answer_status status = check(s, p, rq);
    struct monitor *m = status == ANSWER_OK ? monitor_new(rq) : NULL;

    if (!m)
        return status == ANSWER_OK ? ANSWER_NO_MEMORY : status;
    end_some(s, p, rq);
    m->id = ++s->last_monitor;
    m->peer = p->id;
    m->due_ns = now_ns + rq->period_ns;
    list_append(&s->monitors, &m->link);
    effects_tick_by(&s->core.effects, m->due_ns);
    if (m->watches) { /* what is there now is what later looks are compared with */
        effects_push(&s->core.effects, EFFECT_WITH(proc_root, .job = p->job->id, .rank = p->rank));
        look(s, p, m);
    }
    return ANSWER_OK;
}

enum answer_status server_monitor_request(struct server *s, struct peer *p,
                                          const struct request_monitor *rq, uint64_t ticket,
                                          uint64_t now_ns)
{
    enum answer_status status = ANSWER_OK;

    if (!begins(rq))
        return end_some(s, p, rq) ? ANSWER_OK : ANSWER_NOT_FOUND;
    if (rq->usage && !s->core.is_manager)
        return ANSWER_UNSUPPORTED;
    if (rq->period_ns)
        status = begin(s, p, rq, now_ns);
    if (!rq->usage || status != ANSWER_OK)
        return status;
    ask_nodes(s, ticket, rq->usage, rq->local);
    return ANSWER_LATER;
}

/* ---- usage ----------------------------------------------------------------------------------- */

/* One at a time, as for files. */
static void sample(struct server *s, struct monitor *m)
{
    if (!m->looking)
        m->looking = ask_nodes(s, TICKET_OF_MONITOR | m->id, m->usage, m->local);
}

static void notify_samples(struct server *s, const struct monitor *m, const struct peer *p,
                           struct slice parts)
{
    struct info_array samples = { .items = NULL };

    pmix_usage_samples_of(pmix_session_of(p->session), m->infos, parts, &samples);
    if (samples.n && !samples.no_memory)
        server_notify_alert(s, p->job, p->rank,
                            &(struct monitor_alert){ m->code, m->range,
                                                     m->name.len ? m->text : NULL, samples.items,
                                                     samples.n });
    info_array_free(&samples);
}

void server_monitor_sampled(struct server *s, uint64_t ticket, const struct answer *a)
{
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        const struct peer *p = peer_of(s, m);
        if (m->id != (ticket & ~TICKET_OF_MONITOR))
            continue;
        m->looking = false;
        if (a->status == ANSWER_OK && p && p->job && p->session)
            notify_samples(s, m, p, answer_to_node_parts(a).parts);
    }
}

/* ---- what comes in --------------------------------------------------------------------------- */

enum answer_status server_monitor_beat(struct server *s, const struct peer *p)
{
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        m->beaten = m->beaten || m->peer == p->id;
    }
    return ANSWER_OK;
}

static void alert(struct server *s, const struct monitor *m)
{
    struct peer *p = peer_of(s, m);
    struct monitor_alert a = { m->code, m->range, m->name.len ? m->text : NULL, NULL, 0 };

    if (p && p->job)
        server_notify_alert(s, p->job, p->rank, &a);
}

static bool has_changed(const struct monitor *m, const struct looks *now)
{
    return (m->watches & MONITOR_SIZE && now->size != m->last.size) ||
           (m->watches & MONITOR_ACCESS && now->accessed_ns != m->last.accessed_ns) ||
           (m->watches & MONITOR_MODIFY && now->modified_ns != m->last.modified_ns);
}

/* As with OpenPMIx, the alert is due with the last of the checks that may be missed, where of
 * heartbeats that many may be missing. */
static bool is_stuck(const struct monitor *m)
{
    return m->missing && m->missing >= m->drops;
}

/* A file that is not there (yet, or for a moment) is not one that stands still. */
static void compare(struct server *s, struct monitor *m, const struct op_file_seen *o)
{
    struct looks now = { o->size, o->accessed_ns, o->modified_ns };

    m->looking = false;
    if (!o->found)
        return;
    m->missing = m->seen && !has_changed(m, &now) ? m->missing + 1 : 0;
    m->last = now;
    m->seen = true;
    if (is_stuck(m)) {
        alert(s, m);
        drop(m);
    }
}

bool server_on_file_seen(struct server *s, const struct op_file_seen *o, uint64_t now_ns)
{
    (void)now_ns;
    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->id == o->monitor && m->looking) {
            compare(s, m, o);
            return true;
        }
    }
    return false;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* True: it is silent for too long. */
static bool count_beats(struct monitor *m)
{
    m->missing = m->beaten ? 0 : m->missing + 1;
    m->beaten = false;
    return m->missing > m->drops;
}

static bool is_overdue(struct server *s, struct monitor *m)
{
    const struct peer *p = peer_of(s, m);

    if (m->usage)
        sample(s, m);
    else if (!m->watches)
        return count_beats(m);
    else if (p && p->job)
        look(s, p, m);
    return false;
}

uint64_t server_monitors_tick(struct server *s, uint64_t now_ns, bool *notified_p)
{
    uint64_t next = UINT64_MAX;

    LIST_EACH(l, &s->monitors)
    {
        struct monitor *m = LIST_OF(l, struct monitor, link);
        if (m->due_ns <= now_ns) {
            m->due_ns = now_ns + m->period_ns;
            *notified_p = true; /* the count is part of the trace, too */
            if (is_overdue(s, m)) {
                alert(s, m);
                drop(m);
                continue;
            }
        }
        next = m->due_ns < next ? m->due_ns : next;
    }
    return next;
}
