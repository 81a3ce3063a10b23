/* own_state.h - the state table of own_state.def: how far this daemon is.
 *
 * Only the table changes the state; actions are names, carried out by multinode.c and shutdown.c.
 * (The launcher has a table of its own: launcher_state.h.)
 */
#ifndef WIREUP_WIREUPD_OWN_STATE_H
#define WIREUP_WIREUPD_OWN_STATE_H

#include <stdbool.h>

#include "base/log.h"

enum own_state {
#define STATE(state, name) OWN_STATE_##state,
#include "wireupd/own_state.def"
    OWN_STATES
};

enum own_event {
#define EVENT(event, name) OWN_EVENT_##event,
#include "wireupd/own_state.def"
    OWN_EVENTS
};

enum own_action {
    OWN_ACTION_impossible = 0, /* no such row */
    OWN_ACTION_nothing,
    OWN_ACTION_begin,         /* start the daemons below it */
    OWN_ACTION_end_processes, /* kill them, and write their last output */
    OWN_ACTION_end_output,    /* close it: what is in the channels is the rest */
    OWN_ACTION_leave,         /* clean up, and close the link when those below have gone */
    OWN_ACTION_kill,          /* kill everything, and stop the loop */
    OWN_ACTION_stop_loop,
};

/* Looks the row up: the action, and the next state in *state_p.  OWN_ACTION_impossible leaves the
 * state alone. */
enum own_action own_state_step(enum own_state *state_p, enum own_event event);

/* The same; logs an event that has no row. */
enum own_action own_state_event(enum own_state *state_p, enum own_event event,
                                const struct log *log);

/* It has (had) a link towards the launcher. */
bool own_state_has_joined(enum own_state state);

const char *own_state_name(enum own_state state); /* "serving" */
const char *own_event_name(enum own_event event); /* "quit" */

#endif
