/* job_end.h - how a job fails and ends: the first failure decides code and reason. */
#ifndef WIREUP_CORE_JOB_END_H
#define WIREUP_CORE_JOB_END_H

#include "core/job.h"

/* The job is over: all processes are to end.  The first call decides code and reason; the code is 0
 * when a process asks for that.  A core that does not control the job asks for it (EFFECT_abort);
 * it calls job_end() when the controlling node orders the end. */
void job_end(struct job *j, uint32_t culprit, int exit_code, const char *reason);
void job_abort(struct job *j, uint32_t culprit, int exit_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A process has ended.  With the last one the job has; a core that does not control it reports when
 * all processes here have ended. */
void job_count_end(struct job *j, uint32_t rank);

/* The job has failed but goes on: the code counts when the job ends, unless an earlier one does. */
void job_blame(struct job *j, int exit_code, const char *reason);

/* The same for processes that another one has aborted; it counts more than their ends, which may be
 * known before.  A core that does not control the job asks for it (EFFECT_abort). */
void job_fail(struct job *j, int exit_code, const char *reason);

/* Pushes the effects that could not be queued; true when none is left. */
bool job_settle(struct job *j);

/* 0 only if every process left with 0, or one of them ended the job with 0; 128 + signal for a
 * signal. */
int job_exit_code(const struct job *j);

#endif
