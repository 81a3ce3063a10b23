/* launcher_state.c - see launcher_state.h and launcher_state.def. */
#include "wireupd/launcher_state.h"

struct cell {
    enum launcher_action action;
    enum launcher_state next;
};

static const struct cell table[LAUNCHER_STATES][LAUNCHER_EVENTS] = {
#define ROW(from, event, to, act)                                                                  \
    [LAUNCHER_STATE_##                                                                             \
        from][LAUNCHER_EVENT_##event] = { LAUNCHER_ACTION_##act, LAUNCHER_STATE_##to },
#include "wireupd/launcher_state.def"
};

enum launcher_action launcher_state_step(enum launcher_state *state_p, enum launcher_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != LAUNCHER_ACTION_impossible)
        *state_p = c->next;
    return c->action;
}

enum launcher_action launcher_state_event(enum launcher_state *state_p, enum launcher_event event,
                                          const struct log *log)
{
    enum launcher_state before = *state_p;
    enum launcher_action action = launcher_state_step(state_p, event);

    if (action == LAUNCHER_ACTION_impossible)
        log_error(log, "internal error: event '%s' for the launcher in state '%s'",
                  launcher_event_name(event), launcher_state_name(before));
    return action;
}

bool launcher_state_is_rising(enum launcher_state state)
{
    return state == LAUNCHER_STATE_RAISING || state == LAUNCHER_STATE_FAILING;
}

bool launcher_state_has_job(enum launcher_state state)
{
    return state == LAUNCHER_STATE_LOCAL || state == LAUNCHER_STATE_RUNNING ||
           state == LAUNCHER_STATE_BREAKING;
}

bool launcher_state_is_leaving(enum launcher_state state)
{
    return state >= LAUNCHER_STATE_BREAKING;
}

bool launcher_state_is_alone(enum launcher_state state)
{
    return state >= LAUNCHER_STATE_WRITING;
}

const char *launcher_state_name(enum launcher_state state)
{
    static const char *const names[LAUNCHER_STATES] = {
#define STATE(state, name) [LAUNCHER_STATE_##state] = name,
#include "wireupd/launcher_state.def"
    };

    return names[state];
}

const char *launcher_event_name(enum launcher_event event)
{
    static const char *const names[LAUNCHER_EVENTS] = {
#define EVENT(event, name) [LAUNCHER_EVENT_##event] = name,
#include "wireupd/launcher_state.def"
    };

    return names[event];
}
