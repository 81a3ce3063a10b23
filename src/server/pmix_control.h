/* pmix_control.h - job control: signals, and files that are removed at the end.
 *
 * One command may contain several requests; the worst answer is the reply.  An attribute that is
 * not understood is refused if it is marked as required, or if the command has no other. */
#ifndef WIREUP_SERVER_PMIX_CONTROL_H
#define WIREUP_SERVER_PMIX_CONTROL_H

#include "server/pmix_session.h"

pmix_reader pmix_read_control;

/* The command is about clean-up after a process: the server's own business, whoever controls the
 * job. */
bool pmix_is_cleanup(const struct command *c);

#endif
