/* pmix_ask.c - queries for the location of processes, which the session answers from the core's
 * data; and groups, which are collectives of their members.
 *
 * A namespace that is not named is the requester's own, a node that is not named is every node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "session/pmix_priv.h"

enum { TEXT_MAX = 1 << 24, LIMIT_GROUPS = 1024 };

struct job *pmix_job_of(const struct command *c, struct slice nspace)
{
    struct peer *p = c->s->base.peer;

    return nspace.len ? core_job_named(p->core, nspace) : p->job;
}

void pmix_set_proc(pmix_proc_t *p, const char *nspace, uint32_t rank)
{
    memset(p, 0, sizeof *p);
    strncpy(p->nspace, nspace, PMIX_MAX_NSLEN);
    p->rank = rank;
}

void pmix_send_or_fail(struct command *c, const struct ppack *w)
{
    if (ppack_ok(w))
        pmix_send(c->s, c->tag);
    else
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOMEM);
}

/* ---- location of processes ------------------------------------------------------------------- */

static bool on_node(const struct job *j, uint32_t rank, struct slice node)
{
    return node.len == 0 || slice_is(node, j->plan.nodes[j->plan.procs[rank].node].name);
}

void pmix_read_resolve_peers(struct command *c)
{
    struct slice node = punpack_text(&c->r), nspace = punpack_text(&c->r);
    struct job *j = punpack_ok(&c->r) ? pmix_job_of(c, nspace) : NULL;
    pmix_proc_t *procs = j ? arena_array(&c->s->arena, j->plan.nprocs, sizeof *procs) : NULL;
    size_t n = 0;
    struct ppack w;

    if (!punpack_ok(&c->r))
        return;
    for (uint32_t r = 0; procs && r < j->plan.nprocs; r++) {
        if (on_node(j, r, node))
            pmix_set_proc(&procs[n++], j->nspace, r);
    }
    if (n == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    ppack_status(&w, PMIX_SUCCESS);
    ppack_size(&w, n);
    ppack(&w, procs, (int32_t)n, PMIX_PROC);
    pmix_send_or_fail(c, &w);
}

void pmix_read_resolve_node(struct command *c)
{
    struct slice nspace = punpack_text(&c->r);
    struct job *j = punpack_ok(&c->r) ? pmix_job_of(c, nspace) : NULL;
    struct buf names = BUF_NULL(TEXT_MAX);
    struct ppack w;

    if (!punpack_ok(&c->r))
        return;
    for (uint32_t n = 0; j && n < j->plan.nnodes; n++) {
        if (n)
            buf_byte(&names, ',');
        buf_str(&names, j->plan.nodes[n].name);
    }
    if (!j) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
    } else if (!buf_cstr(&names)) {
        c->no_memory = true;
    } else {
        w = pmix_writer(c->s);
        ppack_status(&w, PMIX_SUCCESS);
        ppack_str(&w, buf_cstr(&names));
        pmix_send_or_fail(c, &w);
    }
    buf_free(&names);
}

/* Everything about a job, or all modex entries of one process that the requester may see. */
void pmix_read_refresh(struct command *c)
{
    struct slice nspace = punpack_text(&c->r);
    uint32_t rank = punpack_u32(&c->r, PMIX_PROC_RANK);
    struct job *j = punpack_ok(&c->r) ? pmix_job_of(c, nspace) : NULL;
    struct ppack w;

    if (!punpack_ok(&c->r))
        return;
    if (!j || (rank >= j->plan.nprocs && rank != PMIX_RANK_WILDCARD)) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    ppack_status(&w, PMIX_SUCCESS);
    if (rank == PMIX_RANK_WILDCARD)
        buf_slice_put(&c->s->reply, pmix_job_info(j, c->s->as, c->s->described));
    else
        pmix_put_cards(c->s, &w, j, rank);
    pmix_send_or_fail(c, &w);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static size_t count_members(const struct command *c, const struct crowd *w)
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
static void note_members(struct command *c, struct pmix_pending *p, const struct crowd *w)
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

static struct pmix_pending *meet_group(struct command *c, struct slice id, const struct crowd *w)
{
    char purpose[PMIX_MAX_KEYLEN + 16];

    snprintf(purpose, sizeof purpose, "%s " SLICE_FMT,
             c->cmd == CMD_GROUP_CONSTRUCT ? "group" : "ungroup",
             SLICE_ARG(slice_head(id, PMIX_MAX_KEYLEN)));
    if (count_members(c, w) <= c->s->base.peer->core->next_base)
        return pmix_meet(c, w, purpose);
    pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM); /* some are named more than once */
    return NULL;
}

/* A group is a collective of its members under its name, which gets a number. */
void pmix_read_group(struct command *c)
{
    struct slice id = punpack_text(&c->r);
    struct crowd w = { .n = 0 };
    struct pmix_pending *p = NULL;
    size_t ninfos;
    pmix_info_t *infos;

    w.procs = punpack_list(&c->r, PMIX_PROC, &w.n);
    infos = punpack_list(&c->r, PMIX_INFO, &ninfos);
    w.timeout_ns = pmix_timeout_of(infos, ninfos);
    if (punpack_ok(&c->r))
        p = meet_group(c, id, &w);
    if (p) {
        note_members(c, p, &w);
        p->wants_context = asks_for_context(infos, ninfos);
        p->key = strndup(id.ptr ? id.ptr : "", id.len);
        c->no_memory = c->no_memory || !p->key;
    }
    pmix_drop_infos(infos, ninfos);
    free(w.procs);
}

/* The part after the name differs by release; the name is enough. */
void pmix_read_ungroup(struct command *c)
{
    struct slice id = punpack_text(&c->r);
    struct pmix_group *g = punpack_ok(&c->r) ? find_group(c->s, id) : NULL;

    if (!punpack_ok(&c->r))
        return;
    if (!g) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    meet_group(c, id, &(struct crowd){ .procs = g->procs, .n = g->nprocs });
    group_free(c->s, g);
}

/* The three forms of the reply, by the client's release. */
enum group_form { FORM_NUMBER, FORM_MEMBERS, FORM_FLAGS };

static enum group_form form_for(uint32_t release)
{
    if (release >= RELEASE(6U, 0U, 0U))
        return FORM_FLAGS;
    return release >= RELEASE(4U, 2U, 4U) ? FORM_MEMBERS : FORM_NUMBER;
}

void pmix_reply_group(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    enum group_form form = form_for(pmix_client_release(s));
    size_t context = p->wants_context ? (size_t)a->number : SIZE_MAX;
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, pmix_status_of(a->status));
        return;
    }
    w = pmix_writer(s);
    ppack_status(&w, PMIX_SUCCESS);
    if (form != FORM_NUMBER) {
        ppack_size(&w, p->nprocs);
        if (p->nprocs)
            ppack(&w, p->procs, (int32_t)p->nprocs, PMIX_PROC);
    }
    if (form == FORM_FLAGS)
        ppack_byte(&w, PMIX_BOOL, p->wants_context);
    if (form != FORM_FLAGS || p->wants_context)
        ppack_size(&w, context);
    if (form == FORM_FLAGS)
        ppack_size(&w, 0); /* no further information of members */
    keep_group(s, p);
    if (ppack_ok(&w))
        pmix_send(s, p->tag);
    else
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
}
