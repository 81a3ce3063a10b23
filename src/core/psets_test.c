/* psets_test.c - process sets that jobs join and leave. */
#include "core/psets.h"

#include "tests/tap.h"

static const struct pset_member a0 = { "a", 0 };
static const struct pset_member b[] = { { "b", 0 }, { "b", 1 } };

static void test_sets_grow(void)
{
    struct list sets;

    list_init(&sets);
    OK(psets_add(&sets, "w", &a0, 1) == 0 && psets_add(&sets, "w", b, 2) == 0);
    OK_F(psets_find(&sets, "w")->n == 3, "two jobs are in one set");
    OK_F(psets_define(&sets, "w", b, 2) == 0 && psets_find(&sets, "w")->n == 2,
         "a definition states all members");
    psets_free(&sets);
}

static void test_jobs_leave(void)
{
    struct list sets;

    list_init(&sets);
    OK(psets_add(&sets, "w", &a0, 1) == 0 && psets_add(&sets, "w", b, 2) == 0);
    OK_F(pset_leave(psets_find(&sets, "w"), "a") && !pset_leave(psets_find(&sets, "w"), "a"),
         "a job leaves once");
    OK_F(psets_find(&sets, "w")->n == 2 && psets_find(&sets, "w")->members[1].rank == 1,
         "the others stay, in their order");
    psets_job_ended(&sets, "b");
    OK_F(!psets_find(&sets, "w"), "the last one takes the set with it");
    psets_free(&sets);
}

int main(void)
{
    test_sets_grow();
    test_jobs_leave();
    return tap_done();
}
