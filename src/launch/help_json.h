/* help_json.h - `wireup help --json`: the commands and options, for programs that offer them
 * (schema in docs/json.md). */
#ifndef WIREUP_LAUNCH_HELP_JSON_H
#define WIREUP_LAUNCH_HELP_JSON_H

#include "tools/command.h"

/* Of the operand, or all.  Returns an exit code as run_command() does. */
int help_json(const struct command_line *l);

#endif
