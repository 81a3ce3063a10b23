/* client.c - processes tell each other an address.  Every parallel library starts like this:
 * each process puts what the others need, all meet in one fence that carries it,
 * and from then on each process finds the value of any other one without asking anybody.
 *
 *   wireup -n 4 ./client */
#define EXAMPLE "client"
#include "example.h"

static void check_peer(pmix_rank_t rank)
{
    char want[64], *address;

    snprintf(want, sizeof want, "port %u of rank %u", 4000 + rank, rank);
    address = get_text(rank, "example.address");
    if (strcmp(address, want) != 0)
        fail("rank %u has '%s', not '%s'", rank, address, want);
    free(address);
}

int main(void)
{
    char address[64];
    pmix_value_t v;

    begin();
    snprintf(address, sizeof address, "port %u of rank %u", 4000 + me.rank, me.rank);
    PMIX_VALUE_LOAD(&v, address, PMIX_STRING);
    must("put", PMIx_Put(PMIX_GLOBAL, "example.address", &v));
    must("commit", PMIx_Commit());
    fence(true);
    for (pmix_rank_t r = 0; r < size; r++)
        check_peer(r);
    fence(false); /* nobody leaves while others still ask */
    return end();
}
