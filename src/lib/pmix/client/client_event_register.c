/* client_event_register.c - registering and deregistering event handlers: the public functions. */
#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_event_chain.h"
#include "lib/pmix/client/client_event_codes.h"
#include "lib/pmix/client/client_progress.h"
#include "lib/pmix/client/client_tasks.h"

/* ---- registering ----------------------------------------------------------------------------- */

/* The server has replied: the handler is active from now on, or removed. */
static void settle(struct client *c, size_t ref, pmix_status_t status)
{
    struct handler *h = handlers_find(&c->events.handlers, ref);

    if (h && status == PMIX_SUCCESS) {
        h->armed = true;
        chains_retry(c);
    } else if (h) {
        event_codes_drop(&c->events.codes, h);
        handler_free(h);
    }
}

/* The program learns of the registration before the first event. */
static void deliver_registered(struct op *op)
{
    struct client *c = op->arg;

    op->callback.registered(op->status, op->out.number, op->cbdata);
    client_lock(c);
    settle(c, op->out.number, op->status);
    client_unlock(c);
}

static const struct op_kind register_kind = { .deliver = deliver_registered };

/* The needs of a new handler: a request to the server, or nothing. */
struct registration {
    struct handler *h;
    pmix_status_t *news;
    size_t nnews;
    bool ask;
};

static pmix_status_t prepare(struct client *c, struct registration *g, const pmix_status_t *codes,
                             size_t ncodes, const pmix_info_t *infos, size_t ninfos,
                             pmix_notification_fn_t fn)
{
    pmix_status_t rc;

    if (!fn || (!codes && ncodes) || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    rc = handler_new(codes, ncodes, infos, ninfos, &g->h);
    if (rc != PMIX_SUCCESS)
        return rc;
    g->h->fn = fn;
    rc = handlers_insert(&c->events.handlers, g->h);
    if (rc == PMIX_SUCCESS && !event_codes_add(&c->events.codes, g->h, &g->news, &g->nnews))
        rc = PMIX_ERR_NOMEM;
    if (rc != PMIX_SUCCESS) {
        handler_free(g->h);
        return rc;
    }
    g->ask = c->server && !c->server->lost &&
             (g->nnews || (ncodes == 0 && c->events.codes.defaults == 1));
    return PMIX_SUCCESS;
}

/* Blocking: returns the handler's number, or an error. */
static pmix_status_t register_now(struct client *c, const struct registration *g,
                                  const pmix_info_t *infos, size_t ninfos)
{
    size_t ref = g->h->ref;
    pmix_status_t rc = progress_need(c);
    struct message m;

    if (rc == PMIX_SUCCESS && g->ask)
        rc = event_codes_begin(c, &m, g->news, g->nnews, infos, ninfos);
    if (rc == PMIX_SUCCESS && g->ask)
        rc = api_status_call(&m);
    settle(c, ref, rc);
    return rc == PMIX_SUCCESS ? (pmix_status_t)ref : rc;
}

static pmix_status_t register_nb(struct client *c, const struct registration *g,
                                 const pmix_info_t *infos, size_t ninfos,
                                 pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    size_t ref = g->h->ref;
    struct op *op = op_new(&register_kind, cbdata);
    pmix_status_t rc = op ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    struct message m;

    if (op) {
        op->callback.registered = cbfunc;
        op->out.number = ref;
        op->arg = c;
        if (g->ask)
            rc = event_codes_begin(c, &m, g->news, g->nnews, infos, ninfos);
        if (rc != PMIX_SUCCESS)
            op_free(op);
        else if (g->ask)
            rc = progress_send(&m, op);
        else
            rc = progress_complete(c, op, PMIX_SUCCESS);
    }
    if (rc != PMIX_SUCCESS)
        settle(c, ref, rc);
    return rc;
}

static void deliver_refused(struct op *op)
{
    op->callback.registered(op->status, SIZE_MAX, op->cbdata);
}

static const struct op_kind refused_kind = { .deliver = deliver_refused };

/* The place in the order is taken: the callback says so. */
static pmix_status_t refuse_nb(struct client *c, pmix_status_t status,
                               pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    struct op *op = op_new(&refused_kind, cbdata);

    if (!op)
        return PMIX_ERR_NOMEM;
    op->callback.registered = cbfunc;
    return progress_complete(c, op, status);
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                          size_t ninfo, pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct registration g = { NULL };
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = api_check(PMIX_CALL_REGISTER_EVENT, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = prepare(c, &g, codes, ncodes, info, ninfo, evhdlr);
    if (rc == PMIX_ERR_EVENT_REGISTRATION && cbfunc)
        rc = refuse_nb(c, rc, cbfunc, cbdata);
    else if (rc == PMIX_SUCCESS)
        rc = cbfunc ? register_nb(c, &g, info, ninfo, cbfunc, cbdata)
                    : register_now(c, &g, info, ninfo);
    free(g.news);
    return api_end(c, rc);
}

/* ---- deregistering --------------------------------------------------------------------------- */

static bool is_busy(struct client *c, size_t ref)
{
    LIST_EACH(l, &c->events.handlers.all)
    {
        if (LIST_OF(l, struct handler, link)->ref == ref)
            return true;
    }
    return false;
}

/* No call of a handler may begin or be under way when the blocking call returns; but a handler may
 * remove itself.  Removing a handler that is not registered succeeds, as with OpenPMIx, whose users
 * wait for the callback in any case. */
pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct client *c = api_begin();
    struct handler *h;
    struct op *op;

    if (!c)
        return PMIX_ERR_INIT;
    h = handlers_find(&c->events.handlers, evhdlr_ref);
    if (h)
        chain_remove_handler(c, h);
    if (cbfunc) {
        op = op_new(&op_status_only, cbdata);
        if (!op)
            return api_end(c, PMIX_OPERATION_SUCCEEDED);
        op->callback.op = cbfunc;
        return api_end(c, progress_complete(c, op, PMIX_SUCCESS));
    }
    while (h && !tasks_inside(c) && is_busy(c, evhdlr_ref))
        lock_wait(c->gate);
    return api_end(c, PMIX_SUCCESS);
}
