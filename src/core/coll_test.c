/* coll_test.c - collectives: generations that do not mix, names for who is missing, rounds that
 * cannot complete. */
#include "core/coll.h"

#include <stdlib.h>

#include "tests/tap.h"

static struct coll_group *group(struct coll_set *s, const char *name, const uint32_t *members,
                                uint32_t n, bool keep)
{
    struct coll_group *g = NULL;

    OK(coll_group_get(s, slice_str(name), members, n, keep, &g) == 0 && g);
    return g;
}

static void test_membership(void)
{
    static const uint32_t some[] = { 2, 5, 9, 4000000000U };
    struct coll_set s;
    struct coll_group *g, *all;
    struct coll *c;

    coll_set_init(&s, 1);
    g = group(&s, "some", some, 4, false);
    all = group(&s, "all", NULL, 3, true);
    OK(coll_position(g, 2) == 0 && coll_position(g, 9) == 2 && coll_position(g, 4000000000U) == 3);
    OK(coll_position(g, 0) == -1 && coll_position(g, 3) == -1 &&
       coll_position(g, 4294967295U) == -1);
    OK(coll_position(all, 2) == 2 && coll_position(all, 3) == -1);
    OK(coll_member(g, 1) == 5 && coll_member(all, 1) == 1);
    EQ(coll_enter(g, 3, 1, 0, &c), COLL_NOT_MEMBER);
    OK(list_empty(&g->rounds));
    OK_F(group(&s, "some", NULL, 99, true) == g && g->count == 4,
         "a group that exists keeps its members");
    coll_group_drop_idle(&s, g);
    coll_group_drop_idle(&s, all);
    OK_F(s.groups.count == 1, "the kept one stays");
    coll_set_free(&s);
}

static bool missing(const struct coll_group *g, uint32_t rank)
{
    struct list *l = list_first(&g->rounds);

    return l && !coll_is_here(LIST_OF(l, struct coll, link), (uint32_t)coll_position(g, rank));
}

static void test_generations(void)
{
    struct coll_set s;
    struct coll_group *g;
    struct coll *c = NULL, *second = NULL;

    coll_set_init(&s, 1);
    g = group(&s, "three", NULL, 3, false);
    EQ(coll_enter(g, 0, 10, 100, &c), COLL_WAITING);
    EQ(coll_enter(g, 0, 11, 200, &c), COLL_WAITING); /* the next round already */
    EQ(coll_enter(g, 0, 12, 300, &c), COLL_WAITING); /* and the one after that */
    EQ(coll_enter(g, 2, 20, 400, &c), COLL_WAITING);
    OK(missing(g, 1) && !missing(g, 0) && !missing(g, 2));
    OK(coll_is_awaited(&s, 1) && coll_is_awaited(&s, 2) && !coll_is_awaited(&s, 0));
    EQ(coll_enter(g, 1, 30, 500, &c), COLL_OK);
    OK(c->generation == 0 && c->since_ns == 100 && c->arrived == 3);
    OK(c->tickets[0] == 10 && c->tickets[1] == 30 && c->tickets[2] == 20);
    EQ(coll_enter(g, 1, 31, 600, &second), COLL_WAITING);
    coll_free(&s, c);
    EQ(coll_enter(g, 2, 21, 700, &second), COLL_OK);
    OK(second->generation == 1 && second->tickets[0] == 11 && second->tickets[1] == 31);
    coll_free(&s, second);
    EQ(coll_enter(g, 2, 22, 0, &c), COLL_WAITING);
    EQ(coll_enter(g, 1, 32, 0, &c), COLL_OK);
    OK(c->generation == 2);
    coll_free(&s, c);
    OK_F(s.groups.count == 0, "nothing is pending: the group is gone");
    coll_set_free(&s);
}

static void test_broken(void)
{
    static const uint32_t pair[] = { 0, 3 };
    struct coll_set s;
    struct coll_group *all, *two;
    struct coll *c;
    unsigned taken = 0;

    coll_set_init(&s, 1);
    all = group(&s, "all", NULL, 4, true);
    two = group(&s, "pair", pair, 2, false);
    coll_enter(all, 0, 1, 0, &c);
    coll_enter(all, 0, 2, 0, &c);
    coll_enter(all, 3, 3, 0, &c); /* here in the first round, missing in the second */
    coll_enter(two, 0, 4, 0, &c);
    while ((c = coll_take_broken(&s, 3))) {
        OK_F(coll_is_here(c, 0), "somebody waited in what is taken");
        taken++;
        coll_free(&s, c);
    }
    EQ(taken, 2);
    OK(!coll_is_awaited(&s, 3) && coll_is_awaited(&s, 1));
    OK(list_first(&all->rounds) && s.groups.count == 1);
    coll_set_free(&s);
}

static void test_notes(void)
{
    struct coll_set s;
    struct coll_group *g;
    struct coll *c;

    coll_set_init(&s, 1);
    g = group(&s, "notes", NULL, 2, false);
    EQ(coll_enter_with(g, 0, 1, 0, malloc(4), &c), COLL_WAITING);
    coll_set_free(&s); /* the note goes with it: a leak checker looks */
    coll_set_init(&s, 1);
    g = group(&s, "notes", NULL, 1, false);
    EQ(coll_enter_with(g, 0, 1, 0, malloc(4), &c), COLL_OK);
    OK(c->notes[0] != NULL);
    coll_free(&s, c);
    coll_set_free(&s);
}

