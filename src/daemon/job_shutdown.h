/* job_shutdown.h - the end of jobs on this node.
 *
 * A job that ends as one that has failed is asked to, and killed a moment later.  The launcher
 * reports a job that has ended.  The end of the node itself is in shutdown.h.
 */
#ifndef WIREUP_DAEMON_JOB_SHUTDOWN_H
#define WIREUP_DAEMON_JOB_SHUTDOWN_H

#include "base/err.h"
#include "base/slice.h"

struct end_progress;
struct help;
struct job;
struct local_jobs;
struct node_context;
struct peer_conns;
struct processes;

struct job_shutdown {
    const struct node_context *context;
    struct local_jobs *jobs;
    struct processes *processes;
    struct peer_conns *conns; /* of processes and tools */
    struct help *help;
    struct end_progress *ends;
    struct errmsg
        last_reason; /* why the last failed job has ended: others may end for the same reason */
    int exit_code;   /* for the user: of the first job, or of the reason why the node ended */
    int child_code;  /* the first one, if not 0, of jobs whose code counts too (JOB_MAP_JOINT) */
};

/* The job cannot run as planned, because of a process of this node: it ends, or the node that
 * decides about it is asked to end it. */
void job_shutdown_because(const struct node_context *c, struct job *job, uint32_t rank, int code,
                          const char *why);

/* The loader's line of a process whose program never started: reported once for all ranks. */
void job_shutdown_unloaded(struct local_jobs *jobs, struct job *job, uint32_t rank,
                           struct slice line);

/* EFFECT_kill: asks the processes of a job to end, and kills those that have not ended in time. */
void job_shutdown_begin(struct job_shutdown *d, struct job *job);

/* EFFECT_job_ended: a spawned job is reported and forgotten; the others stay until the end. */
void job_shutdown_bury(struct job_shutdown *d, struct job *job);
/* A daemon: all nodes drop the job. */
void job_shutdown_forget(struct job_shutdown *d, struct job *j);

/* Launcher: reports how a job has ended: why, if it has failed, and with which exit codes. */
void job_shutdown_report(struct job_shutdown *d, const struct job *job);

/* Several jobs may end for one reason, which is reported once; by the job that caused it, if
 * possible. */
void job_shutdown_log(struct job_shutdown *d, const struct errmsg *reason);

#endif
