/* router_state.h - the state table of router_state.def: how far a router is.
 *
 * Only the table changes the state; actions are names, carried out by router.c.
 */
#ifndef WIREUP_CLUSTER_ROUTER_STATE_H
#define WIREUP_CLUSTER_ROUTER_STATE_H

#include <stdbool.h>

enum router_action {
    ROUTER_ACTION_impossible = 0, /* no such row */
    ROUTER_ACTION_nothing,
    ROUTER_ACTION_report_loss,   /* a daemon below is lost */
    ROUTER_ACTION_report_orphan, /* the host may join another daemon above */
    ROUTER_ACTION_look_below,    /* is anybody connected there? */
    ROUTER_ACTION_send_away,     /* tell it to exit */
    ROUTER_ACTION_refuse,        /* close its link */
    ROUTER_ACTION_close_parent,  /* the link towards the launcher, if there is one */
    ROUTER_ACTION_report_closed, /* all links are closed */
};

#define TABLE         router
#define TABLE_UPPER   ROUTER
#define TABLE_ROWS    "cluster/router_state.def"
#define TABLE_SUBJECT "the router"
#include "base/state_table.h"

/* All have been told to exit. */
static inline bool router_state_is_leaving(enum router_state state)
{
    return state >= ROUTER_STATE_LEAVING;
}

/* Nothing more is sent. */
static inline bool router_state_is_ending(enum router_state state)
{
    return state >= ROUTER_STATE_ENDING;
}

#endif