/* Many members, in any order: only the last one completes. */
static void test_many(void)
{
    enum { N = 1000 };
    struct coll_set s;
    struct coll_group *g;
    struct coll *c;
    unsigned waiting = 0;

    coll_set_init(&s, 1);
    g = group(&s, "many", NULL, N, false);
    for (uint32_t i = 0; i + 1 < N; i++)
        waiting += coll_enter(g, i * 7 % N, i, 0, &c) == COLL_WAITING;
    EQ(waiting, N - 1);
    EQ(coll_enter(g, (N - 1) * 7 % N, N - 1, 0, &c), COLL_OK);
    for (uint32_t i = 0; i < N; i++)
        waiting -= c->tickets[i * 7 % N] == i;
    OK_F(waiting + 1 == 0, "every ticket is where its owner put it");
    coll_free(&s, c);
    coll_set_free(&s);
}

static void test_deadlines(void)
{
    struct coll_set s;
    struct coll_group *g;
    struct coll *c = NULL;
    uint32_t rank = 99;
    uint64_t ticket = 0;

    coll_set_init(&s, 1);
    g = group(&s, "three", NULL, 3, true);
    EQ(coll_enter(g, 0, 10, 100, &c), COLL_WAITING);
    EQ(coll_wait_until(&s, g, 0, 10, 500), 0);
    EQ(coll_enter(g, 1, 11, 100, &c), COLL_WAITING);
    EQ(coll_wait_until(&s, g, 1, 11, 900), 0);
    OK(s.due == 500 && !coll_withdraw_late(&s, 499, &rank, &ticket));
    OK(coll_withdraw_late(&s, 500, &rank, &ticket) && rank == 0 && ticket == 10);
    OK(!coll_withdraw_late(&s, 500, &rank, &ticket) && s.due == 900);
    c = LIST_OF(list_first(&g->rounds), struct coll, link);
    OK(c->arrived == 1 && coll_has_withdrawn(c, 0) && !coll_has_withdrawn(c, 1));
    EQ(coll_enter(g, 2, 12, 600, &c), COLL_WAITING);
    /* It comes again, and meets the others. */
    EQ(coll_enter(g, 0, 13, 700, &c), COLL_OK);
    OK(c->generation == 0 && c->tickets[0] == 13 && !coll_has_withdrawn(c, 0));
    coll_free(&s, c);
    OK_F(!coll_withdraw_late(&s, 2000, &rank, &ticket) && s.due == UINT64_MAX,
         "a round that is complete is late for nobody");
    /* The last one to withdraw takes the round with it, and a note. */
    EQ(coll_enter_with(g, 2, 20, 0, malloc(4), &c), COLL_WAITING);
    EQ(coll_wait_until(&s, g, 2, 20, 3000), 0);
    EQ(coll_wait_until(&s, g, 2, 77, 1), 0); /* not there */
    OK(coll_withdraw_late(&s, 3000, &rank, &ticket) && rank == 2 && ticket == 20);
    OK(list_empty(&g->rounds));
    coll_set_free(&s);
}

/* Of several nodes: the number of a round is the same on all, whoever comes and goes. */
static void test_withdrawn_spread(void)
{
    static const uint32_t mine[] = { 0, 1 };
    struct coll_set s;
    struct coll_group *g;
    struct coll *c = NULL;
    uint64_t ticket = 0;
    uint32_t rank = 99;

    coll_set_init(&s, 1);
    EQ(coll_group_get_spread(&s, SLICE("all"), mine, 2, NULL, 4, false, &g), 0);
    EQ(coll_enter(g, 0, 10, 0, &c), COLL_WAITING);
    EQ(coll_wait_until(&s, g, 0, 10, 100), 0);
    OK(coll_withdraw_late(&s, 100, &rank, &ticket) && rank == 0 && ticket == 10);
    OK_F(coll_enter(g, 0, 11, 200, &c) == COLL_WAITING && c->generation == 0,
         "who comes again is in the round that the others are in");
    EQ(coll_wait_until(&s, g, 0, 11, 300), 0);
    EQ(coll_enter(g, 1, 20, 200, &c), COLL_OK);
    coll_contributed(c);
    OK(coll_withdraw_late(&s, 300, &rank, &ticket) && rank == 0 && ticket == 11);
    c = coll_take_contributed(&s, SLICE("all"), 0);
    OK(c && !coll_is_here(c, 0) && coll_is_here(c, 1));
    coll_over(&s, c);
    OK_F(coll_enter(g, 1, 21, 400, &c) == COLL_WAITING && c->generation == 1,
         "the others are in the next one");
    OK(coll_has_contributed(&s, SLICE("all"), 0, 0) &&
       !coll_has_contributed(&s, SLICE("all"), 1, 0));
    OK_F(coll_enter(g, 0, 12, 500, &c) == COLL_OVER && c->generation == 0,
         "who had left is owed one");
    coll_paid(&s, c);
    OK(list_empty(&g->owed));
    OK(coll_enter(g, 0, 13, 600, &c) == COLL_OK && c->generation == 1);
    coll_free(&s, c);
    coll_set_free(&s);
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
