/* job.h - one job (namespace): its processes, its store, its collectives, and how it ends.
 *
 * A job is a running plan.  It tracks the state of each process, keeps what they put, and decides
 * when the job has failed and with which code.  It performs nothing itself: actions go to the
 * effects of the core that owns it.
 */
#ifndef WIREUP_CORE_JOB_H
#define WIREUP_CORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/collective.h"
#include "core/host_info.h"
#include "core/proc_state.h"
#include "core/nodeattr.h"
#include "core/job_map.h"
#include "core/answer.h"
#include "shm/store_write.h"

struct effects;

enum { JOB_NO_RANK = UINT32_MAX };

/* The index of this node in the plan: all of them (a job that does not leave this node), or none
 * (processes of other nodes, of which this node only has information). */
enum { JOB_ALL_HERE = UINT32_MAX, JOB_NONE_HERE = UINT32_MAX - 1 };

/* The rank of job_tell's entries; no process has it.  (PMIx: all ranks.) */
#define JOB_ALL_RANKS (UINT32_MAX - 1)

struct proc {
    enum proc_state state;
    int pid;  /* for people; 0: not started */
    int code; /* exit code, or signal number when signalled */
    bool signalled;
    bool unreachable; /* takes part in nothing any more */
    bool left;        /* unreachable because it ended normally */
    bool joined;      /* has called an init of PMI or PMIx */
    uint8_t speaks;   /* SPEAKS_...: its protocol, the last one; of processes on this node */
    uint32_t fences;  /* fences that it waits in */
    uint32_t lines;   /* connections through which it, or a child of it, takes part */
    bool committed;   /* has committed (PMIx) */
    bool fetching;  /* on another node: its modex entries have been requested (EFFECT_modex_request)
                     */
    bool commanded; /* its end was requested: it is not a failure of the job */
    struct slice
        *keys; /* of its modex entries, in the order of first puts; they lie in the store */
    uint32_t nkeys, keys_room;
    struct slice *fresh; /* keys that no fence of the whole job has brought to other nodes
                            (exchange_data.h) */
    uint32_t nfresh, fresh_room;
    uint32_t idle_waits; /* for attributes of its node, while it sends nothing else */
    uint32_t names;      /* published by it */
    uint32_t bonds;   /* connect operations by which it is connected to processes of other jobs */
    uint64_t stored;  /* bytes it keeps in the store */
    uint64_t last_ns; /* its last request */
    const char *last_word;  /* name of that request, static storage; NULL: none yet */
    const char *told_state; /* in a merged report of several nodes (who_part.h); NULL: ask the
                               operating system */
};

/* A job that this one has connected to; each connect needs its disconnect. */
struct job_partner {
    uint32_t job, count;
};

enum job_phase { JOB_RUNNING, JOB_ENDING, JOB_ENDED };

