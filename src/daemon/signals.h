/* signals.h - signals to the processes of jobs: those of this node and those of others. */
#ifndef WIREUP_DAEMON_SIGNALS_H
#define WIREUP_DAEMON_SIGNALS_H

#include "daemon/node_priv.h"

void signals_job(struct node *n, const struct job *job, int sig);

/* The same; with SIGTERM, stopped processes are continued, because they must run in order to end.
 */
void signals_meant(struct node *n, const struct job *j, int64_t rank, int sig);

/* To all processes of all nodes. */
void signals_all(struct node *n, int sig);

/* To processes on other nodes: a rank or (JOB_NO_RANK) all of the job, or all jobs (NULL); meant:
 * the end of the processes is intended. */
void signals_elsewhere(struct node *n, const struct job *j, uint32_t rank, int sig, bool meant);

/* MSG_signal; job and rank -1: all. */
void signals_hear(struct node *n, const struct op_signal *m);

#endif
