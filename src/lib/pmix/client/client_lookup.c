/* client_lookup.c - look-ups of published names.
 *
 * A server of OpenPMIx (4.2 and 5.0) that has found some of several keys says so and sends none of
 * the values.  Then each key is asked for by itself, without waiting for it. */
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_publish.h"
#include "lib/pmix/values/value.h"

static void read_found(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_found m;

    (void)c;
    if (op->status != PMIX_SUCCESS && op->status != PMIX_ERR_PARTIAL_SUCCESS)
        return;
    reply_get(op, r, found, &m);
    reply_take(&op->out.pdata, &op->out.npdata, m.found);
    pmsg_free_found(&m, r->foreign);
}

static bool lacks_values(pmix_status_t status, size_t nvalues)
{
    return status == PMIX_ERR_PARTIAL_SUCCESS && !nvalues;
}

/* Shallow, and without PMIX_WAIT: the server has waited. */
static pmix_info_t *infos_but_wait(const pmix_info_t *infos, size_t n, size_t *n_p)
{
    pmix_info_t *kept = calloc(n + 1, sizeof *kept);

    *n_p = 0;
    for (size_t i = 0; kept && i < n; i++) {
        if (!PMIx_Check_key(infos[i].key, PMIX_WAIT))
            kept[(*n_p)++] = infos[i];
    }
    return kept;
}

/* ---- blocking -------------------------------------------------------------------------------- */

static const struct op_kind waiting_kind = { .read = read_found };

/* Each of the caller's items gets the result for its key; the value is moved. */
static pmix_status_t hand_out(struct op_out *out, pmix_pdata_t *data, size_t ndata)
{
    size_t found = 0;

    for (size_t i = 0; i < ndata; i++) {
        for (size_t k = 0; k < out->npdata; k++) {
            pmix_pdata_t *from = &out->pdata[k];
            if (!PMIx_Check_key(from->key, data[i].key) || from->value.type == PMIX_UNDEF)
                continue;
            data[i].proc = from->proc;
            data[i].value = from->value;
            from->value = (pmix_value_t)PMIX_VALUE_STATIC_INIT;
            found++;
            break;
        }
    }
    if (found == ndata)
        return PMIX_SUCCESS;
    return found ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* One request.  *lacks_p: the server has more than it has sent. */
static pmix_status_t ask(struct client *c, pmix_pdata_t *data, size_t ndata,
                         const pmix_info_t *infos, size_t ninfos, bool *lacks_p)
{
    char **keys = calloc(ndata + 1, sizeof *keys);
    struct message m;
    struct op op;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    *lacks_p = false;
    if (keys) {
        for (size_t i = 0; i < ndata; i++)
            keys[i] = data[i].key;
        rc = publish_begin_keys(c, &m, CMD_LOOKUP, keys, infos, ninfos);
    }
    free(keys);
    if (rc != PMIX_SUCCESS)
        return rc;
    op_init(&op, &waiting_kind);
    rc = op_call(&m, &op);
    *lacks_p = lacks_values(rc, op.out.npdata) && ndata > 1;
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS)
        rc = hand_out(&op.out, data, ndata);
    op_clear(&op);
    return rc;
}

static pmix_status_t ask_each(struct client *c, pmix_pdata_t *data, size_t ndata,
                              const pmix_info_t *infos, size_t ninfos)
{
    size_t found = 0, n;
    pmix_info_t *kept = infos_but_wait(infos, ninfos, &n);
    bool lacks;

    for (size_t i = 0; kept && i < ndata; i++)
        found += ask(c, &data[i], 1, kept, n, &lacks) == PMIX_SUCCESS;
    free(kept);
    return found == ndata ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

static pmix_status_t look_up(struct client *c, pmix_pdata_t *data, size_t ndata,
                             const pmix_info_t *infos, size_t ninfos)
{
    bool lacks;
    pmix_status_t rc = ask(c, data, ndata, infos, ninfos, &lacks);

    return lacks ? ask_each(c, data, ndata, infos, ninfos) : rc;
}

pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();

    if (!c)
        return PMIX_ERR_INIT;
    return api_end(c, data && ndata ? look_up(c, data, ndata, info, ninfo) : PMIX_ERR_BAD_PARAM);
}

