/* sim_groups.h - the simulated program's groups: constructs and destructs, with losses that the top
 * decides, and invitations by events.  Internal to the simulator (sim.h).
 *
 * Each group is constructed and destructed once in each round; every other one bears the loss of
 * members.  Of each invitation one node leads: it invites a few others by an event, each accepts by
 * one, and when all have accepted that are not lost, the leader says by a third that the group is
 * formed.
 *
 * Invariants: every node is told the same outcome of a construct, a destruct and an invitation,
 * also one that dies later (but for the leader of an invitation, whose own word it is: it may be
 * cut off by then); what a group bears fails nothing, and leaves nobody out who lives; the data is
 * that of exactly the others; each that lives is told an outcome, once.
 */
#ifndef WIREUP_CLUSTER_SIM_GROUPS_H
#define WIREUP_CLUSTER_SIM_GROUPS_H

#include "cluster/sim_net.h"

/* Chooses the members.  False: no memory. */
bool sim_groups_open(struct sim *s);
void sim_groups_close(struct sim *s);

/* The members enter, and the leaders invite, at times chosen by the seed. */
void sim_groups_begin(struct sim *s);
/* SIM_GROUP */
void sim_groups_happen(struct sim_node *n, const struct sim_event *e);

/* False: it is no collective of a group. */
bool sim_groups_completed(struct sim_node *n, const struct overlay_event *e);
/* An event of an invitation (sim_calls_notify). */
void sim_groups_event(struct sim_node *n, uint32_t from, uint32_t code);

/* A daemon is lost. */
void sim_groups_lost(struct sim_node *n, uint32_t position);

/* At the end: whether a living node waits for an outcome; NULL: no. */
const char *sim_groups_wrong(const struct sim_node *n);

#endif
