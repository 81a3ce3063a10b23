/* route_state.h - the state table of route_state.def: another daemon, as a router knows it. */
#ifndef WIREUP_CLUSTER_ROUTE_STATE_H
#define WIREUP_CLUSTER_ROUTE_STATE_H

enum route_action {
    ROUTE_ACTION_impossible = 0, /* no such row: there is none of these */
    ROUTE_ACTION_nothing,
    ROUTE_ACTION_welcome, /* the first time: the launcher reports it */
    ROUTE_ACTION_refuse,  /* it is not let in again */
    ROUTE_ACTION_forget,  /* close its link, drop messages to it, resend those through it */
};

#define TABLE       route
#define TABLE_UPPER ROUTE
#define TABLE_ROWS  "cluster/route_state.def"
#include "base/state_table.h"

#endif
