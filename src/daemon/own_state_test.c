/* own_state_test.c - walks all pairs of the table of a daemon's own states: nothing leads back,
 * each step of the end is done once, and every state can be ended at once. */
#include "daemon/own_state.h"

#include "tests/log_capture.h"
#include "tests/tap.h"

static bool is_over(enum own_state s)
{
    return s == OWN_STATE_DONE || s == OWN_STATE_FAILED;
}

static void test_row(enum own_state from, enum own_event event, enum own_state to,
                     enum own_action a)
{
    printf("# %-8s %-8s -> %s\n", own_state_name(from), own_event_name(event), own_state_name(to));
    OK_F(to >= from, "forward");
    OK_F((to == from) == (a == OWN_ACTION_nothing),
         "each step has its action, and none is done twice");
    OK_F((a == OWN_ACTION_kill || a == OWN_ACTION_stop_loop) == (is_over(to) && !is_over(from)),
         "the loop stops at the end, and only then");
    OK_F((a == OWN_ACTION_hold) == (to == OWN_STATE_HOLDING && from != OWN_STATE_HOLDING),
         "one that has lost the launcher holds what it has, once");
    OK_F((to == OWN_STATE_FAILED) ==
             (from == OWN_STATE_FAILED ||
              (from == OWN_STATE_JOINING && event != OWN_EVENT_LINK && event != OWN_EVENT_PART)),
         "one that has had a link does not fail");
    OK_F(event != OWN_EVENT_LINK || from == OWN_STATE_FAILED || own_state_has_joined(to),
         "a link counts");
}

static void test_pairs(void)
{
    for (int s = 0; s < OWN_STATES; s++) {
        for (int e = 0; e < OWN_EVENTS; e++) {
            enum own_state from = (enum own_state)s, to = from;
            enum own_event event = (enum own_event)e;
            enum own_action a = own_state_step(&to, event);
            if (a != OWN_ACTION_impossible)
                test_row(from, event, to, a);
            else
                OK_F(to == from && event != OWN_EVENT_QUIT && event != OWN_EVENT_ORPHAN &&
                         event != OWN_EVENT_PART,
                     "%s, %s: impossible, and changes nothing; the end never is",
                     own_state_name(from), own_event_name(event));
        }
    }
}

static void test_ways_out(void)
{
    static const enum own_event after[] = { OWN_EVENT_LINK, OWN_EVENT_QUIT, OWN_EVENT_WRITTEN,
                                            OWN_EVENT_SENT, OWN_EVENT_CLOSED };

    for (int s = 0; s < OWN_STATES; s++) {
        enum own_state at = (enum own_state)s;
        for (size_t i = 0; i < sizeof after / sizeof *after; i++)
            own_state_step(&at, after[i]);
        OK_F(is_over(at), "%s: told to exit, it does", own_state_name((enum own_state)s));
        at = (enum own_state)s;
        own_state_step(&at, OWN_EVENT_ORPHAN);
        OK_F(is_over(at), "and at once");
    }
}

static void test_complaint(void)
{
    struct log_capture c;
    const struct log *log = log_capture_open(&c);
    enum own_state at = OWN_STATE_JOINING;

    OK(own_state_event(&at, OWN_EVENT_LINK, log) == OWN_ACTION_begin && !c.text[0]);
    OK(own_state_event(&at, OWN_EVENT_CLOSED, log) == OWN_ACTION_impossible);
    OK_F(strstr(c.text, "internal error: event 'closed' for this daemon in state 'serving'") &&
             at == OWN_STATE_SERVING,
         "a pair without a row is logged: %s", c.text);
}

int main(void)
{
    test_pairs();
    test_ways_out();
    test_complaint();
    return tap_done();
}
