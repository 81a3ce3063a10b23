/* job_states.h - messages between nodes about jobs that all of them know: states of processes,
 * ends, ties between jobs, destroyed key-value spaces.
 *
 * The launcher decides; daemons report the events of their nodes and ask for ends.
 */
#ifndef WIREUP_CLUSTER_JOB_STATES_H
#define WIREUP_CLUSTER_JOB_STATES_H

#include "cluster/core_calls.h"

struct op_proc_states;

/* EFFECT_proc_state, _abort, _tie, _bond or _space. */
void job_states_effect(const struct core_context *x, const struct effect *e);

/* Launcher: the core has decided that all processes of the job are to end. */
void job_states_kill(const struct core_context *x, const struct job *j);
/* Launcher: which processes of the job have ended, for nodes that have joined since; the others
 * know. */
void job_states_repeat(const struct core_context *x, const struct job *j);
/* A daemon: asks the launcher to end the job. */
void job_states_ask_end(const struct core_context *x, uint32_t job, uint32_t culprit, int code,
                        struct slice reason);

/* MSG_proc_states, _abort, _kill, _tie, _bond or _space.  The job whose processes have changed;
 * NULL: of none. */
struct job *job_states_receive(const struct core_context *x, const struct op_proc_states *m);

#endif
