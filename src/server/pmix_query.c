/* pmix_query.c - see pmix_query.h.  Reading order: the table; the subject of a query; the command;
 * the answer. */
#include "server/pmix_query.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "server/pmix_value.h"

enum { TEXT_MAX = 1 << 24 };

/* ---- the table ------------------------------------------------------------------------------- */

static const struct query_row {
    const char *key;
    uint32_t parts;
    pmix_finder *find;
    const char *qualifiers;
} rows[] = {
#define QUERY(key, type, who, parts, finder, qualifiers)                                           \
    { key, parts, pmix_find_##finder, qualifiers },
#include "proto/pmix_queries.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct query_row *row_of(const char *key)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (!strcmp(key, rows[i].key))
            return &rows[i];
    }
    return NULL;
}

void pmix_find_keys(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    for (size_t i = 0; i < ROWS; i++)
        buf_printf(&names, "%s%s", i ? "," : "", rows[i].key);
    pmix_found_text(f, key, &names);
}

/* Those of the query's other keys; of all keys, if it has no others. */
void pmix_find_qualifiers(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);
    bool all = about->query->keys[1] == NULL;

    buf_str(&names, PMIX_QUERY_REFRESH_CACHE);
    for (size_t i = 0; i < ROWS; i++) {
        struct slice words = slice_str(rows[i].qualifiers);
        bool wanted = all;
        for (char **k = about->query->keys; *k && !wanted; k++)
            wanted = !strcmp(*k, rows[i].key);
        while (wanted && words.len) {
            struct slice word = slice_cut(&words, ',');
            if (pmix_has_word(buf_slice(&names), word))
                continue;
            buf_byte(&names, ',');
            buf_slice_put(&names, word);
        }
    }
    pmix_found_text(f, key, &names);
}

/* ---- the subject of a query ------------------------------------------------------------------ */

static void name_job(const struct pmix_session *s, struct query_subject *about, const char *name)
{
    const struct core *c = s->base.peer->core;

    about->names_job = true;
    about->job = NULL;
    about->ended_job = NULL;
    if (!*name || !pmix_sees_nspace(s, name))
        return;
    about->job = core_job_named(c, slice_str(name));
    about->ended_job = about->job ? NULL : core_ended_job(c, slice_str(name));
}

static void on_nspace(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    if (v->type == PMIX_STRING && v->data.string)
        name_job(s, q, v->data.string);
}

static void on_procid(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    if (v->type != PMIX_PROC || !v->data.proc)
        return;
    name_job(s, q, v->data.proc->nspace);
    q->rank = v->data.proc->rank;
}

static void on_rank(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    (void)s;
    if (v->type == PMIX_PROC_RANK)
        q->rank = v->data.rank;
    else if (pmix_is_number(v))
        q->rank = (uint32_t)pmix_number_of(v);
}

static void on_host(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    (void)s;
    if (v->type == PMIX_STRING)
        q->host = v->data.string;
}

static void on_group(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    (void)s;
    if (v->type == PMIX_STRING)
        q->group = v->data.string;
}

static void on_local(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    (void)s;
    q->local = pmix_flag_of(v);
}

static void on_average(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v)
{
    (void)s;
    q->average = pmix_flag_of(v);
}

static void on_extremes(const struct pmix_session *s, struct query_subject *q,
                        const pmix_value_t *v)
{
    (void)s;
    q->extremes = pmix_flag_of(v);
}

static const struct {
    const char *key;
    void (*take)(const struct pmix_session *s, struct query_subject *q, const pmix_value_t *v);
} qualifiers[] = {
    { PMIX_NSPACE, on_nspace },
    { PMIX_PROCID, on_procid },
    { PMIX_RANK, on_rank },
    { PMIX_HOSTNAME, on_host },
    { PMIX_GROUP_ID, on_group },
    { PMIX_PSET_NAME, on_group },
    { PMIX_QUERY_LOCAL_ONLY, on_local },
    { PMIX_QUERY_REPORT_AVG, on_average },
    { PMIX_QUERY_REPORT_MINMAX, on_extremes },
};

static void take_qualifier(const struct pmix_session *s, struct query_subject *about,
                           const pmix_info_t *info)
{
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++) {
        if (!strcmp(info->key, qualifiers[i].key))
            qualifiers[i].take(s, about, &info->value);
    }
}

static struct query_subject subject_of(const struct pmix_session *s, const pmix_query_t *q)
{
    struct query_subject about = { .job = s->base.peer->job,
                                   .rank = PMIX_RANK_WILDCARD,
                                   .query = q };

