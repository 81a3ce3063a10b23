/* own_state.c - see own_state.h and own_state.def. */
#define STATE_TABLE_CODE
#include "daemon/own_state.h"

bool own_state_has_joined(enum own_state state)
{
    return state != OWN_STATE_JOINING && state != OWN_STATE_FAILED;
}
