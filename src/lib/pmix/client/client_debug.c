/* client_debug.c - see client_debug.h. */
#include "lib/pmix/client/client_debug.h"

#include <stdlib.h>

#include "lib/pmix/client/client.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_event_codes.h"

/* That no request has: the op waits for an event. */
enum { NO_TAG = 0 };

/* As with OpenPMIx, the key is enough: servers give it to those who are to stop. */
static bool is_to_stop(struct client *c)
{
    const struct space *s = cache_space(&c->cache, c->me.nspace);
    struct datum d;

    return c->kind == CLIENT_STARTED && c->server && s &&
           space_job_datum(s, SLICE(PMIX_DEBUG_STOP_IN_INIT), &d);
}

static pmix_status_t ask_for_release(struct client *c)
{
    const pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    struct message m;
    pmix_status_t rc = event_codes_begin(c, &m, &code, 1, NULL, 0);

    return rc == PMIX_SUCCESS ? api_status_call(&m) : rc;
}

static pmix_status_t report_ready(struct client *c)
{
    pmix_info_t infos[2];
    struct message m;
    pmix_status_t rc = message_begin(c, &m, CMD_NOTIFY);

    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Info_load(&infos[0], PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    PMIx_Info_load(&infos[1], PMIX_BREAKPOINT, "pmix-init", PMIX_STRING);
    message_put(
        &m, notify,
        { .code = PMIX_READY_FOR_DEBUG, .range = PMIX_RANGE_RM, .infos = PMSG_LENT(infos, 2) });
    rc = api_status_call(&m);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
    return rc;
}

void debug_wait(struct client *c)
{
    struct op held;

    if (!is_to_stop(c))
        return;
    op_init(&held, &op_status_only);
    held.server = c->server;
    held.tag = NO_TAG;
    list_append(&c->sent, &held.link);
    c->held = &held;
    if (ask_for_release(c) == PMIX_SUCCESS && report_ready(c) == PMIX_SUCCESS)
        op_wait_until(c, &held, UINT64_MAX);
    c->held = NULL;
    list_unlink(&held.link);
    op_clear(&held);
}
