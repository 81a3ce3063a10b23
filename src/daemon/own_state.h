/* own_state.h - the state table of own_state.def: how far this daemon is.
 *
 * Only the table changes the state; actions are names, carried out by cluster_io.c and shutdown.c.
 * (The launcher has a table of its own: launcher_state.h.)
 */
#ifndef WIREUP_DAEMON_OWN_STATE_H
#define WIREUP_DAEMON_OWN_STATE_H

#include <stdbool.h>

enum own_action {
    OWN_ACTION_impossible = 0, /* no such row */
    OWN_ACTION_nothing,
    OWN_ACTION_begin,         /* start the daemons below it */
    OWN_ACTION_end_processes, /* kill them, and write their last output */
    OWN_ACTION_end_output,    /* close it: only the bytes in the channels remain */
    OWN_ACTION_leave,         /* clean up, and close the link when those below have gone */
    OWN_ACTION_hold,          /* kill the processes of the DVM's own jobs, and stop the loop */
    OWN_ACTION_kill,          /* kill everything, and stop the loop */
    OWN_ACTION_stop_loop,
};

#define TABLE         own
#define TABLE_UPPER   OWN
#define TABLE_ROWS    "daemon/own_state.def"
#define TABLE_SUBJECT "this daemon"
#include "base/state_table.h"

/* It has (had) a link towards the launcher. */
bool own_state_has_joined(enum own_state state);

#endif
