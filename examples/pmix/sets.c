/* sets.c - process sets: names that the launcher, or its user, has given to some processes.
 * A program asks which there are and who is in them, instead of being told by its command line;
 * MPI Sessions take their process sets from here.
 *
 *   wireup -n 2 -pset left ./sets : -n 1 -pset right ./sets
 */
#define EXAMPLE "sets"
#include "example.h"

static void check_members(const char *name)
{
    pmix_info_t *answers = NULL;
    const pmix_data_array_t *a;
    size_t n = 0;

    must("members", ask(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, name, &answers, &n));
    a = n && answers[0].value.type == PMIX_DATA_ARRAY ? answers[0].value.data.darray : NULL;
    if (!a || a->type != PMIX_PROC || a->size == 0)
        fail("the set %s has no members", name);
    for (size_t i = 0; i < a->size; i++) {
        const pmix_proc_t *p = (const pmix_proc_t *)a->array + i;
        if (PMIX_CHECK_NSPACE(p->nspace, me.nspace) && p->rank >= size && p->rank < PMIX_RANK_VALID)
            fail("rank %u of the set %s is not in the job", p->rank, name);
    }
    PMIX_INFO_FREE(answers, n);
}

int main(void)
{
    pmix_info_t *answers = NULL;
    const char *names;
    size_t n = 0;
    pmix_status_t rc;

    begin();
    rc = ask(PMIX_QUERY_PSET_NAMES, NULL, NULL, &answers, &n);
    names =
        done(rc) && n && answers[0].value.type == PMIX_STRING ? answers[0].value.data.string : NULL;
    if (!names || !*names)
        refused("define process sets", done(rc) ? PMIX_ERR_NOT_FOUND : rc);
    for (char *list = strdup(names), *name; (name = strsep(&list, ","));)
        check_members(name);
    fence(false);
    return end();
}
