/* pmix_fence.c - see pmix_fence.h. */
#include "server/pmix_fence.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/request.h"
#include "server/pmix_check.h"
#include "server/pmix_get.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"

/* ---- fences ---------------------------------------------------------------------------------- */

/* By an attribute of its own, or as with any other: by the flag. */
static bool requires_way(const pmix_info_t *info)
{
    return (!strcmp(info->key, PMIX_COLLECTIVE_ALGO_REQD) && pmix_flag_of(&info->value)) ||
           (!strcmp(info->key, PMIX_COLLECTIVE_ALGO) && info->flags & PMIX_INFO_REQD);
}

static struct participants participants_of(struct command *c, const struct pmsg_procs_infos *m)
{
    struct participants w = { .procs = m->procs.items,
                              .n = m->procs.n,
                              .timeout_ns = pmix_timeout_of(m->infos.items, m->infos.n) };

    for (size_t i = 0; i < m->infos.n; i++) {
        const pmix_info_t *info = &m->infos.items[i];
        const pmix_value_t *v = &info->value;
        w.collect = w.collect || (!strcmp(info->key, PMIX_COLLECT_DATA) && pmix_flag_of(v));
        w.ways_required = w.ways_required || requires_way(info);
        if (!strcmp(info->key, PMIX_COLLECTIVE_ALGO) && v->type == PMIX_STRING && v->data.string)
            w.ways = pmix_keep(c, slice_str(v->data.string));
    }
    return w;
}

static bool all_here(const struct command *c, const struct participants *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->procs[i].nspace, c->s->base.peer->job->nspace) != 0)
            return false;
    }
    return true;
}

static bool is_everybody(const struct command *c, const struct participants *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->procs[i].rank == PMIX_RANK_WILDCARD && all_here(c, w))
            return true;
    }
    return w->n == 0;
}

static int by_rank(const void *a, const void *b)
{
    const pmix_proc_t *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* "0,3,4:pmix": ranks of the own job. */
static struct pmix_pending *fence_here(struct command *c, struct participants *w)
{
    struct buf name = BUF_NULL(LIMIT_PMI_LINE);
    struct pmix_pending *p = NULL;

    qsort(w->procs, w->n, sizeof *w->procs, by_rank);
    for (size_t i = 0; i < w->n; i++) {
        if (i)
            buf_byte(&name, ',');
        buf_u64(&name, w->procs[i].rank);
    }
    buf_str(&name, ":pmix");
    if (buf_ok(&name))
        p = pmix_ask(c, REQUEST_WITH(fence, .group = pmix_keep(c, buf_slice(&name)),
                                     .collect = w->collect, .ways = w->ways,
                                     .timeout_ns = w->timeout_ns));
    else
        c->no_memory = true;
    buf_free(&name);
    return p;
}

struct pmix_pending *pmix_ask_collective(struct command *c, const struct participants *w,
                                         const char *purpose)
{
    return pmix_ask(c, REQUEST_WITH(collective, .purpose = pmix_keep(c, slice_str(purpose)),
                                    .members = pmix_keep_members(c, w->procs, w->n),
                                    .count = (uint32_t)w->n, .timeout_ns = w->timeout_ns,
                                    .data = w->data));
}

/* A required exchange method is not replaced by another. */
static bool has_no_way(const struct command *c, const struct participants *w)
{
    const struct core *core = c->s->base.peer->core;

    return w->ways_required && w->ways.len && core->knows_way && !core->knows_way(w->ways);
}

static struct pmix_pending *ask_fence(struct command *c, struct participants *w)
{
    if (is_everybody(c, w))
        return pmix_ask(c, REQUEST_WITH(fence, .collect = w->collect, .ways = w->ways,
                                        .timeout_ns = w->timeout_ns));
    return all_here(c, w) ? fence_here(c, w) : pmix_ask_collective(c, w, "fence");
}

void pmix_read_fence(struct command *c)
{
    struct pmsg_procs_infos m;

    pmix_forget_given(c->s);
    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE && pmix_check_read(c, &m)) {
        struct participants w = participants_of(c, &m);
        if (has_no_way(c, &w))
            pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        else
            pmix_keep_infos(c, ask_fence(c, &w), &m.infos.items, &m.infos.n);
    }
    pmsg_free_procs_infos(&m, NULL);
}

/* ---- connected processes --------------------------------------------------------------------- */

static bool names_it(char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(names[i], name))
            return true;
    }
    return false;
}

static void note_others(struct command *c, struct pmix_pending *p, const struct participants *w)
{
    const char *own = c->s->base.peer->job->nspace;

    p->others = calloc(w->n ? w->n : 1, sizeof *p->others);
    for (size_t i = 0; p->others && i < w->n; i++) {
        const char *name = w->procs[i].nspace;
        if (!strcmp(name, own) || names_it(p->others, p->nothers, name))
            continue;
        p->others[p->nothers] = strdup(name);
        p->nothers += p->others[p->nothers] != NULL;
    }
}

void pmix_read_connect(struct command *c)
{
    struct pmsg_connect m;
    struct pmix_pending *p;

    if (pmsg_read_connect(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct participants w = { .procs = m.procs.items,
                                  .n = m.procs.n,
                                  .timeout_ns = pmix_timeout_of(m.infos.items, m.infos.n) };
        p = pmix_ask_collective(c, &w, "connect");
        if (p)
            note_others(c, p, &w);
        pmix_keep_infos(c, p, &m.infos.items, &m.infos.n);
    }
    pmsg_free_connect(&m, NULL);
}

void pmix_read_disconnect(struct command *c)
{
    struct pmsg_procs_infos m;

    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct participants w = participants_of(c, &m);
        pmix_keep_infos(c, pmix_ask_collective(c, &w, "disconnect"), &m.infos.items, &m.infos.n);
    }
    pmsg_free_procs_infos(&m, NULL);
}

/* Each other namespace comes with its job-level information. */
void pmix_reply_connect(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct ppack w, part;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    w = pmix_writer(s);
    part = pmsg_part(&w, &s->scratch);
    pmsg_write_connected(&w, s->release, &(struct pmsg_connected){ .status = PMIX_SUCCESS });
    for (uint32_t i = 0; i < p->nothers; i++) {
        struct job *other = core_known_job(s->base.peer->core, slice_str(p->others[i]));
        if (!other)
            continue;
        pmsg_write_job_info(
            &part, s->release,
            &(struct pmsg_job_info){ .has = PMSG_BIT(job_info, values),
                                     .nspace = slice_str(other->nspace),
                                     .values = pmix_job_info(other, s->as, s->described) });
        pmsg_add_connected_jobs(&w, &part);
    }
    pmix_send_or_fail(s, p->tag, &w);
    buf_free(&s->scratch);
}
