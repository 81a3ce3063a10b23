/* pmix_group.c - see pmix_group.h. */
#include "server/pmix_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/group_record.h"
#include "server/info_array.h"
#include "server/pmix_bootstrap.h"
#include "server/pmix_event.h"
#include "server/pmix_fence.h"
#include "server/pmix_group_data.h"
#include "server/pmix_invite.h"
#include "server/pmix_value.h"

static size_t count_members(const struct command *c, const struct participants *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct job *j = pmix_job_of(c, slice_str(w->procs[i].nspace));
        bool all = w->procs[i].rank == PMIX_RANK_WILDCARD;
        if (j)
            n += all ? j->plan.nprocs : 1;
    }
    return n;
}

/* The members one by one. */
static bool name_members(const struct command *c, struct pmix_group *g,
                         const struct participants *w)
{
    g->procs = calloc(count_members(c, w) + 1, sizeof *g->procs);
    for (size_t i = 0; g->procs && i < w->n; i++) {
        const struct job *j = pmix_job_of(c, slice_str(w->procs[i].nspace));
        bool all = w->procs[i].rank == PMIX_RANK_WILDCARD;
        for (uint32_t r = 0; j && all && r < j->plan.nprocs; r++)
            pmix_set_proc(&g->procs[g->nprocs++], j->nspace, r);
        if (j && !all)
            g->procs[g->nprocs++] = w->procs[i];
    }
    return g->procs != NULL;
}

/* ---- directives ------------------------------------------------------------------------------ */

struct group_directives {
    bool optional, local_only;
    unsigned flags; /* GROUP_... */
};

static void read_directive(struct group_directives *d, const pmix_info_t *info)
{
    static const struct {
        const char *key;
        unsigned flag;
        bool optional, local_only;
    } words[] = {
        { PMIX_GROUP_ASSIGN_CONTEXT_ID, GROUP_WITH_CONTEXT, false, false },
        { PMIX_GROUP_OPTIONAL, GROUP_TOLERANT, true, false },
        { PMIX_GROUP_FT_COLLECTIVE, GROUP_TOLERANT, true, false },
        { PMIX_GROUP_NOTIFY_TERMINATION, GROUP_NOTIFIES | GROUP_TOLERANT, false, false },
        { PMIX_GROUP_LOCAL_ONLY, 0, false, true },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(info->key, words[i].key) != 0 || !pmix_flag_of(&info->value))
            continue;
        d->flags |= words[i].flag;
        d->optional = d->optional || words[i].optional;
        d->local_only = d->local_only || words[i].local_only;
    }
}

static struct group_directives directives_of(const pmix_info_t *infos, size_t n)
{
    struct group_directives d = { .flags = 0 };

    for (size_t i = 0; i < n; i++)
        read_directive(&d, &infos[i]);
    return d;
}

static pmix_replier reply_bootstrap;

static bool all_on_this_node(const struct command *c, const struct participants *w)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct job *j = pmix_job_of(c, slice_str(w->procs[i].nspace));
        uint32_t rank = w->procs[i].rank;
        bool here = j && (!j->spread || (rank < j->plan.nprocs && job_rank_is_here(j, rank)));
        if (!here)
            return false;
    }
    return true;
}

