/* client_credential.c - credentials: getting one from the host of our server, and having one
 * validated there. */
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_form.h"
#include "lib/pmix/values/value.h"

static void read_credential(struct client *c, struct op *op, struct punpack *r)
{
    struct pmsg_credential m;
    char *copy;

    (void)c;
    if (op->status != PMIX_SUCCESS)
        return;
    reply_get(op, r, credential, &m);
    copy = m.credential.len ? malloc(m.credential.len) : NULL;
    if (copy) {
        memcpy(copy, m.credential.ptr, m.credential.len);
        op->out.bytes = (pmix_byte_object_t){ copy, m.credential.len };
    } else if (m.credential.len) {
        r->error = PTYPE_NO_MEMORY;
    }
    reply_take(&op->out.infos, &op->out.ninfos, m.infos);
    pmsg_free_credential(&m, r->foreign);
}

static void deliver_credential(struct op *op)
{
    op->callback.credential(op->status, op->status == PMIX_SUCCESS ? &op->out.bytes : NULL,
                            op->out.infos, op->out.ninfos, op->cbdata);
}

static const struct op_kind credential_kind = { .read = read_credential,
                                                .deliver = deliver_credential };

static pmix_status_t begin_credential(struct client *c, struct message *m, const pmix_info_t *infos,
                                      size_t n)
{
    pmix_status_t rc;

    if (!infos && n)
        return PMIX_ERR_BAD_PARAM;
    if (!c->server) /* nobody issues any */
        return PMIX_ERR_NOT_SUPPORTED;
    rc = message_begin(c, m, CMD_GET_CREDENTIAL);
    if (rc == PMIX_SUCCESS)
        message_put(m, infos, { .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential)
{
    struct client *c = api_begin();
    struct message m;
    struct op op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = credential ? begin_credential(c, &m, info, ninfo) : PMIX_ERR_BAD_PARAM;
    op_init(&op, &credential_kind);
    if (rc == PMIX_SUCCESS)
        rc = op_call(&m, &op);
    if (rc == PMIX_SUCCESS) {
        *credential = op.out.bytes;
        op.out.bytes = (pmix_byte_object_t){ NULL, 0 };
    }
    op_clear(&op);
    return api_end(c, rc);
}

static pmix_status_t send_credential(struct message *m, pmix_credential_cbfunc_t cbfunc,
                                     void *cbdata)
{
    struct op *op = cbfunc ? op_new(&credential_kind, cbdata) : NULL;

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    }
    op->callback.credential = cbfunc;
    return progress_send(m, op);
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    WITH_CALLBACK(send_credential, begin_credential, info, ninfo);
}

static pmix_status_t begin_validation(struct client *c, struct message *m,
                                      const pmix_byte_object_t *cred, const pmix_info_t *infos,
                                      size_t n)
{
    pmix_status_t rc;

    if (!cred || (!infos && n))
        return PMIX_ERR_BAD_PARAM;
    if (!cred->bytes || !cred->size)
        return PMIX_ERR_INVALID_CRED;
    rc = message_begin(c, m, CMD_VALIDATE_CREDENTIAL);
    if (rc == PMIX_SUCCESS)
        message_put(
            m, validate,
            { .credential = slice_mem(cred->bytes, cred->size), .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *cred, const pmix_info_t info[],
                                       size_t ninfo, pmix_info_t **results, size_t *nresults)
{
    BLOCKING(begin_validation, cred, info, ninfo);
}

static void deliver_validation(struct op *op)
{
    op->callback.validation(op->status, op->out.infos, op->out.ninfos, op->cbdata);
}

static void read_validation(struct client *c, struct op *op, struct punpack *r)
{
    op_infos.read(c, op, r);
}

static const struct op_kind validation_kind = { .read = read_validation,
                                                .deliver = deliver_validation };

static pmix_status_t send_validation(struct message *m, pmix_validation_cbfunc_t cbfunc,
                                     void *cbdata)
{
    struct op *op = cbfunc ? op_new(&validation_kind, cbdata) : NULL;

    if (!op) {
        conn_drop(&m->server->conn, m->from);
        return cbfunc ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    }
    op->callback.validation = cbfunc;
    return progress_send(m, op);
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *cred, const pmix_info_t info[],
                                          size_t ninfo, pmix_validation_cbfunc_t cbfunc,
                                          void *cbdata)
{
    WITH_CALLBACK(send_validation, begin_validation, cred, info, ninfo);
}
