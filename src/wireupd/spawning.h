/* spawning.h - processes that processes ask for: the request becomes a job, and who asked is
 * answered when everybody of it has been tried. */
#ifndef WIREUP_WIREUPD_SPAWNING_H
#define WIREUP_WIREUPD_SPAWNING_H

#include "wireupd/local_job.h"

/* EFFECT_SPAWN, of this node or of another; takes over e->spawn. */
void spawning_begin(struct node *n, struct effect *e);

/* Everybody of a spawned job has been tried, perhaps: then the process that asked for it may go on.
 */
void spawning_answer(struct local_job *w);

/* Launcher: there was news of the job's processes. */
void spawning_heard(struct node *n, struct job *j);

#endif
