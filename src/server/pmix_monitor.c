/* pmix_monitor.c - see pmix_monitor.h. */
#include "server/pmix_monitor.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "core/request.h"
#include "server/pmix_usage.h"
#include "server/pmix_value.h"
#include "wire/pmix_truth.h"

static struct slice keep_text(struct command *c, const pmix_info_t *info)
{
    const char *text = pmix_text_of(info);

    return pmix_keep(c, slice_str(text ? text : ""));
}

/* Without a name: every monitor of the client. */
static void cancel_monitor(struct command *c, const pmix_info_t *what)
{
    pmix_ask(c, REQUEST_WITH(monitor, .name = keep_text(c, what), .all = !pmix_text_of(what)));
}

/* ---- directives ------------------------------------------------------------------------------ */

static void read_period(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    rq->period_ns = (pmix_number_of(&i->value) & UINT32_MAX) * NS_PER_S;
}

static void read_drops(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    rq->drops = (uint32_t)pmix_number_of(&i->value);
}

static void read_name(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    rq->name = keep_text(c, i);
}

static void read_range(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    if (i->value.data.range != PMIX_RANGE_UNDEF)
        rq->range = i->value.data.range;
}

/* Flags with OpenPMIx, texts of any kind in the Standard. */
static void watch(const pmix_info_t *i, struct request_monitor *rq, uint8_t what)
{
    if (pmix_truth(&i->value) != PMIX_BOOL_FALSE)
        rq->watches |= what;
}

static void read_size(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    watch(i, rq, MONITOR_SIZE);
}

static void read_access(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    watch(i, rq, MONITOR_ACCESS);
}

static void read_modify(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    watch(i, rq, MONITOR_MODIFY);
}

static void read_local(struct command *c, const pmix_info_t *i, struct request_monitor *rq)
{
    (void)c;
    rq->local = pmix_flag_of(&i->value);
}

/* Directives of the kinds of monitors. */
enum { OF_HEARTBEATS = 1, OF_FILES = 2, OF_USAGE = 4, OF_ALL = 7 };

static const struct directive {
    const char *key;
    unsigned of;
    void (*read)(struct command *c, const pmix_info_t *i, struct request_monitor *rq);
} directives[] = {
    { PMIX_MONITOR_ID, OF_ALL, read_name },
    { PMIX_RANGE, OF_ALL, read_range },
    { PMIX_MONITOR_HEARTBEAT_TIME, OF_HEARTBEATS, read_period },
    { PMIX_MONITOR_HEARTBEAT_DROPS, OF_HEARTBEATS, read_drops },
    { PMIX_MONITOR_FILE_CHECK_TIME, OF_FILES, read_period },
    { PMIX_MONITOR_FILE_DROPS, OF_FILES, read_drops },
    { PMIX_MONITOR_FILE_SIZE, OF_FILES, read_size },
    { PMIX_MONITOR_FILE_ACCESS, OF_FILES, read_access },
    { PMIX_MONITOR_FILE_MODIFY, OF_FILES, read_modify },
    { PMIX_MONITOR_RESOURCE_RATE, OF_USAGE, read_period },
    { PMIX_MONITOR_LOCAL_ONLY, OF_USAGE, read_local },
};

static void read_directives(struct command *c, const struct pmsg_monitor *m, unsigned of,
                            struct request_monitor *rq)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        for (size_t d = 0; d < sizeof directives / sizeof *directives; d++) {
            if (directives[d].of & of && !strcmp(m->infos.items[i].key, directives[d].key))
                directives[d].read(c, &m->infos.items[i], rq);
        }
    }
}

/* Those that name their hearers by themselves; the others would need a list. */
static bool is_range(uint8_t range)
{
    return range == PMIX_RANGE_PROC_LOCAL || range == PMIX_RANGE_LOCAL ||
           range == PMIX_RANGE_NAMESPACE || range == PMIX_RANGE_SESSION ||
           range == PMIX_RANGE_GLOBAL;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void begin_heartbeats(struct command *c, const struct pmsg_monitor *m)
{
    struct request_monitor rq = { .code = m->error ? m->error : PMIX_MONITOR_HEARTBEAT_ALERT,
                                  .range = PMIX_RANGE_NAMESPACE };

    read_directives(c, m, OF_HEARTBEATS, &rq);
    if (rq.period_ns == 0 || !is_range(rq.range)) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        return;
    }
    c->s->monitored = true;
    pmix_ask(c, (struct request){ .kind = REQ_monitor, .u.monitor = rq });
}

