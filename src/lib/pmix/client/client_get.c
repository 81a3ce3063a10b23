/* client_get.c - PMIx_Get: from the cache, or from the server.
 *
 * The search order depends on the rank asked for:
 *   a rank         its modex values; job info about the rank; then, for reserved keys, info about
 *                  its node, its application, its job and session, from near to far
 *   WILDCARD       the job; then, for reserved keys, the caller's own node, application, session
 *   UNDEF          the job, then any rank that has put it
 *   with a realm   (PMIX_NODE_INFO …) first there; then the rank and the job, since not all servers
 *                  sort their job info
 *
 * A missing value is asked of the server, whose reply usually brings everything that the rank has
 * put; then the search is repeated.
 */
#include "lib/pmix/client/client_get.h"

#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_group.h"
#include "lib/pmix/values/value.h"

enum realm { REALM_ANY, REALM_SESSION, REALM_JOB, REALM_APP, REALM_NODE };

struct query {
    const char *nspace;
    uint32_t rank;
    const char *key; /* NULL: all keys */
    const pmix_info_t *infos;
    size_t ninfos;
    enum realm realm;
    uint32_t number; /* of the session, application or node; UINT32_MAX: not given */
    const char *node;
    bool reserved, optional, immediate, refresh, in_place, by_pointer, qualified;
    uint8_t scope;
    pmix_nspace_t translated; /* where nspace is, of a member of a group */
};

/* Where the value is. */
struct found_value {
    struct known *known;
    struct datum datum;
    uint8_t scope; /* of a value that a process has put; 0: not known */
    bool outside;  /* it is not in the scope that was asked for */
};

/* ---- the query ------------------------------------------------------------------------------- */

static bool info_is_true(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static void read_flags(struct query *q, const pmix_info_t *info)
{
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {
        { PMIX_OPTIONAL, &q->optional },
        { PMIX_IMMEDIATE, &q->immediate },
        { PMIX_GET_REFRESH_CACHE, &q->refresh },
        { PMIX_GET_STATIC_VALUES, &q->in_place },
        { PMIX_GET_POINTER_VALUES, &q->by_pointer },
    };
    static const struct {
        const char *key;
        enum realm realm;
    } realms[] = {
        { PMIX_SESSION_INFO, REALM_SESSION },
        { PMIX_JOB_INFO, REALM_JOB },
        { PMIX_APP_INFO, REALM_APP },
        { PMIX_NODE_INFO, REALM_NODE },
    };

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (PMIx_Check_key(info->key, flags[i].key))
            *flags[i].flag = info_is_true(info);
    }
    for (size_t i = 0; i < sizeof realms / sizeof *realms; i++) {
        if (PMIx_Check_key(info->key, realms[i].key) && info_is_true(info))
            q->realm = realms[i].realm;
    }
}

static void read_qualifiers(struct query *q, const pmix_info_t *info)
{
    static const char *const numbers[] = { PMIX_NODEID, PMIX_APPNUM, PMIX_SESSION_ID };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (PMIx_Check_key(info->key, numbers[i]))
            PMIx_Value_get_number(&info->value, &q->number, PMIX_UINT32);
    }
    if (PMIx_Check_key(info->key, PMIX_HOSTNAME) && info->value.type == PMIX_STRING)
        q->node = info->value.data.string;
    else if (PMIx_Check_key(info->key, PMIX_DATA_SCOPE) && info->value.type == PMIX_SCOPE)
        q->scope = info->value.data.scope;
    if (info->flags & PMIX_INFO_QUALIFIER)
        q->qualified = true;
}

/* Of a rank in a group: the member itself. */
static void translate_member(struct client *c, struct query *q)
{
    const pmix_proc_t *procs;
    size_t n;

    if (list_empty(&c->groups) || !group_members(c, q->nspace, &procs, &n) || q->rank >= n)
        return;
    PMIx_Load_nspace(q->translated, procs[q->rank].nspace);
    q->nspace = q->translated;
    q->rank = procs[q->rank].rank;
}

