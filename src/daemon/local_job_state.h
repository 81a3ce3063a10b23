/* local_job_state.h - the state table of local_job_state.def: how far the start of a job's
 * processes on this node is.
 *
 * Only the table changes the state; actions are names, carried out by local_job_step().
 */
#ifndef WIREUP_DAEMON_LOCAL_JOB_STATE_H
#define WIREUP_DAEMON_LOCAL_JOB_STATE_H

enum local_job_action {
    LOCAL_JOB_ACTION_impossible = 0, /* no such row */
    LOCAL_JOB_ACTION_nothing,
    LOCAL_JOB_ACTION_start, /* wake the launch loop */
};

#define TABLE         local_job
#define TABLE_UPPER   LOCAL_JOB
#define TABLE_ROWS    "daemon/local_job_state.def"
#define TABLE_SUBJECT "the start of a job on this node"
#include "base/state_table.h"

#endif
