/* simulate.h - `wireup sim`: the overlay of many nodes under virtual time (cluster/sim.h). */
#ifndef WIREUP_TOOLS_SIMULATE_H
#define WIREUP_TOOLS_SIMULATE_H

#include "tools/command.h"

int simulate(const struct command_line *l);

#endif
