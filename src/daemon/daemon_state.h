/* daemon_state.h - the state table of daemon_state.def: how far the other daemons of a launch are.
 *
 * Only the table changes a state; actions are names, carried out by the module that reports the
 * event.  All states of a launch are in one list by position, of the launcher and of each daemon.
 */
#ifndef WIREUP_DAEMON_DAEMON_STATE_H
#define WIREUP_DAEMON_DAEMON_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum daemon_action {
    DAEMON_ACTION_impossible = 0, /* no such row */
    DAEMON_ACTION_nothing,
    DAEMON_ACTION_note_start,     /* the time of its start is known now */
    DAEMON_ACTION_count_up,       /* its command waits for one daemon less */
    DAEMON_ACTION_count_off,      /* the same */
    DAEMON_ACTION_report_failure, /* the same, and the owner has to know why */
    DAEMON_ACTION_keep_word,      /* its report explains the end of its link */
};

#define TABLE       daemon
#define TABLE_UPPER DAEMON
#define TABLE_ROWS  "daemon/daemon_state.def"
#include "base/state_table.h"

/* It has been asked to start, and is neither up nor given up. */
bool daemon_state_is_awaited(enum daemon_state state);

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