    if (about.job->is_tool) /* it asks which there are */
        about.job = core_first_job(s->base.peer->core);
    for (size_t i = 0; i < q->nqual; i++)
        take_qualifier(s, &about, &q->qualifiers[i]);
    return about;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* What the nodes must tell for one query, and whether this one alone can. */
static uint32_t parts_of(const struct pmix_session *s, const pmix_query_t *q, bool *local_p)
{
    struct query_subject about = subject_of(s, q);
    uint32_t parts = 0;

    for (char **key = q->keys; key && *key; key++) {
        const struct query_row *row = row_of(*key);
        parts |= row ? row->parts : 0;
    }
    /* Everybody's hardware description is much. */
    *local_p = about.local || ((parts & ~(uint32_t)(NODE_PART_TOPOLOGY | NODE_PART_TOPOLOGY_V1 |
                                                    NODE_PART_QUEUES)) == 0 &&
                               !about.host);
    return parts;
}

/* The host has told us what this key asks for. */
static bool host_defines(const struct core *c, const char *key)
{
    static const char *const sets[] = { PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES,
                                        PMIX_QUERY_PSET_MEMBERSHIP };

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!strcmp(key, sets[i]))
            return !list_empty(&c->sets);
    }
    return !strcmp(key, PMIX_QUERY_ATTRIBUTE_SUPPORT) && !list_empty(&c->host_calls);
}

static bool all_defined(const struct core *c, const pmix_query_t *q)
{
    size_t n = 0;

    for (char **key = q->keys; key && *key; key++, n++) {
        if (!host_defines(c, *key))
            return false;
    }
    return n > 0;
}

bool pmix_query_is_ours(const struct command *c)
{
    const struct core *core = c->s->base.peer->core;
    struct punpack r = c->r;
    struct pmsg_query m;
    bool is;

    if (list_empty(&core->sets) && list_empty(&core->host_calls))
        return false;
    is = pmsg_read_query(&r, c->s->release, &m) == PTYPE_FINE && m.queries.n > 0;
    for (size_t i = 0; is && i < m.queries.n; i++)
        is = all_defined(core, &m.queries.items[i]);
    pmsg_free_query(&m, NULL);
    return is;
}

static void answer_queries(struct pmix_session *s, uint32_t tag, const pmix_query_t *queries,
                           size_t n, struct slice parts);

static bool has_parts(const struct core *core, uint32_t parts)
{
    return parts && (core->is_manager || (core->reports_topologies && parts & NODE_PART_TOPOLOGY));
}

void pmix_read_query(struct command *c)
{
    struct pmsg_query m;
    struct request_node_parts rq = { .local = true };
    bool fine = pmsg_read_query(&c->r, c->s->release, &m) == PTYPE_FINE;
    struct pmix_pending *p = NULL;

    for (size_t i = 0; fine && i < m.queries.n; i++) {
        bool local;
        rq.parts |= parts_of(c->s, &m.queries.items[i], &local);
        rq.local = rq.local && local;
    }
    if (fine && has_parts(c->s->base.peer->core, rq.parts))
        p = pmix_ask(c, (struct request){ .kind = REQ_node_parts, .u.node_parts = rq });
    else if (fine)
        answer_queries(c->s, c->tag, m.queries.items, m.queries.n, SLICE_NULL);
    if (p) {
        p->queries = m.queries.items;
        p->nqueries = m.queries.n;
        m.queries.items = NULL;
        m.queries.n = 0;
    }
    pmsg_free_query(&m, NULL);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void find(struct pmix_findings *f, const pmix_query_t *q)
{
    struct query_subject about = subject_of(f->s, q);

    for (char **key = q->keys; key && *key; key++) {
        const struct query_row *row = row_of(*key);
        (row ? row->find : pmix_find_job_info)(f, *key, &about);
    }
}

static void reply_findings(struct pmix_session *s, uint32_t tag, const struct pmix_findings *f)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos),
                                   .status = f->missed ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS,
                                   .infos = { f->list.n, f->list.items } };
    struct ppack w;

    if (f->list.no_memory || f->parts.no_memory || f->list.n == 0) {
        bool none = !f->list.no_memory && !f->parts.no_memory;
        pmix_reply_status(s, tag, none ? PMIX_ERR_NOT_FOUND : PMIX_ERR_NOMEM);
        return;
    }
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    pmix_send_or_fail(s, tag, &w);
}

static void answer_queries(struct pmix_session *s, uint32_t tag, const pmix_query_t *queries,
                           size_t n, struct slice parts)
{
    struct pmix_findings f = { .s = s };

    pmix_read_parts(parts, &f.parts);
    for (size_t i = 0; i < n; i++)
        find(&f, &queries[i]);
    reply_findings(s, tag, &f);
    info_array_free(&f.list);
    info_array_free(&f.parts);
}

void pmix_reply_query(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    answer_queries(s, p->tag, p->queries, p->nqueries, answer_to_node_parts(a).parts);
}
