/* daemon_state.c - see daemon_state.h and daemon_state.def. */
#define STATE_TABLE_CODE
#include "daemon/daemon_state.h"

#include <errno.h>
#include <stdlib.h>

bool daemon_state_is_awaited(enum daemon_state state)
{
    return state == DAEMON_STATE_ASKED || state == DAEMON_STATE_STARTED;
}

int daemon_states_open(struct daemon_states *d, uint32_t count, const struct log *log)
{
    *d = (struct daemon_states){ .states = calloc(count, sizeof *d->states),
                                 .count = count,
                                 .in[DAEMON_STATE_PLANNED] = count - 1,
                                 .log = log };
    return d->states ? 0 : -ENOMEM;
}

void daemon_states_close(struct daemon_states *d)
{
    free(d->states);
    d->states = NULL;
}

enum daemon_action daemon_states_event(struct daemon_states *d, uint32_t position,
                                       enum daemon_event event)
{
    enum daemon_state before = d->states[position];
    enum daemon_action action = daemon_state_step(&d->states[position], event);

    if (action == DAEMON_ACTION_impossible)
        log_error(d->log, "internal error: event '%s' for daemon %u in state '%s'",
                  daemon_event_name(event), position, daemon_state_name(before));
    d->in[before]--;
    d->in[d->states[position]]++;
    return action;
}
