/* pmix_names.c - see pmix_names.h. */
#include "server/pmix_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/modex.h"
#include "core/request.h"
#include "server/pmix_batch.h"
#include "server/pmix_value.h"

/* ---- requests -------------------------------------------------------------------------------- */

static void ask_name(struct command *c, struct pmix_batch *b, struct request rq,
                     struct slice service)
{
    struct pmix_pending *p = pmix_batch_ask(c, b, rq);

    if (p)
        p->key = strndup(service.ptr ? service.ptr : "", service.len);
}

/* Attributes are never data, not even those that are unknown. */
static bool is_attribute(const char *key)
{
    return !strncmp(key, "pmix.", 5);
}

/* The attributes of a message; a list in them is borrowed from it. */
struct directives {
    enum name_persistence persistence;
    struct name_scope scope;
    struct name_access access;
    bool wait;
    uint32_t needed; /* it waits for so many keys; 0: for all */
    uint64_t timeout_ns;
};

/* The session is the launcher's: it ends with the launcher, and not with a job. */
static pmix_status_t take_persistence(struct command *c, const pmix_value_t *v,
                                      struct directives *d)
{
    static const enum name_persistence ours[] = { [PMIX_PERSIST_INDEF] = NAME_STAYS,
                                                  [PMIX_PERSIST_FIRST_READ] = NAME_READ_ONCE,
                                                  [PMIX_PERSIST_PROC] = NAME_OF_PROC,
                                                  [PMIX_PERSIST_APP] = NAME_OF_APP,
                                                  [PMIX_PERSIST_SESSION] = NAME_STAYS };

    (void)c;
    if (v->type != PMIX_PERSIST || v->data.persist >= sizeof ours / sizeof *ours)
        return PMIX_ERR_BAD_PARAM;
    d->persistence = ours[v->data.persist];
    return PMIX_SUCCESS;
}

/* Open MPI 5 looks up and unpublishes with a range that it has not set (ompi_global_scope): any
 * value may stand there.  So a range that is not marked as required is a preference there
 * (prefer_range()), and a value that is no range counts as none.  Data is never published on such a
 * one. */
static pmix_status_t take_range(struct command *c, const pmix_value_t *v, struct directives *d)
{
    static const enum name_range ours[] = {
        [PMIX_RANGE_UNDEF] = NAME_RANGE_DEFAULT,   [PMIX_RANGE_RM] = NAME_RANGE_RM,
        [PMIX_RANGE_LOCAL] = NAME_RANGE_LOCAL,     [PMIX_RANGE_NAMESPACE] = NAME_RANGE_NAMESPACE,
        [PMIX_RANGE_SESSION] = NAME_RANGE_SESSION, [PMIX_RANGE_GLOBAL] = NAME_RANGE_GLOBAL,
        [PMIX_RANGE_CUSTOM] = NAME_RANGE_CUSTOM,   [PMIX_RANGE_PROC_LOCAL] = NAME_RANGE_PROC
    };

    if (v->type != PMIX_DATA_RANGE)
        return PMIX_ERR_BAD_PARAM;
    if (v->data.range >= sizeof ours / sizeof *ours)
        return c->cmd == CMD_PUBLISH ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    d->scope.range = ours[v->data.range];
    return PMIX_SUCCESS;
}

/* The processes of PMIX_RANGE_CUSTOM; the Standard has the attribute for events. */
static pmix_status_t take_custom(struct command *c, const pmix_value_t *v, struct directives *d)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const pmix_proc_t *procs = a && a->type == PMIX_PROC ? a->array : NULL;
    struct slice *nspaces = procs ? arena_array(&c->s->arena, a->size, sizeof *nspaces) : NULL;
    uint32_t *ranks = procs ? arena_array(&c->s->arena, a->size, sizeof *ranks) : NULL;

    if (!procs || a->size > LIMIT_CLIENT_NAMES)
        return PMIX_ERR_BAD_PARAM;
    if (!nspaces || !ranks)
        return PMIX_ERR_NOMEM;
    for (uint32_t i = 0; i < a->size; i++) {
        nspaces[i] =
            pmix_keep(c, slice_mem(procs[i].nspace, strnlen(procs[i].nspace, PMIX_MAX_NSLEN)));
        ranks[i] = procs[i].rank;
    }
    d->scope.nspaces = (struct part_texts){ nspaces, (uint32_t)a->size };
    d->scope.ranks = (struct part_uints){ ranks, (uint32_t)a->size };
    return PMIX_SUCCESS;
}

