/* local_job.h - the jobs of a node: what each needs here besides what the core knows of it.
 *
 * A job is led by the launcher, which chooses its name and its nodes, and followed by the other
 * nodes (launcher.h), which are told both. */
#ifndef WIREUP_WIREUPD_LOCAL_JOB_H
#define WIREUP_WIREUPD_LOCAL_JOB_H

#include "wireupd/node_priv.h"
#include "wireupd/program_check.h"

struct local_job {
    struct list link;
    struct memfd store;
    struct job *job;
    const uint32_t *positions; /* of the plan's nodes, in its arena; NULL: we are alone */
    uint32_t next;             /* rank to be started next */
    bool stop;                 /* no more of them */
    bool held;                 /* none is started yet (preflight.h) */
    bool *awaited;             /* … because of these nodes, by position; launcher */
    uint32_t nawaited;
    bool spawned;  /* for a running job, which waits for: */
    bool answered; /* … and has been told */
    uint64_t ticket;
    int *codes; /* one per requested process */
    uint32_t ncodes;
    enum node_stdin push_to; /* who has a standard input that others feed */
    uint32_t push_rank;
    struct timer grace;
    struct unloaded unloaded; /* launcher: ranks whose libraries are not found */
    struct node *node;
};

struct local_job *local_job_of(const struct node *n, const struct job *job);

/* The job that an order describes, with its store; NULL: no memory. */
struct local_job *local_job_new(struct node *n, struct job_order *o);
/* A job that we decide about, with its presets; the plan is taken over on success.  NULL with a
 * sentence. */
struct local_job *local_job_lead(struct node *n, struct job_map *plan, const struct job *parent,
                                 bool keep_going, struct errmsg *err);
/* What programs find in the job's store from the start; what the user gives comes last, and wins.
 */
void local_job_preset(struct node *n, struct job *job);
/* Everything of the job is known now: the other nodes start their parts. */
void local_job_announce(struct local_job *w, const struct spawn_request *rq);

void local_job_free(struct local_job *w);
void local_job_leave_all(struct node *n); /* at the end of the process */

/* Whether others feed this process's standard input. */
bool local_job_is_fed(const struct node *n, const struct job *j, uint32_t rank);

#endif
