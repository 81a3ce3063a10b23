/* trace.h - the commands for traces: print what was sent, and check whether it would be
 * sent again. */
#ifndef WIREUP_WIREUP_TRACE_H
#define WIREUP_WIREUP_TRACE_H

#include "wireup/command.h"

/* Return exit codes as command_run() does. */
int trace_print(const struct command_line *l);
int trace_replay(const struct command_line *l);

#endif
