/* launcher_state.h - the state table of launcher_state.def: the launch of the daemons, the jobs,
 * and the end of all of them.
 *
 * Only the table changes the state; actions are names, carried out by the module that reports the
 * event: remote.c of the launcher while daemons come up, then shutdown.c.
 */
#ifndef WIREUP_DAEMON_LAUNCHER_STATE_H
#define WIREUP_DAEMON_LAUNCHER_STATE_H

#include <stdbool.h>

enum launcher_action {
    LAUNCHER_ACTION_impossible = 0, /* no such row */
    LAUNCHER_ACTION_nothing,
    LAUNCHER_ACTION_keep_failure,    /* for the report */
    LAUNCHER_ACTION_report_failures, /* and give up */
    LAUNCHER_ACTION_drain,           /* remove leftovers of processes, write their last output */
    LAUNCHER_ACTION_drain_and_quit,  /* ... and tell the daemons to exit */
    LAUNCHER_ACTION_quit,            /* tell the daemons to exit */
    LAUNCHER_ACTION_await_commands,  /* those that start daemons get a moment to end */
    LAUNCHER_ACTION_end_drained,     /* end the commands */
    LAUNCHER_ACTION_end_undrained,   /* ... and drain */
    LAUNCHER_ACTION_stop_loop,
};

#define TABLE         launcher
#define TABLE_UPPER   LAUNCHER
#define TABLE_ROWS    "daemon/launcher_state.def"
#define TABLE_SUBJECT "the launcher"
#include "base/state_table.h"

/* Daemons are awaited, or their failures are. */
bool launcher_state_is_rising(enum launcher_state state);
/* A job runs. */
bool launcher_state_has_job(enum launcher_state state);
/* The daemons have been told to exit. */
bool launcher_state_is_leaving(enum launcher_state state);
/* Nothing is left of other nodes. */
bool launcher_state_is_alone(enum launcher_state state);

#endif
