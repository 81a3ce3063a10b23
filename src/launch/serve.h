/* serve.h - `wireup serve`: the wire-up of processes that something else starts
 * (daemon/served_job.h). */
#ifndef WIREUP_LAUNCH_SERVE_H
#define WIREUP_LAUNCH_SERVE_H

#include "tools/command.h"

/* Returns an exit code as run_command() does; the caller exits with it: it is another process than
 * the one that called (daemon/supervisor.h). */
int serve_command(const struct command_line *l);

#endif
