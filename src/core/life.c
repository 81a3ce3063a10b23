/* life.c - see life.h and life.def. */
#include "core/life.h"

struct cell {
    enum life_action action;
    enum life_state next;
};

static const struct cell table[LIFE_STATES][LIFE_EVENTS] = {
#define ROW(from, event, to, act) [LIFE_##from][LIFE_##event] = { LIFE_##act, LIFE_##to },
#include "core/life.def"
#undef ROW
};

enum life_action life_step(enum life_state *state_p, enum life_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != LIFE_impossible)
        *state_p = c->next;
    return c->action;
}

const char *life_state_name(enum life_state state)
{
    static const char *const names[LIFE_STATES] = {
        [LIFE_PLANNED] = "planned", [LIFE_RUNNING] = "running", [LIFE_ATTACHED] = "attached",
        [LIFE_LEAVING] = "leaving", [LIFE_LOST] = "lost",       [LIFE_GONE] = "gone",
    };

    return names[state];
}

const char *life_event_name(enum life_event event)
{
    static const char *const names[LIFE_EVENTS] = {
        [LIFE_STARTED] = "started", [LIFE_NOT_STARTED] = "not started",
        [LIFE_ATTACH] = "attach",   [LIFE_FINALIZE] = "finalize",
        [LIFE_HANGUP] = "hang-up",  [LIFE_BREAK] = "protocol error",
        [LIFE_EXIT] = "exit",       [LIFE_DEATH] = "death",
    };

    return names[event];
}