static pmix_status_t check(const struct command *c, const struct group_directives *d,
                           const struct participants *w)
{
    if (count_members(c, w) > c->s->base.peer->core->next_base) /* some are named more than once */
        return PMIX_ERR_BAD_PARAM;
    return d->local_only && !all_on_this_node(c, w) ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

/* ---- construct ------------------------------------------------------------------------------- */

static struct pmix_pending *ask(struct command *c, const char *kind, struct slice id,
                                const struct participants *w)
{
    char purpose[PMIX_MAX_KEYLEN + 16];

    snprintf(purpose, sizeof purpose, "%s " SLICE_FMT, kind,
             SLICE_ARG(slice_head(id, PMIX_MAX_KEYLEN)));
    return pmix_ask_collective(c, w, purpose);
}

void pmix_subscribe_ends(struct command *c)
{
    c->cmd = CMD_NONE;
    c->reply = NULL;
    pmix_ask(c, REQUEST_WITH(recall, .count = 0, .ends = true));
}

static void construct(struct command *c, struct pmsg_group_construct *m,
                      const struct participants *w, const struct group_directives *d)
{
    struct pmix_pending *p = ask(c, d->optional ? "optgroup" : "group", m->id, w);

    if (!p)
        return;
    p->group = pmix_group_new(m->id);
    if (p->group)
        p->group->flags = d->flags;
    if (!p->group || !name_members(c, p->group, w))
        c->no_memory = true;
    pmix_keep_infos(c, p, &m->infos.items, &m->infos.n);
    if (d->flags & GROUP_NOTIFIES)
        pmix_subscribe_ends(c);
}

static void keep_group(struct command *c, struct pmix_pending *p, struct slice id, unsigned flags)
{
    if (!p)
        return;
    p->group = pmix_group_new(id);
    if (p->group)
        p->group->flags = flags;
    else
        c->no_memory = true;
    if (flags & GROUP_NOTIFIES)
        pmix_subscribe_ends(c);
}

/* Members that do not know each other. */
static void bootstrap(struct command *c, const struct pmsg_group_construct *m,
                      const struct group_directives *d)
{
    struct slice data = pmix_group_shared(c, m->infos.items, m->infos.n);
    struct pmix_pending *p;
    pmix_status_t rc;

    c->reply = reply_bootstrap;
    p = pmix_ask_bootstrap(c, m, data, d->optional, &rc);
    if (rc == PMIX_SUCCESS)
        keep_group(c, p, m->id, d->flags);
    else
        pmix_reply_status(c->s, c->tag, rc);
}

static void construct_known(struct command *c, struct pmsg_group_construct *m,
                            const struct group_directives *d)
{
    struct participants w = { .procs = m->procs.items,
                              .n = m->procs.n,
                              .timeout_ns = pmix_timeout_of(m->infos.items, m->infos.n),
                              .data = pmix_group_shared(c, m->infos.items, m->infos.n) };
    pmix_status_t rc = check(c, d, &w);

    if (rc == PMIX_SUCCESS)
        construct(c, m, &w, d);
    else
        pmix_reply_status(c->s, c->tag, rc);
}

/* A group is a collective of its members under its name, which gets a number. */
void pmix_read_group(struct command *c)
{
    struct pmsg_group_construct m;

    if (pmsg_read_group_construct(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct group_directives d = directives_of(m.infos.items, m.infos.n);
        if (pmix_is_bootstrap(c, &m))
            bootstrap(c, &m, &d);
        else
            construct_known(c, &m, &d);
    }
    pmsg_free_group_construct(&m, NULL);
}

static void leave_out(const struct pmix_session *s, struct pmix_group *g, struct slice records)
{
    const struct core *core = s->base.peer->core;
    size_t kept = 0;

    for (size_t i = 0; i < g->nprocs; i++) {
        uint32_t job;
        bool known = core_job_number(core, slice_str(g->procs[i].nspace), &job);
        if (!known || !group_record_is_absent(records, job, g->procs[i].rank))
            g->procs[kept++] = g->procs[i];
    }
    g->nprocs = kept;
}

void pmix_group_report(struct pmix_session *s, pmix_status_t code, const struct pmix_group *g,
                       const char *nspace, uint32_t rank)
{
    pmix_data_array_t members = { .type = PMIX_PROC, .size = g->nprocs, .array = g->procs };
    pmix_proc_t who;
    pmix_info_t infos[3];
    size_t n = g->nprocs ? 3 : 2;
    struct buf bytes = BUF_NULL(1 << 12);
    struct ppack w;

    memset(infos, 0, sizeof infos);
    pmix_set_proc(&who, nspace, rank);
    strncpy(infos[0].key, PMIX_EVENT_AFFECTED_PROC, PMIX_MAX_KEYLEN);
    infos[0].value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = &who };
    strncpy(infos[1].key, PMIX_GROUP_ID, PMIX_MAX_KEYLEN);
    infos[1].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = g->id };
    strncpy(infos[2].key, PMIX_GROUP_MEMBERSHIP, PMIX_MAX_KEYLEN);
    infos[2].value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &members };
    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { n, infos } });
    if (ppack_ok(&w))
        pmix_notify(&s->base, &(struct notice){ .code = code,
                                                .range = PMIX_RANGE_LOCAL,
                                                .flags = EVENT_BY_CODE,
                                                .nspace = nspace,
                                                .rank = rank,
                                                .infos = buf_slice(&bytes) });
    buf_free(&bytes);
}