static pmix_status_t make_query(struct client *c, struct query *q, const pmix_proc_t *proc,
                                const char *key, const pmix_info_t *infos, size_t ninfos)
{
    pmix_status_t rc;

    if ((!proc && !key) || (!infos && ninfos) ||
        (key && strnlen(key, PMIX_MAX_KEYLEN + 1) > PMIX_MAX_KEYLEN))
        return PMIX_ERR_BAD_PARAM;
    rc = api_check(PMIX_CALL_GET, infos, ninfos);
    if (rc != PMIX_SUCCESS)
        return rc;
    *q = (struct query){ .nspace = proc && *proc->nspace ? proc->nspace : c->me.nspace,
                         .rank = proc ? proc->rank : PMIX_RANK_UNDEF,
                         .key = key,
                         .infos = infos,
                         .ninfos = ninfos,
                         .number = UINT32_MAX,
                         .reserved = key && PMIx_Check_reserved_key(key) };
    translate_member(c, q);
    for (size_t i = 0; i < ninfos; i++) {
        read_flags(q, &infos[i]);
        read_qualifiers(q, &infos[i]);
    }
    if (!proc && q->reserved) /* no process given: this one, and its surroundings */
        q->rank = c->me.rank;
    return !key && q->rank == PMIX_RANK_UNDEF ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

/* ---- searching ------------------------------------------------------------------------------- */

static bool rank_datum(const struct space *s, uint32_t rank, struct slice key, struct datum *d)
{
    return space_part_datum(s, INFO_RANK, rank, SLICE_NULL, key, d);
}

static uint32_t number_at_rank(const struct space *s, uint32_t rank, const char *key);

/* Modex values have a scope: processes of the same node, of other nodes, or all. */
static bool card_of(const struct space *s, uint32_t rank, struct slice key, struct found_value *f)
{
    uint8_t scope;
    uint32_t here, there;

    if (slice_starts(key, SLICE("pmix")) || !card_datum(s->cards, rank, key, &f->datum, &scope))
        return false; /* such keys are never put */
    f->scope = scope ? scope : PMIX_GLOBAL;
    if (scope != PMIX_LOCAL && scope != PMIX_REMOTE)
        return true;
    here = number_at_rank(s, s->me, PMIX_NODEID);
    there = number_at_rank(s, rank, PMIX_NODEID);
    return (scope == PMIX_LOCAL) == (here == there);
}

/* The process's own puts, values received about it, then job info. */
static bool find_at_rank(const struct space *s, uint32_t rank, struct slice key,
                         struct found_value *f)
{
    if (rank != s->me && card_of(s, rank, key, f))
        return true;
    f->known = space_find(s, rank, key);
    f->scope = f->known ? f->known->scope : 0;
    if (f->known || (rank == s->me && card_of(s, rank, key, f)))
        return true;
    return rank_datum(s, rank, key, &f->datum);
}

static uint32_t number_at_rank(const struct space *s, uint32_t rank, const char *key)
{
    struct found_value f = { NULL };
    uint32_t n;

    if (!find_at_rank(s, rank, slice_str(key), &f))
        return UINT32_MAX;
    if (f.known)
        return PMIx_Value_get_number(&f.known->value, &n, PMIX_UINT32) == PMIX_SUCCESS ? n
                                                                                       : UINT32_MAX;
    return datum_u32(&f.datum, &n) ? n : UINT32_MAX;
}

static bool find_on_node(const struct space *s, uint32_t number, const char *name, struct slice key,
                         struct found_value *f)
{
    return (number != UINT32_MAX &&
            space_part_datum(s, INFO_NODE, number, SLICE_NULL, key, &f->datum)) ||
           (name && space_part_datum(s, INFO_NODE, UINT32_MAX, slice_str(name), key, &f->datum));
}

static bool find_on_node_of(struct client *c, const struct space *s, uint32_t rank,
                            struct slice key, struct found_value *f)
{
    struct found_value name = { NULL };
    char *text = NULL;
    bool there;

    if (find_on_node(s, number_at_rank(s, rank, PMIX_NODEID), NULL, key, f))
        return true;
    if (find_at_rank(s, rank, SLICE(PMIX_HOSTNAME), &name) && !name.known)
        text = datum_text(&name.datum);
    there = text && find_on_node(s, UINT32_MAX, text, key, f);
    free(text);
    return there ||
           (client_is_me(c, s->nspace, rank) && find_on_node(s, UINT32_MAX, c->hostname, key, f));
}

static bool find_in_app(const struct space *s, uint32_t number, struct slice key,
                        struct found_value *f)
{
    return number != UINT32_MAX &&
           space_part_datum(s, INFO_APP, number, SLICE_NULL, key, &f->datum);
}

static bool find_in_session(const struct space *s, uint32_t number, struct slice key,
                            struct found_value *f)
{
    if (number != UINT32_MAX)
        return space_part_datum(s, INFO_SESSION, number, SLICE_NULL, key, &f->datum);
    for (const struct list *l = s->infos.next; l != &s->infos; l = l->next) {
        const struct job_info *j = LIST_OF(l, const struct job_info, link);
        if (j->nparts[INFO_SESSION] &&
            info_part_find(j, INFO_SESSION, j->parts[INFO_SESSION], key, &f->datum))
            return true;
    }
    return false;
}

static bool find_in_job(const struct space *s, struct slice key, struct found_value *f)
{
    f->known = space_find(s, PMIX_RANK_WILDCARD, key);
    return f->known || space_job_datum(s, key, &f->datum);
}

/* The rank whose node and application are meant when none is given. */
static uint32_t rank_for_realm(const struct client *c, const struct query *q)
{
    return PMIX_RANK_IS_VALID(q->rank) ? q->rank : c->me.rank;
}

static bool find_in_realm(struct client *c, const struct space *s, const struct query *q,
                          struct slice key, struct found_value *f)
{
    uint32_t app = q->number;

    switch (q->realm) {
    case REALM_SESSION: return find_in_session(s, q->number, key, f);
    case REALM_JOB: return find_in_job(s, key, f);
    case REALM_APP:
        if (app == UINT32_MAX)
            app = number_at_rank(s, rank_for_realm(c, q), PMIX_APPNUM);
        return find_in_app(s, app, key, f) || (app == UINT32_MAX && find_in_app(s, 0, key, f));
    case REALM_NODE:
        if (q->number != UINT32_MAX || q->node)
            return find_on_node(s, q->number, q->node, key, f);
        return find_on_node_of(c, s, c->me.rank, key, f) ||
               (c->kind == CLIENT_SINGLETON && find_in_job(s, key, f));
    case REALM_ANY: break;
    }
    return false;
}

static bool find_of_job(struct client *c, const struct space *s, struct slice key, bool reserved,
                        struct found_value *f)
{
    bool mine = PMIx_Check_nspace(s->nspace, c->me.nspace);

    if (find_in_job(s, key, f))
        return true;
    if (!reserved)
        return false;
    return (mine && (find_on_node_of(c, s, c->me.rank, key, f) ||
                     find_in_app(s, number_at_rank(s, c->me.rank, PMIX_APPNUM), key, f))) ||
           find_in_session(s, UINT32_MAX, key, f);
}

static bool find_of_rank(struct client *c, const struct space *s, uint32_t rank, struct slice key,
                         bool reserved, struct found_value *f)
{
    if (find_at_rank(s, rank, key, f))
        return true;
    return reserved && (find_on_node_of(c, s, rank, key, f) ||
                        find_in_app(s, number_at_rank(s, rank, PMIX_APPNUM), key, f) ||
                        find_in_job(s, key, f) || find_in_session(s, UINT32_MAX, key, f));
}

/* Any rank that has it. */
static bool find_anywhere(const struct space *s, struct slice key, struct found_value *f)
{
    size_t at = 0;
    struct known *k;
    uint8_t scope;

    while ((k = map_next(&s->values, &at))) {
        if (slice_is(key, known_key(k))) {
            f->known = k;
            return true;
        }
    }
    return card_datum(s->cards, PMIX_RANK_UNDEF, key, &f->datum, &scope) && scope != PMIX_REMOTE;
}

/* Values of global scope are in each, and all are in the global one. */
static bool scope_fits(const struct query *q, const struct found_value *f)
{
    return !q->scope || !f->scope || f->scope == PMIX_GLOBAL || f->scope == q->scope ||
           (q->scope == PMIX_GLOBAL && f->scope != PMIX_INTERNAL);
}

static bool look_up(struct client *c, const struct query *q, struct found_value *f)
{
    const struct space *s = cache_space(&c->cache, q->nspace);
    struct slice key = slice_str(q->key);
    bool there;

    *f = (struct found_value){ NULL };
    if (!s)
        return false;
    if (q->qualified) {
        f->known = space_find_qualified(s, q->rank, key, q->infos, q->ninfos);
        return f->known;
    }
    if (q->realm != REALM_ANY)
        there = find_in_realm(c, s, q, key, f) ||
                (PMIX_RANK_IS_VALID(q->rank) && find_at_rank(s, q->rank, key, f)) ||
                find_in_job(s, key, f) || find_in_session(s, UINT32_MAX, key, f);
    else if (q->rank == PMIX_RANK_WILDCARD)
        there = find_of_job(c, s, key, q->reserved, f);
    else if (PMIX_RANK_IS_VALID(q->rank))
        there = find_of_rank(c, s, q->rank, key, q->reserved, f);
    else
        there = find_of_job(c, s, key, q->reserved, f) || find_anywhere(s, key, f);
    if (there && !scope_fits(q, f))
        f->outside = true;
    return there && !f->outside;
}

/* ---- returning the value --------------------------------------------------------------------- */

/* Long strings travel compressed; callers get the original. */
static pmix_status_t inflate(pmix_value_t *v)
{
    uint8_t *text = NULL;
    char *copy;
    size_t n = 0;

    if (v->type != PMIX_COMPRESSED_STRING)
        return PMIX_SUCCESS;
    if (!PMIx_Data_decompress((const uint8_t *)v->data.bo.bytes, v->data.bo.size, &text, &n))
        return PMIX_ERR_UNPACK_FAILURE;
    copy = realloc(text, n + 1);
    if (!copy) {
        free(text);
        return PMIX_ERR_NOMEM;
    }
    copy[n] = '\0';
    value_release(v);
    v->type = PMIX_STRING;
    v->data.string = copy;
    return PMIX_SUCCESS;
}

/* Returns a copy. */
static pmix_status_t copy_out(const struct found_value *f, pmix_value_t *v)
{
    pmix_status_t rc;

    if (f->known)
        rc = value_copy(v, &f->known->value);
    else
        rc = ptype_status(datum_read(&f->datum, v), PTYPE_UNPACKING);
    if (rc == PMIX_SUCCESS) {
        rc = inflate(v);
        if (rc != PMIX_SUCCESS)
            value_release(v);
    }
    if (rc != PMIX_SUCCESS)
        *v = (pmix_value_t)PMIX_VALUE_STATIC_INIT;
    return rc;
}

/* Lends the library's own copy, which stays. */
static pmix_status_t lend_out(struct client *c, const struct query *q, const struct found_value *f,
                              pmix_value_t **val)
{
    struct space *s = cache_make_space(&c->cache, q->nspace);
    struct known *k = f->known;
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_value_t v;

    if (!k)
        k = space_find_lent(s, q->rank, slice_str(q->key), &f->datum);
    if (!k) {
        rc = copy_out(f, &v);
        if (rc == PMIX_SUCCESS)
            rc = space_lend(s, q->rank, slice_str(q->key), &v, &f->datum, &k);
    } else {
        rc = inflate(&k->value);
    }
    if (rc != PMIX_SUCCESS)
        return rc;
    k->lent = true;
    *val = &k->value;
    return PMIX_SUCCESS;
}

static pmix_status_t hand_out(struct client *c, const struct query *q, const struct found_value *f,
                              pmix_value_t **val)
{
    pmix_value_t *v;
    pmix_status_t rc;

    if (q->by_pointer && q->realm == REALM_ANY)
        return lend_out(c, q, f, val);
    if (q->in_place)
        return *val ? copy_out(f, *val) : PMIX_ERR_BAD_PARAM;
    v = malloc(sizeof *v);
    if (!v)
        return PMIX_ERR_NOMEM;
    rc = copy_out(f, v);
    if (rc == PMIX_SUCCESS)
        *val = v;
    else
        free(v);
    return rc;
}

/* The context id of a group that the query names. */
static bool hand_out_context(struct client *c, const struct query *q, pmix_value_t *v,
                             pmix_status_t *rc_p)
{
    size_t context;

    if (!q->reserved || !PMIx_Check_key(q->key, PMIX_GROUP_CONTEXT_ID))
        return false;
    for (size_t i = 0; i < q->ninfos; i++) {
        if (PMIx_Check_key(q->infos[i].key, PMIX_GROUP_ID) &&
            q->infos[i].value.type == PMIX_STRING && q->infos[i].value.data.string &&
            group_context(c, q->infos[i].value.data.string, &context)) {
            *rc_p = PMIx_Value_load(v, &context, PMIX_SIZE);
            return true;
        }
    }
    return false;
}

/* A group that is named as a namespace is: its context id and its members. */
static bool hand_out_group(struct client *c, const struct query *q, pmix_value_t *v,
                           pmix_status_t *rc_p)
{
    const pmix_proc_t *procs;
    pmix_data_array_t members = { .type = PMIX_PROC };
    size_t context;

    if (q->rank != PMIX_RANK_WILDCARD || !q->reserved || list_empty(&c->groups))
        return false;
    if (PMIx_Check_key(q->key, PMIX_GROUP_CONTEXT_ID) && group_context(c, q->nspace, &context)) {
        *rc_p = PMIx_Value_load(v, &context, PMIX_SIZE);
        return true;
    }
    if (!PMIx_Check_key(q->key, PMIX_GROUP_MEMBERSHIP) ||
        !group_members(c, q->nspace, &procs, &members.size))
        return false;
    members.array = (void *)(uintptr_t)procs;
    *rc_p = PMIx_Value_load(v, &members, PMIX_DATA_ARRAY);
    return true;
}

/* What is told of a rank, as a text; NULL: nothing.  The caller frees it. */
static char *text_at_rank(const struct space *s, uint32_t rank, const char *key)
{
    struct found_value f = { NULL };
    pmix_value_t v;

    if (!find_at_rank(s, rank, slice_str(key), &f) || copy_out(&f, &v) != PMIX_SUCCESS)
        return NULL;
    if (v.type == PMIX_STRING)
        return v.data.string;
    value_release(&v);
    return NULL;
}

static pmix_locality_t locality_of(const struct space *s, uint32_t rank)
{
    pmix_locality_t shared = PMIX_LOCALITY_SHARE_NODE;
    char *mine = text_at_rank(s, s->me, PMIX_LOCALITY_STRING);
    char *other = text_at_rank(s, rank, PMIX_LOCALITY_STRING);

    if (mine && other && PMIx_Get_relative_locality(mine, other, &shared) != PMIX_SUCCESS)
        shared = PMIX_LOCALITY_SHARE_NODE;
    free(mine);
    free(other);
    return shared;
}

/* What this process shares with another of its job, unless the host tells that. */
static bool hand_out_locality(struct client *c, const struct query *q, pmix_value_t *v,
                              pmix_status_t *rc_p)
{
    const struct space *s = cache_space(&c->cache, q->nspace);
    struct found_value f;
    pmix_locality_t shared;
    uint32_t here, there;

    if (!q->reserved || !PMIx_Check_key(q->key, PMIX_LOCALITY) || !s ||
        !PMIX_RANK_IS_VALID(q->rank) || !PMIx_Check_nspace(q->nspace, c->me.nspace) ||
        look_up(c, q, &f))
        return false;
    here = number_at_rank(s, s->me, PMIX_NODEID);
    there = number_at_rank(s, q->rank, PMIX_NODEID);
    if (here == UINT32_MAX || there == UINT32_MAX)
        return false;
    shared = here == there ? locality_of(s, q->rank) : PMIX_LOCALITY_NONLOCAL;
    *rc_p = PMIx_Value_load(v, &shared, PMIX_UINT16);
    return true;
}

/* The library's own, which stays as long as it does; the newer key gives a copy. */
static pmix_status_t lend_topology(struct client *c, pmix_value_t *v)
{
    if (PMIx_Load_topology(&c->topology) != PMIX_SUCCESS)
        return PMIX_ERR_NOT_FOUND;
    v->type = PMIX_POINTER;
    v->data.ptr = c->topology.topology;
    return PMIX_SUCCESS;
}

static pmix_status_t load_topology(pmix_value_t *v)
{
    pmix_topology_t *topo = PMIx_Topology_create(1);

    if (!topo)
        return PMIX_ERR_NOMEM;
    if (PMIx_Load_topology(topo) != PMIX_SUCCESS) {
        PMIx_Topology_free(topo, 1);
        return PMIX_ERR_NOT_FOUND;
    }
    v->type = PMIX_TOPO;
    v->data.topo = topo;
    return PMIX_SUCCESS;
}

/* What the library itself knows. */
static bool hand_out_library(struct client *c, const char *key, pmix_value_t *v,
                             pmix_status_t *rc_p)
{
    uint32_t version = PMIX_NUMERIC_VERSION;

    if (PMIx_Check_key(key, PMIX_TOPOLOGY2))
        *rc_p = load_topology(v);
    else if (PMIx_Check_key(key, PMIX_TOPOLOGY))
        *rc_p = lend_topology(c, v);
    else if (PMIx_Check_key(key, PMIX_VERSION_NUMERIC))
        *rc_p = PMIx_Value_load(v, &version, PMIX_UINT32);
    else if (PMIx_Check_key(key, PMIX_VERSION_INFO))
        *rc_p = PMIx_Value_load(v, PMIx_Get_version(), PMIX_STRING);
    else
        return false;
    return true;
}

/* Our own name and rank, and our server's address, without any search.  A process that does not
 * know its rank asks for that of PMIX_RANK_INVALID. */
static bool hand_out_self(struct client *c, const struct query *q, pmix_value_t *v,
                          pmix_status_t *rc_p)
{
    bool unnamed = q->rank == PMIX_RANK_INVALID && q->reserved &&
                   PMIx_Check_key(q->key, PMIX_RANK) && PMIx_Check_nspace(q->nspace, c->me.nspace);

    if (hand_out_context(c, q, v, rc_p) || hand_out_group(c, q, v, rc_p) ||
        hand_out_locality(c, q, v, rc_p))
        return true;
    if (!q->reserved || (!unnamed && !client_is_me(c, q->nspace, q->rank)))
        return false;
    if (PMIx_Check_key(q->key, PMIX_PROCID))
        *rc_p = PMIx_Value_load(v, &c->me, PMIX_PROC);
    else if (PMIx_Check_key(q->key, PMIX_NSPACE))
        *rc_p = PMIx_Value_load(v, c->me.nspace, PMIX_STRING);
    else if (PMIx_Check_key(q->key, PMIX_RANK))
        *rc_p = PMIx_Value_load(v, &c->me.rank, PMIX_PROC_RANK);
    else if ((PMIx_Check_key(q->key, PMIX_SERVER_URI) ||
              PMIx_Check_key(q->key, PMIX_MYSERVER_URI)) &&
             c->server && c->server->uri)
        *rc_p = PMIx_Value_load(v, c->server->uri, PMIX_STRING);
    else
        return hand_out_library(c, q->key, v, rc_p);
    return true;
}

/* ---- all values of a rank -------------------------------------------------------------------- */

struct gathering {
    pmix_info_t *infos;
    size_t n, room;
    pmix_status_t rc;
};

static pmix_info_t *new_info(struct gathering *g, struct slice key)
{
    pmix_info_t *more, *info;

    if (g->n == g->room) {
        g->room = g->room ? g->room * 2 : 16;
        more = realloc(g->infos, g->room * sizeof *more);
        if (!more) {
            g->rc = PMIX_ERR_NOMEM;
            return NULL;
        }
        g->infos = more;
    }
    info = &g->infos[g->n++];
    memset(info, 0, sizeof *info);
    memcpy(info->key, key.ptr, key.len < PMIX_MAX_KEYLEN ? key.len : PMIX_MAX_KEYLEN);
    return info;
}

static void gather(struct gathering *g, struct slice key, const struct found_value *f)
{
    pmix_info_t *info = g->rc == PMIX_SUCCESS ? new_info(g, key) : NULL;

    if (info)
        g->rc = copy_out(f, &info->value);
}

static void gather_known(struct gathering *g, const struct space *s, uint32_t rank)
{
    size_t at = 0;
    struct known *k;

    while ((k = map_next(&s->values, &at))) {
        if (k->rank == rank)
            gather(g, slice_str(known_key(k)), &(struct found_value){ .known = k });
    }
}

static void gather_infos(struct gathering *g, const struct space *s, uint32_t rank)
{
    struct list *first = list_first(&s->infos);
    const struct job_info *j = first ? LIST_OF(first, const struct job_info, link) : NULL;
    struct info_part p;
    bool there = j && job_info_part(j, INFO_RANK, rank, SLICE_NULL, &p);
    struct info_walk w = { .begun = false };
    struct info_item item;

    for (size_t i = 0; j && rank == PMIX_RANK_WILDCARD && i < j->nitems; i++) {
        item = j->items[i];
        gather(g, item.key, &(struct found_value){ NULL, { item.type, item.bytes, j->as } });
    }
    while (there && info_part_next(j, INFO_RANK, &p, &w, &item))
        gather(g, item.key, &(struct found_value){ NULL, { item.type, item.bytes, j->as } });
}

/* Returns an array of infos.  For its own name a host gets the values that it has put or stored, as
 * from OpenPMIx: Open MPI's daemons send all of it to mpirun, and could not send the rest that we
 * know of them. */
static pmix_status_t hand_out_all(struct client *c, const struct query *q, pmix_value_t **val)
{
    const struct space *s = cache_space(&c->cache, q->nspace);
    struct gathering g = { .rc = PMIX_SUCCESS };
    pmix_data_array_t *a = calloc(1, sizeof *a);
    pmix_value_t *v = calloc(1, sizeof *v);

    if (s) {
        gather_known(&g, s, q->rank);
        if (!c->turn || !client_is_me(c, q->nspace, q->rank))
            gather_infos(&g, s, q->rank);
    }
    if (!a || !v)
        g.rc = PMIX_ERR_NOMEM;
    else if (g.rc == PMIX_SUCCESS && g.n == 0)
        g.rc = PMIX_ERR_NOT_FOUND;
    if (g.rc != PMIX_SUCCESS) {
        PMIx_Info_free(g.infos, g.n);
        free(a);
        free(v);
        return g.rc;
    }
    *a = (pmix_data_array_t){ PMIX_INFO, g.n, g.infos };
    v->type = PMIX_DATA_ARRAY;
    v->data.darray = a;
    *val = v;
    return PMIX_SUCCESS;
}

/* ---- asking the server ----------------------------------------------------------------------- */

static pmix_status_t take_values(struct client *c, const struct pmsg_proc_values *v,
                                 const struct punpack *reply)
{
    struct space *s = cache_make_space(&c->cache, v->owner.nspace);
    struct punpack r = pmsg_inside(reply, v->values);

    if (!s)
        return PMIX_ERR_NOMEM;
    if (v->owner.rank == PMIX_RANK_WILDCARD)
        return space_copy_info(s, v->values, reply->as);
    return space_take_values(s, v->owner.rank, &r);
}

static void read_values(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_owned m;
    struct pmsg_proc_values v;
    struct punpack all;

    if (op->status != PMIX_SUCCESS || reply_get(op, r, owned, &m) != PTYPE_FINE)
        return;
    all = pmsg_inside(r, m.values);
    while (op->status == PMIX_SUCCESS && pmsg_next_owned_values(&all, op->server->release, &v))
        op->status = take_values(c, &v, &all);
    r->error = all.error;
}

static const struct op_kind get_kind = { .read = read_values };

static bool has_key(const struct query *q, const char *key)
{
    for (size_t i = 0; i < q->ninfos; i++) {
        if (PMIx_Check_key(q->infos[i].key, key))
            return true;
    }
    return false;
}

/* Infos that concern only this process and are not sent. */
static bool is_local(const pmix_info_t *info)
{
    return PMIx_Check_key(info->key, PMIX_GET_STATIC_VALUES) ||
           PMIx_Check_key(info->key, PMIX_GET_POINTER_VALUES);
}

static void pack_get(struct message *m, const struct query *q)
{
    bool mine = client_is_me(m->c, q->nspace, q->rank);
    bool at_once = (q->reserved || mine) && !has_key(q, PMIX_IMMEDIATE);
    pmix_info_t *sent = calloc(q->ninfos + 1, sizeof *sent);
    size_t n = 0;

    if (!sent) {
        m->w.error = PTYPE_NO_MEMORY;
        return;
    }
    for (size_t i = 0; i < q->ninfos; i++) {
        if (!is_local(&q->infos[i]))
            sent[n++] = q->infos[i];
    }
    if (at_once) { /* a server has data about itself, or about us, now or never */
        PMIx_Load_key(sent[n].key, PMIX_IMMEDIATE);
        sent[n].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
        n++;
    }
    message_put(m, get,
                { .has = q->key ? PMSG_BIT(get, key) : 0,
                  .nspace = slice_str(q->nspace),
                  .rank = q->rank,
                  .infos = PMSG_LENT(sent, n),
                  .key = slice_str(q->key) });
    free(sent); /* the values are the caller's */
}

static pmix_status_t begin_get(struct client *c, struct message *m, const struct query *q)
{
    pmix_status_t rc = message_begin(c, m, CMD_GET);

    if (rc == PMIX_SUCCESS)
        pack_get(m, q);
    return rc;
}

/* Directories are created, and the topology is discovered, on demand: our servers report them only
 * when asked, others from the start.  So even a caller that only wants known values gets them. */
static bool is_on_demand(const struct query *q)
{
    static const char *const keys[] = { PMIX_NSDIR,        PMIX_PROCDIR,    PMIX_TMPDIR,
                                        PMIX_TDIR_RMCLEAN, PMIX_LOCAL_TOPO, PMIX_HWLOC_XML_V2 };

    for (size_t i = 0; q->key && i < sizeof keys / sizeof *keys; i++) {
        if (PMIx_Check_key(q->key, keys[i]))
            return true;
    }
    return false;
}

/* Also of ourselves: another process of the same rank may have put it. */
static bool worth_asking(const struct client *c, const struct query *q)
{
    return c->server && (!q->optional || (is_on_demand(q) && c->store.base));
}

static pmix_status_t ask(struct client *c, const struct query *q)
{
    struct message m;
    struct op op;
    pmix_status_t rc = begin_get(c, &m, q);

    if (rc != PMIX_SUCCESS)
        return rc;
    op_init(&op, &get_kind);
    rc = op_call(&m, &op);
    op_clear(&op);
    return rc;
}

/* ---- the blocking call ----------------------------------------------------------------------- */

static pmix_status_t get_all(struct client *c, const struct query *q, pmix_value_t **val)
{
    pmix_status_t rc;

    if (worth_asking(c, q) && PMIX_RANK_IS_VALID(q->rank)) {
        rc = ask(c, q);
        if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_FOUND)
            return rc;
    }
    return hand_out_all(c, q, val);
}

