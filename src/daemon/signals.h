/* signals.h - signals to the processes of jobs: those of this node and those of others. */
#ifndef WIREUP_DAEMON_SIGNALS_H
#define WIREUP_DAEMON_SIGNALS_H

#include "daemon/node_priv.h"

struct op_signal;

void signals_job(struct node *n, const struct job *job, int sig);

/* The same; with SIGTERM, stopped processes are continued, because they must run in order to end.
 */
void signals_meant(struct node *n, const struct job *j, int64_t rank, int sig);

/* To all processes of all nodes. */
void signals_all(struct node *n, int sig);

/* EFFECT_signal: by request of a process, here and on other nodes. */
void signals_effect(struct node *n, const struct op_signal *e);

/* MSG_signal; job and rank -1: all. */
void signals_hear(struct node *n, const struct op_signal *m);

#endif
