/* signals.h - signals to the processes of jobs: those of this node and those of others. */
#ifndef WIREUP_DAEMON_SIGNALS_H
#define WIREUP_DAEMON_SIGNALS_H

#include <stdint.h>

struct job;
struct op_signal;
struct processes;

void signals_job(struct processes *p, const struct job *job, int sig);

/* The same; with SIGTERM, stopped processes are continued, because they must run in order to end.
 */
void signals_meant(struct processes *p, const struct job *j, int64_t rank, int sig);

/* To all processes of all nodes. */
void signals_all(struct processes *p, int sig);

/* To all processes of a job on all nodes, by request of the user: their ends are failures. */
void signals_everywhere(struct processes *p, const struct job *j, int sig);

/* To all processes of a job, or (NULL) of all jobs, on all nodes, by request of the user, who asks
 * them to end: nothing is started again from now on; their ends are failures. */
void signals_end(struct processes *p, const struct job *j, int sig);

/* EFFECT_signal: by request of a process, here and on other nodes. */
void signals_effect(struct processes *p, const struct op_signal *e);

/* MSG_signal; job and rank -1: all. */
void signals_receive(struct processes *p, const struct op_signal *m);

#endif
