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
    PROC_STATES
};

enum proc_event {
    PROC_EVENT_STARTED,
    PROC_EVENT_NOT_STARTED,
    PROC_EVENT_ATTACH,
    PROC_EVENT_FINALIZE,
    PROC_EVENT_HANGUP,
    PROC_EVENT_BREAK, /* broke the protocol; its connection is closed */
    PROC_EVENT_EXIT,
    PROC_EVENT_DEATH,
    PROC_EVENTS
};

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

/* Looks the row up: the action, and the next state in *state_p.  PROC_ACTION_impossible leaves the
 * state alone. */
enum proc_action proc_state_step(enum proc_state *state_p, enum proc_event event);

const char *proc_state_name(enum proc_state state); /* "attached" */
const char *proc_event_name(enum proc_event event); /* "finalize" */

#endif
