/* queries.h - the commands that query running launchers of the same user, and print the answers. */
#ifndef WIREUP_LAUNCH_QUERIES_H
#define WIREUP_LAUNCH_QUERIES_H

#include "base/buf.h"
#include "io/rendezvous.h"
#include "tools/command.h"

/* Return exit codes as run_command() does. */
int queries_who(const struct command_line *l);
int queries_names(const struct command_line *l);

/* The table of jobs, once. */
int queries_table(const struct command_line *l, bool json);
int queries_ps(const struct command_line *l);
int queries_kill(const struct command_line *l);

/* `wireup timeline`: of a trace file, or of the trace of a running job. */
int queries_timeline(const struct command_line *l);
int queries_tools(const struct command_line *l);

/* The whole answer of one launcher to a request line (control_socket.h).  0 or -errno. */
int queries_launcher(const struct launcher_name *who, struct slice question, struct buf *answer);
/* The same in two steps, so that several launchers work at their answers at the same time: a
 * connection, or -errno; and its answer.  The second one closes it; harmless on -errno, which it
 * returns. */
int queries_ask(const struct launcher_name *who, struct slice question);
int queries_answer(int fd, struct buf *answer);

#endif
