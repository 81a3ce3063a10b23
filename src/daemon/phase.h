/* phase.h - the state table of phase.def: how the launcher ends when it is asked to, in each phase.
 *
 * Only the table changes the phase; actions are names, carried out by the supervisor (supervisor.c)
 * until the worker handles signals, and by the worker (control.c) afterwards.
 */
#ifndef WIREUP_DAEMON_PHASE_H
#define WIREUP_DAEMON_PHASE_H

#include <stdbool.h>

enum phase_action {
    PHASE_ACTION_none = 0, /* no such row: the phase stays */
    PHASE_ACTION_nothing,
    PHASE_ACTION_kill_worker, /* the supervisor: kill the worker and all it has started */
    PHASE_ACTION_give_up,     /* no job will run: daemons exit */
    PHASE_ACTION_ask,         /* forward the signal, and wait a while */
    PHASE_ACTION_end_job,     /* end the job as failed */
    PHASE_ACTION_end_late,    /* the same, after the report of pending requests */
    PHASE_ACTION_kill,        /* kill all processes */
    PHASE_ACTION_hurry,       /* output and daemons get a short time */
    PHASE_ACTION_cut,         /* exit now, whatever remains */
};

#define TABLE       phase
#define TABLE_UPPER PHASE
#define TABLE_ROWS  "daemon/phase.def"
#include "base/state_table.h"

/* Signals that ask for the end (SIGINT, SIGTERM, SIGHUP). */
bool phase_is_end(int sig);

#endif
