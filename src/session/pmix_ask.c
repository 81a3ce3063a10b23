/* pmix_ask.c - questions about jobs, nodes and processes, which the session answers from what the
 * core knows; and groups, whose members meet.
 *
 * A namespace that is not named is the asker's own, a node that is not named is every node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "session/pmix_priv.h"

enum { TEXT_MAX = 1 << 24, LIMIT_GROUPS = 1024 };

static struct job *job_of(const struct command *c, struct slice nspace)
{
    struct peer *p = c->s->base.peer;

    return nspace.len ? core_job_named(p->core, nspace) : p->job;
}

static void set_proc(pmix_proc_t *p, const char *nspace, uint32_t rank)
{
    memset(p, 0, sizeof *p);
    strncpy(p->nspace, nspace, PMIX_MAX_NSLEN);
    p->rank = rank;
}

static void send_or_fail(struct command *c, const struct ppack *w)
{
    if (ppack_ok(w))
        pmix_send(c->s, c->tag);
    else
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOMEM);
}

/* ---- query
 * -------------------------------------------------------------------------------------- */

/* What is found, with the keys' texts behind the list. */
struct findings {
    struct pmix_session *s;
    pmix_info_t *list;
    size_t n, room;
    uint32_t missed;
    bool no_memory;
};

static void found(struct findings *f, const char *key, pmix_value_t v)
{
    if (f->n == f->room) {
        size_t room = f->room ? f->room * 2 : 8;
        pmix_info_t *more = realloc(f->list, room * sizeof *more);
        if (!more) {
            f->no_memory = true;
            pmem_value_free(&v, NULL);
            return;
        }
        f->list = more;
        f->room = room;
    }
    memset(&f->list[f->n], 0, sizeof *f->list);
    strncpy(f->list[f->n].key, key, PMIX_MAX_KEYLEN);
    f->list[f->n++].value = v;
}

/* Takes the buffer over. */
static void found_text(struct findings *f, const char *key, struct buf *text)
{
    const char *s = buf_cstr(text);
    pmix_value_t v = { .type = PMIX_STRING, .data.string = s ? strdup(s) : NULL };

    if (v.data.string)
        found(f, key, v);
    else
        f->no_memory = true;
    buf_free(text);
}

static void find_namespaces(struct findings *f, const char *key, struct job *j)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)j;
    LIST_EACH(l, &f->s->base.peer->core->jobs)
    {
        if (buf_len(&names))
            buf_byte(&names, ',');
        buf_str(&names, LIST_OF(l, struct job, link)->nspace);
    }
    found_text(f, key, &names);
}

static void find_nothing(struct findings *f, const char *key, struct job *j)
{
    struct buf none = BUF_NULL(8);

    (void)j;
    found_text(f, key, &none);
}

static void find_zero(struct findings *f, const char *key, struct job *j)
{
    (void)j;
    found(f, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = 0 });
}

static void find_size(struct findings *f, const char *key, struct job *j)
{
    found(f, key, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = j->plan.nprocs });
}

static pmix_proc_state_t state_of(const struct proc *p)
{
    switch (p->state) {
    case LIFE_PLANNED: return PMIX_PROC_STATE_PREPPED;
    case LIFE_RUNNING: return PMIX_PROC_STATE_RUNNING;
    case LIFE_ATTACHED: return PMIX_PROC_STATE_CONNECTED;
    case LIFE_LEAVING: return PMIX_PROC_STATE_RUNNING;
    case LIFE_LOST: return PMIX_PROC_STATE_COMM_FAILED;
    default: break;
    }
    if (p->signalled)
        return PMIX_PROC_STATE_ABORTED_BY_SIG;
    return p->code ? PMIX_PROC_STATE_TERM_NON_ZERO : PMIX_PROC_STATE_TERMINATED;
}

static void describe(pmix_proc_info_t *to, const struct job *j, uint32_t rank)
{
    const struct plan_proc *p = &j->plan.procs[rank];
    const struct plan_app *app = &j->plan.apps[p->app];

    memset(to, 0, sizeof *to);
    set_proc(&to->proc, j->nspace, rank);
    to->hostname = strdup(j->plan.nodes[p->node].name);
    to->executable_name = strdup(app->argv ? app->argv[0] : "");
    to->pid = j->procs[rank].pid;
    to->exit_code = j->procs[rank].code;
    to->state = state_of(&j->procs[rank]);
}

static void find_table(struct findings *f, const char *key, struct job *j)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);
    pmix_proc_info_t *table = calloc(j->plan.nprocs + (size_t)1, sizeof *table);
    uint32_t here = f->s->base.peer->job->plan.procs[f->s->base.peer->rank].node;
    bool local = !strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE);

    if (!a || !table) {
        f->no_memory = true;
        free(a);
        free(table);
        return;
    }
    a->type = PMIX_PROC_INFO;
    a->array = table;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (!local || j->plan.procs[r].node == here)
            describe(&table[a->size++], j, r);
    }
    found(f, key, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
}

