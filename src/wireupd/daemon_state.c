/* daemon_state.c - see daemon_state.h and daemon_state.def. */
#include "wireupd/daemon_state.h"

#include <errno.h>
#include <stdlib.h>

struct cell {
    enum daemon_action action;
    enum daemon_state next;
};

static const struct cell table[DAEMON_STATES][DAEMON_EVENTS] = {
#define ROW(from, event, to, act)                                                                  \
    [DAEMON_STATE_##from][DAEMON_EVENT_##event] = { DAEMON_ACTION_##act, DAEMON_STATE_##to },
#include "wireupd/daemon_state.def"
};

enum daemon_action daemon_state_step(enum daemon_state *state_p, enum daemon_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != DAEMON_ACTION_impossible)
        *state_p = c->next;
    return c->action;
}

bool daemon_state_is_awaited(enum daemon_state state)
{
    return state == DAEMON_STATE_ASKED || state == DAEMON_STATE_STARTED;
}

const char *daemon_state_name(enum daemon_state state)
{
    static const char *const names[DAEMON_STATES] = {
#define STATE(state, name) [DAEMON_STATE_##state] = name,
#include "wireupd/daemon_state.def"
    };

    return names[state];
}

const char *daemon_event_name(enum daemon_event event)
{
    static const char *const names[DAEMON_EVENTS] = {
#define EVENT(event, name) [DAEMON_EVENT_##event] = name,
#include "wireupd/daemon_state.def"
    };

    return names[event];
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
