/* pmix_monitor.c - see pmix_monitor.h. */
#include "server/pmix_monitor.h"

#include <string.h>

#include "base/duration.h"
#include "core/request.h"
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

/* Directives of both kinds of monitors, of heartbeats and of files. */
enum { OF_HEARTBEATS = 1, OF_FILES = 2 };

static const struct directive {
    const char *key;
    unsigned of;
    void (*read)(struct command *c, const pmix_info_t *i, struct request_monitor *rq);
} directives[] = {
    { PMIX_MONITOR_ID, OF_HEARTBEATS | OF_FILES, read_name },
    { PMIX_RANGE, OF_HEARTBEATS | OF_FILES, read_range },
    { PMIX_MONITOR_HEARTBEAT_TIME, OF_HEARTBEATS, read_period },
    { PMIX_MONITOR_HEARTBEAT_DROPS, OF_HEARTBEATS, read_drops },
    { PMIX_MONITOR_FILE_CHECK_TIME, OF_FILES, read_period },
    { PMIX_MONITOR_FILE_DROPS, OF_FILES, read_drops },
    { PMIX_MONITOR_FILE_SIZE, OF_FILES, read_size },
    { PMIX_MONITOR_FILE_ACCESS, OF_FILES, read_access },
    { PMIX_MONITOR_FILE_MODIFY, OF_FILES, read_modify },
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

/* Anything else, as the use of resources, is not monitored. */
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
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_monitor(&m, NULL);
}
