/* ask.h - the commands that ask running launchers of the same user, and print what they say. */
#ifndef WIREUP_WIREUP_ASK_H
#define WIREUP_WIREUP_ASK_H

#include "base/buf.h"
#include "io/rendezvous.h"
#include "wireup/command.h"

/* Exit codes as of command_run(). */
int ask_who(const struct command_line *l);
int ask_names(const struct command_line *l);

int ask_ps(const struct command_line *l);
int ask_tools(const struct command_line *l);

/* The whole answer of one launcher to a line (desk.h).  0 or -errno. */
int ask_launcher(const struct launcher_name *who, struct slice question, struct buf *answer);

#endif
