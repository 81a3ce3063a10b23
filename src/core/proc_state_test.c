/* proc_state_test.c - walks all pairs of the process state table and prints it, for comparison with
 * the manual; and checks the invariants of any such table. */
#include "core/proc_state.h"
#include "tests/tap.h"

static const char *action_name(enum proc_action a)
{
    static const char *const names[] = {
        "?",         "-",    "count the start", "fail the start", "count the end",
        "end badly", "lose", "break the rules",
    };

    return names[a];
}

/* Messages and actions of a client in some state; the other events are the host's own. */
static bool by_client(enum proc_event e)
{
    return e == PROC_EVENT_ATTACH || e == PROC_EVENT_FINALIZE || e == PROC_EVENT_HANGUP ||
           e == PROC_EVENT_BREAK;
}

static void print_table(void)
{
    for (int s = 0; s < PROC_STATES; s++) {
        printf("# %s\n", proc_state_name((enum proc_state)s));
        for (int e = 0; e < PROC_EVENTS; e++) {
            enum proc_state next = (enum proc_state)s;
            enum proc_action a = proc_state_step(&next, (enum proc_event)e);
            if (a != PROC_ACTION_impossible)
                printf("#   %-14s -> %-8s  %s\n", proc_event_name((enum proc_event)e),
                       proc_state_name(next), action_name(a));
        }
    }
}

static void test_pairs(void)
{
    for (int s = 0; s < PROC_STATES; s++) {
        for (int e = 0; e < PROC_EVENTS; e++) {
            enum proc_state from = (enum proc_state)s, to = from;
            enum proc_event ev = (enum proc_event)e;
            enum proc_action a = proc_state_step(&to, ev);
            const char *name = proc_event_name(ev);
            if (a == PROC_ACTION_impossible) {
                OK_F(to == from, "%s, %s: impossible, and changes nothing", proc_state_name(from),
                     name);
                OK_F(!by_client(ev) || from == PROC_STATE_PLANNED ||
                         (from == PROC_STATE_RUNNING && ev == PROC_EVENT_FINALIZE),
                     "no client can bring that about");
                continue;
            }
            OK_F(from != PROC_STATE_GONE || to == PROC_STATE_GONE ||
                     (ev == PROC_EVENT_RESTART && to == PROC_STATE_PLANNED),
                 "%s, %s: nobody comes back from the dead", proc_state_name(from), name);
            OK_F(
                (ev == PROC_EVENT_EXIT || ev == PROC_EVENT_DEATH || ev == PROC_EVENT_NOT_STARTED) ==
                    (to == PROC_STATE_GONE && from != PROC_STATE_GONE),
                "gone is who ended, and nobody else");
            OK_F(ev != PROC_EVENT_DEATH || a == PROC_ACTION_end_badly, "who is killed ends badly");
            OK_F(ev != PROC_EVENT_BREAK || from == PROC_STATE_GONE || a == PROC_ACTION_break_rules,
                 "who breaks the rules ends the job");
        }
    }
}

/* Every state can be reached, and every live one can end. */
static void test_ways(void)
{
    bool reached[PROC_STATES] = { [PROC_STATE_PLANNED] = true };

    for (int round = 0; round < PROC_STATES; round++) {
        for (int s = 0; s < PROC_STATES; s++) {
            for (int e = 0; reached[s] && e < PROC_EVENTS; e++) {
                enum proc_state to = (enum proc_state)s;
                if (proc_state_step(&to, (enum proc_event)e) != PROC_ACTION_impossible)
                    reached[to] = true;
            }
        }
    }
    for (int s = 0; s < PROC_STATES; s++) {
        enum proc_state to = (enum proc_state)s;
        OK_F(reached[s], "%s can be reached", proc_state_name((enum proc_state)s));
        if (s != PROC_STATE_PLANNED && s != PROC_STATE_GONE)
            OK_F(proc_state_step(&to, PROC_EVENT_DEATH) == PROC_ACTION_end_badly &&
                     to == PROC_STATE_GONE,
                 "%s can be killed", proc_state_name((enum proc_state)s));
    }
}

int main(void)
{
    print_table();
    test_pairs();
    test_ways();
    return tap_done();
}