static void note_member_end(struct pmix_session *s, struct pmix_group *g, const char *nspace,
                            uint32_t rank)
{
    bool led = g->has_leader && pmix_group_lists(&g->leader, 1, nspace, rank);

    if (!(g->flags & GROUP_NOTIFIES) || !pmix_group_lists(g->procs, g->nprocs, nspace, rank) ||
        pmix_group_lists(g->gone, g->ngone, nspace, rank))
        return;
    pmix_group_note_gone(g, nspace, rank);
    pmix_group_report(s, led ? PMIX_GROUP_LEADER_FAILED : PMIX_GROUP_MEMBER_FAILED, g, nspace,
                      rank);
}

/* Members may have joined and ended before the others had. */
static void note_early_ends(struct pmix_session *s, struct pmix_group *g)
{
    const struct core *core = s->base.peer->core;

    for (size_t i = 0; i < g->nprocs; i++) {
        const struct job *j = core_job_named(core, slice_str(g->procs[i].nspace));
        uint32_t rank = g->procs[i].rank;
        if (j && rank < j->plan.nprocs &&
            (j->procs[rank].unreachable || j->procs[rank].state == PROC_STATE_GONE))
            note_member_end(s, g, j->nspace, rank);
    }
}

static struct pmix_group *described(const char *id, const pmix_proc_t *procs, size_t n,
                                    const pmix_proc_t *leader, const pmix_info_t *infos,
                                    size_t ninfos)
{
    const pmix_value_t *context = info_find(infos, ninfos, PMIX_GROUP_CONTEXT_ID);
    struct pmix_group *g = pmix_group_new(slice_str(id));

    if (!g)
        return NULL;
    g->procs = calloc(n + 1, sizeof *procs);
    if (g->procs) {
        memcpy(g->procs, procs, n * sizeof *procs);
        g->nprocs = n;
    }
    g->has_leader = true;
    g->leader = *leader;
    g->flags = directives_of(infos, ninfos).flags & ~(unsigned)GROUP_WITH_CONTEXT;
    if (context) {
        g->number = pmix_number_of(context);
        g->flags |= GROUP_WITH_CONTEXT;
    }
    return g;
}

void pmix_group_adopt(struct pmix_session *s, const char *id, const pmix_proc_t *procs, size_t n,
                      const pmix_proc_t *leader, const pmix_info_t *infos, size_t ninfos)
{
    struct pmix_group *g = n ? described(id, procs, n, leader, infos, ninfos) : NULL;
    struct pmix_group *kept = g;

    if (!g)
        return;
    pmix_group_keep(s, &g);
    if (g) /* one too many */
        pmix_group_free(s, g);
    else if (kept->flags & GROUP_NOTIFIES)
        note_early_ends(s, kept);
}

static pmix_status_t group_status(enum answer_status status)
{
    return status == ANSWER_FAILED ? PMIX_GROUP_CONSTRUCT_ABORT : pmix_status_of(status);
}

