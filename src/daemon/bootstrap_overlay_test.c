/* bootstrap_overlay_test.c - what a daemon that joins later is told arrives, and damage is noticed.
 */
#include "daemon/bootstrap_overlay.h"

#include <string.h>

#include "tests/tap.h"

static void open_overlay(struct overlay *o, uint32_t count, uint32_t members)
{
    struct rank_set first = { NULL, 0, 0, 0 };
    struct overlay_config k;

    overlay_defaults(&k, 0, count, 2);
    OK(rank_set_add(&first, 0, members) == 0);
    k.members = &first;
    OK(overlay_init(o, &k) == 0);
    rank_set_free(&first);
}

static void test_nothing(void)
{
    struct bootstrap b = { .count = 4 };
    struct arena a = ARENA_NULL(1 << 20);
    struct overlay o;

    open_overlay(&o, 4, 4);
    OK(bootstrap_overlay_put(&a, &b, &o) == 0);
    OK_F(b.noptions == 0, "where all positions have a node, the record says nothing more");
    overlay_free(&o);
    arena_free(&a);
}

static void test_there_and_back(void)
{
    struct bootstrap b = { .count = 20 };
    struct arena a = ARENA_NULL(1 << 20);
    struct bootstrap_overlay k;
    struct errmsg err = { "" };
    struct overlay o;

    open_overlay(&o, 20, 5);
    overlay_lose(&o, 3);
    overlay_welcome(&o, 7);
    OK(bootstrap_overlay_put(&a, &b, &o) == 0);
    EQ(bootstrap_overlay_get(&b, &k, &err), 0);
    OK(k.given);
    EQ(k.last_broadcast, 2);
    EQ(k.members.count, 6);
    OK(rank_set_has(&k.members, 7) && rank_set_has(&k.members, 4) && !rank_set_has(&k.members, 5));
    EQ(k.lost.count, 1);
    OK(rank_set_has(&k.lost, 3));
    bootstrap_overlay_free(&k);
    overlay_free(&o);
    arena_free(&a);
}

static void test_damage(void)
{
    static const char *const bad[] = { "0-20", "5-4", "x", "1-", "0-1,,2-3" };
    struct arena a = ARENA_NULL(1 << 20);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bootstrap b = { .count = 20 };
        struct bootstrap_overlay k;
        struct errmsg err = { "" };
        OK(bootstrap_put_option(&a, &b, "broadcasts", "1") == 0);
        OK(bootstrap_put_option(&a, &b, "members", bad[i]) == 0);
        EQ(bootstrap_overlay_get(&b, &k, &err), BOOTSTRAP_BAD);
        OK_F(strstr(err.text, "damaged"), "%s", err.text);
        bootstrap_overlay_free(&k);
    }
    arena_free(&a);
}

int main(void)
{
    test_nothing();
    test_there_and_back();
    test_damage();
    return tap_done();
}
