/* node.c - where am I, and who else is here?
 * Libraries split their traffic by this: shared memory for the processes of the own node, the
 * network for those of others; and the first process of each node does what is needed once there.
 *
 *   wireup -n 4 ./node */
#define EXAMPLE "node"
#include "example.h"

/* Those of the own node, among which the caller is. */
static size_t check_peers(const char *host)
{
    pmix_proc_t *peers = NULL;
    size_t n = 0;
    bool found = false;

    must("peers", PMIx_Resolve_peers(host, me.nspace, &peers, &n));
    for (size_t i = 0; i < n; i++)
        found = found || peers[i].rank == me.rank;
    if (!found)
        fail("the processes of %s do not include this one", host);
    PMIX_PROC_FREE(peers, n);
    return n;
}

static void check_nodes(const char *host)
{
    char *nodes = NULL, *list, *node;
    bool found = false;

    must("nodes", PMIx_Resolve_nodes(me.nspace, &nodes));
    for (list = nodes; (node = strsep(&list, ","));)
        found = found || !strcmp(node, host);
    if (!found)
        fail("the nodes of the job do not include %s", host);
    free(nodes);
}

int main(void)
{
    char *host;

    begin();
    host = get_text(me.rank, PMIX_HOSTNAME);
    if (check_peers(host) != get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE))
        fail("the number of processes on %s is not the one that is told", host);
    check_nodes(host);
    if (get_number(me.rank, PMIX_LOCAL_RANK) >= size)
        fail("the local rank is not below the number of processes");
    free(host);
    fence(false);
    return end();
}
