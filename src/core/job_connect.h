/* job_connect.h - connections between jobs: each connect needs its disconnect. */
#ifndef WIREUP_CORE_JOB_CONNECT_H
#define WIREUP_CORE_JOB_CONNECT_H

#include "core/job.h"

/* OK or NO_MEMORY; OK, or NOT_FOUND: they are not connected. */
enum answer_status job_connect(struct job *j, uint32_t other);
enum answer_status job_disconnect(struct job *j, uint32_t other);
void job_forget(struct job *j, uint32_t other); /* it has gone */
bool job_is_connected(const struct job *j, uint32_t other);

/* One has spawned the other, or either has connected to the other. */
bool job_is_related(const struct job *a, const struct job *b);

/* Whether a process of one job may act on those of another: the same job, or a related one; tools
 * may act on all. */
bool job_may_act_on(const struct job *asker, const struct job *target);

#endif
