/* enter.h - `wireup enter`: a process that runs already becomes a rank of a job of `wireup serve`
 * (daemon/served_vars.h). */
#ifndef WIREUP_LAUNCH_ENTER_H
#define WIREUP_LAUNCH_ENTER_H

#include "base/log.h"
#include "tools/command.h"

/* Returns an exit code as run_command() does; not at all if this process becomes a program. */
int enter_command(int argc, char **argv, const struct log *log);
int enter_misused(const struct command_line *l);

#endif
