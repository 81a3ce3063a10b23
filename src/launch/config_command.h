/* config_command.h - `wireup config`: which settings are in force, and where they come from. */
#ifndef WIREUP_LAUNCH_CONFIG_COMMAND_H
#define WIREUP_LAUNCH_CONFIG_COMMAND_H

#include "tools/command.h"

int config_command(const struct command_line *l);

#endif
