/* top.h - `wireup top`: the table of `wireup ps` again and again. */
#ifndef WIREUP_LAUNCH_TOP_H
#define WIREUP_LAUNCH_TOP_H

#include "tools/command.h"

int top_command(const struct command_line *l);

#endif