/* A list of user or group ids. */
static pmix_status_t take_ids(struct command *c, const pmix_value_t *v, struct part_uints *ids_p)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    uint32_t *ids;

    if (!a || a->type != PMIX_UINT32 || !a->array || !a->size || a->size > LIMIT_CLIENT_NAMES)
        return PMIX_ERR_BAD_PARAM;
    ids = arena_array(&c->s->arena, a->size, sizeof *ids);
    if (!ids)
        return PMIX_ERR_NOMEM;
    memcpy(ids, a->array, a->size * sizeof *ids);
    *ids_p = (struct part_uints){ ids, (uint32_t)a->size };
    return PMIX_SUCCESS;
}

static pmix_status_t take_uids(struct command *c, const pmix_value_t *v, struct directives *d)
{
    return take_ids(c, v, &d->access.uids);
}

static pmix_status_t take_gids(struct command *c, const pmix_value_t *v, struct directives *d)
{
    return take_ids(c, v, &d->access.gids);
}

static pmix_status_t take_access(struct command *c, const pmix_value_t *v, struct directives *d)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const pmix_info_t *infos = a && a->type == PMIX_INFO ? a->array : NULL;
    pmix_status_t rc = infos ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;

    for (size_t i = 0; infos && rc == PMIX_SUCCESS && i < a->size; i++) {
        if (!strcmp(infos[i].key, PMIX_ACCESS_USERIDS))
            rc = take_uids(c, &infos[i].value, d);
        else if (!strcmp(infos[i].key, PMIX_ACCESS_GRPIDS))
            rc = take_gids(c, &infos[i].value, d);
        else
            rc = PMIX_ERR_NOT_SUPPORTED; /* a permission that is not checked must not be given */
    }
    return rc;
}

