/* signals.h - signals to the processes of jobs: those of this node and those of others. */
#ifndef WIREUP_WIREUPD_SIGNALS_H
#define WIREUP_WIREUPD_SIGNALS_H

#include "wireupd/node_priv.h"

void signals_job(struct node *n, const struct job *job, int sig);

/* The same; with SIGTERM, stopped processes are continued, because they must run in order to end.
 */
void signals_meant(struct node *n, const struct job *j, int64_t rank, int sig);

/* To all processes of all nodes. */
void signals_all(struct node *n, int sig);

/* By order of another node; job and rank -1: all; meant: the end of the processes is intended. */
void signals_order(struct node *n, int64_t job, int64_t rank, int sig, bool meant);

#endif
