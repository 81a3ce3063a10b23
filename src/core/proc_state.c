/* proc_state.c - see proc_state.h and proc_state.def. */
#define STATE_TABLE_CODE
#include "core/proc_state.h"
