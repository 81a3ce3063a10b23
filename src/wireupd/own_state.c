/* own_state.c - see own_state.h and own_state.def. */
#include "wireupd/own_state.h"

struct cell {
    enum own_action action;
    enum own_state next;
};

static const struct cell table[OWN_STATES][OWN_EVENTS] = {
#define ROW(from, event, to, act)                                                                  \
    [OWN_STATE_##from][OWN_EVENT_##event] = { OWN_ACTION_##act, OWN_STATE_##to },
#include "wireupd/own_state.def"
};

enum own_action own_state_step(enum own_state *state_p, enum own_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != OWN_ACTION_impossible)
        *state_p = c->next;
    return c->action;
}

enum own_action own_state_event(enum own_state *state_p, enum own_event event,
                                const struct log *log)
{
    enum own_state before = *state_p;
    enum own_action action = own_state_step(state_p, event);

    if (action == OWN_ACTION_impossible)
        log_error(log, "internal error: event '%s' for this daemon in state '%s'",
                  own_event_name(event), own_state_name(before));
    return action;
}

bool own_state_has_joined(enum own_state state)
{
    return state != OWN_STATE_JOINING && state != OWN_STATE_FAILED;
}

const char *own_state_name(enum own_state state)
{
    static const char *const names[OWN_STATES] = {
#define STATE(state, name) [OWN_STATE_##state] = name,
#include "wireupd/own_state.def"
    };

    return names[state];
}

const char *own_event_name(enum own_event event)
{
    static const char *const names[OWN_EVENTS] = {
#define EVENT(event, name) [OWN_EVENT_##event] = name,
#include "wireupd/own_state.def"
    };

    return names[event];
}
