/* life_test.c - walks all pairs of the life table and prints it, so that the manual and the eye can
 * compare; and checks what must hold of any such table. */
#include "core/life.h"
#include "tests/tap.h"

static const char *action_name(enum life_action a)
{
    static const char *const names[] = {
        "?",         "-",    "count the start", "fail the start", "count the end",
        "end badly", "lose", "break the rules",
    };

    return names[a];
}

/* What a client says or does while its process is in some state; the rest is the host's own. */
static bool by_client(enum life_event e)
{
    return e == LIFE_ATTACH || e == LIFE_FINALIZE || e == LIFE_HANGUP || e == LIFE_BREAK;
}

static void print_table(void)
{
    for (int s = 0; s < LIFE_STATES; s++) {
        printf("# %s\n", life_state_name((enum life_state)s));
        for (int e = 0; e < LIFE_EVENTS; e++) {
            enum life_state next = (enum life_state)s;
            enum life_action a = life_step(&next, (enum life_event)e);
            if (a != LIFE_impossible)
                printf("#   %-14s -> %-8s  %s\n", life_event_name((enum life_event)e),
                       life_state_name(next), action_name(a));
        }
    }
}

static void test_pairs(void)
{
    for (int s = 0; s < LIFE_STATES; s++) {
        for (int e = 0; e < LIFE_EVENTS; e++) {
            enum life_state from = (enum life_state)s, to = from;
            enum life_event ev = (enum life_event)e;
            enum life_action a = life_step(&to, ev);
            const char *name = life_event_name(ev);
            if (a == LIFE_impossible) {
                OK_F(to == from, "%s, %s: impossible, and changes nothing", life_state_name(from),
                     name);
                OK_F(!by_client(ev) || from == LIFE_PLANNED ||
                         (from == LIFE_RUNNING && ev == LIFE_FINALIZE),
                     "no client can bring that about");
                continue;
            }
            OK_F(from != LIFE_GONE || to == LIFE_GONE, "%s, %s: nobody comes back from the dead",
                 life_state_name(from), name);
            OK_F((ev == LIFE_EXIT || ev == LIFE_DEATH || ev == LIFE_NOT_STARTED) ==
                     (to == LIFE_GONE && from != LIFE_GONE),
                 "gone is who ended, and nobody else");
            OK_F(ev != LIFE_DEATH || a == LIFE_end_badly, "who is killed ends badly");
            OK_F(ev != LIFE_BREAK || from == LIFE_GONE || a == LIFE_break_rules,
                 "who breaks the rules ends the job");
        }
    }
}

/* Every state is reached, and every living one can end. */
static void test_ways(void)
{
    bool reached[LIFE_STATES] = { [LIFE_PLANNED] = true };

    for (int round = 0; round < LIFE_STATES; round++) {
        for (int s = 0; s < LIFE_STATES; s++) {
            for (int e = 0; reached[s] && e < LIFE_EVENTS; e++) {
                enum life_state to = (enum life_state)s;
                if (life_step(&to, (enum life_event)e) != LIFE_impossible)
                    reached[to] = true;
            }
        }
    }
    for (int s = 0; s < LIFE_STATES; s++) {
        enum life_state to = (enum life_state)s;
        OK_F(reached[s], "%s can be reached", life_state_name((enum life_state)s));
        if (s != LIFE_PLANNED && s != LIFE_GONE)
            OK_F(life_step(&to, LIFE_DEATH) == LIFE_end_badly && to == LIFE_GONE,
                 "%s can be killed", life_state_name((enum life_state)s));
    }
}

int main(void)
{
    print_table();
    test_pairs();
    test_ways();
    return tap_done();
}