/* Open MPI gives a truth value; a number is how many keys are enough. */
static pmix_status_t take_wait(struct command *c, const pmix_value_t *v, struct directives *d)
{
    uint64_t needed = pmix_number_of(v);

    (void)c;
    d->wait = pmix_is_number(v) || pmix_flag_of(v);
    d->needed = needed < UINT32_MAX ? (uint32_t)needed : 0;
    return d->wait || v->type == PMIX_BOOL ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t take_timeout(struct command *c, const pmix_value_t *v, struct directives *d)
{
    (void)c;
    d->timeout_ns = pmix_seconds_of(v);
    return pmix_is_number(v) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* Whom the kernel names counts. */
static pmix_status_t take_claim(struct command *c, const pmix_value_t *v, struct directives *d)
{
    (void)c;
    (void)d;
    return v->type == PMIX_UINT32 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

enum { IN_PUBLISH = 1, IN_LOOKUP = 2, IN_UNPUBLISH = 4, IN_ALL = 7 };

/* All that these calls know. */
static const struct {
    const char *key;
    unsigned calls;
    pmix_status_t (*take)(struct command *c, const pmix_value_t *v, struct directives *d);
} attributes[] = {
    { PMIX_RANGE, IN_ALL, take_range },
    { PMIX_EVENT_CUSTOM_RANGE, IN_PUBLISH | IN_LOOKUP, take_custom },
    { PMIX_PERSISTENCE, IN_PUBLISH, take_persistence },
    { PMIX_ACCESS_PERMISSIONS, IN_PUBLISH, take_access },
    { PMIX_ACCESS_USERIDS, IN_PUBLISH, take_uids },
    { PMIX_ACCESS_GRPIDS, IN_PUBLISH, take_gids },
    { PMIX_WAIT, IN_LOOKUP, take_wait },
    { PMIX_TIMEOUT, IN_ALL, take_timeout },
    { PMIX_USERID, IN_ALL, take_claim },
    { PMIX_GRPID, IN_ALL, take_claim },
};

static pmix_status_t take(struct command *c, const pmix_info_t *info, struct directives *d)
{
    unsigned call = c->cmd == CMD_PUBLISH  ? IN_PUBLISH
                    : c->cmd == CMD_LOOKUP ? IN_LOOKUP
                                           : IN_UNPUBLISH;

    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if ((attributes[i].calls & call) && !strcmp(info->key, attributes[i].key))
            return attributes[i].take(c, &info->value, d);
    }
    return is_attribute(info->key) && (info->flags & PMIX_INFO_REQD) ? PMIX_ERR_NOT_SUPPORTED
                                                                     : PMIX_SUCCESS;
}

/* See take_range(). */
static void prefer_range(const struct command *c, const pmix_info_t *info, struct directives *d)
{
    if (!strcmp(info->key, PMIX_RANGE))
        d->scope.preferred = c->cmd != CMD_PUBLISH && !(info->flags & PMIX_INFO_REQD);
}

static pmix_status_t read_directives(struct command *c, const pmix_info_t *infos, size_t n,
                                     struct directives *d_p)
{
    *d_p = (struct directives){ .persistence = NAME_OF_APP };
    for (size_t i = 0; i < n; i++) {
        pmix_status_t rc = take(c, &infos[i], d_p);
        if (rc != PMIX_SUCCESS)
            return rc;
        prefer_range(c, &infos[i], d_p);
    }
    if (d_p->scope.range != NAME_RANGE_CUSTOM || d_p->scope.ranks.n)
        return PMIX_SUCCESS;
    if (!d_p->scope.preferred)
        return PMIX_ERR_BAD_PARAM; /* it lists nobody */
    d_p->scope.range = NAME_RANGE_DEFAULT;
    return PMIX_SUCCESS;
}

static void publish_one(struct command *c, struct pmix_batch *b, pmix_info_t *info,
                        const struct directives *d)
{
    bool plain = info->value.type == PMIX_STRING;
    struct slice service = pmix_keep(c, slice_str(info->key));

    ask_name(c, b,
             REQUEST_WITH(publish, .service = service, .persistence = d->persistence,
                          .timeout_ns = d->timeout_ns, .scope = d->scope, .access = d->access,
                          .type = plain ? 0 : info->value.type,
                          .port = plain ? pmix_keep(c, slice_str(info->value.data.string))
                                        : pmix_keep_value(c, &info->value)),
             service);
}

void pmix_read_publish(struct command *c)
{
    struct pmix_batch *b = pmix_batch_new(c);
    struct directives d;
    struct pmsg_publish m;
    pmix_status_t rc;

    pmsg_read_publish(&c->r, c->s->release, &m);
    rc = read_directives(c, m.infos.items, m.infos.n, &d);
    for (size_t i = 0; b && rc == PMIX_SUCCESS && i < m.infos.n && punpack_ok(&c->r); i++) {
        if (!is_attribute(m.infos.items[i].key))
            publish_one(c, b, &m.infos.items[i], &d);
    }
    pmsg_free_publish(&m, NULL);
    pmix_batch_end(c, b, rc == PMIX_SUCCESS ? PMIX_ERR_BAD_PARAM : rc);
}

static uint32_t count_keys(const struct pmsg_keys *m)
{
    uint32_t n = 0;

    for (size_t i = 0; i < m->keys.n; i++)
        n += m->keys.items[i].len > 0;
    return n;
}

static struct request key_request(const struct command *c, struct slice service, uint32_t nkeys,
                                  const struct directives *d)
{
    bool some = d->wait && d->needed > 0 && d->needed < nkeys;

    if (c->cmd == CMD_LOOKUP)
        return REQUEST_WITH(lookup, .service = service, .wait = d->wait,
                            .timeout_ns = d->timeout_ns, .scope = d->scope,
                            .uid = c->s->base.peer->uid, .gid = c->s->base.peer->gid,
                            .batch = (uint64_t)c->s->base.peer->id << 32 | c->tag,
                            .batch_needed = some ? d->needed : 0, .batch_total = some ? nkeys : 0);
    return REQUEST_WITH(unpublish, .service = service, .own = true, .scope = d->scope,
                        .timeout_ns = d->timeout_ns);
}

static void ask_keys(struct command *c, struct pmix_batch *b, const struct pmsg_keys *m,
                     const struct directives *d)
{
    uint32_t nkeys = count_keys(m);

    if (c->cmd == CMD_UNPUBLISH && m->keys.n == 0)
        ask_name(c, b, key_request(c, SLICE_NULL, 0, d),
                 SLICE_NULL); /* all that it has published */
    for (size_t i = 0; i < m->keys.n && !c->no_memory; i++) {
        if (m->keys.items[i].len)
            ask_name(c, b, key_request(c, m->keys.items[i], nkeys, d), m->keys.items[i]);
    }
}

void pmix_read_keys(struct command *c)
{
    struct pmix_batch *b = pmix_batch_new(c);
    struct directives d;
    struct pmsg_keys m;
    pmix_status_t rc;

    pmsg_read_keys(&c->r, c->s->release, &m);
    rc = read_directives(c, m.infos.items, m.infos.n, &d);
    if (b && rc == PMIX_SUCCESS && punpack_ok(&c->r))
        ask_keys(c, b, &m, &d);
    pmsg_free_keys(&m, NULL);
    pmix_batch_end(c, b, rc == PMIX_SUCCESS ? PMIX_ERR_BAD_PARAM : rc);
}

/* ---- replies --------------------------------------------------------------------------------- */

/* Room for one more; memory grows as names are found.  NULL: there is no memory. */
static pmix_pdata_t *room_for(struct pmix_batch *b, size_t bytes)
{
    pmix_pdata_t *more = b->found;

    if (bytes > LIMIT_CLIENT_QUEUE - b->bytes)
        return NULL;
    if ((b->nfound & (b->nfound - 1)) == 0)
        more = realloc(b->found, (b->nfound ? b->nfound * 2 : 1) * sizeof *more);
    if (!more)
        return NULL;
    b->found = more;
    return memset(&more[b->nfound], 0, sizeof *more);
}

static void add_found(const struct pmix_pending *p, const struct answer *a)
{
    struct answer_lookup found = answer_to_lookup(a);
    struct pmix_batch *b = p->batch;
    pmix_pdata_t *d = room_for(b, found.port.len);

    if (!d || !pmix_value_of(found.type ? found.type : MODEX_STRING, found.port, &d->value)) {
        b->worst = ANSWER_NO_MEMORY;
        return;
    }
    strncpy(d->proc.nspace, found.job ? found.job->nspace : "", PMIX_MAX_NSLEN);
    d->proc.rank = found.job ? found.rank : PMIX_RANK_UNDEF;
    strncpy(d->key, p->key ? p->key : "", PMIX_MAX_KEYLEN);
    b->bytes += found.port.len;
    b->nfound++;
}

static void send_found(struct pmix_session *s, uint32_t tag, const struct pmix_batch *b)
{
    const struct pmsg_found m = {
        .has = PMSG_BIT(found, found),
        .status = b->worst == ANSWER_OK ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS,
        .found = PMSG_LENT(b->found, b->nfound),
    };
    struct ppack w = pmix_writer(s);

    pmsg_write_found(&w, s->release, &m);
    pmix_send(s, tag);
}

void pmix_reply_names(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct pmix_batch *b = p->batch;

    if (a->status == ANSWER_OK && p->cmd == CMD_LOOKUP)
        add_found(p, a);
    else if (b->worst == ANSWER_OK || (a->status != ANSWER_OK && a->status != ANSWER_DENIED))
        b->worst = a->status; /* access is denied if it is denied to all of them */
    if (b->left > 1)
        ; /* the reply waits for the others */
    else if (p->cmd == CMD_LOOKUP && b->nfound)
        send_found(s, p->tag, b);
    else
        pmix_reply_status(s, p->tag, pmix_status_of(b->worst));
    pmix_batch_leave(b);
}
