/* proc_state.h - the state table of proc_state.def: the next state and the action of each event.
 *
 * The table alone changes the state; actions are names, carried out by the job (job.c).
 */
#ifndef WIREUP_CORE_PROC_STATE_H
#define WIREUP_CORE_PROC_STATE_H

#include <stdbool.h>

enum proc_state {
    PROC_STATE_PLANNED,
    PROC_STATE_RUNNING,
    PROC_STATE_ATTACHED,
    PROC_STATE_LEAVING,
    PROC_STATE_LOST,
    PROC_STATE_GONE,
    PROC_STATE_STATES
};

enum proc_event {
    PROC_STATE_STARTED,
    PROC_STATE_NOT_STARTED,
    PROC_STATE_ATTACH,
    PROC_STATE_FINALIZE,
    PROC_STATE_HANGUP,
    PROC_STATE_BREAK, /* broke the protocol; its connection is closed */
    PROC_STATE_EXIT,
    PROC_STATE_DEATH,
    PROC_STATE_EVENTS
};

enum proc_action {
    PROC_STATE_impossible = 0, /* no such row */
    PROC_STATE_nothing,
    PROC_STATE_count_start,
    PROC_STATE_fail_start,
    PROC_STATE_count_end,
    PROC_STATE_end_badly,
    PROC_STATE_lose,
    PROC_STATE_break_rules
};

/* Looks the row up: the action, and the next state in *state_p.  PROC_STATE_impossible leaves the
 * state alone. */
enum proc_action proc_state_step(enum proc_state *state_p, enum proc_event event);

const char *proc_state_state_name(enum proc_state state); /* "attached" */
const char *proc_state_event_name(enum proc_event event); /* "finalize" */

#endif
