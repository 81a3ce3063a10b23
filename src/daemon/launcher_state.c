/* launcher_state.c - see launcher_state.h and launcher_state.def. */
#define STATE_TABLE_CODE
#include "daemon/launcher_state.h"

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
