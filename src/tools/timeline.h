/* timeline.h - the command `wireup timeline`: the picture of a job from its traces. */
#ifndef WIREUP_TOOLS_TIMELINE_H
#define WIREUP_TOOLS_TIMELINE_H

#include "tools/command.h"

/* Returns an exit code as run_command() does. */
int timeline_command(const struct command_line *l);

#endif
