/* client_put.c - see client_put.h: PMIx_Put, PMIx_Store_internal, PMIx_Commit. */
#include "lib/pmix/client/client_put.h"

#include "base/limit.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"
#include "wire/pmix_ours.h"

void puts_init(struct puts *p)
{
    p->to = NULL;
    list_init(&p->fresh);
    list_init(&p->sent);
}

/* The server has all that was put. */
static void puts_sent(struct puts *p, const struct server_link *to)
{
    p->to = to;
    list_move_all(&p->fresh, &p->sent);
}

/* It may lack something: the next commit sends everything. */
static void puts_again(struct puts *p)
{
    list_move_all(&p->fresh, &p->sent);
    list_move_all(&p->sent, &p->fresh);
}

static bool key_fits(const char *key)
{
    return key && *key && strnlen(key, PMIX_MAX_KEYLEN + 1) <= PMIX_MAX_KEYLEN;
}

/* Stores into the space of nspace, as rank's value. */
static pmix_status_t store(struct client *c, const char *nspace, uint32_t rank, const char *key,
                           const pmix_value_t *val, struct known **k_p)
{
    struct space *s = cache_make_space(&c->cache, nspace);
    pmix_value_t copy;
    pmix_status_t rc;

    if (!s)
        return PMIX_ERR_NOMEM;
    rc = value_copy(&copy, val);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (PMIx_Check_key(key, PMIX_QUALIFIED_VALUE))
        return space_put_qualified(s, rank, &copy, k_p);
    return space_put(s, rank, slice_str(key), &copy, k_p);
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[], pmix_value_t *val)
{
    struct client *c = api_begin();
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (!proc || !key_fits(key) || !val)
        rc = PMIX_ERR_BAD_PARAM;
    else
        rc = store(c, *proc->nspace ? proc->nspace : c->me.nspace, proc->rank, key, val, NULL);
    return api_end(c, rc);
}

/* The process manager tells these of every process itself.  Open MPI 4 puts them in MPI_Init, to
 * which a refusal is an error: the first one ends it. */
static bool is_reserved(const char *key)
{
    return PMIx_Check_key(key, PMIX_HOSTNAME) || PMIx_Check_key(key, PMIX_CPUSET);
}

/* Our server would refuse the whole commit, long after the put. */
static bool value_fits(const pmix_value_t *v)
{
    if (v->type == PMIX_STRING)
        return !v->data.string || strlen(v->data.string) < LIMIT_STORE_VALUE;
    if (v->type == PMIX_BYTE_OBJECT || v->type == PMIX_COMPRESSED_STRING)
        return v->data.bo.size < LIMIT_STORE_VALUE;
    return true;
}

static pmix_status_t put(struct client *c, pmix_scope_t scope, const char *key, pmix_value_t *val)
{
    struct known *k;
    pmix_status_t rc;

    if (scope < PMIX_LOCAL || scope > PMIX_INTERNAL || !key_fits(key) || !val)
        return PMIX_ERR_BAD_PARAM;
    if (PMIx_Check_reserved_key(key) && !PMIx_Check_key(key, PMIX_QUALIFIED_VALUE))
        return is_reserved(key) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    if (scope != PMIX_INTERNAL && c->server && c->server->quiet && !value_fits(val))
        return PMIX_ERR_OUT_OF_RESOURCE;
    rc = store(c, c->me.nspace, c->me.rank, key, val, &k);
    if (rc != PMIX_SUCCESS)
        return rc;
    k->scope = scope;
    if (scope != PMIX_INTERNAL)
        list_append(&c->puts.fresh, &k->put);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *val)
{
    struct client *c = api_begin();

    return c ? api_end(c, put(c, scope, key, val)) : PMIX_ERR_INIT;
}

/* ---- commit ---------------------------------------------------------------------------------- */

static void pack_qualified(struct ppack *w, const struct known *k)
{
    pmix_info_t *infos = PMIx_Info_create(k->nquals + 1);
    pmix_data_array_t array = { PMIX_INFO, k->nquals + 1, infos };
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    if (!infos) {
        w->error = PTYPE_NO_MEMORY;
        return;
    }
    /* They borrow the values: these infos are never released. */
    PMIx_Load_key(infos[0].key, known_key(k));
    infos[0].value = k->value;
    for (size_t i = 0; i < k->nquals; i++)
        infos[i + 1] = k->quals[i];
    ppack_kval(w, PMIX_QUALIFIED_VALUE, &v);
    free(infos);
}

