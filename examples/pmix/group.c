/* group.c - processes form a group with a name and a number of its own.
 * Libraries take the number, which no other group of the launcher has, to tell messages of one
 * communicator from those of another one; MPI Sessions are made of this.
 *
 *   wireup -n 4 ./group */
#define EXAMPLE "group"
#include "example.h"

static void check_results(const pmix_info_t *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID))
            continue;
        put_number("example.context", (uint32_t)number(&results[i].value));
        return;
    }
    fail("the group has no context id");
}

int main(void)
{
    pmix_proc_t all;
    pmix_info_t assign, *results = NULL;
    bool yes = true;
    size_t n = 0;
    pmix_status_t rc;

    begin();
    all = process(PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&assign, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    rc = PMIx_Group_construct("example.group", &all, 1, &assign, 1, &results, &n);
    if (is_refusal(rc))
        refused("make groups", rc);
    must("construct", rc);
    check_results(results, n);
    PMIX_INFO_FREE(results, n);
    must("commit", PMIx_Commit());
    fence(true);
    for (pmix_rank_t r = 1; r < size; r++) {
        if (get_number(r, "example.context") != get_number(0, "example.context"))
            fail("rank %u has another context id than rank 0", r);
    }
    must("destruct", PMIx_Group_destruct("example.group", NULL, 0));
    fence(false);
    return end();
}
