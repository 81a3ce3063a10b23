/* client_promote.c - see client_promote.h. */
#include "lib/pmix/client/client_promote.h"

#include <unistd.h>

#include "lib/common/singleton_promote.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_event_codes.h"

/* Requests whose answer takes others: without these a singleton is complete. */
static bool needs_launcher(uint8_t command)
{
    switch (command) {
    case CMD_SPAWN:
    case CMD_PUBLISH:
    case CMD_LOOKUP:
    case CMD_UNPUBLISH:
    case CMD_CONNECT:
    case CMD_GROUP_CONSTRUCT: return true;
    default: return false;
    }
}

static pmix_status_t start(struct client *c, struct errmsg *err)
{
    struct client_way way = { .own = true, .flag = HELLO_CLIENT, CLIENT_WAY_OURS };

    if (promote(c->me.nspace, &way.fd, &c->launcher, err) < 0)
        return PMIX_ERR_UNREACH;
    return client_connect_ours(c, way, err);
}

/* What was done while there was no server. */
static void catch_up(struct client *c)
{
    puts_recommit(c);
    event_codes_register_all(c);
}

pmix_status_t client_promote(struct client *c, uint8_t command)
{
    struct errmsg err = { "" };
    pmix_status_t rc;

    if (c->kind != CLIENT_SINGLETON || c->launcher_tried || !needs_launcher(command))
        return PMIX_ERR_UNREACH;
    c->launcher_tried = true;
    rc = start(c, &err);
    if (rc == PMIX_SUCCESS)
        catch_up(c);
    else
        api_print_error(&err);
    return rc == PMIX_SUCCESS ? rc : PMIX_ERR_UNREACH;
}
