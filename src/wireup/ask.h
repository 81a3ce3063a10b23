/* ask.h - the commands that ask running launchers of the same user, and print what they say. */
#ifndef WIREUP_WIREUP_ASK_H
#define WIREUP_WIREUP_ASK_H

#include "wireup/command.h"

/* Exit codes as of command_run(). */
int ask_who(const struct command_line *l);
int ask_names(const struct command_line *l);

#endif
