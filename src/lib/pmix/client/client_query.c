/* client_query.c - PMIx_Query_info: from the cache, or from the server.
 *
 * A query whose keys are all known here is not sent, unless the program wants it refreshed.  The
 * versions of the ABI are those of the library: they are known at any time, also before PMIx_Init.
 * So are the attributes that the library supports by itself, as a client's or a tool's.
 */
#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_find.h"
#include "lib/pmix/client/client_get.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_support.h"

static bool info_is_true(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

/* The process or job that is asked about: our job, when none is named.  False: the qualifiers
 * contradict each other. */
static bool read_subject(const struct client *c, const pmix_query_t *q, pmix_proc_t *proc_p)
{
    bool named = false, half = false;

    PMIx_Load_procid(proc_p, c->me.nspace, PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_info_t *info = &q->qualifiers[i];
        if (PMIx_Check_key(info->key, PMIX_PROCID) && info->value.type == PMIX_PROC) {
            *proc_p = *info->value.data.proc;
            named = true;
        } else if (PMIx_Check_key(info->key, PMIX_NSPACE) && info->value.type == PMIX_STRING) {
            PMIx_Load_nspace(proc_p->nspace, info->value.data.string);
            half = true;
        } else if (PMIx_Check_key(info->key, PMIX_RANK)) {
            PMIx_Value_get_number(&info->value, &proc_p->rank, PMIX_UINT32);
            half = true;
        }
    }
    return !(named && half);
}

static bool wants_news(const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        if (PMIx_Check_key(q->qualifiers[i].key, PMIX_QUERY_REFRESH_CACHE))
            return info_is_true(&q->qualifiers[i]);
    }
    return false;
}

static size_t count_keys(const pmix_query_t *queries, size_t n)
{
    size_t keys = 0;

    for (size_t i = 0; i < n; i++) {
        for (char **k = queries[i].keys; k && *k; k++)
            keys++;
    }
    return keys;
}

static bool is_abi_version(const char *key)
{
    return PMIx_Check_key(key, PMIX_QUERY_STABLE_ABI_VERSION) ||
           PMIx_Check_key(key, PMIX_QUERY_PROVISIONAL_ABI_VERSION);
}

static pmix_status_t answer_abi_version(const char *key, pmix_info_t *result)
{
    return PMIx_Info_load(result, key, PMIX_ABI_VERSION, PMIX_STRING);
}

/* Answers the queries if all keys ask for versions of the ABI. */
static pmix_status_t answer_without_client(const pmix_query_t *queries, size_t n,
                                           pmix_info_t **infos_p, size_t *n_p)
{
    size_t room = queries ? count_keys(queries, n) : 0, have = 0;
    pmix_info_t *infos = room ? PMIx_Info_create(room) : NULL;
    pmix_status_t rc = infos ? PMIX_SUCCESS : PMIX_ERR_INIT;

    for (size_t i = 0; infos && i < n; i++) {
        for (char **k = queries[i].keys; k && *k && rc == PMIX_SUCCESS; k++)
            rc = is_abi_version(*k) ? answer_abi_version(*k, &infos[have++]) : PMIX_ERR_INIT;
    }
    if (rc != PMIX_SUCCESS) {
        PMIx_Info_free(infos, room);
        return rc;
    }
    *infos_p = infos;
    *n_p = have;
    return PMIX_SUCCESS;
}

/* Answers one key, from the cache only. */
static pmix_status_t answer_key(struct client *c, const pmix_query_t *q, const pmix_proc_t *proc,
                                const char *key, pmix_info_t *result)
{
    pmix_info_t *infos;
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (is_abi_version(key))
        return answer_abi_version(key, result);
    infos = calloc(q->nqual + 1, sizeof *infos);
    if (infos) {
        if (q->nqual)
            memcpy(infos, q->qualifiers, q->nqual * sizeof *infos); /* borrowed */
        PMIx_Load_key(infos[q->nqual].key, PMIX_OPTIONAL);
        infos[q->nqual].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
        rc = client_get(c, proc, key, infos, q->nqual + 1, &v);
    }
    free(infos);
    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Load_key(result->key, key);
    result->value = *v;
    free(v);
    return PMIX_SUCCESS;
}

/* ---- servers --------------------------------------------------------------------------------- */

/* "wireup-12.0;tcp4://127.0.0.1:1" names the server's process. */
static bool split_uri(const char *uri, pmix_proc_t *name_p)
{
    struct pmix_uri u;
    struct errmsg err = { "" };

    if (pmix_uri_read(uri, &u, &err) < 0 || u.nspace.len > PMIX_MAX_NSLEN)
        return false;
    memcpy(name_p->nspace, u.nspace.ptr, u.nspace.len);
    name_p->nspace[u.nspace.len] = '\0';
    name_p->rank = u.rank;
    return true;
}

static void add_server(void *arg, const struct server_seen *s)
{
    struct info_array one = { .items = NULL };
    pmix_proc_t name;

    if (!split_uri(s->uri, &name))
        return;
    info_array_text(&one, PMIX_SERVER_NSPACE, name.nspace);
    info_array_add(&one, PMIX_SERVER_RANK,
                   (pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = name.rank });
    info_array_text(&one, PMIX_SERVER_URI, s->uri);
    if (s->pid > 0)
        info_array_add(&one, PMIX_SERVER_PIDINFO,
                       (pmix_value_t){ .type = PMIX_PID, .data.pid = (pid_t)s->pid });
    if (s->version[0])
        info_array_text(&one, PMIX_VERSION_INFO, s->version);
    info_array_infos(arg, PMIX_SERVER_INFO_ARRAY, &one);
}

