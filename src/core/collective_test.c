/* collective_test.c - collectives: generations that do not mix, names of missing members, rounds
 * that cannot complete. */
#include "core/collective.h"

#include <stdlib.h>

#include "tests/tap.h"

static struct collective_group *group(struct collective_set *s, const char *name,
                                      const uint32_t *members, uint32_t n, bool keep)
{
    struct collective_group *g = NULL;

    OK(collective_group_get(s, slice_str(name), members, n, keep, &g) == 0 && g);
    return g;
}

static void test_membership(void)
{
    static const uint32_t some[] = { 2, 5, 9, 4000000000U };
    struct collective_set s;
    struct collective_group *g, *all;
    struct collective *c;

    collective_set_init(&s, 1);
    g = group(&s, "some", some, 4, false);
    all = group(&s, "all", NULL, 3, true);
    OK(collective_position(g, 2) == 0 && collective_position(g, 9) == 2 &&
       collective_position(g, 4000000000U) == 3);
    OK(collective_position(g, 0) == -1 && collective_position(g, 3) == -1 &&
       collective_position(g, 4294967295U) == -1);
    OK(collective_position(all, 2) == 2 && collective_position(all, 3) == -1);
    OK(collective_member(g, 1) == 5 && collective_member(all, 1) == 1);
    EQ(collective_enter(g, 3, 1, 0, &c), COLLECTIVE_NOT_MEMBER);
    OK(list_empty(&g->rounds));
    OK_F(group(&s, "some", NULL, 99, true) == g && g->count == 4,
         "a group that exists keeps its members");
    collective_group_drop_idle(&s, g);
    collective_group_drop_idle(&s, all);
    OK_F(s.groups.count == 1, "the kept one stays");
    collective_set_free(&s);
}

static bool missing(const struct collective_group *g, uint32_t rank)
{
    struct list *l = list_first(&g->rounds);

    return l && !collective_is_here(LIST_OF(l, struct collective, link),
                                    (uint32_t)collective_position(g, rank));
}

static void test_generations(void)
{
    struct collective_set s;
    struct collective_group *g;
    struct collective *c = NULL, *second = NULL;

    collective_set_init(&s, 1);
    g = group(&s, "three", NULL, 3, false);
    EQ(collective_enter(g, 0, 10, 100, &c), COLLECTIVE_WAITING);
    EQ(collective_enter(g, 0, 11, 200, &c), COLLECTIVE_WAITING); /* the next round already */
    EQ(collective_enter(g, 0, 12, 300, &c), COLLECTIVE_WAITING); /* and the one after that */
    EQ(collective_enter(g, 2, 20, 400, &c), COLLECTIVE_WAITING);
    OK(missing(g, 1) && !missing(g, 0) && !missing(g, 2));
    OK(collective_is_awaited(&s, 1) && collective_is_awaited(&s, 2) &&
       !collective_is_awaited(&s, 0));
    EQ(collective_enter(g, 1, 30, 500, &c), COLLECTIVE_OK);
    OK(c->generation == 0 && c->since_ns == 100 && c->arrived == 3);
    OK(c->tickets[0] == 10 && c->tickets[1] == 30 && c->tickets[2] == 20);
    EQ(collective_enter(g, 1, 31, 600, &second), COLLECTIVE_WAITING);
    collective_free(&s, c);
    EQ(collective_enter(g, 2, 21, 700, &second), COLLECTIVE_OK);
    OK(second->generation == 1 && second->tickets[0] == 11 && second->tickets[1] == 31);
    collective_free(&s, second);
    EQ(collective_enter(g, 2, 22, 0, &c), COLLECTIVE_WAITING);
    EQ(collective_enter(g, 1, 32, 0, &c), COLLECTIVE_OK);
    OK(c->generation == 2);
    collective_free(&s, c);
    OK_F(s.groups.count == 0, "nothing is pending: the group is gone");
    collective_set_free(&s);
}

static void test_broken(void)
{
    static const uint32_t pair[] = { 0, 3 };
    struct collective_set s;
    struct collective_group *all, *two;
    struct collective *c;
    unsigned taken = 0;

    collective_set_init(&s, 1);
    all = group(&s, "all", NULL, 4, true);
    two = group(&s, "pair", pair, 2, false);
    collective_enter(all, 0, 1, 0, &c);
    collective_enter(all, 0, 2, 0, &c);
    collective_enter(all, 3, 3, 0, &c); /* arrived in the first round, missing in the second */
    collective_enter(two, 0, 4, 0, &c);
    while ((c = collective_take_broken(&s, 3))) {
        OK_F(collective_is_here(c, 0), "somebody waited in the collective that is taken");
        taken++;
        collective_free(&s, c);
    }
    EQ(taken, 2);
    OK(!collective_is_awaited(&s, 3) && collective_is_awaited(&s, 1));
    OK(list_first(&all->rounds) && s.groups.count == 1);
    collective_set_free(&s);
}

static void test_notes(void)
{
    struct collective_set s;
    struct collective_group *g;
    struct collective *c;

    collective_set_init(&s, 1);
    g = group(&s, "notes", NULL, 2, false);
    EQ(collective_enter_with(g, 0, 1, 0, malloc(4), &c), COLLECTIVE_WAITING);
    collective_set_free(&s); /* the note is freed with it: for a leak checker */
    collective_set_init(&s, 1);
    g = group(&s, "notes", NULL, 1, false);
    EQ(collective_enter_with(g, 0, 1, 0, malloc(4), &c), COLLECTIVE_OK);
    OK(c->notes[0] != NULL);
    collective_free(&s, c);
    collective_set_free(&s);
}

