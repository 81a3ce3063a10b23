/* fetch.h - `wireup fetch`: brings the traces of other nodes, which are on their disks, to the
 * launcher's trace, by the way in which daemons are started there (ssh, for instance). */
#ifndef WIREUP_LAUNCH_FETCH_H
#define WIREUP_LAUNCH_FETCH_H

#include "tools/command.h"

/* Returns an exit code as run_command() does. */
int fetch_command(const struct command_line *l);

#endif
