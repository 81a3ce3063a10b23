/* daemon_state.h - the state table of daemon_state.def: how far the other daemons of a launch are.
 *
 * Only the table changes a state; actions are names, carried out by the module that reports the
 * event.  All states of a launch are in one list by position, of the launcher and of each daemon.
 */
#ifndef WIREUP_WIREUPD_DAEMON_STATE_H
#define WIREUP_WIREUPD_DAEMON_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

enum daemon_state {
#define STATE(state, name) DAEMON_STATE_##state,
#include "wireupd/daemon_state.def"
    DAEMON_STATES
};

enum daemon_event {
#define EVENT(event, name) DAEMON_EVENT_##event,
#include "wireupd/daemon_state.def"
    DAEMON_EVENTS
};

enum daemon_action {
    DAEMON_ACTION_impossible = 0, /* no such row */
    DAEMON_ACTION_nothing,
    DAEMON_ACTION_note_start,     /* the time of its start is known now */
    DAEMON_ACTION_count_up,       /* its command waits for one daemon less */
    DAEMON_ACTION_count_off,      /* the same */
    DAEMON_ACTION_report_failure, /* the same, and the owner has to know why */
    DAEMON_ACTION_keep_word,      /* what it reports explains the end of its link */
};

/* Looks the row up: the action, and the next state in *state_p.  DAEMON_ACTION_impossible leaves
 * the state alone. */
enum daemon_action daemon_state_step(enum daemon_state *state_p, enum daemon_event event);

/* It has been asked to start, and is neither up nor given up. */
bool daemon_state_is_awaited(enum daemon_state state);

const char *daemon_state_name(enum daemon_state state); /* "linked" */
const char *daemon_event_name(enum daemon_event event); /* "report" */

/* The states of all daemons, by position. */
struct daemon_states {
    enum daemon_state *states;
    uint32_t count;
    uint32_t in[DAEMON_STATES]; /* how many are in each state */
    const struct log *log;
};

/* All planned, the one at position 0 not counted.  0 or -ENOMEM.  The log must outlive it. */
int daemon_states_open(struct daemon_states *d, uint32_t count, const struct log *log);
void daemon_states_close(struct daemon_states *d); /* harmless twice, and on zeroed memory */

/* The step of one daemon; its position must be below `count`.  Logs an event that has no row. */
enum daemon_action daemon_states_event(struct daemon_states *d, uint32_t position,
                                       enum daemon_event event);

#endif
