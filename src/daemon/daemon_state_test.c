/* daemon_state_test.c - walks all pairs of the table of daemons' states; and checks the log for a
 * pair without a row. */
#include "daemon/daemon_state.h"

#include "tests/log_capture.h"
#include "tests/tap.h"

enum { COUNT = 4 };

/* Events of the commands' output, which no row may call an error once the command runs: other
 * machines write it. */
static bool is_output(enum daemon_event e)
{
    return e == DAEMON_EVENT_REPORT || e == DAEMON_EVENT_TROUBLE;
}

/* Takes one off the daemons that the command waits for. */
static bool counts(enum daemon_action a)
{
    return a == DAEMON_ACTION_count_up || a == DAEMON_ACTION_count_off ||
           a == DAEMON_ACTION_report_failure;
}

/* A command waits for those, if it was run for them. */
static bool is_counted(enum daemon_state s)
{
    return daemon_state_is_awaited(s) || s == DAEMON_STATE_PLANNED || s == DAEMON_STATE_STOPPED;
}

/* Of daemons that another one has started: none of our commands waits for them. */
static bool by_launcher(enum daemon_event e)
{
    return e == DAEMON_EVENT_READY || e == DAEMON_EVENT_LOSE;
}

static void test_pair(enum daemon_state from, enum daemon_event event)
{
    enum daemon_state to = from;
    enum daemon_action a = daemon_state_step(&to, event);
    const char *state = daemon_state_name(from), *name = daemon_event_name(event);

    if (a == DAEMON_ACTION_impossible) {
        OK_F(to == from, "%s, %s: impossible, and changes nothing", state, name);
        OK_F(!is_output(event) || from == DAEMON_STATE_PLANNED, "no output can bring that about");
        OK_F(event != DAEMON_EVENT_STOP, "%s: can be stopped", state);
        return;
    }
    OK_F(counts(a) == (is_counted(from) && !is_counted(to) && !by_launcher(event)),
         "%s, %s -> %s: is counted off when it is not awaited any more, and only then", state, name,
         daemon_state_name(to));
    OK_F(a != DAEMON_ACTION_report_failure || daemon_state_is_awaited(from),
         "only the failure of one that is awaited is reported");
    OK_F(from != DAEMON_STATE_FAILED || to == from || event == DAEMON_EVENT_LOSE,
         "one that has failed stays so");
    OK_F(from != DAEMON_STATE_LOST || to == from, "one that is lost does not come back");
    OK_F((event == DAEMON_EVENT_LOSE) == (to == DAEMON_STATE_LOST && from != to),
         "the launcher decides who is lost");
    OK_F(event != DAEMON_EVENT_STOP || !daemon_state_is_awaited(to), "none is awaited after stop");
}

static void test_pairs(void)
{
    for (int s = 0; s < DAEMON_STATES; s++) {
        for (int e = 0; e < DAEMON_EVENTS; e++)
            test_pair((enum daemon_state)s, (enum daemon_event)e);
    }
}

static void test_reached(void)
{
    bool reached[DAEMON_STATES] = { [DAEMON_STATE_PLANNED] = true };

    for (int round = 0; round < DAEMON_STATES; round++) {
        for (int s = 0; s < DAEMON_STATES; s++) {
            for (int e = 0; reached[s] && e < DAEMON_EVENTS; e++) {
                enum daemon_state to = (enum daemon_state)s;
                daemon_state_step(&to, (enum daemon_event)e);
                reached[to] = true;
            }
        }
    }
    for (int s = 0; s < DAEMON_STATES; s++)
        OK_F(reached[s], "%s can be reached", daemon_state_name((enum daemon_state)s));
}

static void test_list(void)
{
    struct log_capture c;
    const struct log *log = log_capture_open(&c);
    struct daemon_states d;

    OK(daemon_states_open(&d, COUNT, log) == 0);
    OK(daemon_states_event(&d, 3, DAEMON_EVENT_ASK) == DAEMON_ACTION_nothing);
    OK(d.states[3] == DAEMON_STATE_ASKED && d.states[2] == DAEMON_STATE_PLANNED);
    OK(daemon_states_event(&d, 1, DAEMON_EVENT_READY) == DAEMON_ACTION_nothing);
    OK_F(d.in[DAEMON_STATE_PLANNED] == 1 && d.in[DAEMON_STATE_ASKED] == 1 &&
             d.in[DAEMON_STATE_SERVING] == 1,
         "all but ourselves are counted");
    OK(!c.text[0]);
    OK(daemon_states_event(&d, 2, DAEMON_EVENT_LINK) == DAEMON_ACTION_impossible);
    OK_F(strstr(c.text, "internal error: event 'link' for daemon 2 in state 'planned'") &&
             d.states[2] == DAEMON_STATE_PLANNED,
         "a pair without a row is logged: %s", c.text);
    daemon_states_close(&d);
    daemon_states_close(&d);
}

int main(void)
{
    test_pairs();
    test_reached();
    test_list();
    return tap_done();
}
