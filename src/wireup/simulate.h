/* simulate.h - `wireup sim`: the overlay of many nodes under virtual time (cluster/sim.h). */
#ifndef WIREUP_WIREUP_SIMULATE_H
#define WIREUP_WIREUP_SIMULATE_H

#include "wireup/command.h"

int simulate(const struct command_line *l);

#endif
