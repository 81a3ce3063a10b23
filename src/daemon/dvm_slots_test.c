/* dvm_slots_test.c - who gets which slots. */
#include "daemon/dvm_slots.h"

#include <string.h>

#include "tap.h"

static void test_layers(void)
{
    struct dvm_slots_node n[] = { { "a", 2, 2, true, false },
                                  { "b", 2, 1, true, false },
                                  { "c", 4, 0, false, true } };

    EQ(dvm_slots_sum(n, 3).slots, 4);
    EQ(dvm_slots_sum(n, 3).free, 1);
    EQ(dvm_slots_layers(n, 3, 0), 1);
    EQ(dvm_slots_layers(n, 3, 1), 1);
    EQ(dvm_slots_layers(n, 3, 2), 2);
    EQ(dvm_slots_layers(n, 3, 5), 2);
    EQ(dvm_slots_layers(n, 3, 6), 3);
    EQ(dvm_slots_layers(n, 3, 4000000000u), 1000000001u);
    EQ(dvm_slots_offer(&n[0], 1), 0);
    EQ(dvm_slots_offer(&n[0], 2), 2);
    EQ(dvm_slots_offer(&n[1], 2), 3);
    EQ(dvm_slots_offer(&n[2], 9), 0);
    n[0].usable = n[1].usable = false;
    EQ(dvm_slots_layers(n, 3, 1), 0);
}

/* "ace": these stay. */
static void keep(uint32_t most, const char *stay)
{
    struct dvm_slots_node n[] = { { "a", 2, 1, true, false },
                                  { "b", 4, 1, true, false },
                                  { "c", 9, 0, false, true },
                                  { "d", 1, 0, true, false },
                                  { "e", 3, 0, true, false } };
    uint32_t kept = dvm_slots_freest(n, 5, most);
    char got[6] = "";

    for (uint32_t i = 0; i < kept; i++)
        got[i] = n[i].name[0];
    OK_F(!strcmp(got, stay), "%u nodes with most free slots: %s", most, got);
}

static void test_few(void)
{
    const struct dvm_slots_node n[] = { { "a", 2, 1, true, false },
                                        { "b", 9, 1, false, false },
                                        { "c", 4, 4, true, false } };

    keep(0, "abcde");
    keep(1, "bc");
    keep(2, "bce");
    keep(3, "abce");
    keep(4, "abcde");
    EQ(dvm_slots_largest(n, 3, 1), 4);
    EQ(dvm_slots_largest(n, 3, 9), 6);
}

static void test_order(void)
{
    struct dvm_slots_node n[] = { { "a", 2, 1, true, false },
                                  { "b", 4, 1, true, false },
                                  { "c", 2, 1, true, false },
                                  { "d", 1, 0, true, false },
                                  { "e", 4, 1, true, false } };
    char order[sizeof n / sizeof *n + 1] = "";

    dvm_slots_sort(n, 5);
    for (int i = 0; i < 5; i++)
        order[i] = *n[i].name;
    OK(!strcmp(order, "dbeac"));
    dvm_slots_sort(n, 0);
}

/* Jobs of one process each: the nodes stay as full as their slots. */
static void test_even(void)
{
    struct dvm_slots_node n[] = { { "a", 1, 0, true, false },
                                  { "b", 2, 0, true, false },
                                  { "c", 3, 0, true, false } };

    for (int job = 0; job < 60; job++) {
        dvm_slots_sort(n, 3);
        n[0].used++;
    }
    for (int i = 0; i < 3; i++)
        EQ(n[i].used, n[i].slots * 10);
}

int main(void)
{
    test_layers();
    test_few();
    test_order();
    test_even();
    return tap_done();
}
