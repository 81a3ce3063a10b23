/* direct.c - direct modex: the fence carries no data, and a value travels only when it is wanted.
 * With many processes that talk to few neighbours this moves far less than a full exchange does;
 * the price is one question to the peer's node for each peer.
 *
 *   wireup -n 4 ./direct */
#define EXAMPLE "direct"
#include "example.h"

/* A key that the peer has not put is not found, and the question ends at once. */
static void check_missing(pmix_rank_t peer)
{
    pmix_proc_t p = process(peer);
    pmix_value_t *v = NULL;
    pmix_info_t now;
    bool yes = true;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    rc = PMIx_Get(&p, "example.nobody", &now, 1, &v);
    if (rc == PMIX_SUCCESS)
        fail("a value that nobody has put is found");
}

int main(void)
{
    pmix_rank_t next;

    begin();
    next = (me.rank + 1) % size;
    put_number("example.direct", 100 + me.rank);
    must("commit", PMIx_Commit());
    fence(false);
    if (get_number(next, "example.direct") != 100 + next)
        fail("the value of rank %u is wrong", next);
    check_missing(next);
    fence(false);
    return end();
}