/* The table knows which form of the reply the client's release reads. */
static void write_group(struct pmix_session *s, const struct pmix_group *g, uint32_t tag,
                        pmix_info_t *infos, size_t ninfos)
{
    struct pmsg_group m = { .has = PMSG_BIT(group, procs) | PMSG_BIT(group, context) |
                                   PMSG_BIT(group, context_id) | PMSG_BIT(group, infos),
                            .procs = { g->nprocs, g->procs },
                            .infos = { ninfos, infos } };
    struct ppack w = pmix_writer(s);

    m.context_id.is = g->flags & GROUP_WITH_CONTEXT;
    m.context_id.value = (size_t)g->number;
    m.context = m.context_id.is ? (size_t)g->number : SIZE_MAX;
    pmsg_write_group(&w, s->release, &m);
    pmix_send_or_fail(s, tag, &w);
}

static void give_group(struct pmix_session *s, struct pmix_pending *p, struct slice records)
{
    struct pmix_group *g;
    pmix_info_t *infos;
    size_t n;

    p->group->has_leader = pmix_group_leader(s, records, &p->group->leader);
    if (pmix_group_infos(s, records, &infos, &n)) {
        write_group(s, p->group, p->tag, infos, n);
        g = p->group;
        pmix_group_keep(s, &p->group);
        if (!p->group && g->flags & GROUP_NOTIFIES)
            note_early_ends(s, g);
    } else {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
    }
    pmix_drop_infos(infos, n);
}

void pmix_reply_group(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct slice records;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, group_status(a->status));
        return;
    }
    p->group->number = (uint64_t)answer_to_collective(a).number;
    records = group_store_find(&s->base.peer->core->group_data, p->group->number);
    leave_out(s, p->group, records);
    if (!pmix_group_reorder(s, records, p->group->procs, p->group->nprocs)) {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
        return;
    }
    give_group(s, p, records);
}

static void reply_bootstrap(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    if (a->status != ANSWER_OK)
        pmix_reply_status(s, p->tag, group_status(a->status));
    else if (pmix_take_bootstrap(s, p->group, a))
        give_group(s, p, answer_to_group_bootstrap(a).records);
    else
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
}

/* ---- destruct -------------------------------------------------------------------------------- */

/* The members are those that this server knows of the group, or (it was formed by invitation) those
 * that the client names. */
static bool members_of(const struct command *c, struct slice id, pmix_proc_t *procs, size_t n,
                       struct participants *w)
{
    struct pmix_group *g = pmix_group_find(c->s, id);

    if (g)
        pmix_group_drop_restarted(c->s, g);
    w->procs = g ? g->procs : procs;
    w->n = g ? g->nprocs : n;
    return w->n > 0;
}

static void destruct(struct command *c, struct pmsg_group_destruct *m, const struct participants *w,
                     const struct group_directives *d)
{
    const struct pmix_group *known = pmix_group_find(c->s, m->id);
    struct pmix_pending *p = ask(c, "ungroup", m->id, w);

    if (!p)
        return;
    p->group = pmix_group_new(m->id);
    if (p->group)
        p->group->flags = d->flags | (known ? known->flags : 0);
    else
        c->no_memory = true;
    pmix_keep_infos(c, p, &m->infos.items, &m->infos.n);
}

/* What follows the name differs by release, and a client whose construct failed before may write it
 * wrongly (5.0.7): the name is enough. */
void pmix_read_ungroup(struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_group_destruct m;

    pmsg_read_group_destruct(&r, c->s->release, &m);
    if (PMSG_HAS(&m, group_destruct, id)) {
        struct group_directives d = directives_of(m.infos.items, m.infos.n);
        struct participants w = { .timeout_ns = pmix_timeout_of(m.infos.items, m.infos.n) };
        bool known = members_of(c, m.id, m.procs.items, m.procs.n, &w);
        pmix_status_t rc = known ? check(c, &d, &w) : PMIX_ERR_NOT_FOUND;
        if (rc == PMIX_SUCCESS)
            destruct(c, &m, &w, &d);
        else
            pmix_reply_status(c->s, c->tag, rc);
    } else {
        c->r.error = r.error;
    }
    pmsg_free_group_destruct(&m, NULL);
}

