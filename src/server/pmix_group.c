/* pmix_group.c - see pmix_group.h. */
#include "server/pmix_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/pmix_fence.h"
#include "server/pmix_value.h"

enum { LIMIT_GROUPS = 1024 };

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
static void note_members(struct command *c, struct pmix_pending *p, const struct participants *w)
{
    p->procs = calloc(count_members(c, w) + 1, sizeof *p->procs);
    if (!p->procs) {
        c->no_memory = true;
        return;
    }
    for (size_t i = 0; i < w->n; i++) {
        const struct job *j = pmix_job_of(c, slice_str(w->procs[i].nspace));
        bool all = w->procs[i].rank == PMIX_RANK_WILDCARD;
        for (uint32_t r = 0; j && all && r < j->plan.nprocs; r++)
            pmix_set_proc(&p->procs[p->nprocs++], j->nspace, r);
        if (j && !all)
            p->procs[p->nprocs++] = w->procs[i];
    }
}

static bool asks_for_context(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_GROUP_ASSIGN_CONTEXT_ID))
            return pmix_flag_of(&infos[i].value);
    }
    return false;
}

static void group_free(struct pmix_session *s, struct pmix_group *g)
{
    list_unlink(&g->link);
    s->ngroups--;
    free(g->procs);
    free(g->id);
    free(g);
}

void pmix_groups_free(struct pmix_session *s)
{
    LIST_EACH(l, &s->groups)
    group_free(s, LIST_OF(l, struct pmix_group, link));
}

/* The members belonged to the request until now; without memory the group cannot be destructed by
 * name. */
static void keep_group(struct pmix_session *s, struct pmix_pending *p)
{
    struct pmix_group *g = s->ngroups < LIMIT_GROUPS ? calloc(1, sizeof *g) : NULL;

    if (!g)
        return;
    *g = (struct pmix_group){ .procs = p->procs, .nprocs = p->nprocs, .id = p->key };
    list_append(&s->groups, &g->link);
    s->ngroups++;
    p->procs = NULL;
    p->key = NULL;
}

static struct pmix_group *find_group(struct pmix_session *s, struct slice id)
{
    LIST_EACH(l, &s->groups)
    {
        struct pmix_group *g = LIST_OF(l, struct pmix_group, link);
        if (slice_is(id, g->id))
            return g;
    }
    return NULL;
}

static struct pmix_pending *ask_group(struct command *c, struct slice id,
                                      const struct participants *w)
{
    char purpose[PMIX_MAX_KEYLEN + 16];

    snprintf(purpose, sizeof purpose, "%s " SLICE_FMT,
             c->cmd == CMD_GROUP_CONSTRUCT ? "group" : "ungroup",
             SLICE_ARG(slice_head(id, PMIX_MAX_KEYLEN)));
    if (count_members(c, w) <= c->s->base.peer->core->next_base)
        return pmix_ask_collective(c, w, purpose);
    pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM); /* some are named more than once */
    return NULL;
}

/* A group is a collective of its members under its name, which gets a number. */
void pmix_read_group(struct command *c)
{
    struct pmsg_group_construct m;
    struct pmix_pending *p = NULL;

    if (pmsg_read_group_construct(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct participants w = { .procs = m.procs.items,
                                  .n = m.procs.n,
                                  .timeout_ns = pmix_timeout_of(m.infos.items, m.infos.n) };
        p = ask_group(c, m.id, &w);
        if (p)
            note_members(c, p, &w);
    }
    if (p) {
        p->wants_context = asks_for_context(m.infos.items, m.infos.n);
        p->key = strndup(m.id.ptr ? m.id.ptr : "", m.id.len);
        c->no_memory = c->no_memory || !p->key;
    }
    pmsg_free_group_construct(&m, NULL);
}

/* The part after the name differs by release; the name is enough. */
void pmix_read_ungroup(struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_group_destruct m;
    struct pmix_group *g = NULL;

    pmsg_read_group_destruct(&r, c->s->release, &m);
    if (PMSG_HAS(&m, group_destruct, id))
        g = find_group(c->s, m.id);
    else
        c->r.error = r.error;
    if (g) {
        ask_group(c, m.id, &(struct participants){ .procs = g->procs, .n = g->nprocs });
        group_free(c->s, g);
    } else if (punpack_ok(&c->r)) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
    }
    pmsg_free_group_destruct(&m, NULL);
}

/* The number of the group; the table knows which form of the reply the client's release reads. */
static void set_context(struct pmsg_group *m, const struct pmix_pending *p, const struct answer *a)
{
    size_t number = (size_t)answer_to_collective(a).number;

    m->context_id.is = p->wants_context;
    m->context_id.value = number;
    m->context = p->wants_context ? number : SIZE_MAX;
}

void pmix_reply_group(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct pmsg_group m = { .has = PMSG_BIT(group, procs) | PMSG_BIT(group, context) |
                                   PMSG_BIT(group, context_id) | PMSG_BIT(group, infos),
                            .procs = { p->nprocs, p->procs } };
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    set_context(&m, p, a);
    w = pmix_writer(s);
    pmsg_write_group(&w, s->release, &m);
    keep_group(s, p);
    pmix_send_or_fail(s, p->tag, &w);
}