struct job {
    struct list link;
    uint32_t id;
    uint32_t parent;  /* the job that spawned it, or JOB_NO_RANK */
    uint32_t base;    /* its rank 0 among all processes that this core has ever known */
    uint32_t here;    /* the index of this node in the plan, or JOB_ALL_HERE, JOB_NONE_HERE */
    bool spread;      /* some of its processes are on other nodes */
    bool follows;     /* another core controls the job; this one reports to it */
    bool asked_abort; /* and has been asked to end the job */
    uint32_t *mine;   /* spread: the ranks of this node, ascending */
    uint32_t nmine;
    char *parent_name; /* NULL: none */
    char *nspace;      /* name of the job and of its key-value space */
    struct job_map plan;
    struct proc *procs;
    struct seg_region *region; /* the caller's */
    struct seg_writer store;
    struct collective_set colls;
    struct collective_group *world; /* the fence of the whole job, by far the most used */
    struct list waits;              /* gets that wait for a modex entry of this job (modex.h) */
    uint64_t waits_due;             /* none of them expires before */
    struct list cleanups;           /* paths to clean up (control.h) */
    uint32_t ncleanups;
    struct nodeattrs waiting;        /* for attributes of nodes */
    struct errmsg node_wait_refusal; /* the last one */
    struct job_partner *partners;
    uint32_t npartners;
    struct map spaces;      /* further key-value spaces, by name; values are their names */
    struct map gone_spaces; /* destroyed ones of other nodes: likewise */
    uint32_t next_space;
    uint32_t started, ended, lost; /* lost: how many are unreachable */
    enum job_phase phase;
    bool owes_kill, owes_end; /* effects that could not be queued for want of memory */
    bool keep_going;          /* the failure of a process does not end the others */
    bool failed;
    int exit_code;     /* of the whole job, once failed */
    uint32_t culprit;  /* the rank whose failure ended the job, or JOB_NO_RANK */
    uint32_t blames;   /* the job whose end ended this one, or JOB_NO_RANK */
    bool code_pending; /* the culprit's own code is not known yet and will count */
    struct errmsg reason;
    struct effects *effects;
    struct collective_set *meetings; /* collectives across jobs; members are base + rank */
    char *parent_nspace;             /* of the process that spawned it; NULL: the user started it */
    uint32_t parent_rank;
    struct buf wire_info[4]; /* its job information as PMIx clients get it, by encoding */
    bool info_told;          /* that information is in the store */
    struct buf topology;     /* of this node, as hwloc's XML, for PMIx clients: requested once */
    bool topology_asked;
    const char *wdir;       /* of applications that have none; the core's, or NULL */
    const char *sessions;   /* the core's (core.h) */
    struct host_info facts; /* facts from its resource manager */
    bool is_tool;  /* of one process, which takes part in no collective; it ends with its connection
                    */
    bool is_asked; /* a tool requested it */
};

struct job_params {
    uint32_t id, parent, base;
    const char *nspace, *parent_name;
    struct job_map *plan;      /* taken over on success */
    struct seg_region *region; /* outlives the job */
    uint64_t seed;
    bool keep_going;
    uint32_t here;
    bool follows;
    struct effects *effects;
    struct collective_set *meetings; /* the core's; NULL: none */
};

/* NULL: no memory. */
struct job *job_new(const struct job_params *p);
struct job *job_free(struct job *j); /* returns NULL */

/* A key is seen for the first time (put_flat, modex).  0 or -ENOMEM. */
int modex_note_key(struct proc *p, struct slice key);

/* Something happened to a process.  For EXIT and DEATH `code` is the exit code or the signal. */
void job_event(struct job *j, uint32_t rank, enum proc_event event, int code);

static inline bool job_rank_is_here(const struct job *j, uint32_t rank)
{
    return !j->spread || j->plan.procs[rank].node == j->here;
}

/* The job is over: all processes are to end.  The first call decides code and reason; the code is 0
 * when a process asks for that.  A core that does not control the job asks for it (EFFECT_abort);
 * job_end() is what it calls when the controlling node orders the end. */
