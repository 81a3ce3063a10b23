/* sim_phases.h - the phases of one job in the simulation: its daemons and processes start, meet in
 * a barrier and in two fences with data, hear of an event, one gets a value of another, and all
 * end. Internal to the simulator (sim.h).
 *
 * bench/model runs the same phases with real daemons, and compares.  A phase begins on all nodes at
 * once, a moment after the one before it was over everywhere.  Position 0 is the launcher, and has
 * no processes.  The nodes come up as daemons do: each is started by its parent, connects to it,
 * and says that it is ready; the launcher announces the job when all have.  They end as daemons do:
 * by `quit`, and links that close from below.  Work takes the time of struct sim_costs.
 */
#ifndef WIREUP_CLUSTER_SIM_PHASES_H
#define WIREUP_CLUSTER_SIM_PHASES_H

#include "cluster/sim_net.h"

/* True also where no phases are wanted. */
bool sim_phases_open(struct sim *s);
void sim_phases_close(struct sim *s);
void sim_phases_begin(struct sim *s);

/* PHASE, DAEMON, PART and OVER. */
void sim_phases_happen(struct sim_node *n, const struct sim_event *e);

/* A node has a collective's result; a message has come (false: not one of a phase); the launcher
 * hears that a node is ready; all links of a node are closed. */
void sim_phases_completed(struct sim_node *n);
bool sim_phases_message(struct sim_node *n, const struct msg *m);
void sim_phases_ready(struct sim *s);
void sim_phases_closed(struct sim_node *n);

#endif