static pmix_status_t get(struct client *c, const struct query *q, pmix_value_t **val)
{
    pmix_status_t rc = PMIX_SUCCESS;
    struct found_value f;

    if (!q->key)
        return get_all(c, q, val);
    if (!q->refresh && look_up(c, q, &f))
        return hand_out(c, q, &f, val);
    if (!q->refresh && f.outside)
        return PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    if (worth_asking(c, q))
        rc = ask(c, q);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (look_up(c, q, &f))
        return hand_out(c, q, &f, val);
    return f.outside ? PMIX_ERR_EXISTS_OUTSIDE_SCOPE : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t get_or_self(struct client *c, const struct query *q, pmix_value_t **val)
{
    pmix_value_t v, *copy;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!q->key || !hand_out_self(c, q, &v, &rc))
        return get(c, q, val);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (q->in_place) {
        **val = v;
        return rc;
    }
    copy = malloc(sizeof *copy);
    if (!copy) {
        value_release(&v);
        return PMIX_ERR_NOMEM;
    }
    *copy = v;
    *val = copy;
    return rc;
}

pmix_status_t client_get(struct client *c, const pmix_proc_t *proc, const char *key,
                         const pmix_info_t *infos, size_t ninfos, pmix_value_t **val)
{
    struct query q;
    pmix_value_t *unwanted = NULL;
    pmix_status_t rc = make_query(c, &q, proc, key, infos, ninfos);

    if (rc == PMIX_SUCCESS && q.in_place && (!val || !*val))
        rc = PMIX_ERR_BAD_PARAM;
    if (rc != PMIX_SUCCESS)
        return rc;
    if (!val) { /* the caller wants to know only whether there is a value */
        val = &unwanted;
        q.by_pointer = false;
    }
    if (!q.in_place)
        *val = NULL;
    rc = get_or_self(c, &q, val);
    if (unwanted)
        PMIx_Value_free(unwanted, 1);
    return rc;
}

