/* trace.h - the commands for recordings: what was said, and whether it would be said again. */
#ifndef WIREUP_WIREUP_TRACE_H
#define WIREUP_WIREUP_TRACE_H

#include "wireup/command.h"

/* Exit codes as of command_run(). */
int trace_print(const struct command_line *l);
int trace_replay(const struct command_line *l);

#endif
