/* trace.h - the commands for traces: print the messages, and check whether the server would
 * send the same again. */
#ifndef WIREUP_TOOLS_TRACE_H
#define WIREUP_TOOLS_TRACE_H

#include "tools/command.h"

/* Return exit codes as run_command() does. */
int trace_print(const struct command_line *l);
int trace_replay(const struct command_line *l);

#endif
