/* spawning_state.c - see spawning_state.h and spawning_state.def. */
#define STATE_TABLE_CODE
#include "daemon/spawning_state.h"