void job_end(struct job *j, uint32_t culprit, int exit_code, const char *reason);
void job_abort(struct job *j, uint32_t culprit, int exit_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The job has failed but goes on: the code counts when the job ends, unless an earlier one does. */
void job_blame(struct job *j, int exit_code, const char *reason);

/* Pushes the effects that could not be queued; true when none is left. */
bool job_settle(struct job *j);

/* Whether the job may keep that many more bytes in one more entry on behalf of the process; the
 * other two account for them. */
bool proc_can_keep(const struct proc *p, size_t bytes);
void proc_keeps(struct proc *p, size_t bytes);
void proc_drops(struct proc *p, size_t bytes);

/* Bytes that the job could not keep are an error of the putter: OK, or the reason. */
enum answer_status job_put(struct job *j, uint32_t rank, struct slice space, struct slice key,
                           struct slice value);
/* The server's own entries (process mapping ...); replaces. */
enum answer_status job_preset(struct job *j, struct slice key, struct slice value);
/* Entries that clients find in the store without a request, and that no protocol's get returns. */
enum answer_status job_tell(struct job *j, struct slice key, struct slice value);
enum answer_status job_get(const struct job *j, struct slice space, struct slice key,
                           struct slice *value_p);
/* The same, preferring what this rank has put (only PMIx ranks can share a key). */
enum answer_status job_get_of(const struct job *j, struct slice space, uint32_t rank,
                              struct slice key, struct slice *value_p);
/* What the process manager itself provides: finds presets only. */
enum answer_status job_attr(const struct job *j, struct slice key, struct slice *value_p);
enum answer_status job_get_index(const struct job *j, struct slice space, uint64_t index,
                                 struct slice *key_p, struct slice *value_p);
enum answer_status job_space_new(struct job *j, struct slice *name_p);
enum answer_status job_space_delete(struct job *j, struct slice name);

/* A collective waits for a process that will not come: unless the job goes on after failures, that
 * ends it, and the reason tells how the process ended.  ANSWER_FAILED. */
enum answer_status job_miss(struct job *j, uint32_t rank);
/* A process that takes part in nothing any more: the one whose failure counts, if it is one of
 * them; else the lowest rank. */
uint32_t job_lost_rank(const struct job *j);

/* Rank enters a fence.  ANSWER_LATER: the ticket is kept and comes back in an EFFECT_answer; the
 * last rank gets ANSWER_OK at once. */
enum answer_status job_fence(struct job *j, uint32_t rank, struct slice group, bool collect,
                             uint64_t ticket, uint64_t now_ns);
/* The same, waiting until deadline_ns at most (UINT64_MAX: for ever): then ANSWER_TIMEOUT comes
 * back, and the fence misses the rank again. */
enum answer_status job_fence_until(struct job *j, uint32_t rank, struct slice group, bool collect,
                                   struct slice ways, uint64_t ticket, uint64_t now_ns,
                                   uint64_t deadline_ns);
/* Answers fences whose deadline has passed; returns the next deadline, or UINT64_MAX. */
uint64_t job_fences_tick(struct job *j, uint64_t now_ns);
/* The other nodes have contributed too (exchange_data.h): answers the members on this node. */
void job_fence_over(struct job *j, struct slice group, uint64_t generation,
                    enum answer_status status);
/* The answer about a rank that will not come any more: it has contributed to the round, or not. */
void job_fence_heard(struct job *j, uint32_t rank, struct slice group, uint64_t generation,
                     bool will_complete);
/* Withdraws the arrivals of a process that has ended from fences that are not over; any holder of
 * its socket is answered. */
void job_fence_forget(struct job *j, uint32_t rank);
/* Asks about this rank, which is on another node and will not come, for every fence that waits for
 * it. */
void job_fence_ask(struct job *j, uint32_t rank);
/* Answers all participants of a fence on this node. */
void job_answer_round(struct job *j, const struct collective *c, enum answer_status status);

/* Attributes of the rank's node (job_node.c). A put replaces, is visible at once and completes
 * waiting gets. */
enum answer_status job_node_put(struct job *j, uint32_t rank, struct slice key, struct slice value);

struct node_get {
    struct slice key;
    bool wait; /* until it is put */
    bool idle; /* the process sends nothing before it has the answer */
    uint64_t ticket;
};

/* A get that waits: ANSWER_LATER; the ticket comes back in an EFFECT_answer.  NOT_FOUND: no
 * other process of the node is left.  FAILED: those that could are idle in such gets themselves;
 * the text names them. */
enum answer_status job_node_get(struct job *j, uint32_t rank, const struct node_get *g,
                                struct answer *a_p);
/* Something happened to this rank: answers the gets of its node (NOT_FOUND) that no other process
 * could put an attribute for any more. */
void job_node_ended(struct job *j, uint32_t rank);

/* Leaves a value for both neighbours (job_ring.c).  ANSWER_LATER: the ticket comes back in an
 * EFFECT_answer with the place in the ring and what the neighbours left. */
enum answer_status job_ring(struct job *j, uint32_t rank, struct slice left, struct slice right,
                            uint64_t ticket, uint64_t now_ns);
/* Several nodes: all of them have contributed what their neighbours need. */
void job_ring_over(struct job *j, uint64_t generation, enum answer_status status,
                   const struct slice *blocks, uint32_t nblocks);

/* Connections to other jobs. */
enum answer_status job_connect(struct job *j, uint32_t other);
enum answer_status job_disconnect(struct job *j, uint32_t other);
void job_forget(struct job *j, uint32_t other); /* it has gone */
bool job_is_connected(const struct job *j, uint32_t other);

/* 0 only if every process left with 0, or one of them ended the job with 0; 128 + signal for a
 * signal. */
int job_exit_code(const struct job *j);

#endif
