/* job_shutdown.h - the end of jobs on this node.
 *
 * A job that ends as one that has failed is asked to, and killed a moment later.  The launcher
 * reports a job that has ended.  The end of the node itself is in shutdown.h.
 */
#ifndef WIREUP_DAEMON_JOB_SHUTDOWN_H
#define WIREUP_DAEMON_JOB_SHUTDOWN_H

#include "base/err.h"
#include "base/slice.h"

struct job;
struct node;

/* The job cannot run as planned, because of a process of this node: it ends, or the node that
 * decides about it is asked to end it. */
void job_shutdown_because(struct node *n, struct job *job, uint32_t rank, int code,
                          const char *why);

/* The loader's line of a process whose program never started: reported once for all ranks. */
void job_shutdown_unloaded(struct node *n, struct job *job, uint32_t rank, struct slice line);

/* EFFECT_kill: asks the processes of a job to end, and kills those that have not ended in time. */
void job_shutdown_begin(struct node *n, struct job *job);

/* EFFECT_job_ended: a spawned job is reported and forgotten; the others stay until the end. */
void job_shutdown_bury(struct node *n, struct job *job);
/* A daemon: all nodes drop the job. */
void job_shutdown_forget(struct node *n, struct job *j);

/* Launcher: reports how a job has ended: why, if it has failed, and with which exit codes. */
void job_shutdown_report(struct node *n, const struct job *job);

/* Several jobs may end for one reason, which is reported once; by the job that caused it, if
 * possible. */
void job_shutdown_say(struct node *n, const struct errmsg *reason);

#endif
