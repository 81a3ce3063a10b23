/* phase_test.c - invariants of the phase table: from every phase, a second signal or the end of
 * patience leads out, and nothing leads back. */
#include "daemon/phase.h"

#include <signal.h>

#include "tests/tap.h"

/* Phases follow each other in an order; STANDING takes the place of a job. */
static int rank_of(enum phase_state p)
{
    static const int ranks[PHASE_STATES] = {
        [PHASE_STATE_PREPARING] = 0, [PHASE_STATE_RISING] = 1,   [PHASE_STATE_STARTING] = 2,
        [PHASE_STATE_RUNNING] = 3,   [PHASE_STATE_STANDING] = 3, [PHASE_STATE_ASKED] = 4,
        [PHASE_STATE_ENDING] = 5,    [PHASE_STATE_KILLING] = 6,  [PHASE_STATE_GIVING_UP] = 5,
        [PHASE_STATE_LEAVING] = 7,   [PHASE_STATE_CLOSING] = 7,  [PHASE_STATE_CUT] = 8,
    };

    return ranks[p];
}

static void test_rows(void)
{
    for (int p = 0; p < PHASE_STATES; p++) {
        for (int e = 0; e < PHASE_EVENTS; e++) {
            enum phase_state from = (enum phase_state)p, to = from;
            enum phase_action a = phase_state_step(&to, (enum phase_event)e);
            if (a == PHASE_ACTION_none)
                OK_F(to == from, "%s, %s: changes nothing", phase_state_name(from),
                     phase_event_name((enum phase_event)e));
            else
                OK_F(rank_of(to) >= rank_of(from), "%s, %s -> %s: forward", phase_state_name(from),
                     phase_event_name((enum phase_event)e), phase_state_name(to));
            OK_F((a == PHASE_ACTION_kill_worker) ==
                     (a != PHASE_ACTION_none && from == PHASE_STATE_PREPARING &&
                      to == PHASE_STATE_CUT),
                 "the guard acts before the worker listens, and only then");
        }
    }
}

/* Every phase is left on a signal, and no phase that follows is awaited for ever. */
static void test_ways_out(void)
{
    for (int p = 0; p < PHASE_STATE_CUT; p++) {
        enum phase_state at = (enum phase_state)p;
        OK_F(phase_state_step(&at, PHASE_EVENT_SIGNAL) > PHASE_ACTION_nothing,
             "%s: a signal is acted upon", phase_state_name((enum phase_state)p));
        for (int i = 0; i < PHASE_STATES && at != PHASE_STATE_CUT; i++)
            OK_F(phase_state_step(&at, PHASE_EVENT_PATIENCE) > PHASE_ACTION_nothing,
                 "%s: patience ends", phase_state_name(at));
        OK_F(at == PHASE_STATE_CUT, "%s: one signal and patience lead to the end",
             phase_state_name((enum phase_state)p));
    }
}

/* The time limit counts wherever something is still to come or to run. */
static void test_late(void)
{
    static const enum phase_state timed[] = { PHASE_STATE_PREPARING, PHASE_STATE_RISING,
                                              PHASE_STATE_STARTING,  PHASE_STATE_RUNNING,
                                              PHASE_STATE_ASKED,     PHASE_STATE_LEAVING };

    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        enum phase_state at = timed[i];
        OK_F(phase_state_step(&at, PHASE_EVENT_LATE) > PHASE_ACTION_nothing, "%s: its time is up",
             phase_state_name(timed[i]));
    }
}

/* Repeated requests to end do not prolong the end. */
static void test_impatient(void)
{
    for (int p = 0; p < PHASE_STATE_CUT; p++) {
        enum phase_state at = (enum phase_state)p;
        int signals = 0;
        while (at != PHASE_STATE_CUT && signals++ < PHASE_STATES)
            phase_state_step(&at, PHASE_EVENT_SIGNAL);
        OK_F(signals <= 3, "%s: cut at the third signal at last",
             phase_state_name((enum phase_state)p));
    }
}

static void test_signals(void)
{
    OK(phase_is_end(SIGINT) && phase_is_end(SIGTERM) && phase_is_end(SIGHUP));
    OK(!phase_is_end(SIGQUIT) && !phase_is_end(SIGTSTP) && !phase_is_end(SIGUSR1));
}

int main(void)
{
    test_rows();
    test_ways_out();
    test_late();
    test_impatient();
    test_signals();
    return tap_done();
}
