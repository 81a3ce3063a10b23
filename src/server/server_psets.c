/* server_psets.c - process sets that processes define, on all nodes alike.
 *
 * What travels are the infos of the event that tells of the set: each node takes the set from them.
 * Sets of jobs that begin are in their plans.  When a job ends, and when a node joins, the launcher
 * tells all what the sets are now, in the order of its broadcasts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/server_priv.h"
#include "wire/pmix_message.h"

static const pmix_info_t *info_named(const struct pmsg_infos *m, const char *key, uint16_t type)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        if (!strcmp(m->infos.items[i].key, key) && m->infos.items[i].value.type == type)
            return &m->infos.items[i];
    }
    return NULL;
}

static enum answer_status keep_set(struct server *s, const char *name, const pmix_data_array_t *a)
{
    const pmix_proc_t *procs = a->array;
    struct pset_member *members = calloc(a->size + 1, sizeof *members);
    int rc;

    if (!members)
        return ANSWER_NO_MEMORY;
    for (size_t i = 0; i < a->size; i++) {
        memcpy(members[i].nspace, procs[i].nspace, sizeof members[i].nspace);
        members[i].rank = procs[i].rank;
    }
    rc = psets_define(&s->core.sets, name, members, a->size);
    free(members);
    return rc < 0 ? ANSWER_NO_MEMORY : ANSWER_OK;
}

static uint32_t count_sets(const struct server *s)
{
    uint32_t n = 0;

    LIST_EACH(l, &s->core.sets)
    n++;
    return n;
}

static enum answer_status define(struct server *s, const struct pmsg_infos *m, bool may_delete)
{
    const pmix_info_t *name = info_named(m, PMIX_PSET_NAME, PMIX_STRING);
    const pmix_info_t *members = info_named(m, PMIX_PSET_MEMBERS, PMIX_DATA_ARRAY);
    const pmix_data_array_t *a = members ? members->value.data.darray : NULL;

    if (may_delete && name && name->value.data.string && !members) {
        psets_delete(&s->core.sets, name->value.data.string);
        return ANSWER_OK;
    }
    if (!name || !name->value.data.string || !a || a->type != PMIX_PROC || !a->size)
        return ANSWER_BAD_VALUE;
    /* They are listed with commas between them. */
    if (!*name->value.data.string || strchr(name->value.data.string, ',') ||
        strlen(name->value.data.string) > PMIX_MAX_KEYLEN)
        return ANSWER_BAD_VALUE;
    if (!psets_find(&s->core.sets, name->value.data.string) && count_sets(s) >= LIMIT_PSETS)
        return ANSWER_OVER_QUOTA;
    return keep_set(s, name->value.data.string, a);
}

/* Of this node's processes those that have registered for it are told, its author too. */
static enum answer_status take(struct server *s, const struct op_pset_define *o, uint64_t now_ns)
{
    struct punpack r;
    struct pmsg_infos m;
    enum answer_status status = ANSWER_BAD_VALUE;

    punpack_init(&r, o->infos, &ptype_own);
    if (pmsg_read_infos(&r, 0, &m) == PTYPE_FINE)
        status = define(s, &m, o->quiet);
    pmsg_free_infos(&m, NULL);
    if (status == ANSWER_OK && !o->quiet)
        server_on_event(s,
                        &(struct op_event){ .job = o->job,
                                            .nspace = o->nspace,
                                            .rank = o->rank,
                                            .code = PMIX_PROCESS_SET_DEFINE,
                                            .range = PMIX_RANGE_SESSION,
                                            .flags = EVENT_BY_CODE | EVENT_ABOUT,
                                            .infos = o->infos },
                        now_ns);
    return status;
}

bool server_on_pset_define(struct server *s, const struct op_pset_define *o, uint64_t now_ns)
{
    return take(s, o, now_ns) == ANSWER_OK;
}

/* ---- what the launcher tells ----------------------------------------------------------------- */

void server_psets_job_ends(struct server *s, const struct job *j)
{
    if (j->follows || j->is_foreign || j->is_tool || j->facts.count)
        return;
    LIST_EACH(l, &s->core.sets)
    {
        struct pset *set = LIST_OF(l, struct pset, link);
        if (!pset_leave(set, j->nspace))
            continue;
        server_notify_set(s, j, set);
        if (s->core.has_others)
            server_pset_publish(s, set);
        if (!set->n)
            psets_delete(&s->core.sets, set->name);
    }
}

/* ---- what processes ask for ------------------------------------------------------------------ */

enum answer_status server_pset_request(struct server *s, struct peer *p,
                                       const struct request_define_pset *rq, uint64_t now_ns)
{
    enum answer_status status = control_members(&s->core, p->job, rq->members, rq->count);
    struct proc *proc = &p->job->procs[p->rank];
    size_t bytes = (rq->count + (size_t)1) * sizeof(struct pset_member);
    struct effect e = EFFECT_WITH(pset_define, .job = p->job->id, .rank = p->rank,
                                  .nspace = slice_str(p->job->nspace), .infos = rq->infos);

    if (status == ANSWER_OK && !proc_can_keep(proc, bytes))
        status = ANSWER_OVER_QUOTA;
    if (status == ANSWER_OK)
        status = take(s, &e.u.pset_define, now_ns);
    if (status != ANSWER_OK)
        return status;
    proc_keeps(proc, bytes);
    if (s->core.has_others && (!effect_own(&e) || !effects_push(&s->core.effects, e)))
        return ANSWER_NO_MEMORY;
    return ANSWER_OK;
}
