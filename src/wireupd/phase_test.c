/* phase_test.c - invariants of the phase table: from every phase, a second signal or the end of
 * patience leads out, and nothing leads back. */
#include "wireupd/phase.h"

#include <signal.h>

#include "tests/tap.h"

/* Phases follow each other in an order; STANDING takes the place of a job. */
static int rank_of(enum phase p)
{
    static const int ranks[PHASES] = {
        [PHASE_PREPARING] = 0, [PHASE_RISING] = 1,  [PHASE_STARTING] = 2, [PHASE_RUNNING] = 3,
        [PHASE_STANDING] = 3,  [PHASE_ASKED] = 4,   [PHASE_ENDING] = 5,   [PHASE_KILLING] = 6,
        [PHASE_GIVING_UP] = 5, [PHASE_LEAVING] = 7, [PHASE_CLOSING] = 7,  [PHASE_CUT] = 8,
    };

    return ranks[p];
}

static void test_rows(void)
{
    for (int p = 0; p < PHASES; p++) {
        for (int e = 0; e < PHASE_EVENTS; e++) {
            enum phase from = (enum phase)p, to = from;
            enum phase_action a = phase_step(&to, (enum phase_event)e);
            if (a == PHASE_none)
                OK_F(to == from, "%s, %s: changes nothing", phase_name(from),
                     phase_event_name((enum phase_event)e));
            else
                OK_F(rank_of(to) >= rank_of(from), "%s, %s -> %s: forward", phase_name(from),
                     phase_event_name((enum phase_event)e), phase_name(to));
            OK_F((a == PHASE_kill_worker) ==
                     (a != PHASE_none && from == PHASE_PREPARING && to == PHASE_CUT),
                 "the guard acts before the worker listens, and only then");
        }
    }
}

/* Every phase is left on a signal, and no phase that follows is awaited for ever. */
static void test_ways_out(void)
{
    for (int p = 0; p < PHASE_CUT; p++) {
        enum phase at = (enum phase)p;
        OK_F(phase_step(&at, PHASE_SIGNAL) > PHASE_nothing, "%s: a signal is acted upon",
             phase_name((enum phase)p));
        for (int i = 0; i < PHASES && at != PHASE_CUT; i++)
            OK_F(phase_step(&at, PHASE_PATIENCE) > PHASE_nothing, "%s: patience ends",
                 phase_name(at));
        OK_F(at == PHASE_CUT, "%s: one signal and patience lead to the end",
             phase_name((enum phase)p));
    }
}

/* The time limit counts wherever something is still to come or to run. */
static void test_late(void)
{
    static const enum phase timed[] = { PHASE_PREPARING, PHASE_RISING, PHASE_STARTING,
                                        PHASE_RUNNING,   PHASE_ASKED,  PHASE_LEAVING };

    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        enum phase at = timed[i];
        OK_F(phase_step(&at, PHASE_LATE) > PHASE_nothing, "%s: its time is up",
             phase_name(timed[i]));
    }
}

/* Repeated requests to end do not prolong the end. */
static void test_impatient(void)
{
    for (int p = 0; p < PHASE_CUT; p++) {
        enum phase at = (enum phase)p;
        int signals = 0;
        while (at != PHASE_CUT && signals++ < PHASES)
            phase_step(&at, PHASE_SIGNAL);
        OK_F(signals <= 3, "%s: cut at the third signal at last", phase_name((enum phase)p));
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
