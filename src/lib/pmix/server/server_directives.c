/* server_directives.c - see server_directives.h. */
#include "lib/pmix/server/server_directives.h"

#include <string.h>

#include "core/collective.h"
#include "core/contribution.h"
#include "core/core.h"
#include "lib/pmix/server/server_infos.h"
#include "server/pmix.h"
#include "server/pmix_session.h"

/* The user is proven elsewhere or not at all; the server makes the others itself. */
static bool is_left_out(const pmix_info_t *i)
{
    static const char *const keys[] = { PMIX_USERID, PMIX_GRPID, PMIX_COLLECT_DATA,
                                        PMIX_LOCAL_COLLECTIVE_STATUS, PMIX_SORTED_PROC_ARRAY };

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        if (info_key_is(i, keys[k]))
            return true;
    }
    return false;
}

/* Participants are to give the same, so each value is passed on once. */
static bool is_there(const struct ask *a, const pmix_info_t *i)
{
    for (size_t k = 0; k < a->ninfos; k++) {
        if (info_key_is(&a->infos[k], i->key) &&
            PMIx_Value_compare((pmix_value_t *)(uintptr_t)&a->infos[k].value,
                               (pmix_value_t *)(uintptr_t)&i->value) == PMIX_EQUAL)
            return true;
    }
    return false;
}

static bool add_copy(struct ask *a, const pmix_info_t *i)
{
    if (!ask_add_info(&a->infos, &a->ninfos, i->key, NULL, PMIX_BOOL))
        return false;
    PMIx_Info_destruct(&a->infos[a->ninfos - 1]);
    memset(&a->infos[a->ninfos - 1], 0, sizeof *a->infos);
    return PMIx_Info_xfer(&a->infos[a->ninfos - 1], i) == PMIX_SUCCESS;
}

static bool add_of(struct ask *a, const struct pmix_pending *p)
{
    for (size_t i = 0; p && i < p->ninfos; i++) {
        if (is_left_out(&p->infos[i]) || is_there(a, &p->infos[i]))
            continue;
        if (!add_copy(a, &p->infos[i]))
            return false;
    }
    return true;
}

static const struct collective *round_of(const struct pserver *s, const struct contribution *c)
{
    const struct core *core = &s->server.core;
    const struct job *j = coll_kind_is_meeting(c->id.kind) ? NULL : core_job(core, c->id.job);
    const struct collective_set *set = coll_kind_is_meeting(c->id.kind) ? &core->meetings
                                       : j                              ? &j->colls
                                                                        : NULL;

    return set ? collective_find(set, c->id.group, c->id.generation) : NULL;
}

static const struct pmix_pending *pending_of(const struct pserver *s, uint64_t ticket)
{
    uint32_t id = (uint32_t)(ticket >> 32);
    const struct peer *p = map_get(&s->server.by_id, slice_mem(&id, sizeof id));

    return p ? pmix_pending_of(p, (uint32_t)ticket) : NULL;
}

/* A member of this node that has ended takes no part: the group goes on without it. */
static bool add_participants(struct ask *a, const struct pserver *s, const struct collective *round,
                             pmix_status_t *status_p)
{
    for (uint32_t i = 0; round && i < round->group->count; i++) {
        if (!collective_is_here(round, i))
            continue;
        if (round->tickets[i] == COLLECTIVE_ABSENT)
            *status_p = PMIX_ERR_PROC_TERM_WO_SYNC;
        else if (!add_of(a, pending_of(s, round->tickets[i])))
            return false;
    }
    return true;
}

static bool is_group(enum coll_kind kind)
{
    return kind == COLL_GROUP || kind == COLL_GROUP_OPTIONAL || kind == COLL_UNGROUP;
}

static bool has(const struct ask *a, const char *key)
{
    return info_group_find((struct info_group){ a->infos, a->ninfos }, key) != NULL;
}

bool directives_add(struct ask *a, struct pserver *s, const struct contribution *c)
{
    pmix_status_t status = PMIX_SUCCESS;
    bool yes = true;

    if (!add_participants(a, s, round_of(s, c), &status))
        return false;
    if (is_group(c->id.kind) && a->all_here && !has(a, PMIX_GROUP_LOCAL_ONLY) &&
        !ask_add_info(&a->infos, &a->ninfos, PMIX_GROUP_LOCAL_ONLY, &yes, PMIX_BOOL))
        return false;
    return ask_add_info(&a->infos, &a->ninfos, PMIX_SORTED_PROC_ARRAY, &yes, PMIX_BOOL) &&
           ask_add_info(&a->infos, &a->ninfos, PMIX_LOCAL_COLLECTIVE_STATUS, &status, PMIX_STATUS);
}
