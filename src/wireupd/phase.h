/* phase.h - the state table of phase.def: how the launcher ends when it is asked to, in each phase.
 *
 * The table alone changes the phase; actions are names, carried out by the guard (supervisor.c)
 * before the worker listens, and by the worker (control.c) afterwards.
 */
#ifndef WIREUP_WIREUPD_PHASE_H
#define WIREUP_WIREUPD_PHASE_H

#include <stdbool.h>

enum phase {
    PHASE_PREPARING,
    PHASE_RISING,
    PHASE_STARTING,
    PHASE_RUNNING,
    PHASE_STANDING,
    PHASE_ASKED,
    PHASE_ENDING,
    PHASE_KILLING,
    PHASE_GIVING_UP,
    PHASE_LEAVING,
    PHASE_CLOSING,
    PHASE_CUT,
    PHASES
};

enum phase_event {
    PHASE_LISTENING,
    PHASE_UP,
    PHASE_STARTED,
    PHASE_STAND,
    PHASE_ENDED,
    PHASE_SIGNAL,
    PHASE_LATE,
    PHASE_PATIENCE,
    PHASE_EVENTS
};

enum phase_action {
    PHASE_none = 0, /* no such row: the phase stays */
    PHASE_nothing,
    PHASE_kill_worker, /* the guard: kill it and what it has started */
    PHASE_give_up,     /* no job will run: daemons go */
    PHASE_ask,         /* pass the signal on, and wait a while */
    PHASE_end_job,     /* end the job as one that has failed */
    PHASE_end_late,    /* the same, after the report who is missing */
    PHASE_kill,        /* kill all processes */
    PHASE_hurry,       /* output and daemons get a short time */
    PHASE_cut,         /* leave now, whatever remains */
};

enum phase_action phase_step(enum phase *phase_p, enum phase_event event);

/* Signals that ask for the end. */
bool phase_is_end(int sig);

const char *phase_name(enum phase phase);             /* "giving up" */
const char *phase_event_name(enum phase_event event); /* "patience" */

#endif
