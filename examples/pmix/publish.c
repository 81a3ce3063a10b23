/* publish.c - processes that do not know each other's job meet by a name.
 * A server publishes where it listens, clients look that up, and wait for it if they come first;
 * the launcher keeps the name, so both need not run in one job.
 *
 *   wireup -n 3 ./publish */
#define EXAMPLE "publish"
#include "example.h"

static const char port[] = "example.port";

static void publish(void)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, port, "tcp://node:4711", PMIX_STRING);
    rc = PMIx_Publish(&info, 1);
    if (is_refusal(rc))
        refused("keep names", rc);
    must("publish", rc);
}

static void look_up(void)
{
    pmix_pdata_t found;
    pmix_info_t wait[2];
    int all = 0, seconds = 20;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, port);
    PMIX_INFO_LOAD(&wait[0], PMIX_WAIT, &all, PMIX_INT);
    PMIX_INFO_LOAD(&wait[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_Lookup(&found, 1, wait, 2);
    if (is_refusal(rc))
        refused("keep names", rc);
    must("lookup", rc);
    if (found.value.type != PMIX_STRING || strcmp(found.value.data.string, "tcp://node:4711") != 0)
        fail("the name has another value");
    if (!PMIX_CHECK_NSPACE(found.proc.nspace, me.nspace) || found.proc.rank != 0)
        fail("rank %d has published the name", (int)found.proc.rank);
    PMIX_PDATA_DESTRUCT(&found);
}

/* An unpublished name is not found. */
static void unpublish(void)
{
    char *keys[] = { (char *)(uintptr_t)port, NULL };
    pmix_pdata_t found;

    must("unpublish", PMIx_Unpublish(keys, NULL, 0));
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, port);
    if (PMIx_Lookup(&found, 1, NULL, 0) == PMIX_SUCCESS)
        fail("a name is there that was unpublished");
}

int main(void)
{
    begin();
    if (me.rank == 0)
        publish();
    else
        look_up();
    fence(false);
    if (me.rank == 0)
        unpublish();
    return end();
}
