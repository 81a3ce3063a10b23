/* states_test.c - walks all pairs of the state tables of routers, of the daemons that they know,
 * and of memberships; and checks the log for a pair without a row. */
#include "cluster/membership_state.h"
#include "cluster/route_state.h"
#include "cluster/router_state.h"

#include "tests/log_capture.h"
#include "tests/tap.h"

static void test_router_row(enum router_state from, enum router_event event, enum router_state to,
                            enum router_action a)
{
    OK_F(to >= from, "%s, %s -> %s: forward", router_state_name(from), router_event_name(event),
         router_state_name(to));
    OK_F((a == ROUTER_ACTION_report_closed) ==
             (to == ROUTER_STATE_CLOSED && from != ROUTER_STATE_CLOSED),
         "that all links are closed is reported once");
    OK_F((a == ROUTER_ACTION_look_below) ==
             (router_state_is_ending(to) && !router_state_is_ending(from)),
         "it begins to end once");
    OK_F(event != ROUTER_EVENT_CHILD || (a == ROUTER_ACTION_nothing) == !router_state_is_ending(to),
         "a daemon that connects is let in before the end");
    OK_F(a != ROUTER_ACTION_report_loss || event != ROUTER_EVENT_CHILD_CLOSED ||
             !router_state_is_leaving(to),
         "a link that is closed when all leave is no loss");
}

static void test_router(void)
{
    unsigned impossible = 0;

    for (int s = 0; s < ROUTER_STATES; s++) {
        for (int e = 0; e < ROUTER_EVENTS; e++) {
            enum router_state to = (enum router_state)s;
            enum router_action a = router_state_step(&to, (enum router_event)e);
            impossible += a == ROUTER_ACTION_impossible;
            if (a != ROUTER_ACTION_impossible)
                test_router_row((enum router_state)s, (enum router_event)e, to, a);
            else
                OK_F(s == ROUTER_STATE_CLOSING && to == ROUTER_STATE_CLOSING,
                     "closing, %s: nobody is below", router_event_name((enum router_event)e));
        }
    }
    EQ(impossible, 3);
    for (int s = 0; s < ROUTER_STATES; s++) {
        enum router_state at = (enum router_state)s;
        router_state_step(&at, ROUTER_EVENT_END);
        router_state_step(&at, ROUTER_EVENT_EMPTY);
        router_state_step(&at, ROUTER_EVENT_PARENT_DOWN);
        OK_F(at == ROUTER_STATE_CLOSED, "%s: told to end, it does",
             router_state_name((enum router_state)s));
    }
}

static void test_route(void)
{
    for (int s = 0; s < ROUTE_STATES; s++) {
        enum route_state from = (enum route_state)s, to = from;
        enum route_action a = route_state_step(&to, ROUTE_EVENT_LOSE);
        OK_F(to == ROUTE_STATE_LOST && (a == ROUTE_ACTION_forget) == (from != ROUTE_STATE_LOST),
             "%s, lose: forgotten once", route_state_name(from));
        to = from;
        a = route_state_step(&to, ROUTE_EVENT_ANNOUNCE);
        OK_F((a == ROUTE_ACTION_welcome) == (from == ROUTE_STATE_UNSEEN) &&
                 (to == ROUTE_STATE_LOST) == (from == ROUTE_STATE_LOST),
             "%s, announce: welcome once, and not after it is lost", route_state_name(from));
    }
    OK(!strcmp(route_event_name(ROUTE_EVENT_ANNOUNCE), "announce"));
}

static void test_membership(void)
{
    for (int s = 0; s < MEMBERSHIP_STATES; s++) {
        for (int e = 0; e < MEMBERSHIP_EVENTS; e++) {
            enum membership_state from = (enum membership_state)s, to = from;
            enum membership_event event = (enum membership_event)e;
            enum membership_action a = membership_state_step(&to, event);
            const char *state = membership_state_name(from), *name = membership_event_name(event);
            OK_F((a == MEMBERSHIP_ACTION_end) ==
                     (to == MEMBERSHIP_STATE_OVER && from != MEMBERSHIP_STATE_OVER),
                 "%s, %s -> %s: it ends once", state, name, membership_state_name(to));
            OK_F((a == MEMBERSHIP_ACTION_seek) ==
                     (event == MEMBERSHIP_EVENT_ORPHAN && to == MEMBERSHIP_STATE_SEEKING),
                 "it seeks when it has no parent");
            OK_F(a != MEMBERSHIP_ACTION_impossible ||
                     (event != MEMBERSHIP_EVENT_FAIL && event != MEMBERSHIP_EVENT_ORPHAN),
                 "a loss is always possible");
        }
    }
}

static void test_complaint(void)
{
    struct log_capture c;
    const struct log *log = log_capture_open(&c);
    enum router_state router = ROUTER_STATE_CLOSING;
    enum membership_state member = MEMBERSHIP_STATE_MEMBER;

    OK(router_state_event(&router, ROUTER_EVENT_LEAVE, log) == ROUTER_ACTION_nothing &&
       c.count == 0);
    OK(router_state_event(&router, ROUTER_EVENT_EMPTY, log) == ROUTER_ACTION_impossible);
    OK(strstr(c.text, "internal error: event 'empty' for the router in state 'closing'"));
    OK(membership_state_event(&member, MEMBERSHIP_EVENT_LINK, log) == MEMBERSHIP_ACTION_impossible);
    OK(strstr(c.text, "internal error: event 'link' for the membership in state 'member'"));
    OK(router == ROUTER_STATE_CLOSING && member == MEMBERSHIP_STATE_MEMBER);
}

int main(void)
{
    test_router();
    test_route();
    test_membership();
    test_complaint();
    return tap_done();
}
