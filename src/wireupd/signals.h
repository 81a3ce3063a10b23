/* signals.h - signals to the processes of jobs: those of this node, and those of others. */
#ifndef WIREUP_WIREUPD_SIGNALS_H
#define WIREUP_WIREUPD_SIGNALS_H

#include "wireupd/node_priv.h"

/* To the processes of this node; job NULL: of all jobs, rank < 0: all of them. */
void signals_send(struct node *n, const struct job *j, int64_t rank, int sig);
void signals_job(struct node *n, const struct job *job, int sig);

/* The same; SIGTERM finds those who are stopped running, because they have to run to end. */
void signals_meant(struct node *n, const struct job *j, int64_t rank, int sig);

/* To all processes of all nodes. */
void signals_all(struct node *n, int sig);

/* As another node says; job and rank -1: all; meant: somebody wants its end. */
void signals_order(struct node *n, int64_t job, int64_t rank, int sig, bool meant);

#endif
