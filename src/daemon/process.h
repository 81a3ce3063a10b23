/* process.h - one process of this node: how it is started, its connection, its streams.
 *
 * A task exists from before the process is started until the process has been reaped, its output
 * read and its connection closed.  It belongs to its node.
 */
#ifndef WIREUP_DAEMON_PROCESS_H
#define WIREUP_DAEMON_PROCESS_H

#include "daemon/node_priv.h"

/* Starts the process of one rank.  Its end of the input pump (or -1) goes to *stdin_p if the rank
 * gets our standard input.  0; or -errno with the sentence, which cannot_run() was called with.
 */
int process_start(struct node *n, struct job *job, uint32_t rank, int *stdin_p, struct errmsg *err);

/* Signals the whole process group; does nothing once the process has been reaped. */
void process_signal(struct task *t, int sig);

/* Bytes (empty: EOF) for the standard input of processes of this node; ticket 0: no answer wanted.
 * False: none of them takes input, and there will be no answer. */
bool process_input(struct node *n, const struct job *j, uint32_t rank, struct slice bytes,
                   uint64_t ticket);

/* The process has been reaped.  What it sent before is handled first. */
void process_ended(struct task *t, int wait_status);

/* Reads what is left in the pipes and releases everything. */
void process_close(struct task *t);

#endif
