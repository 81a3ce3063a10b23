/* membership_state.h - the state table of membership_state.def: how a daemon belongs to the
 * cluster.
 *
 * Only the table changes the state; actions are names, carried out by membership.c.
 */
#ifndef WIREUP_CLUSTER_MEMBERSHIP_STATE_H
#define WIREUP_CLUSTER_MEMBERSHIP_STATE_H

enum membership_action {
    MEMBERSHIP_ACTION_impossible = 0, /* no such row */
    MEMBERSHIP_ACTION_nothing,
    MEMBERSHIP_ACTION_seek, /* try the next ancestor */
    MEMBERSHIP_ACTION_end,  /* the host must end */
};

#define TABLE         membership
#define TABLE_UPPER   MEMBERSHIP
#define TABLE_ROWS    "cluster/membership_state.def"
#define TABLE_SUBJECT "the membership"
#include "base/state_table.h"

#endif