/* Whether a member was left out because it had ended. */
static bool misses_members(struct slice records)
{
    struct group_record r;

    while (group_record_next(&records, &r)) {
        if (r.kind == GROUP_ABSENT)
            return true;
    }
    return false;
}

/* After a time-out the group is still there.  A member that has ended is an error, unless the group
 * was made to bear it; the group is gone all the same. */
void pmix_reply_ungroup(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    pmix_status_t rc = pmix_status_of(a->status);
    uint64_t number = (uint64_t)answer_to_collective(a).number;

    if (a->status == ANSWER_OK) {
        struct slice records = group_store_find(&s->base.peer->core->group_data, number);
        if (!(p->group->flags & GROUP_TOLERANT) && misses_members(records))
            rc = PMIX_ERR_PROC_TERM_WO_SYNC;
        pmix_group_free(s, pmix_group_find(s, slice_str(p->group->id)));
    }
    pmix_reply_status(s, p->tag, rc);
}

/* ---- members that leave or end --------------------------------------------------------------- */

void pmix_group_left(struct command *c, const pmix_info_t *infos, size_t n)
{
    const pmix_value_t *range = info_find(infos, n, PMIX_EVENT_CUSTOM_RANGE);
    const pmix_data_array_t *a =
        range && range->type == PMIX_DATA_ARRAY ? range->data.darray : NULL;
    bool lists = a && a->type == PMIX_PROC;
    const char *id = info_find_text(infos, n, PMIX_GROUP_ID);
    struct participants w = { .n = 0 };

    if (!id || !members_of(c, slice_str(id), lists ? a->array : NULL, lists ? a->size : 0, &w) ||
        count_members(c, &w) > c->s->base.peer->core->next_base)
        return;
    c->cmd = CMD_NONE; /* the program does not wait for it */
    c->reply = NULL;
    ask(c, "ungroup", slice_str(id), &w);
    pmix_group_free(c->s, pmix_group_find(c->s, slice_str(id)));
}

static void note_left(struct pmix_session *s, const struct notice *n)
{
    struct pmsg_infos m = { .has = 0 };
    struct pmix_group *g = NULL;
    struct punpack r;
    const char *id;

    punpack_init(&r, n->infos, &ptype_own);
    if (n->infos.len && pmsg_read_infos(&r, 0, &m) == PTYPE_FINE) {
        id = info_find_text(m.infos.items, m.infos.n, PMIX_GROUP_ID);
        g = id ? pmix_group_find(s, slice_str(id)) : NULL;
    }
    if (g && pmix_group_lists(g->procs, g->nprocs, n->nspace, n->rank))
        pmix_group_note_gone(g, n->nspace, n->rank);
    pmsg_free_infos(&m, NULL);
}

static void note_end(struct pmix_session *s, const char *nspace, uint32_t rank)
{
    LIST_EACH(l, &s->groups)
    note_member_end(s, LIST_OF(l, struct pmix_group, link), nspace, rank);
}

/* Events that come in the way of ends: of jobs that begin, and of nodes, whose processes' own ends
 * follow. */
static bool is_of_no_process(int code)
{
    return code == PMIX_EVENT_JOB_START || code == PMIX_LAUNCH_COMPLETE ||
           code == PMIX_EVENT_NODE_DOWN || code == PMIX_EVENT_NODE_OFFLINE;
}

void pmix_groups_follow(struct session *base, const struct notice *n, bool is_end)
{
    struct pmix_session *s = pmix_session_of(base);

    bool ended = is_end && !is_of_no_process(n->code);

    if (s->ngroups && ended)
        note_end(s, n->nspace, n->rank);
    else if (s->ngroups && n->code == PMIX_GROUP_LEFT)
        note_left(s, n);
    if (s->ninvitations && ended)
        pmix_invite_ended(s, n->nspace, n->rank);
    else if (!is_end)
        pmix_invite_passed(s, n);
}
