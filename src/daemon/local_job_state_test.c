/* local_job_state_test.c - walks all pairs of the tables of a job's start and of its request:
 * whatever happens, all ranks are tried in the end and the requester is answered once.
 */
#include "daemon/local_job_state.h"
#include "daemon/spawning_state.h"

#include "tests/log_capture.h"
#include "tests/tap.h"

static void test_start_row(enum local_job_state from, enum local_job_event event,
                           enum local_job_state to, enum local_job_action a)
{
    printf("# %-10s %-8s -> %s\n", local_job_state_name(from), local_job_event_name(event),
           local_job_state_name(to));
    OK_F((to == LOCAL_JOB_STATE_HELD) == (event == LOCAL_JOB_EVENT_HOLD),
         "it is held by that alone, and nothing but a row ends it");
    OK_F((to == LOCAL_JOB_STATE_LOADING) ==
             (event == LOCAL_JOB_EVENT_LOAD ||
              (from == LOCAL_JOB_STATE_LOADING && event == LOCAL_JOB_EVENT_RELEASE)),
         "a program is loaded when that is asked for");
    OK_F((a == LOCAL_JOB_ACTION_start) ==
             ((from == LOCAL_JOB_STATE_HELD || from == LOCAL_JOB_STATE_LOADING) &&
              to == LOCAL_JOB_STATE_STARTING),
         "the launch loop is woken when it may go on, and only then");
    OK_F(from != LOCAL_JOB_STATE_TRIED || to == LOCAL_JOB_STATE_TRIED, "no rank is tried twice");
}

static void test_start(void)
{
    for (int s = 0; s < LOCAL_JOB_STATES; s++) {
        for (int e = 0; e < LOCAL_JOB_EVENTS; e++) {
            enum local_job_state from = (enum local_job_state)s, to = from;
            enum local_job_event event = (enum local_job_event)e;
            enum local_job_action a = local_job_state_step(&to, event);
            if (a != LOCAL_JOB_ACTION_impossible)
                test_start_row(from, event, to, a);
            else
                OK_F(to == from && event != LOCAL_JOB_EVENT_END && event != LOCAL_JOB_EVENT_RELEASE,
                     "%s, %s: impossible, and changes nothing; other nodes' messages never are",
                     local_job_state_name(from), local_job_event_name(event));
        }
    }
}

/* A job can be ended, and then skipped, whatever came before. */
static void test_ways_out(void)
{
    for (int s = 0; s < LOCAL_JOB_STATES; s++) {
        enum local_job_state at = (enum local_job_state)s;
        local_job_state_step(&at, LOCAL_JOB_EVENT_END);
        local_job_state_step(&at, LOCAL_JOB_EVENT_SKIP);
        OK_F(at == LOCAL_JOB_STATE_TRIED, "%s: ended, its ranks are skipped",
             local_job_state_name((enum local_job_state)s));
    }
}

/* The requester gets one answer, and nobody else any. */
static void test_request(void)
{
    for (int s = 0; s < SPAWNING_STATES; s++) {
        for (int e = 0; e < SPAWNING_EVENTS; e++) {
            enum spawning_state from = (enum spawning_state)s, to = from;
            enum spawning_event event = (enum spawning_event)e;
            bool step = spawning_state_step(&to, event) != SPAWNING_ACTION_impossible;
            OK_F(step == ((from == SPAWNING_STATE_NONE && event == SPAWNING_EVENT_REQUEST) ||
                          (from == SPAWNING_STATE_AWAITED && event == SPAWNING_EVENT_ANSWER)) &&
                     to == (step ? from + 1 : from),
                 "%s, %s -> %s", spawning_state_name(from), spawning_event_name(event),
                 spawning_state_name(to));
        }
    }
}

static void test_complaints(void)
{
    struct log_capture c;
    const struct log *log = log_capture_open(&c);
    enum local_job_state start = LOCAL_JOB_STATE_TRIED;
    enum spawning_state request = SPAWNING_STATE_AWAITED;

    OK(local_job_state_event(&start, LOCAL_JOB_EVENT_END, log) == LOCAL_JOB_ACTION_nothing &&
       !c.text[0]);
    OK(local_job_state_event(&start, LOCAL_JOB_EVENT_TRY, log) == LOCAL_JOB_ACTION_impossible);
    OK_F(strstr(c.text, "internal error: event 'try' for the start of a job on this node in state "
                        "'tried'") &&
             start == LOCAL_JOB_STATE_TRIED,
         "a pair without a row is logged: %s", c.text);
    OK(spawning_state_event(&request, SPAWNING_EVENT_REQUEST, log) == SPAWNING_ACTION_impossible);
    OK_F(strstr(c.text, "internal error: event 'request' for the request for a job in state "
                        "'awaited'") &&
             request == SPAWNING_STATE_AWAITED,
         "and so is one of a request: %s", c.text);
}

int main(void)
{
    test_start();
    test_ways_out();
    test_request();
    test_complaints();
    return tap_done();
}