/* Many members, in any order: only the last one completes. */
static void test_many(void)
{
    enum { N = 1000 };
    struct collective_set s;
    struct collective_group *g;
    struct collective *c;
    unsigned waiting = 0;

    collective_set_init(&s, 1);
    g = group(&s, "many", NULL, N, false);
    for (uint32_t i = 0; i + 1 < N; i++)
        waiting += collective_enter(g, i * 7 % N, i, 0, &c) == COLLECTIVE_WAITING;
    EQ(waiting, N - 1);
    EQ(collective_enter(g, (N - 1) * 7 % N, N - 1, 0, &c), COLLECTIVE_OK);
    for (uint32_t i = 0; i < N; i++)
        waiting -= c->tickets[i * 7 % N] == i;
    OK_F(waiting + 1 == 0, "every ticket is where its owner put it");
    collective_free(&s, c);
    collective_set_free(&s);
}

static void test_deadlines(void)
{
    struct collective_set s;
    struct collective_group *g;
    struct collective *c = NULL;
    uint32_t rank = 99;
    uint64_t ticket = 0;

    collective_set_init(&s, 1);
    g = group(&s, "three", NULL, 3, true);
    EQ(collective_enter(g, 0, 10, 100, &c), COLLECTIVE_WAITING);
    EQ(collective_wait_until(&s, g, 0, 10, 500), 0);
    EQ(collective_enter(g, 1, 11, 100, &c), COLLECTIVE_WAITING);
    EQ(collective_wait_until(&s, g, 1, 11, 900), 0);
    OK(s.due == 500 && !collective_withdraw_late(&s, 499, &rank, &ticket));
    OK(collective_withdraw_late(&s, 500, &rank, &ticket) && rank == 0 && ticket == 10);
    OK(!collective_withdraw_late(&s, 500, &rank, &ticket) && s.due == 900);
    c = LIST_OF(list_first(&g->rounds), struct collective, link);
    OK(c->arrived == 1 && collective_has_withdrawn(c, 0) && !collective_has_withdrawn(c, 1));
    EQ(collective_enter(g, 2, 12, 600, &c), COLLECTIVE_WAITING);
    /* It comes again, and joins the others. */
    EQ(collective_enter(g, 0, 13, 700, &c), COLLECTIVE_OK);
    OK(c->generation == 0 && c->tickets[0] == 13 && !collective_has_withdrawn(c, 0));
    collective_free(&s, c);
    OK_F(!collective_withdraw_late(&s, 2000, &rank, &ticket) && s.due == UINT64_MAX,
         "a round that is complete is late for nobody");
    /* The last one to withdraw removes the round, and a note. */
    EQ(collective_enter_with(g, 2, 20, 0, malloc(4), &c), COLLECTIVE_WAITING);
    EQ(collective_wait_until(&s, g, 2, 20, 3000), 0);
    EQ(collective_wait_until(&s, g, 2, 77, 1), 0); /* not there */
    OK(collective_withdraw_late(&s, 3000, &rank, &ticket) && rank == 2 && ticket == 20);
    OK(list_empty(&g->rounds));
    collective_set_free(&s);
}

/* Several nodes: the number of a round is the same on all, whichever members come and go. */
static void test_withdrawn_spread(void)
{
    static const uint32_t mine[] = { 0, 1 };
    struct collective_set s;
    struct collective_group *g;
    struct collective *c = NULL;
    uint64_t ticket = 0;
    uint32_t rank = 99;

    collective_set_init(&s, 1);
    EQ(collective_group_get_spread(&s, SLICE("all"), mine, 2, NULL, 4, false, &g), 0);
    EQ(collective_enter(g, 0, 10, 0, &c), COLLECTIVE_WAITING);
    EQ(collective_wait_until(&s, g, 0, 10, 100), 0);
    OK(collective_withdraw_late(&s, 100, &rank, &ticket) && rank == 0 && ticket == 10);
    OK_F(collective_enter(g, 0, 11, 200, &c) == COLLECTIVE_WAITING && c->generation == 0,
         "who comes again is in the round that the others are in");
    EQ(collective_wait_until(&s, g, 0, 11, 300), 0);
    EQ(collective_enter(g, 1, 20, 200, &c), COLLECTIVE_OK);
    collective_contributed(c);
    OK(collective_withdraw_late(&s, 300, &rank, &ticket) && rank == 0 && ticket == 11);
    c = collective_take_contributed(&s, SLICE("all"), 0);
    OK(c && !collective_is_here(c, 0) && collective_is_here(c, 1));
    collective_over(&s, c);
    OK_F(collective_enter(g, 1, 21, 400, &c) == COLLECTIVE_WAITING && c->generation == 1,
         "the others are in the next one");
    OK(collective_has_contributed(&s, SLICE("all"), 0, 0) &&
       !collective_has_contributed(&s, SLICE("all"), 1, 0));
    OK_F(collective_enter(g, 0, 12, 500, &c) == COLLECTIVE_OVER && c->generation == 0,
         "who had left is owed one");
    collective_paid(&s, c);
    OK(list_empty(&g->owed));
    OK(collective_enter(g, 0, 13, 600, &c) == COLLECTIVE_OK && c->generation == 1);
    collective_free(&s, c);
    collective_set_free(&s);
}

int main(void)
{
    test_membership();
    test_generations();
    test_broken();
    test_withdrawn_spread();
    test_notes();
    test_many();
    test_deadlines();
    return tap_done();
}
