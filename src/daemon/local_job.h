/* local_job.h - the jobs of a node: the local state of each, besides that of the core.
 *
 * The launcher leads a job: it chooses its namespace and its nodes.  The other nodes follow
 * (job_handlers.h) and receive both.
 */
#ifndef WIREUP_DAEMON_LOCAL_JOB_H
#define WIREUP_DAEMON_LOCAL_JOB_H

#include "daemon/node_priv.h"
#include "daemon/program_check.h"

struct local_job {
    struct list link;
    struct memfd store;
    struct job *job;
    const uint32_t *positions; /* of the plan's nodes, in its arena; NULL: this is the only node */
    uint32_t next;             /* next rank to start */
    bool held;                 /* none is started yet (preflight.h) */
    bool *awaited;             /* … because of these nodes, by position; launcher */
    uint32_t nawaited;
    bool spawned;  /* requested by a running job, which waits for the answer: */
    bool answered; /* … and has got it */
    uint64_t ticket;
    int *codes; /* one per requested process */
    uint32_t ncodes;
    enum node_stdin push_to; /* which ranks' standard input other clients feed */
    uint32_t push_rank;
    struct timer grace;       /* until its processes are killed (job_shutdown.c) */
    struct unloaded unloaded; /* launcher: ranks whose libraries are not found */
    struct node *node;
};

struct local_job *local_job_of(const struct node *n, const struct job *job);

/* Creates the job of an order, with its store; NULL: no memory. */
struct local_job *local_job_new(struct node *n, struct job_order *o);
/* Creates a job that we lead, with its presets; takes the plan over on success.  NULL with a
 * sentence. */
struct local_job *local_job_lead(struct node *n, struct job_map *plan, const struct job *parent,
                                 bool keep_going, struct errmsg *err);
/* Writes the initial entries of the job's store; those of the user come last, and win. */
void local_job_preset(struct node *n, struct job *job);

/* A job map of processes on this node that are not ours to start.  0 or -ENOMEM. */
int local_job_plan_others(const struct node *n, struct job_map *p, uint32_t count);

void local_job_free(struct local_job *w);
void local_job_leave_all(struct node *n); /* at the exit of this process */

/* Whether other clients feed this process's standard input. */
bool local_job_is_fed(const struct node *n, const struct job *j, uint32_t rank);

#endif
