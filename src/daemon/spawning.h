/* spawning.h - spawn requests: the request becomes a job, and the requester is answered when every
 * process of the job has been tried. */
#ifndef WIREUP_DAEMON_SPAWNING_H
#define WIREUP_DAEMON_SPAWNING_H

#include "daemon/local_job.h"

struct op_spawn;
struct spawn_held;

/* EFFECT_spawn, from this node or another. */
void spawning_begin(struct local_jobs *jobs, const struct op_spawn *e);

/* Its nodes have joined, as far as they do (spawn_growth.h), or the scheduler has decided about
 * what it reserves (spawn_grant.h). */
void spawning_go_on(struct local_jobs *jobs, const struct spawn_held *h);

/* If every process of a spawned job has been tried, the requesting process is answered. */
void spawning_answer(struct local_job *w);

/* Launcher: process states of the job have changed. */
void spawning_on_state(struct local_jobs *jobs, struct job *j);

#endif
