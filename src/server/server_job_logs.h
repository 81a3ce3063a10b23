/* server_job_logs.h - what a spawned job has logged about itself: its start, its end, those of its
 * processes (JOB_MAP_LOG_... of core/job_map.h), each as a line on the launcher's standard error.
 */
#ifndef WIREUP_SERVER_SERVER_JOB_LOGS_H
#define WIREUP_SERVER_SERVER_JOB_LOGS_H

#include "core/job.h"
#include "server/server.h"

/* The event has happened: PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE, PMIX_EVENT_JOB_END; others
 * are not logged. */
void server_log_job(struct server *s, const struct job *j, int event);
/* One more process has started. */
void server_log_progress(struct server *s, const struct job *j);
/* The process has ended, or was not started. */
void server_log_proc(struct server *s, const struct job *j, uint32_t rank);

#endif
