/* launcher_state_test.c - walks all pairs of the table of the launcher's states: nothing leads
 * back, every state can be ended, and whatever has to be done on the way is done once. */
#include "daemon/launcher_state.h"

#include "tests/log_capture.h"
#include "tests/tap.h"

static bool sends_to_daemons(enum launcher_action a)
{
    return a == LAUNCHER_ACTION_quit || a == LAUNCHER_ACTION_drain_and_quit;
}

static bool drains(enum launcher_action a)
{
    return a == LAUNCHER_ACTION_drain || a == LAUNCHER_ACTION_drain_and_quit ||
           a == LAUNCHER_ACTION_end_undrained;
}

/* Leftovers of processes have been removed, and their last output is being written. */
static bool is_drained(enum launcher_state s)
{
    return s == LAUNCHER_STATE_LEAVING || s == LAUNCHER_STATE_WRITING;
}

static void test_row(enum launcher_state from, enum launcher_event event, enum launcher_state to,
                     enum launcher_action a)
{
    printf("# %-12s %-8s -> %s\n", launcher_state_name(from), launcher_event_name(event),
           launcher_state_name(to));
    OK_F(to >= from, "forward");
    OK_F((a == LAUNCHER_ACTION_stop_loop) ==
             (to == LAUNCHER_STATE_DONE && from != LAUNCHER_STATE_DONE),
         "the loop stops when it is done, and only then");
    if (to == LAUNCHER_STATE_DONE)
        return;
    OK_F(drains(a) == (!is_drained(from) && is_drained(to)), "drains once");
    OK_F(sends_to_daemons(a) == (!launcher_state_is_leaving(from) &&
                                 launcher_state_is_leaving(to) && !launcher_state_is_alone(to)),
         "tells the daemons once");
    OK_F(a != LAUNCHER_ACTION_keep_failure || launcher_state_is_rising(to),
         "failures are kept while daemons come up");
    OK_F(event != LAUNCHER_EVENT_ENDED || launcher_state_has_job(from),
         "only a running job can end");
}

static void test_pairs(void)
{
    for (int s = 0; s < LAUNCHER_STATES; s++) {
        for (int e = 0; e < LAUNCHER_EVENTS; e++) {
            enum launcher_state from = (enum launcher_state)s, to = from;
            enum launcher_event event = (enum launcher_event)e;
            enum launcher_action a = launcher_state_step(&to, event);
            if (a != LAUNCHER_ACTION_impossible)
                test_row(from, event, to, a);
            else
                OK_F(to == from && event != LAUNCHER_EVENT_QUIT && event != LAUNCHER_EVENT_CUT,
                     "%s, %s: impossible, and changes nothing; giving up never is",
                     launcher_state_name(from), launcher_event_name(event));
        }
    }
}

/* From every state, the events after giving up lead to the end, and so does a cut. */
static void test_ways_out(void)
{
    static const enum launcher_event after[] = { LAUNCHER_EVENT_QUIT, LAUNCHER_EVENT_GONE,
                                                 LAUNCHER_EVENT_STOPPED, LAUNCHER_EVENT_WRITTEN };

    for (int s = 0; s < LAUNCHER_STATES; s++) {
        enum launcher_state at = (enum launcher_state)s;
        for (size_t i = 0; i < sizeof after / sizeof *after; i++)
            launcher_state_step(&at, after[i]);
        OK_F(at == LAUNCHER_STATE_DONE, "%s: given up, it ends",
             launcher_state_name((enum launcher_state)s));
        at = (enum launcher_state)s;
        launcher_state_step(&at, LAUNCHER_EVENT_CUT);
        OK_F(at == LAUNCHER_STATE_DONE, "and at once");
    }
}

static void run(enum launcher_state *at, const enum launcher_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        OK_F(launcher_state_step(at, events[i]) != LAUNCHER_ACTION_impossible, "%s -> %s",
             launcher_event_name(events[i]), launcher_state_name(*at));
}

/* Whole lives; together they reach every state. */
static void test_lives(void)
{
#define LIFE(...)                                                                                  \
    do {                                                                                           \
        static const enum launcher_event life[] = { __VA_ARGS__ };                                 \
        enum launcher_state at = LAUNCHER_STATE_IDLE;                                              \
        run(&at, life, sizeof life / sizeof *life);                                                \
        OK(at == LAUNCHER_STATE_DONE);                                                             \
    } while (0)
#define E(event) LAUNCHER_EVENT_##event
    LIFE(E(BEGIN), E(ENDED), E(WRITTEN));
    LIFE(E(SHARE), E(READY), E(BEGIN), E(FAIL), E(ENDED), E(FAIL), E(GONE), E(GONE), E(WRITTEN));
    LIFE(E(SHARE), E(READY), E(STAND), E(FAIL), E(QUIT), E(GONE), E(WRITTEN));
    LIFE(E(SHARE), E(READY), E(QUIT), E(GONE), E(WRITTEN));
    LIFE(E(SHARE), E(READY), E(BEGIN), E(QUIT), E(ENDED), E(GONE), E(WRITTEN));
    LIFE(E(SHARE), E(FAIL), E(FAIL), E(KNOWN), E(FAIL), E(QUIT), E(FAIL), E(GONE), E(STOPPED),
         E(WRITTEN));
    LIFE(E(SHARE), E(QUIT), E(QUIT), E(GONE), E(CUT));
#undef E
#undef LIFE
}

static void test_complaint(void)
{
    struct log_capture c;
    const struct log *log = log_capture_open(&c);
    enum launcher_state at = LAUNCHER_STATE_RAISING;

    OK(launcher_state_event(&at, LAUNCHER_EVENT_FAIL, log) == LAUNCHER_ACTION_keep_failure);
    OK(!c.text[0]);
    OK(launcher_state_event(&at, LAUNCHER_EVENT_BEGIN, log) == LAUNCHER_ACTION_impossible);
    OK_F(strstr(c.text, "internal error: event 'begin' for the launcher in state 'failing'") &&
             at == LAUNCHER_STATE_FAILING,
         "a pair without a row is logged: %s", c.text);
}

int main(void)
{
    test_pairs();
    test_ways_out();
    test_lives();
    test_complaint();
    return tap_done();
}
