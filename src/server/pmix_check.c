/* pmix_check.c - see pmix_check.h. */
#include "server/pmix_check.h"

#include <string.h>

#include "core/core.h"
#include "server/pmix_calls.h"

/* A list in a message, whatever its items. */
struct items {
    size_t n;
    void *items;
};

static pmix_status_t check_apps(enum pmix_call_id id, struct items l)
{
    const pmix_app_t *apps = l.items;
    pmix_status_t status = PMIX_SUCCESS;

    for (size_t i = 0; i < l.n && status == PMIX_SUCCESS; i++)
        status = pmix_call_check(id, apps[i].info, apps[i].ninfo);
    return status;
}

static pmix_status_t check_queries(enum pmix_call_id id, struct items l)
{
    const pmix_query_t *queries = l.items;
    pmix_status_t status = PMIX_SUCCESS;

    for (size_t i = 0; i < l.n && status == PMIX_SUCCESS; i++)
        status = pmix_call_check(id, queries[i].qualifiers, queries[i].nqual);
    return status;
}

static pmix_status_t check_field(enum pmix_call_id id, const struct pmsg_field *f, const void *at)
{
    struct items l;

    if (f->shape == PMSG_ONE && f->type == PMSG_TYPE_INFO)
        return pmix_call_check(id, at, 1);
    if (f->shape != PMSG_LIST)
        return PMIX_SUCCESS;
    memcpy(&l, at, sizeof l);
    switch (f->type) {
    case PMSG_TYPE_INFO: return pmix_call_check(id, l.items, l.n);
    case PMSG_TYPE_APP: return check_apps(id, l);
    case PMSG_TYPE_QUERY: return check_queries(id, l);
    default: return PMIX_SUCCESS;
    }
}

pmix_status_t pmix_check(const struct command *c)
{
    const struct pmix_call *call = pmix_call_of(c->cmd);
    const struct pmsg *row = pmsg_commands[c->cmd].request;
    struct punpack r = c->r;
    pmix_status_t status = PMIX_SUCCESS;
    union pmsg_any m;

    if (!call || !c->s->base.peer->core->is_manager)
        return PMIX_SUCCESS;
    if (pmsg_read(row, &r, c->s->release, &m) == PTYPE_NO_MEMORY)
        status = PMIX_ERR_NOMEM;
    for (unsigned i = 0; i < row->nfields && status == PMIX_SUCCESS; i++) {
        if (m.has >> i & 1)
            status = check_field((enum pmix_call_id)(call - pmix_calls), &row->fields[i],
                                 (const char *)&m + row->fields[i].offset);
    }
    pmsg_free(row, &m, NULL);
    return status;
}