/* ---- with a callback ------------------------------------------------------------------------- */

/* What is needed to ask for each key by itself. */
struct each {
    char **keys;
    size_t nkeys, at;
    pmix_info_t *infos;
    size_t ninfos;
    pmix_pdata_t *found;
    size_t nfound;
    pmix_lookup_cbfunc_t fn;
    void *arg;
};

static void each_free(void *arg)
{
    struct each *e = arg;

    if (!e)
        return;
    PMIx_Argv_free(e->keys);
    PMIx_Info_free(e->infos, e->ninfos);
    PMIx_Pdata_free(e->found, e->nkeys);
    free(e);
}

static bool copy_request(struct each *e, char **keys, const pmix_info_t *infos, size_t n)
{
    size_t ninfos;
    pmix_info_t *kept = infos_but_wait(infos, n, &ninfos);
    bool copied = kept && infos_copy(kept, ninfos, &e->infos) == PMIX_SUCCESS;

    free(kept);
    e->ninfos = copied ? ninfos : 0;
    e->keys = PMIx_Argv_copy(keys);
    e->found = PMIx_Pdata_create(e->nkeys);
    return copied && e->keys && e->found;
}

/* NULL: no memory. */
static struct each *each_new(char **keys, size_t nkeys, const pmix_info_t *infos, size_t n)
{
    struct each *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->nkeys = nkeys;
    if (copy_request(e, keys, infos, n))
        return e;
    each_free(e);
    return NULL;
}

static void ask_next(struct each *e);

static void on_one(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    struct each *e = arg;

    if (status == PMIX_SUCCESS && n)
        PMIx_Pdata_xfer(&e->found[e->nfound++], &data[0]);
    ask_next(e);
}

static void ask_next(struct each *e)
{
    while (e->at < e->nkeys) {
        char *keys[] = { e->keys[e->at++], NULL };
        if (PMIx_Lookup_nb(keys, e->infos, e->ninfos, on_one, e) == PMIX_SUCCESS)
            return;
    }
    e->fn(e->nfound == e->nkeys ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS, e->found, e->nfound,
          e->arg);
    each_free(e);
}

static void deliver_found(struct op *op)
{
    struct each *e = op->arg;

    if (!e || !lacks_values(op->status, op->out.npdata)) {
        op->callback.lookup(op->status, op->out.pdata, op->out.npdata, op->cbdata);
        return;
    }
    op->arg = NULL;
    e->fn = op->callback.lookup;
    e->arg = op->cbdata;
    ask_next(e);
}

static const struct op_kind lookup_kind = { .read = read_found, .deliver = deliver_found };

/* Ours sends what it has. */
static bool may_lack_values(const struct client *c, size_t nkeys)
{
    return nkeys > 1 && c->server && !c->server->quiet;
}

static pmix_status_t begin_lookup(struct client *c, struct message *m, struct op *op, char **keys,
                                  const pmix_info_t *infos, size_t n)
{
    size_t nkeys = (size_t)PMIx_Argv_count(keys);

    if (may_lack_values(c, nkeys) && (infos || !n)) {
        op->arg = each_new(keys, nkeys, infos, n);
        op->free_arg = each_free;
        if (!op->arg)
            return PMIX_ERR_NOMEM;
    }
    return publish_begin_keys(c, m, CMD_LOOKUP, keys, infos, n);
}

pmix_status_t PMIx_Lookup_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                             pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    op = keys && *keys && cbfunc ? op_new(&lookup_kind, cbdata) : NULL;
    if (!op)
        return api_end(c, keys && *keys && cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM);
    op->callback.lookup = cbfunc;
    return api_send_begin(c, &m, op, begin_lookup(c, &m, op, keys, info, ninfo));
}
