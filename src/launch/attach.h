/* attach.h - `wireup attach`: a debugger for each of some processes of a running job. */
#ifndef WIREUP_LAUNCH_ATTACH_H
#define WIREUP_LAUNCH_ATTACH_H

#include "tools/command.h"

/* Returns exit codes as run_command() does. */
int attach_command(const struct command_line *l);

#endif
