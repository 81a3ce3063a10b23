/* membership_state.c - see membership_state.h and membership_state.def. */
#define STATE_TABLE_CODE
#include "cluster/membership_state.h"
