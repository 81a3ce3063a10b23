/* local_job.h - the jobs of a node: the local state of each, besides that of the core.
 *
 * The launcher leads a job: it chooses its namespace and its nodes.  The other nodes follow
 * (job_handlers.h) and receive both.
 */
#ifndef WIREUP_DAEMON_LOCAL_JOB_H
#define WIREUP_DAEMON_LOCAL_JOB_H

#include "cluster/rank_set.h"
#include "core/spawn.h"
#include "daemon/local_job_state.h"
#include "daemon/node_context.h"
#include "daemon/program_check.h"
#include "daemon/spawning_state.h"
#include "io/memfd.h"

struct allocations;
struct cospawn;
struct pending_queries;
struct prefork;
struct processes;
struct spawn_growths;
struct staging;

/* Those of a node. */
struct local_jobs {
    const struct node_context *context;
    struct list all;
    struct list cospawns;   /* struct cospawn: not answered yet */
    struct timer starter;   /* some ranks are to be started: launcher.h */
    uint32_t first;         /* number of the first job; JOB_NO_RANK: a daemon has none yet */
    bool adopts;            /* something else starts the processes of the next job: served_job.h */
    const char *given_name; /* namespace of the next job; NULL: we choose one */
    uint32_t session;       /* the reservation of the next job; 0: none */
    struct allocations *allocations; /* NULL: not open */
    struct spawn_growths *growths;   /* spawns that wait for nodes; NULL: not open */
    struct pending_queries *queries; /* by which a job that is late is reported; NULL: not open */
};

struct local_job {
    struct list link;
    struct memfd store;
    struct job *job;
    struct prefork *prefork;   /* programs that are loaded and forked; NULL: none was yet */
    struct staging *staging;   /* files come to its nodes first (staging.h); NULL: none do */
    const uint32_t *positions; /* of the plan's nodes, in its arena; NULL: this is the only node */
    enum local_job_state state;
    const struct spawn_pair *preputs; /* launcher: of its store, given before its start */
    uint32_t npreputs;
    uint32_t next;           /* next rank to start */
    struct rank_set entered; /* ranks that `wireup enter` has given out (served_vars.h) */
    bool *awaited; /* launcher: it is held because of these nodes, by position (preflight.h) */
    uint32_t nawaited;
    enum spawning_state spawning;
    uint64_t ticket;      /* of the request */
    struct cospawn *both; /* that of two jobs; NULL: it is for this one alone */
    bool beside;          /* the second one of these */
    int *codes;           /* one per requested process */
    uint32_t ncodes;
    enum spawn_failure refusal; /* why it was not begun, though it was announced; 0: it was */
    enum node_stdin push_to;    /* which ranks' standard input other clients feed */
    uint32_t push_rank;
    uint32_t limit_s, start_limit_s; /* seconds from its start, and for it; 0: no limit */
    void (*answer_late)(struct local_job *w);
    bool listed;                 /* launcher: debuggers find its processes (mpir.h) */
    bool reports_late;           /* its state is reported when its time has passed … */
    bool stacks_late;            /* … with the stacks of its processes */
    bool ended_early;            /* it has been ended before its spawn was answered */
    bool late;                   /* one has passed: its end is no failure of its parent */
    struct timer limit;          /* of its start, then of itself (spawn_limit.h) */
    struct timer grace;          /* until its processes are killed (job_shutdown.c): … */
    struct processes *processes; /* … of these */
    struct unloaded unloaded;    /* launcher: ranks whose libraries are not found */
    struct local_jobs *jobs;
};

void local_jobs_open(struct local_jobs *jobs, const struct node_context *c);
/* At the exit of this process: it leaves the stores to their readers. */
void local_jobs_close(struct local_jobs *jobs);

/* Launcher: processes of the job may have been started, perhaps all of them. */
void local_job_list(struct local_job *w);

/* Launcher: " NAME RANKS" for each node of each job that has not ended. */
void local_jobs_places(const struct local_jobs *jobs, struct buf *out);

/* The ranks that have not been started are started in the next turn of the loop. */
static inline void local_jobs_start(struct local_jobs *jobs)
{
    timer_set(&jobs->starter, 0);
}

struct local_job *local_job_of(const struct local_jobs *jobs, const struct job *job);

/* Creates the job of an order, with its store, which no process here can open if it is private;
 * NULL: no memory. */
struct local_job *local_job_new(struct local_jobs *jobs, struct job_order *o, bool is_private);

/* The sentence for that; -ENOMEM. */
int local_job_no_memory(const struct job_map *plan, struct errmsg *err);
/* Creates a job that we lead, with its presets; takes the plan over on success.  parent: the job
 * whose process parent_rank asks for it, or NULL.  NULL with a sentence. */
struct local_job *local_job_lead(struct local_jobs *jobs, struct job_map *plan,
                                 const struct job *parent, uint32_t parent_rank, bool keep_going,
                                 struct errmsg *err);
/* Writes the initial entries of the job's store; those of the user come last, and win. */
void local_job_preset(const struct local_jobs *jobs, struct job *job);

/* A job map of processes on this node that are not ours to start.  0 or -ENOMEM. */
int local_job_plan_others(const struct local_jobs *jobs, struct job_map *p, uint32_t count);

/* The namespace of the next job. */
void local_job_next_name(const struct local_jobs *jobs, char *name, size_t room);

/* The step of its start. */
void local_job_step(struct local_job *w, enum local_job_event event);
/* Its processes run already, and are not ours to start. */
void local_job_adopt(struct local_job *w);

void local_job_free(struct local_job *w);

/* Whether other clients feed this process's standard input. */
bool local_job_is_fed(const struct local_jobs *jobs, const struct job *j, uint32_t rank);

#endif
