/* pmix_query_sets.c - see pmix_findings.h: process sets, and groups. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "server/pmix_group_list.h"
#include "server/pmix_value.h"

enum { TEXT_MAX = 1 << 24 };

/* ---- process sets ---------------------------------------------------------------------------- */

void pmix_find_set_count(struct pmix_findings *f, const char *key,
                         const struct query_subject *about)
{
    size_t n = 0;

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->sets)
    n++;
    info_array_add(&f->list, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = n });
}

void pmix_find_set_names(struct pmix_findings *f, const char *key,
                         const struct query_subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->sets)
    buf_printf(&names, "%s%s", buf_len(&names) ? "," : "", LIST_OF(l, struct pset, link)->name);
    pmix_found_text(f, key, &names);
}

void pmix_find_set_members(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    const struct pset *p =
        about->group ? psets_find(&f->s->base.peer->core->sets, about->group) : NULL;
    pmix_proc_t *members = p ? calloc(p->n + 1, sizeof *members) : NULL;

    if (!p) {
        f->missed++;
        return;
    }
    for (size_t i = 0; members && i < p->n; i++)
        pmix_set_proc(&members[i], p->members[i].nspace, p->members[i].rank);
    info_array_items(&f->list, key, PMIX_PROC, members, p->n);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Groups by name, each once: each of its members has told of it. */
struct groups {
    struct group {
        const char *id;
        const pmix_proc_t *procs;
        size_t nprocs;
    } * all;
    size_t n;
    bool no_memory;
};

static struct group *group_named(const struct groups *g, const char *id)
{
    for (size_t i = 0; i < g->n; i++) {
        if (!strcmp(g->all[i].id, id))
            return &g->all[i];
    }
    return NULL;
}

static void add_group(struct groups *g, struct group one)
{
    struct group *more;

    if (!one.id || group_named(g, one.id))
        return;
    more = realloc(g->all, (g->n + 1) * sizeof *more);
    if (!more) {
        g->no_memory = true;
        return;
    }
    g->all = more;
    g->all[g->n++] = one;
}

static void add_own_group(void *arg, const struct pmix_group *own)
{
    add_group(arg, (struct group){ own->id, own->procs, own->nprocs });
}

/* A process that may know its own job alone sees the groups with a member there. */
static bool sees(const struct pmix_findings *f, const pmix_data_array_t *members)
{
    for (size_t i = 0; i < members->size; i++) {
        if (pmix_sees_nspace(f->s, ((const pmix_proc_t *)members->array)[i].nspace))
            return true;
    }
    return false;
}

static struct groups groups_of(const struct pmix_findings *f)
{
    struct groups g = { .all = NULL };

    pmix_each_group(f->s, add_own_group, &g);
    for (const pmix_info_t *p = NULL; (p = pmix_next_part(f, NODE_PART_OF_GROUP, p));) {
        const pmix_value_t *v = info_inside(p, PMIX_QUERY_GROUP_MEMBERSHIP);
        const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
        if (a && a->type == PMIX_PROC && sees(f, a))
            add_group(&g, (struct group){ info_inside_text(p, PMIX_GROUP_ID), a->array, a->size });
    }
    return g;
}

void pmix_find_group_count(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    struct groups g = groups_of(f);

    (void)about;
    f->list.no_memory = f->list.no_memory || g.no_memory;
    info_array_add(&f->list, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = g.n });
    free(g.all);
}

void pmix_find_group_names(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    struct groups g = groups_of(f);
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    f->list.no_memory = f->list.no_memory || g.no_memory;
    for (size_t i = 0; i < g.n; i++)
        buf_printf(&names, "%s%s", i ? "," : "", g.all[i].id);
    pmix_found_text(f, key, &names);
    free(g.all);
}

void pmix_find_group_members(struct pmix_findings *f, const char *key,
                             const struct query_subject *about)
{
    struct groups g = groups_of(f);
    const struct group *one = about->group ? group_named(&g, about->group) : NULL;
    pmix_proc_t *members = one ? calloc(one->nprocs + 1, sizeof *members) : NULL;

    if (members)
        memcpy(members, one->procs, one->nprocs * sizeof *members);
    if (one)
        info_array_items(&f->list, key, PMIX_PROC, members, one->nprocs);
    else
        f->missed++;
    free(g.all);
}

static bool is_member(const struct group *g, const struct job *j, uint32_t rank)
{
    for (size_t i = 0; i < g->nprocs; i++) {
        if (!strcmp(g->procs[i].nspace, j->nspace) &&
            (g->procs[i].rank == rank || g->procs[i].rank == PMIX_RANK_WILDCARD))
            return true;
    }
    return false;
}

/* Of the process that is named, or of the requester. */
void pmix_find_groups_of_proc(struct pmix_findings *f, const char *key,
                              const struct query_subject *about)
{
    const struct peer *p = f->s->base.peer;
    bool own = about->rank == PMIX_RANK_WILDCARD && about->job == p->job;
    uint32_t rank = own ? p->rank : about->rank;
    struct groups g = groups_of(f);
    char **names = calloc(g.n + 1, sizeof *names);
    size_t n = 0;

    for (size_t i = 0; names && about->job && i < g.n; i++) {
        if (is_member(&g.all[i], about->job, rank) && (names[n] = strdup(g.all[i].id)))
            n++;
    }
    f->list.no_memory = f->list.no_memory || g.no_memory || !names;
    if (n)
        info_array_items(&f->list, key, PMIX_STRING, names, n);
    else {
        free(names);
        f->missed++;
    }
    free(g.all);
}
