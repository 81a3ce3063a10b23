/* route_state.c - see route_state.h and route_state.def. */
#define STATE_TABLE_CODE
#include "cluster/route_state.h"
