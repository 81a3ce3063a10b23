/* pmix_bootstrap.c - see pmix_bootstrap.h. */
#include "server/pmix_bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/group_bootstrap.h"
#include "core/group_record.h"
#include "server/info_array.h"
#include "server/pmix_group_list.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"

static const pmix_value_t *directive(const struct pmsg_group_construct *m, const char *key)
{
    return info_find(m->infos.items, m->infos.n, key);
}

/* The directives of those that name processes go to a host that is not `wireup`. */
bool pmix_is_bootstrap(const struct command *c, const struct pmsg_group_construct *m)
{
    if (m->procs.n && !c->s->base.peer->core->is_manager)
        return false;
    return m->procs.n == 0 || directive(m, PMIX_GROUP_BOOTSTRAP) ||
           directive(m, PMIX_GROUP_ADD_MEMBERS);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* False: one is unknown. */
static bool put_procs(const struct command *c, const pmix_proc_t *procs, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct job *j = pmix_job_of(c, slice_str(procs[i].nspace));
        bool all = procs[i].rank == PMIX_RANK_WILDCARD;
        if (!j || (!all && procs[i].rank >= j->plan.nprocs))
            return false;
        group_bootstrap_put(out, j, all ? REQUEST_ALL_RANKS : procs[i].rank);
    }
    return true;
}

static pmix_status_t put_list(const struct command *c, const struct pmsg_group_construct *m,
                              const char *key, struct buf *out)
{
    const pmix_value_t *v = directive(m, key);
    const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    if (!v)
        return PMIX_SUCCESS;
    if (!a || a->type != PMIX_PROC || (!a->array && a->size))
        return PMIX_ERR_BAD_PARAM;
    return put_procs(c, a->array, a->size, out) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

static bool names_itself(const struct command *c, const struct pmsg_group_construct *m)
{
    const struct peer *p = c->s->base.peer;

    return pmix_group_lists(m->procs.items, m->procs.n, p->job->nspace, p->rank) ||
           pmix_group_lists(m->procs.items, m->procs.n, p->job->nspace, PMIX_RANK_WILDCARD);
}

/* ---- the request ----------------------------------------------------------------------------- */

static pmix_status_t check(const struct command *c, const struct pmsg_group_construct *m,
                           uint64_t leaders)
{
    const pmix_value_t *local = directive(m, PMIX_GROUP_LOCAL_ONLY);
    bool leads = m->procs.n > 0;

    if (!leads && (directive(m, PMIX_GROUP_BOOTSTRAP) || directive(m, PMIX_GROUP_ADD_MEMBERS)))
        return PMIX_ERR_BAD_PARAM;
    if (leads && (!leaders || !names_itself(c, m) ||
                  (leaders == GROUP_LEADERS_NAMED && directive(m, PMIX_GROUP_BOOTSTRAP))))
        return PMIX_ERR_BAD_PARAM;
    if (local && pmix_flag_of(local))
        return PMIX_ERR_NOT_SUPPORTED; /* nobody knows yet where they are */
    return PMIX_SUCCESS;
}

struct pmix_pending *pmix_ask_bootstrap(struct command *c, const struct pmsg_group_construct *m,
                                        struct slice data, bool tolerant, pmix_status_t *status_p)
{
    const pmix_value_t *n = directive(m, PMIX_GROUP_BOOTSTRAP);
    struct buf added = BUF_NULL(LIMIT_STORE_VALUE), order = BUF_NULL(LIMIT_STORE_VALUE);
    uint64_t leaders = n ? pmix_number_of(n) : m->procs.n ? GROUP_LEADERS_NAMED : 0;
    struct pmix_pending *p = NULL;

    *status_p = check(c, m, leaders);
    if (*status_p == PMIX_SUCCESS && !put_procs(c, m->procs.items, m->procs.n, &added))
        *status_p = PMIX_ERR_NOT_FOUND;
    if (*status_p == PMIX_SUCCESS)
        *status_p = put_list(c, m, PMIX_GROUP_ADD_MEMBERS, &added);
    if (*status_p == PMIX_SUCCESS)
        *status_p = put_list(c, m, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, &order);
    if (*status_p == PMIX_SUCCESS && buf_ok(&added) && buf_ok(&order))
        p = pmix_ask(c,
                     REQUEST_WITH(group_bootstrap, .group = pmix_keep(c, m->id), .leaders = leaders,
                                  .tolerant = tolerant, .added = pmix_keep(c, buf_slice(&added)),
                                  .order = pmix_keep(c, buf_slice(&order)), .data = data,
                                  .timeout_ns = pmix_timeout_of(m->infos.items, m->infos.n)));
    else if (*status_p == PMIX_SUCCESS)
        c->no_memory = true;
    buf_free(&added);
    buf_free(&order);
    return p;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static size_t count(struct slice records)
{
    struct group_record r;
    size_t n = 0;

    while (group_record_next(&records, &r))
        n += r.kind == GROUP_MEMBER;
    return n;
}

static bool name_members(const struct pmix_session *s, struct pmix_group *g, struct slice records)
{
    struct group_record r;

    g->nprocs = 0;
    g->procs = calloc(count(records) + 1, sizeof *g->procs);
    while (g->procs && group_record_next(&records, &r)) {
        const char *job = r.kind == GROUP_MEMBER ? core_job_name(s->base.peer->core, r.job) : NULL;
        if (job)
            pmix_set_proc(&g->procs[g->nprocs++], job, r.rank);
    }
    return g->procs != NULL;
}

bool pmix_take_bootstrap(struct pmix_session *s, struct pmix_group *g, const struct answer *a)
{
    struct answer_group_bootstrap got = answer_to_group_bootstrap(a);
    struct group_store *store = &s->base.peer->core->group_data;
    uint64_t number = (uint64_t)got.number;

    if (group_store_keep(store, number, s->base.peer->job->id, slice_str(g->id), got.records) < 0)
        return false;
    g->number = number;
    return name_members(s, g, got.records);
}