pmix_status_t client_get_locked(const pmix_proc_t *proc, const char *key, const pmix_info_t *infos,
                                size_t ninfos, pmix_value_t **val)
{
    struct client *c = api_begin();

    return c ? api_end(c, client_get(c, proc, key, infos, ninfos, val)) : PMIX_ERR_INIT;
}

/* ---- with a callback ------------------------------------------------------------------------- */

/* The arguments that the call still needs when the reply comes. */
struct kept_query {
    struct query q;
    pmix_nspace_t nspace;
    pmix_key_t key;
    pmix_info_t *infos;
    size_t ninfos;
};

static void free_kept(void *arg)
{
    struct kept_query *k = arg;

    PMIx_Info_free(k->infos, k->ninfos);
    free(k);
}

static struct kept_query *keep(const struct query *q)
{
    struct kept_query *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    k->q = *q;
    PMIx_Load_nspace(k->nspace, q->nspace);
    k->q.nspace = k->nspace;
    if (q->key) {
        PMIx_Load_key(k->key, q->key);
        k->q.key = k->key;
    }
    if (infos_copy(q->infos, q->ninfos, &k->infos) != PMIX_SUCCESS) {
        free(k);
        return NULL;
    }
    k->ninfos = q->ninfos;
    k->q.infos = k->infos;
    k->q.ninfos = k->ninfos;
    k->q.in_place = false;
    /* The names of nodes point into the infos. */
    for (size_t i = 0; i < k->ninfos; i++)
        read_qualifiers(&k->q, &k->infos[i]);
    return k;
}