/* Those that a tool could connect to: no server knows them. */
static pmix_status_t answer_servers(const pmix_query_t *q, struct info_array *found)
{
    struct info_array all = { .items = NULL };
    struct wish w;

    wish_read(&w, q->qualifiers, q->nqual);
    servers_each(&w, add_server, &all);
    if (all.n == 0 && !all.no_memory)
        return PMIX_ERR_NOT_FOUND;
    info_array_infos(found, PMIX_QUERY_AVAIL_SERVERS, &all);
    return PMIX_SUCCESS;
}

/* The attributes of the library's functions; the server answers for itself and its host. */
static pmix_status_t answer_support(const pmix_query_t *q, struct info_array *found)
{
    static const struct pmix_offer all = { .offers = NULL };
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; i < q->nqual; i++) {
        const struct pmix_level_key *level = pmix_level_of(q->qualifiers[i].key);
        if (!level)
            continue;
        if (level->level != PMIX_LEVEL_CLIENT && level->level != PMIX_LEVEL_TOOL)
            return PMIX_ERR_NOT_FOUND;
        if (pmix_support(found, level, pmix_support_key(q, level), &q->qualifiers[i].value, &all))
            rc = PMIX_SUCCESS;
    }
    return rc;
}

static pmix_status_t answer_one(struct client *c, const pmix_query_t *q, const pmix_proc_t *proc,
                                const char *key, struct info_array *found)
{
    pmix_info_t one = { .value = { .type = PMIX_UNDEF } };
    pmix_status_t rc;

    if (PMIx_Check_key(key, PMIX_QUERY_ATTRIBUTE_SUPPORT))
        return answer_support(q, found);
    if (c->kind == CLIENT_TOOL && PMIx_Check_key(key, PMIX_QUERY_AVAIL_SERVERS))
        return answer_servers(q, found);
    rc = answer_key(c, q, proc, key, &one);
    if (rc == PMIX_SUCCESS)
        info_array_add(found, one.key, one.value);
    return rc;
}

static bool is_refreshed(const pmix_query_t *q)
{
    for (char **k = q->keys; k && *k; k++) {
        if (!PMIx_Check_key(*k, PMIX_QUERY_ATTRIBUTE_SUPPORT) && !is_abi_version(*k))
            return wants_news(q);
    }
    return false; /* nothing of it changes */
}

/* Answers all keys of all queries, or none. */
static pmix_status_t answer_here(struct client *c, const pmix_query_t *queries, size_t n,
                                 pmix_info_t **infos_p, size_t *n_p)
{
    struct info_array found = { .items = NULL };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < n && rc == PMIX_SUCCESS; i++) {
        pmix_proc_t proc;
        read_subject(c, &queries[i], &proc);
        if (is_refreshed(&queries[i]))
            rc = PMIX_ERR_NOT_FOUND;
        for (char **k = queries[i].keys; k && *k && rc == PMIX_SUCCESS; k++)
            rc = answer_one(c, &queries[i], &proc, *k, &found);
    }
    if (rc == PMIX_SUCCESS && found.no_memory)
        rc = PMIX_ERR_NOMEM;
    if (rc == PMIX_SUCCESS) {
        *infos_p = found.items;
        *n_p = found.n;
    } else {
        info_array_free(&found);
    }
    return rc;
}

static pmix_status_t check(const struct client *c, const pmix_query_t *queries, size_t n)
{
    pmix_proc_t proc;

    if (!queries || !n || !count_keys(queries, n))
        return PMIX_ERR_BAD_PARAM;
    for (size_t i = 0; i < n; i++) {
        if (!read_subject(c, &queries[i], &proc))
            return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t begin_query(struct client *c, struct message *m, const pmix_query_t *queries,
                                 size_t n)
{
    pmix_status_t rc = message_begin(c, m, CMD_QUERY);

    if (rc == PMIX_SUCCESS)
        message_put(m, query, { .queries = PMSG_LENT(queries, n) });
    return rc;
}

pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries, pmix_info_t **results,
                              size_t *nresults)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!results || !nresults)
        return c ? api_end(c, PMIX_ERR_BAD_PARAM) : PMIX_ERR_BAD_PARAM;
    *results = NULL;
    *nresults = 0;
    if (!c)
        return answer_without_client(queries, nqueries, results, nresults);
    rc = check(c, queries, nqueries);
    if (rc != PMIX_SUCCESS)
        return api_end(c, rc);
    rc = answer_here(c, queries, nqueries, results, nresults);
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_NOMEM)
        return api_end(c, rc);
    rc = begin_query(c, &m, queries, nqueries);
    return api_end(c, rc == PMIX_SUCCESS ? api_infos_call(&m, results, nresults) : rc);
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    struct client *c = api_begin();
    pmix_info_t *infos = NULL;
    size_t n = 0;
    struct message m;
    struct op *op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = cbfunc ? check(c, queries, nqueries) : PMIX_ERR_BAD_PARAM;
    if (rc != PMIX_SUCCESS)
        return api_end(c, rc);
    rc = answer_here(c, queries, nqueries, &infos, &n);
    if (rc == PMIX_SUCCESS || !c->server) {
        if (rc == PMIX_ERR_NOT_FOUND)
            rc = PMIX_ERR_UNREACH;
        op = op_new(&op_infos, cbdata);
        if (!op) {
            PMIx_Info_free(infos, n);
            return api_end(c, PMIX_ERR_NOMEM);
        }
        op->callback.info = cbfunc;
        op->out.infos = infos;
        op->out.ninfos = n;
        return api_end(c, progress_complete(c, op, rc));
    }
    rc = begin_query(c, &m, queries, nqueries);
    return api_end(c, rc == PMIX_SUCCESS ? api_infos_begin(&m, cbfunc, cbdata) : rc);
}
