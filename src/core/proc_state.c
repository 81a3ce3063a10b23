/* proc_state.c - see proc_state.h and proc_state.def. */
#include "core/proc_state.h"

struct cell {
    enum proc_action action;
    enum proc_state next;
};

static const struct cell table[PROC_STATES][PROC_EVENTS] = {
#define ROW(from, event, to, act)                                                                  \
    [PROC_STATE_##from][PROC_EVENT_##event] = { PROC_ACTION_##act, PROC_STATE_##to },
#include "core/proc_state.def"
#undef ROW
};

enum proc_action proc_state_step(enum proc_state *state_p, enum proc_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != PROC_ACTION_impossible)
        *state_p = c->next;
    return c->action;
}

const char *proc_state_name(enum proc_state state)
{
    static const char *const names[PROC_STATES] = {
        [PROC_STATE_PLANNED] = "planned",   [PROC_STATE_RUNNING] = "running",
        [PROC_STATE_ATTACHED] = "attached", [PROC_STATE_LEAVING] = "leaving",
        [PROC_STATE_LOST] = "lost",         [PROC_STATE_GONE] = "gone",
    };

    return names[state];
}

const char *proc_event_name(enum proc_event event)
{
    static const char *const names[PROC_EVENTS] = {
        [PROC_EVENT_STARTED] = "started", [PROC_EVENT_NOT_STARTED] = "not started",
        [PROC_EVENT_ATTACH] = "attach",   [PROC_EVENT_FINALIZE] = "finalize",
        [PROC_EVENT_HANGUP] = "hang-up",  [PROC_EVENT_BREAK] = "protocol error",
        [PROC_EVENT_EXIT] = "exit",       [PROC_EVENT_DEATH] = "death",
    };

    return names[event];
}
