/* proc_state.h - the state table of proc_state.def: the next state and the action of each event.
 *
 * The table alone changes the state; actions are names, carried out by the job (job.c).
 */
#ifndef WIREUP_CORE_PROC_STATE_H
#define WIREUP_CORE_PROC_STATE_H

enum proc_action {
    PROC_ACTION_impossible = 0, /* no such row */
    PROC_ACTION_nothing,
    PROC_ACTION_count_start,
    PROC_ACTION_fail_start,
    PROC_ACTION_count_end,
    PROC_ACTION_end_badly,
    PROC_ACTION_lose,
    PROC_ACTION_break_rules
};

#define TABLE       proc
#define TABLE_UPPER PROC
#define TABLE_ROWS  "core/proc_state.def"
#include "base/state_table.h"

#endif
