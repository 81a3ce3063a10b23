/* singleton.h - processes that we did not start: a program started by hand that asks for a process
 * manager.  Each is a job of its own.  (PMIx tools: tools.h.) */
#ifndef WIREUP_DAEMON_SINGLETON_H
#define WIREUP_DAEMON_SINGLETON_H

#include "daemon/node.h"

/* Closes what we have inherited, besides the connection and the standard streams, if a program has
 * started us for itself (`-pmi_args` is the first option): it does not know that we have them, and
 * may wait for the end of file of a pipe.  For the main function, before it opens anything. */
void singleton_close_inherited(int argc, char **argv);

/* Becomes the process manager of a program that was started by hand, waits on a loopback port, and
 * asked for one (`-pmi_args PORT ...`): a job of one process that is not ours to start or to end.
 * 0, or -errno with a sentence. */
int singleton_port(struct node *n, uint16_t port, int pid, struct errmsg *err);

/* The same for a program with our own library, which has started us on one end of a socket pair and
 * speaks first; the job gets the name that the program has. */
int singleton_fd(struct node *n, int fd, const char *name, int pid, struct errmsg *err);

#endif
