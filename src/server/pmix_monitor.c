/* pmix_monitor.c - see pmix_monitor.h. */
#include "server/pmix_monitor.h"

#include <string.h>

#include "base/duration.h"
#include "core/request.h"
#include "server/pmix_value.h"

static void cancel_monitor(struct command *c, const pmix_info_t *what)
{
    const char *name = what->value.type == PMIX_STRING ? what->value.data.string : NULL;

    pmix_ask(c, REQUEST_WITH(monitor, .name = pmix_keep(c, slice_str(name ? name : ""))));
}

static void begin_monitor(struct command *c, pmix_status_t code, const pmix_info_t *infos, size_t n)
{
    struct request_monitor rq = { .code = code ? code : PMIX_MONITOR_HEARTBEAT_ALERT };

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_TIME))
            rq.period_ns = (pmix_number_of(v) & UINT32_MAX) * NS_PER_S;
        else if (!strcmp(infos[i].key, PMIX_MONITOR_HEARTBEAT_DROPS))
            rq.drops = (uint32_t)pmix_number_of(v);
        else if (!strcmp(infos[i].key, PMIX_MONITOR_ID) && v->type == PMIX_STRING)
            rq.name = pmix_keep(c, slice_str(v->data.string ? v->data.string : ""));
    }
    if (rq.period_ns == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        return;
    }
    c->s->monitored = true;
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

/* Monitoring of files and other objects is not supported. */
void pmix_read_monitor(struct command *c)
{
    struct pmsg_monitor m;

    if (pmsg_read_monitor(&c->r, c->s->release, &m) == PTYPE_FINE) {
        if (!strcmp(m.monitor.key, PMIX_MONITOR_CANCEL))
            cancel_monitor(c, &m.monitor);
        else if (!strcmp(m.monitor.key, PMIX_MONITOR_HEARTBEAT))
            begin_monitor(c, m.error, m.infos.items, m.infos.n);
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_monitor(&m, NULL);
}
