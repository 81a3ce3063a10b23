/* pmix_check.c - see pmix_check.h. */
#include "server/pmix_check.h"

#include <string.h>

#include "core/core.h"
#include "server/pmix_calls.h"
#include "server/pmix_value.h"

/* A list in a message, whatever its items. */
struct items {
    size_t n;
    void *items;
};

/* A user or group that the client is not; without the flag nobody is asked to be that one. */
static bool is_other(const struct command *c, const pmix_info_t *info)
{
    const struct peer *p = c->s->base.peer;
    uint64_t claimed = pmix_number_of(&info->value);

    return info->flags & PMIX_INFO_REQD &&
           ((!strcmp(info->key, PMIX_USERID) && claimed != p->uid) ||
            (!strcmp(info->key, PMIX_GRPID) && claimed != p->gid));
}

static pmix_status_t check_infos(const struct command *c, enum pmix_call_id id,
                                 const pmix_info_t *infos, size_t n)
{
    pmix_status_t status = pmix_call_check(id, infos, n);

    for (size_t i = 0; i < n && status == PMIX_SUCCESS; i++)
        status = is_other(c, &infos[i]) ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
    return status;
}

static pmix_status_t check_apps(const struct command *c, enum pmix_call_id id, struct items l)
{
    const pmix_app_t *apps = l.items;
    pmix_status_t status = PMIX_SUCCESS;

    for (size_t i = 0; i < l.n && status == PMIX_SUCCESS; i++)
        status = check_infos(c, id, apps[i].info, apps[i].ninfo);
    return status;
}

static pmix_status_t check_queries(const struct command *c, enum pmix_call_id id, struct items l)
{
    const pmix_query_t *queries = l.items;
    pmix_status_t status = PMIX_SUCCESS;

    for (size_t i = 0; i < l.n && status == PMIX_SUCCESS; i++)
        status = check_infos(c, id, queries[i].qualifiers, queries[i].nqual);
    return status;
}

static pmix_status_t check_field(const struct command *c, enum pmix_call_id id,
                                 const struct pmsg_field *f, const void *at)
{
    struct items l;

    if (f->shape == PMSG_ONE && f->type == PMSG_TYPE_INFO)
        return check_infos(c, id, at, 1);
    if (f->shape != PMSG_LIST)
        return PMIX_SUCCESS;
    memcpy(&l, at, sizeof l);
    switch (f->type) {
    case PMSG_TYPE_INFO: return check_infos(c, id, l.items, l.n);
    case PMSG_TYPE_APP: return check_apps(c, id, l);
    case PMSG_TYPE_QUERY: return check_queries(c, id, l);
    default: return PMIX_SUCCESS;
    }
}

/* The call whose rows a command is checked against; NULL: it is not checked. */
static const struct pmix_call *call_of(const struct command *c)
{
    return c->s->base.peer->core->is_manager ? pmix_call_of(c->cmd) : NULL;
}

static pmix_status_t check_fields(const struct command *c, const struct pmix_call *call,
                                  const struct pmsg *row, const union pmsg_any *m)
{
    pmix_status_t status = PMIX_SUCCESS;

    for (unsigned i = 0; i < row->nfields && status == PMIX_SUCCESS; i++) {
        if (m->has >> i & 1)
            status = check_field(c, (enum pmix_call_id)(call - pmix_calls), &row->fields[i],
                                 (const char *)m + row->fields[i].offset);
    }
    return status;
}

bool pmix_check_read(const struct command *c, const void *m)
{
    const struct pmix_call *call = call_of(c);
    pmix_status_t status =
        call ? check_fields(c, call, pmsg_commands[c->cmd].request, m) : PMIX_SUCCESS;

    if (status != PMIX_SUCCESS)
        pmix_reply_status(c->s, c->tag, status);
    return status == PMIX_SUCCESS;
}

/* What only a scheduler may know goes to it.  Daemons leave it to the launcher to judge that. */
static bool is_for_scheduler(const struct command *c)
{
    const struct core *core = c->s->base.peer->core;

    return c->cmd == CMD_ALLOC && (core->scheduler.connection || core->position);
}

pmix_status_t pmix_check(const struct command *c)
{
    const struct pmix_call *call = call_of(c);
    const struct pmsg *row = pmsg_commands[c->cmd].request;
    struct punpack r = c->r;
    pmix_status_t status = PMIX_SUCCESS;
    union pmsg_any m;

    if (!call)
        return PMIX_SUCCESS;
    if (pmsg_read(row, &r, c->s->release, &m) == PTYPE_NO_MEMORY)
        status = PMIX_ERR_NOMEM;
    else
        status = check_fields(c, call, row, &m);
    pmsg_free(row, &m, NULL);
    return status == PMIX_ERR_NOT_SUPPORTED && is_for_scheduler(c) ? PMIX_SUCCESS : status;
}
