/* spawning_state.h - the state table of spawning_state.def: whether a process waits for the answer
 * to its request for a job.
 *
 * Only the table changes the state.
 */
#ifndef WIREUP_DAEMON_SPAWNING_STATE_H
#define WIREUP_DAEMON_SPAWNING_STATE_H

enum spawning_action {
    SPAWNING_ACTION_impossible = 0, /* no such row */
    SPAWNING_ACTION_nothing,        /* the caller acts itself */
};

#define TABLE         spawning
#define TABLE_UPPER   SPAWNING
#define TABLE_ROWS    "daemon/spawning_state.def"
#define TABLE_SUBJECT "the request for a job"
#include "base/state_table.h"

#endif
