/* life.h - the state table of life.def: which state follows, and what is to be done.
 *
 * The table alone changes the state; actions are names, carried out by the job (job.c).
 */
#ifndef WIREUP_CORE_LIFE_H
#define WIREUP_CORE_LIFE_H

#include <stdbool.h>

enum life_state {
    LIFE_PLANNED,
    LIFE_RUNNING,
    LIFE_ATTACHED,
    LIFE_LEAVING,
    LIFE_LOST,
    LIFE_GONE,
    LIFE_STATES
};

enum life_event {
    LIFE_STARTED,
    LIFE_NOT_STARTED,
    LIFE_ATTACH,
    LIFE_FINALIZE,
    LIFE_HANGUP,
    LIFE_BREAK, /* broke the protocol; its connection is closed */
    LIFE_EXIT,
    LIFE_DEATH,
    LIFE_EVENTS
};

enum life_action {
    LIFE_impossible = 0, /* no such row */
    LIFE_nothing,
    LIFE_count_start,
    LIFE_fail_start,
    LIFE_count_end,
    LIFE_end_badly,
    LIFE_lose,
    LIFE_break_rules
};

/* Looks the row up: the action, and the next state in *state_p.  LIFE_impossible leaves the state
 * alone. */
enum life_action life_step(enum life_state *state_p, enum life_event event);

const char *life_state_name(enum life_state state); /* "attached" */
const char *life_event_name(enum life_event event); /* "finalize" */

#endif
