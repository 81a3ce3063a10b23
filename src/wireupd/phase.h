/* phase.h - the state table of phase.def: how the launcher ends when it is asked to, in each phase.
 *
 * Only the table changes the phase; actions are names, carried out by the supervisor (supervisor.c)
 * until the worker handles signals, and by the worker (control.c) afterwards.
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
    PHASE_kill_worker, /* the supervisor: kill the worker and all it has started */
    PHASE_give_up,     /* no job will run: daemons exit */
    PHASE_ask,         /* forward the signal, and wait a while */
    PHASE_end_job,     /* end the job as failed */
    PHASE_end_late,    /* the same, after the report of what is pending */
    PHASE_kill,        /* kill all processes */
    PHASE_hurry,       /* output and daemons get a short time */
    PHASE_cut,         /* exit now, whatever remains */
};

enum phase_action phase_step(enum phase *phase_p, enum phase_event event);

/* Signals that ask for the end (SIGINT, SIGTERM, SIGHUP). */
bool phase_is_end(int sig);

const char *phase_name(enum phase phase);             /* "giving up" */
const char *phase_event_name(enum phase_event event); /* "patience" */

#endif