static pmix_status_t find_for(struct client *c, struct op *op)
{
    struct kept_query *k = op->arg;
    struct found_value f;

    if (!k->q.key)
        return hand_out_all(c, &k->q, &op->out.value);
    if (!look_up(c, &k->q, &f))
        return f.outside ? PMIX_ERR_EXISTS_OUTSIDE_SCOPE : PMIX_ERR_NOT_FOUND;
    op->out.lent = k->q.by_pointer && k->q.realm == REALM_ANY;
    return hand_out(c, &k->q, &f, &op->out.value);
}

static void read_then_find(struct client *c, struct op *op, struct punpack *r)
{
    read_values(c, op, r);
    if (op->status == PMIX_SUCCESS && punpack_ok(r))
        op->status = find_for(c, op);
}

static void deliver_value(struct op *op)
{
    op->callback.value(op->status, op->out.value, op->cbdata);
}

static const struct op_kind get_nb_kind = { .read = read_then_find, .deliver = deliver_value };

/* The value is known already; the callback is run nevertheless, and later. */
static pmix_status_t answer_now(struct client *c, struct op *op, const struct query *q)
{
    pmix_value_t v;
    pmix_status_t rc = PMIX_SUCCESS;

    if (q->key && hand_out_self(c, q, &v, &rc)) {
        op->out.value = malloc(sizeof v);
        if (op->out.value)
            *op->out.value = v;
        else
            rc = PMIX_ERR_NOMEM;
        return rc;
    }
    return find_for(c, op);
}

