/* client_publish.c - publish, look up, unpublish. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

static size_t count(char *const *keys)
{
    size_t n = 0;

    while (keys && keys[n])
        n++;
    return n;
}

static pmix_status_t begin_publish(struct client *c, struct message *m, const pmix_info_t *infos,
                                   size_t n)
{
    pmix_status_t rc = infos && n ? message_begin(c, m, CMD_PUBLISH) : PMIX_ERR_BAD_PARAM;

    if (rc == PMIX_SUCCESS)
        message_put(m, publish, { .uid = (uint32_t)geteuid(), .infos = PMSG_LENT(infos, n) });
    return rc;
}

/* No keys: all of them. */
static pmix_status_t begin_keys(struct client *c, struct message *m, uint8_t command,
                                char *const *keys, const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = infos || !n ? message_begin(c, m, command) : PMIX_ERR_BAD_PARAM;
    size_t nkeys = count(keys);
    struct slice *texts;

    if (rc != PMIX_SUCCESS)
        return rc;
    texts = calloc(nkeys + 1, sizeof *texts);
    if (!texts) {
        m->w.error = PTYPE_NO_MEMORY;
        return PMIX_SUCCESS; /* told when it is sent */
    }
    for (size_t i = 0; i < nkeys; i++)
        texts[i] = slice_str(keys[i]);
    message_put(
        m, keys,
        { .uid = (uint32_t)geteuid(), .keys = { nkeys, texts }, .infos = PMSG_LENT(infos, n) });
    free(texts);
    return PMIX_SUCCESS;
}

/* ---- publish and unpublish ------------------------------------------------------------------- */

pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_publish(c, &m, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc);
}

pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_publish(c, &m, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_begin(&m, cbfunc, cbdata) : rc);
}

pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_keys(c, &m, CMD_UNPUBLISH, keys, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc);
}

pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_keys(c, &m, CMD_UNPUBLISH, keys, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_begin(&m, cbfunc, cbdata) : rc);
}

/* ---- lookup ---------------------------------------------------------------------------------- */

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

static void deliver_found(struct op *op)
{
    op->callback.lookup(op->status, op->out.pdata, op->out.npdata, op->cbdata);
}

static const struct op_kind lookup_kind = { .read = read_found, .deliver = deliver_found };

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

static pmix_status_t look_up(struct client *c, pmix_pdata_t *data, size_t ndata,
                             const pmix_info_t *infos, size_t ninfos)
{
    char **keys = calloc(ndata + 1, sizeof *keys);
    struct message m;
    struct op op;
    pmix_status_t rc = PMIX_ERR_NOMEM;

    if (keys) {
        for (size_t i = 0; i < ndata; i++)
            keys[i] = data[i].key;
        rc = begin_keys(c, &m, CMD_LOOKUP, keys, infos, ninfos);
    }
    free(keys);
    if (rc != PMIX_SUCCESS)
        return rc;
    op_init(&op, &lookup_kind);
    rc = op_call(&m, &op);
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS)
        rc = hand_out(&op.out, data, ndata);
    op_clear(&op);
    return rc;
}

pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();

    if (!c)
        return PMIX_ERR_INIT;
    return api_end(c, data && ndata ? look_up(c, data, ndata, info, ninfo) : PMIX_ERR_BAD_PARAM);
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
    return api_send_begin(c, &m, op, begin_keys(c, &m, CMD_LOOKUP, keys, info, ninfo));
}
