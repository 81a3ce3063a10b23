/* client_event.c - see client_event.h.  Reading order: incoming events; notifying.
 *
 * Registering is in client_event_register.c. */
#include "lib/pmix/client/client_event.h"

#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_event_chain.h"
#include "lib/pmix/values/value.h"

void events_init(struct client_events *e)
{
    *e = (struct client_events){ .handlers.next_ref = 0 };
    list_init(&e->handlers.all);
    list_init(&e->waiting);
    list_init(&e->called);
}

void events_free(struct client *c)
{
    struct client_events *e = &c->events;

    LIST_EACH(l, &e->handlers.all)
    handler_free(LIST_OF(l, struct handler, link));
    chains_end(c);
    free(e->codes.all);
    events_init(e);
}

/* ---- incoming events ------------------------------------------------------------------------- */

/* The processes that an event names are its only targets, whatever its range; servers may pass it
 * on to all clients. */
static bool is_for_us(const struct client *c, const pmix_info_t *infos, size_t n)
{
    bool named = false;

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
        const pmix_proc_t *procs = v->type == PMIX_PROC ? v->data.proc : NULL;
        size_t count = procs != NULL;
        if (!PMIx_Check_key(infos[i].key, PMIX_EVENT_CUSTOM_RANGE))
            continue;
        if (a && a->type == PMIX_PROC) {
            procs = a->array;
            count = a->size;
        }
        for (size_t k = 0; k < count; k++) {
            if (PMIx_Check_procid(&procs[k], &c->me))
                return true;
        }
        named = named || count;
    }
    return !named;
}

void event_arrived(struct client *c, struct server_link *s, struct slice bytes)
{
    struct pmsg_event m;
    struct punpack r;

    punpack_init(&r, bytes, s->as);
    r.foreign = foreign_objects();
    if (pmsg_read_event(&r, s->release, &m) == PTYPE_FINE && m.command == CMD_NOTIFY) {
        bool ours = is_for_us(c, m.infos.items, m.infos.n);
        if (ours && m.code == PMIX_DEBUGGER_RELEASE && c->held) {
            op_complete(c, c->held, PMIX_SUCCESS);
            c->held = NULL;
        } else if (ours) {
            chain_start(c, m.code, &m.source, m.infos.items, m.infos.n, false);
            m.infos.items = NULL; /* the chain's now */
            m.infos.n = 0;
        }
    }
    pmsg_free_event(&m, r.foreign);
}

void event_lost(struct client *c, struct server_link *s)
{
    if (!list_empty(&c->events.handlers.all))
        chain_start(c, PMIX_ERR_LOST_CONNECTION, &s->name, NULL, 0, false);
}

/* ---- notifying ------------------------------------------------------------------------------- */

static pmix_info_t *copy_infos(const pmix_info_t *infos, size_t n)
{
    pmix_info_t *copy = calloc(n + 2, sizeof *copy);

    for (size_t i = 0; copy && i < n; i++) {
        if (PMIx_Info_xfer(&copy[i], &infos[i]) != PMIX_SUCCESS) {
            PMIx_Info_free(copy, i);
            return NULL;
        }
    }
    return copy;
}

/* Events for this process alone wait for a handler, as with OpenPMIx; the server keeps the others.
 */
static bool is_kept(pmix_data_range_t range, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, PMIX_EVENT_DO_NOT_CACHE) &&
            PMIx_Value_true(&infos[i].value) != PMIX_BOOL_FALSE)
            return false;
    }
    return range == PMIX_RANGE_PROC_LOCAL;
}

/* Our own handlers first, then all other processes. */
static pmix_status_t notify_here(struct client *c, pmix_status_t status, const pmix_proc_t *source,
                                 pmix_data_range_t range, const pmix_info_t *infos, size_t n)
{
    bool kept = is_kept(range, infos, n);
    pmix_info_t *copy;

    if ((list_empty(&c->events.handlers.all) && !kept) || !is_for_us(c, infos, n))
        return PMIX_SUCCESS;
    copy = copy_infos(infos, n);
    if (!copy)
        return PMIX_ERR_NOMEM;
    chain_start(c, status, source ? source : &c->me, copy, n, kept);
    return PMIX_SUCCESS;
}

static pmix_status_t begin_notify(struct client *c, struct message *m, pmix_status_t status,
                                  pmix_data_range_t range, const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = message_begin(c, m, CMD_NOTIFY);

    if (rc == PMIX_SUCCESS)
        message_put(m, notify, { .code = status, .range = range, .infos = PMSG_LENT(infos, n) });
    return rc;
}

/* Nothing is left to do; a callback is called nevertheless. */
static pmix_status_t end_notify(struct client *c, pmix_status_t rc, pmix_op_cbfunc_t cbfunc,
                                void *cbdata)
{
    struct op *op = rc == PMIX_SUCCESS && cbfunc ? op_new(&op_status_only, cbdata) : NULL;

    if (rc != PMIX_SUCCESS || !cbfunc)
        return rc;
    if (!op)
        return PMIX_ERR_NOMEM;
    op->callback.op = cbfunc;
    return progress_complete(c, op, PMIX_SUCCESS);
}

void event_declare_model(struct client *c, const pmix_info_t *infos, size_t n)
{
    static const char *const keys[] = { PMIX_PROGRAMMING_MODEL,     PMIX_MODEL_LIBRARY_NAME,
                                        PMIX_MODEL_LIBRARY_VERSION, PMIX_THREADING_MODEL,
                                        PMIX_MODEL_NUM_THREADS,     PMIX_MODEL_NUM_CPUS,
                                        PMIX_MODEL_CPU_TYPE,        PMIX_MODEL_AFFINITY_POLICY };
    pmix_info_t *declared = PMIx_Info_create(n + 1);
    size_t have = 0;

    for (size_t i = 0; declared && i < n; i++) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            if (PMIx_Check_key(infos[i].key, keys[k]) &&
                PMIx_Info_xfer(&declared[have], &infos[i]) == PMIX_SUCCESS)
                have++;
        }
    }
    if (have) { /* handlers for all codes are not meant */
        PMIx_Info_load(&declared[have++], PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
        notify_here(c, PMIX_MODEL_DECLARED, NULL, PMIX_RANGE_PROC_LOCAL, declared, have);
    }
    PMIx_Info_free(declared, n + 1);
}

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                pmix_data_range_t range, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if ((!info && ninfo) || range > PMIX_RANGE_PROC_LOCAL)
        return api_end(c, PMIX_ERR_BAD_PARAM);
    if (!c->server && range != PMIX_RANGE_PROC_LOCAL)
        return api_end(c, PMIX_ERR_UNREACH);
    rc = notify_here(c, status, source, range, info, ninfo);
    if (rc == PMIX_SUCCESS && range == PMIX_RANGE_PROC_LOCAL)
        return api_end(c, end_notify(c, PMIX_SUCCESS, cbfunc, cbdata));
    if (rc == PMIX_SUCCESS && c->notify_others)
        return api_end(
            c, end_notify(c, c->notify_others(status, source, range, info, ninfo), cbfunc, cbdata));
    if (rc == PMIX_SUCCESS)
        rc = begin_notify(c, &m, status, range, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = cbfunc ? api_status_begin(&m, cbfunc, cbdata) : api_status_call(&m);
    return api_end(c, rc);
}