static pmix_status_t get_nb(struct client *c, const struct query *q, pmix_value_cbfunc_t cbfunc,
                            void *cbdata)
{
    struct op *op = op_new(&get_nb_kind, cbdata);
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    struct message m;

    if (!op)
        return PMIX_ERR_NOMEM;
    op->callback.value = cbfunc;
    op->arg = keep(q);
    op->free_arg = op->arg ? free_kept : NULL;
    if (!op->arg) {
        op_free(op);
        return PMIX_ERR_NOMEM;
    }
    if (!q->refresh && (q->key || !worth_asking(c, q)))
        rc = answer_now(c, op, q);
    if (rc == PMIX_ERR_NOT_FOUND && worth_asking(c, q)) {
        rc = begin_get(c, &m, q);
        if (rc == PMIX_SUCCESS)
            return progress_send(&m, op);
        op_free(op);
        return rc;
    }
    return progress_complete(c, op, rc);
}

pmix_status_t PMIx_Get_nb(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                          size_t ninfo, pmix_value_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct query q;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = cbfunc ? make_query(c, &q, proc, key, info, ninfo) : PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS && q.in_place)
        rc = PMIX_ERR_BAD_PARAM;
    if (rc == PMIX_SUCCESS)
        rc = get_nb(c, &q, cbfunc, cbdata);
    return api_end(c, rc);
}