static const struct {
    const char *key;
    void (*find)(struct findings *f, const char *key, struct job *j);
} questions[] = {
    { PMIX_QUERY_NAMESPACES, find_namespaces }, { PMIX_JOB_SIZE, find_size },
    { PMIX_QUERY_PROC_TABLE, find_table },      { PMIX_QUERY_LOCAL_PROC_TABLE, find_table },
    { PMIX_QUERY_NUM_PSETS, find_zero },        { PMIX_QUERY_PSET_NAMES, find_nothing },
};

static void find(struct findings *f, const char *key, struct job *j)
{
    for (size_t i = 0; j && i < sizeof questions / sizeof *questions; i++) {
        if (!strcmp(key, questions[i].key)) {
            questions[i].find(f, key, j);
            return;
        }
    }
    f->missed++;
}

static struct job *job_asked_about(const struct command *c, const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_value_t *v = &q->qualifiers[i].value;
        if (!strcmp(q->qualifiers[i].key, PMIX_NSPACE) && v->type == PMIX_STRING)
            return job_of(c, slice_str(v->data.string));
        if (!strcmp(q->qualifiers[i].key, PMIX_PROCID) && v->type == PMIX_PROC)
            return job_of(c, slice_str(v->data.proc->nspace));
    }
    return c->s->base.peer->job;
}

static void reply_findings(struct command *c, const struct findings *f)
{
    struct ppack w;

    if (f->n == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    ppack_status(&w, f->missed ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
    ppack_size(&w, f->n);
    ppack(&w, f->list, (int32_t)f->n, PMIX_INFO);
    send_or_fail(c, &w);
}

void pmix_read_query(struct command *c)
{
    struct findings f = { .s = c->s };
    size_t n;
    pmix_query_t *queries = punpack_list(&c->r, PMIX_QUERY, &n);

    for (size_t i = 0; punpack_ok(&c->r) && i < n; i++) {
        struct job *j = job_asked_about(c, &queries[i]);
        for (char **key = queries[i].keys; key && *key; key++)
            find(&f, *key, j);
    }
    c->no_memory = c->no_memory || f.no_memory;
    if (punpack_ok(&c->r) && !c->no_memory)
        reply_findings(c, &f);
    pmix_drop_infos(f.list, f.n);
    pmem_free(ptype_find(PMIX_QUERY), queries, n, NULL);
    free(queries);
}

/* ---- who is where
 * ------------------------------------------------------------------------------- */

static bool on_node(const struct job *j, uint32_t rank, struct slice node)
{
    return node.len == 0 || slice_is(node, j->plan.nodes[j->plan.procs[rank].node].name);
}

void pmix_read_resolve_peers(struct command *c)
{
    struct slice node = punpack_text(&c->r), nspace = punpack_text(&c->r);
    struct job *j = punpack_ok(&c->r) ? job_of(c, nspace) : NULL;
    pmix_proc_t *procs = j ? arena_array(&c->s->arena, j->plan.nprocs, sizeof *procs) : NULL;
    size_t n = 0;
    struct ppack w;

    if (!punpack_ok(&c->r))
        return;
    for (uint32_t r = 0; procs && r < j->plan.nprocs; r++) {
        if (on_node(j, r, node))
            set_proc(&procs[n++], j->nspace, r);
    }
    if (n == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    ppack_status(&w, PMIX_SUCCESS);
    ppack_size(&w, n);
    ppack(&w, procs, (int32_t)n, PMIX_PROC);
    send_or_fail(c, &w);
}

void pmix_read_resolve_node(struct command *c)
{
    struct slice nspace = punpack_text(&c->r);
    struct job *j = punpack_ok(&c->r) ? job_of(c, nspace) : NULL;
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
        send_or_fail(c, &w);
    }
    buf_free(&names);
}

/* Everything about a job, or all the cards of one process that the asker may see. */
void pmix_read_refresh(struct command *c)
{
    struct slice nspace = punpack_text(&c->r);
    uint32_t rank = punpack_u32(&c->r, PMIX_PROC_RANK);
    struct job *j = punpack_ok(&c->r) ? job_of(c, nspace) : NULL;
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
    send_or_fail(c, &w);
}

/* ---- groups
 * ------------------------------------------------------------------------------------- */

static size_t count_members(const struct command *c, const struct crowd *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++) {
        const struct job *j = job_of(c, slice_str(w->procs[i].nspace));
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
        const struct job *j = job_of(c, slice_str(w->procs[i].nspace));
        bool all = w->procs[i].rank == PMIX_RANK_WILDCARD;
        for (uint32_t r = 0; j && all && r < j->plan.nprocs; r++)
            set_proc(&p->procs[p->nprocs++], j->nspace, r);
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

/* The members are the request's until now; without memory the group cannot be ended by name. */
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

/* A group is a meeting of its members under its name, which has a number. */
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

/* What stands behind the name differs by release; the name is enough. */
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

/* Which of the three forms of the reply the client's release reads. */
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
        ppack_size(&w, 0); /* nobody's further information */
    keep_group(s, p);
    if (ppack_ok(&w))
        pmix_send(s, p->tag);
    else
        pmix_reply_status(s, p->tag, PMIX_ERR_NOMEM);
}
