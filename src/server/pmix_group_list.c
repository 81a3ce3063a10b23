/* pmix_group_list.c - see pmix_group_list.h. */
#include "server/pmix_group_list.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/pmix_value.h"

enum { LIMIT_GROUPS = 1024 };

struct pmix_group *pmix_group_new(struct slice id)
{
    struct pmix_group *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    list_init(&g->link);
    g->id = strndup(id.ptr ? id.ptr : "", id.len);
    if (g->id)
        return g;
    free(g);
    return NULL;
}

void pmix_group_free(struct pmix_session *s, struct pmix_group *g)
{
    if (!g)
        return;
    if (g->kept)
        s->ngroups--;
    list_unlink(&g->link);
    free(g->procs);
    free(g->restarts);
    free(g->gone);
    free(g->id);
    free(g);
}

void pmix_groups_free(struct pmix_session *s)
{
    LIST_EACH(l, &s->groups)
    pmix_group_free(s, LIST_OF(l, struct pmix_group, link));
}

struct pmix_group *pmix_group_find(const struct pmix_session *s, struct slice id)
{
    LIST_EACH(l, &s->groups)
    {
        struct pmix_group *g = LIST_OF(l, struct pmix_group, link);
        if (slice_is(id, g->id))
            return g;
    }
    return NULL;
}

/* `unknown`: its job is over. */
static uint32_t restarts_of(const struct pmix_session *s, const pmix_proc_t *p, uint32_t unknown)
{
    const struct job *j = core_job_named(s->base.peer->core, slice_str(p->nspace));

    return j && p->rank < j->plan.nprocs ? j->procs[p->rank].restarts : unknown;
}

static void note_restarts(const struct pmix_session *s, struct pmix_group *g)
{
    free(g->restarts);
    g->restarts = calloc(g->nprocs + 1, sizeof *g->restarts);
    for (size_t i = 0; g->restarts && i < g->nprocs; i++)
        g->restarts[i] = restarts_of(s, &g->procs[i], 0);
}

void pmix_group_drop_restarted(const struct pmix_session *s, struct pmix_group *g)
{
    size_t kept = 0;

    for (size_t i = 0; g->restarts && i < g->nprocs; i++) {
        if (restarts_of(s, &g->procs[i], g->restarts[i]) != g->restarts[i])
            continue;
        g->procs[kept] = g->procs[i];
        g->restarts[kept++] = g->restarts[i];
    }
    g->nprocs = g->restarts ? kept : g->nprocs;
}

void pmix_groups_drop_restarted(struct session *base)
{
    const struct pmix_session *s = pmix_session_of(base);

    LIST_EACH(l, &s->groups)
    pmix_group_drop_restarted(s, LIST_OF(l, struct pmix_group, link));
}

void pmix_group_keep(struct pmix_session *s, struct pmix_group **g_p)
{
    pmix_group_free(s, pmix_group_find(s, slice_str((*g_p)->id)));
    if (s->ngroups >= LIMIT_GROUPS)
        return;
    note_restarts(s, *g_p);
    list_append(&s->groups, &(*g_p)->link);
    (*g_p)->kept = true;
    s->ngroups++;
    *g_p = NULL;
}

bool pmix_group_lists(const pmix_proc_t *procs, size_t n, const char *nspace, uint32_t rank)
{
    for (size_t i = 0; i < n; i++) {
        if (procs[i].rank == rank && !strcmp(procs[i].nspace, nspace))
            return true;
    }
    return false;
}

void pmix_group_note_gone(struct pmix_group *g, const char *nspace, uint32_t rank)
{
    pmix_proc_t *more = realloc(g->gone, (g->ngone + 1) * sizeof *more);

    if (!more) /* then the client may be told twice */
        return;
    g->gone = more;
    pmix_set_proc(&g->gone[g->ngone++], nspace, rank);
}

void pmix_each_group(const struct pmix_session *s, pmix_group_fn *fn, void *arg)
{
    LIST_EACH(l, &s->groups)
    fn(arg, LIST_OF(l, struct pmix_group, link));
}
