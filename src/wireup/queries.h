/* ask.h - the commands that ask running launchers of the same user, and print what they say. */
#ifndef WIREUP_WIREUP_QUERIES_H
#define WIREUP_WIREUP_QUERIES_H

#include "base/buf.h"
#include "io/rendezvous.h"
#include "wireup/command.h"

/* Exit codes as of command_run(). */
int queries_who(const struct command_line *l);
int queries_names(const struct command_line *l);

int queries_ps(const struct command_line *l);
int queries_tools(const struct command_line *l);

/* The whole answer of one launcher to a line (control_socket.h).  0 or -errno. */
int queries_launcher(const struct launcher_name *who, struct slice question, struct buf *answer);

#endif