static bool pack_bundle(struct client *c, struct message *m, uint8_t scope, uint8_t or_scope)
{
    struct buf bytes = BUF_NULL(LIMIT_PMIX_MESSAGE);
    struct ppack w = pmsg_part(&m->w, &bytes);

    LIST_EACH(l, &c->puts.fresh)
    {
        const struct known *k = LIST_OF(l, struct known, put);
        if (k->scope != scope && k->scope != or_scope)
            continue;
        if (k->nquals)
            pack_qualified(&w, k);
        else
            ppack_kval(&w, known_key(k), &k->value);
    }
    if (!ppack_ok(&w)) {
        m->w.error = w.error;
    } else if (buf_len(&bytes)) {
        pmsg_add_commit_bundles(
            &m->w, m->server->release,
            &(struct pmsg_bundle){ .scope = scope, .values.bytes = buf_slice(&bytes) });
    }
    buf_free(&bytes);
    return ppack_ok(&m->w);
}

pmix_status_t puts_outcome(struct puts *p, struct server_link *s)
{
    pmix_status_t rc = s->refused;

    if (rc != PMIX_SUCCESS)
        puts_again(p);
    s->refused = PMIX_SUCCESS;
    return rc;
}

static pmix_status_t commit_and_wait(struct client *c, struct message *m)
{
    struct op op;
    pmix_status_t rc;

    op_init(&op, &op_status_only);
    puts_sent(&c->puts, m->server);
    rc = op_call(m, &op);
    if (rc != PMIX_SUCCESS)
        puts_again(&c->puts);
    op_clear(&op);
    return rc;
}

/* Our own server replies only if it must; the next commit or fence reports a failure. */
static pmix_status_t commit_and_go(struct client *c, struct message *m)
{
    struct server_link *s = c->server;
    pmix_status_t rc;

    puts_sent(&c->puts, s);
    rc = message_send_alone(m, OURS_TAG_QUIET);
    if (rc != PMIX_SUCCESS) {
        puts_again(&c->puts);
        return rc;
    }
    s->unsure = true;
    if (!buf_len(&s->conn.out))
        return PMIX_SUCCESS;
    rc = message_begin(c, m, CMD_COMMIT); /* the socket is full: waits for room */
    if (rc == PMIX_SUCCESS)
        rc = commit_and_wait(c, m);
    return rc == PMIX_SUCCESS ? puts_outcome(&c->puts, s) : rc;
}

/* Other servers expect all values that are visible in a scope, not only the new ones, and those of
 * global scope in both bundles; ours takes each of them once. */
static void pack_all(struct client *c, struct message *m)
{
    uint8_t twice = c->server->quiet ? PMIX_SCOPE_UNDEF : PMIX_GLOBAL;

    if ((!c->server->quiet && !list_empty(&c->puts.fresh)) || c->puts.to != c->server)
        puts_again(&c->puts);
    if (!list_empty(&c->puts.fresh) && pack_bundle(c, m, PMIX_LOCAL, twice) &&
        pack_bundle(c, m, PMIX_REMOTE, twice) && twice != PMIX_GLOBAL)
        pack_bundle(c, m, PMIX_GLOBAL, PMIX_GLOBAL);
}

static pmix_status_t commit(struct client *c)
{
    struct message m;
    pmix_status_t rc, before;

    if (c->kind == CLIENT_SINGLETON && !c->server) {
        puts_sent(&c->puts, NULL);
        return PMIX_SUCCESS;
    }
    rc = message_begin(c, &m, CMD_COMMIT);
    if (rc != PMIX_SUCCESS)
        return rc;
    before = puts_outcome(&c->puts, m.server);
    pack_all(c, &m);
    rc = c->server->quiet ? commit_and_go(c, &m) : commit_and_wait(c, &m);
    return rc == PMIX_SUCCESS ? before : rc;
}

pmix_status_t puts_recommit(struct client *c)
{
    struct list later;
    pmix_status_t rc;

    if (list_empty(&c->puts.sent))
        return PMIX_SUCCESS;
    list_init(&later);
    list_move_all(&c->puts.fresh, &later);
    rc = commit(c);
    list_move_all(&later, &c->puts.fresh);
    return rc;
}

pmix_status_t PMIx_Commit(void)
{
    struct client *c = api_begin();

    return c ? api_end(c, commit(c)) : PMIX_ERR_INIT;
}
