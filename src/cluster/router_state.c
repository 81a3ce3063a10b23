/* router_state.c - see router_state.h and router_state.def. */
#define STATE_TABLE_CODE
#include "cluster/router_state.h"
