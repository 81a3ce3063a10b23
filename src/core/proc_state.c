/* proc_state.c - see proc_state.h and proc_state.def. */
#include "core/proc_state.h"

struct cell {
    enum proc_action action;
    enum proc_state next;
};

static const struct cell table[PROC_STATE_STATES][PROC_STATE_EVENTS] = {
#define ROW(from, event, to, act)                                                                  \
    [PROC_STATE_##from][PROC_STATE_##event] = { PROC_STATE_##act, PROC_STATE_##to },
#include "core/proc_state.def"
#undef ROW
};

enum proc_action proc_state_step(enum proc_state *state_p, enum proc_event event)
{
    const struct cell *c = &table[*state_p][event];

    if (c->action != PROC_STATE_impossible)
        *state_p = c->next;
    return c->action;
}

const char *proc_state_state_name(enum proc_state state)
{
    static const char *const names[PROC_STATE_STATES] = {
        [PROC_STATE_PLANNED] = "planned",   [PROC_STATE_RUNNING] = "running",
        [PROC_STATE_ATTACHED] = "attached", [PROC_STATE_LEAVING] = "leaving",
        [PROC_STATE_LOST] = "lost",         [PROC_STATE_GONE] = "gone",
    };

    return names[state];
}

const char *proc_state_event_name(enum proc_event event)
{
    static const char *const names[PROC_STATE_EVENTS] = {
        [PROC_STATE_STARTED] = "started", [PROC_STATE_NOT_STARTED] = "not started",
        [PROC_STATE_ATTACH] = "attach",   [PROC_STATE_FINALIZE] = "finalize",
        [PROC_STATE_HANGUP] = "hang-up",  [PROC_STATE_BREAK] = "protocol error",
        [PROC_STATE_EXIT] = "exit",       [PROC_STATE_DEATH] = "death",
    };

    return names[event];
}