static void begin_file(struct command *c, const struct pmsg_monitor *m)
{
    struct request_monitor rq = { .code = m->error ? m->error : PMIX_MONITOR_FILE_ALERT,
                                  .range = PMIX_RANGE_NAMESPACE,
                                  .file = keep_text(c, &m->monitor) };

    read_directives(c, m, OF_FILES, &rq);
    if (rq.period_ns == 0 || !rq.watches || !is_range(rq.range))
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
    else
        pmix_ask(c, (struct request){ .kind = REQ_monitor, .u.monitor = rq });
}

/* The monitor and its directives, moved out of the message; NULL: no memory. */
static pmix_info_t *take_infos(struct pmsg_monitor *m, size_t *n_p)
{
    pmix_info_t *all = calloc(m->infos.n + 1, sizeof *all);

    if (!all)
        return NULL;
    *n_p = m->infos.n + 1;
    all[0] = m->monitor;
    m->monitor.value = (pmix_value_t){ .type = PMIX_UNDEF };
    for (size_t i = 0; i < m->infos.n; i++) {
        all[i + 1] = m->infos.items[i];
        m->infos.items[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
    }
    return all;
}

/* Without a range, its events are for the client alone. */
static void begin_usage(struct command *c, struct pmsg_monitor *m)
{
    struct request_monitor rq = { .code = m->error ? m->error : PMIX_MONITOR_RESUSAGE_UPDATE,
                                  .range = PMIX_RANGE_PROC_LOCAL,
                                  .usage = pmix_usage_parts(&m->monitor) };
    struct pmix_pending *p;
    pmix_info_t *all;
    size_t n;

    read_directives(c, m, OF_USAGE, &rq);
    all = take_infos(m, &n);
    if (!all) {
        c->no_memory = true;
        return;
    }
    rq.infos = pmix_keep_packed(c, all, n);
    if (!is_range(rq.range) || !pmix_usage_is_fine(all, n)) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        pmix_drop_infos(all, n);
        return;
    }
    p = pmix_ask(c, (struct request){ .kind = REQ_monitor, .u.monitor = rq });
    if (!p) {
        pmix_drop_infos(all, n);
        return;
    }
    p->infos = all;
    p->ninfos = n;
}

bool pmix_is_heartbeat(const struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_monitor m;
    bool is = pmsg_read_monitor(&r, c->s->release, &m) == PTYPE_FINE &&
              (!strcmp(m.monitor.key, PMIX_MONITOR_HEARTBEAT) ||
               (c->s->monitored && !strcmp(m.monitor.key, PMIX_MONITOR_CANCEL)));

    pmsg_free_monitor(&m, NULL);
    return is;
}

void pmix_read_monitor(struct command *c)
{
    struct pmsg_monitor m;

    if (pmsg_read_monitor(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (!strcmp(m.monitor.key, PMIX_MONITOR_CANCEL))
            cancel_monitor(c, &m.monitor);
        else if (!strcmp(m.monitor.key, PMIX_MONITOR_HEARTBEAT))
            begin_heartbeats(c, &m);
        else if (!strcmp(m.monitor.key, PMIX_MONITOR_FILE))
            begin_file(c, &m);
        else if (pmix_usage_parts(&m.monitor))
            begin_usage(c, &m);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_monitor(&m, NULL);
}

static void reply_samples(struct pmix_session *s, uint32_t tag, const struct info_array *samples)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos),
                                   .status = PMIX_SUCCESS,
                                   .infos = { samples->n, samples->items } };
    struct ppack w;

    if (samples->no_memory || samples->n == 0) {
        pmix_reply_status(s, tag, samples->no_memory ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    pmix_send_or_fail(s, tag, &w);
}

void pmix_reply_monitor(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct info_array samples = { .items = NULL };

    if (!p->infos || a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    pmix_usage_samples(s, p->infos, p->ninfos, answer_to_node_parts(a).parts, &samples);
    reply_samples(s, p->tag, &samples);
    info_array_free(&samples);
}
