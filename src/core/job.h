/* job.h - one job (namespace): its processes, its store, its collectives.
 *
 * A job is a running plan: the state of each process, and their values.  This is the data
 * alone; the modules that work on it are, each above the earlier ones:
 *
 *   modex_keys     which keys each process has put
 *   job_end        how a job fails and ends, and with which code
 *   job_connect    connections to other jobs
 *   modex          gets that wait
 *   ondemand       values that fences leave on their nodes
 *   job_kvs        its key-value spaces
 *   job_lookup     gets from them that wait for other nodes
 *   exchange_data  data of fences between nodes
 *   job_fence, job_ring, job_node    fences, rings, attributes of nodes
 *   job_restart    processes that are started again
 *   job_event      events of its processes
 *
 * None of them acts: actions go to the effects of the core that owns the job.
 */
#ifndef WIREUP_CORE_JOB_H
#define WIREUP_CORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/collective.h"
#include "core/connectivity.h"
#include "core/host_info.h"
#include "core/proc_state.h"
#include "core/nodeattr.h"
#include "core/job_map.h"
#include "core/answer.h"
#include "store/store_write.h"

struct core;
struct effects;
struct proc_look;

enum { JOB_NO_RANK = UINT32_MAX };

/* The index of this node in the plan: all of them (a job that does not leave this node), or none
 * (processes of other nodes, of which this node only has information). */
enum { JOB_ALL_HERE = UINT32_MAX, JOB_NONE_HERE = UINT32_MAX - 1 };

/* The rank of the entries of job_put_info() (job_kvs.h); no process has it.  (PMIx: all ranks.) */
#define JOB_ALL_RANKS (UINT32_MAX - 1)

/* A key of a process, whose value other nodes do not have yet. */
struct fresh_key {
    struct slice key; /* it lies in the store */
    bool to_all;      /* every fence brings it to all nodes (ondemand.h) */
};

struct proc {
    enum proc_state state;
    int pid;        /* for people; 0: not started */
    int code;       /* exit code, or signal number when signalled */
    int start_code; /* of one that could not be started: PROC_EVENT_NOT_STARTED */
    bool signalled;
    bool unreachable;  /* takes part in nothing any more */
    bool left;         /* unreachable because it ended normally */
    bool joined;       /* has called an init of PMI or PMIx */
    bool uses_store;   /* has asked its job's store (key_store.h) */
    uint8_t speaks;    /* SPEAKS_...: its protocol, the last one; of processes on this node */
    uint32_t restarts; /* how often it was started again; before it has joined, known on its node */
    uint32_t fences;   /* fences that it waits in */
    uint32_t lines;    /* connections through which it, or a child of it, takes part */
    bool committed;    /* has committed (PMIx) */
    bool fetching;  /* on another node: its modex entries have been requested (EFFECT_modex_request)
                     */
    bool commanded; /* its end was requested: it is not a failure of the job */
    bool aborted;   /* it has asked for the end of its job */
    bool returns;   /* has ended, and the controlling node is expected to start it again */
    uint32_t epoch; /* the last one of the job that it knows of (job_restart.h) */
    uint8_t ready;  /* bits: stops of the plan where it has come, enum job_map_stop */
    uint8_t held;   /* of them, those that nobody has released it from */
    struct slice
        *keys; /* of its modex entries, in the order of first puts; they lie in the store */
    uint32_t nkeys, keys_room;
    struct fresh_key *fresh; /* that no fence of the whole job has brought to other nodes
                                (exchange_data.h) */
    uint32_t nfresh, fresh_room;
    uint32_t idle_waits; /* for attributes of its node, while it sends nothing else */
    uint32_t names;      /* published by it */
    uint32_t
        connections;  /* connect operations by which it is connected to processes of other jobs */
    uint64_t stored;  /* bytes it keeps in the store */
    uint64_t last_ns; /* its last request */
    const char *last_word;        /* name of that request, static storage; NULL: none yet */
    const struct proc_look *look; /* in a merged report of all nodes (who_part.h): how its machine
                                 sees it; NULL: not known */
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
    char *parent_name;    /* NULL: none */
    uint32_t parent_rank; /* the process of it that asked for this job */
    char *nspace;         /* name of the job and of its key-value space */
    struct job_map plan;
    struct proc *procs;
    struct seg_region *region; /* the caller's */
    uint64_t begun_ns;         /* the caller's: when it was made; 0: not known */
    struct seg_writer store;
    struct collective_set colls;
    struct collective_group *world; /* the fence of the whole job, by far the most used */
    struct list waits;              /* gets that wait for a modex entry of this job (modex.h) */
    uint64_t waits_due;             /* none of them expires before */
    struct connectivity connectivity;
    struct list lookups; /* gets that wait for values of other nodes (job_lookup.h) */
    struct ondemand
        *ondemand;        /* values that fences leave on their nodes (ondemand.h); NULL: none */
    struct list cleanups; /* paths to clean up (control.h) */
    uint32_t ncleanups;
    struct nodeattrs waiting;        /* for attributes of nodes */
    struct key_store *key_store;     /* NULL: nobody has used it here */
    struct store_counters *counters; /* of that; NULL: nobody has counted there */
    uint32_t attempts;               /* its processes can all meet at those below (key_store.h) */
    struct errmsg node_wait_refusal; /* the last one */
    struct job_partner *partners;
    uint32_t npartners;
    struct map spaces;      /* further key-value spaces, by name; values are their names */
    struct map gone_spaces; /* destroyed ones of other nodes: likewise */
    uint32_t next_space;
    uint32_t started, ended, lost;                         /* lost: how many are unreachable */
    uint32_t awaited[JOB_MAP_STOPS], ready[JOB_MAP_STOPS]; /* how many stop there, and have come */
    enum job_phase phase;
    bool owes_kill, owes_end; /* effects that could not be queued for want of memory */
    uint32_t nreturn;         /* processes that are expected to be started again */
    bool keep_going;          /* the failure of a process does not end the others */
    bool asked_to_end;        /* as a whole: nothing of it is started again */
    uint32_t epoch;           /* how often processes that others know of were started again */
    bool failed;
    int exit_code;     /* of the whole job, once failed */
    uint32_t culprit;  /* the rank whose failure ended the job, or JOB_NO_RANK */
    uint32_t blames;   /* the job whose end ended this one, or JOB_NO_RANK */
    bool code_pending; /* the culprit's own code is not known yet and will count */
    struct errmsg reason;
    struct effects *effects;
    struct collective_set *meetings; /* collectives across jobs; members are base + rank */
    struct buf wire_info[4];         /* its job information as PMIx clients get it, by encoding */
    bool info_made;                  /* that information is in the store */
    struct buf topology; /* of this node, as hwloc's XML, for PMIx clients: requested once */
    bool topology_asked;
    const char *wdir;       /* of applications that have none; the core's, or NULL */
    const char *sessions;   /* the core's (core.h) */
    struct core *core;      /* that owns it; NULL: none */
    struct host_info facts; /* facts from its resource manager */
    bool is_tool;  /* of one process, which takes part in no collective; it ends with its connection
                    */
    bool is_asked; /* a tool requested it */
    bool is_adopted;  /* something else starts its processes; the end of their connections is theirs
                       */
    bool is_foreign;  /* another launcher's (core.h) */
    uint32_t session; /* the reservation that it runs in (reservation.h); 0: none */
};

struct job_params {
    uint32_t id, parent, base;
    const char *nspace, *parent_name;
    uint32_t parent_rank;
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

/* Processes of the job may be started again after they have joined it. */
bool job_restarts(const struct job *j);

/* It has ended before it ran.  One that was lost with its node counts as started: that is not
 * known. */
static inline bool proc_was_not_started(const struct proc *p)
{
    return p->state == PROC_STATE_GONE && p->pid == 0 && !p->signalled;
}

static inline bool job_rank_is_here(const struct job *j, uint32_t rank)
{
    return !j->spread || j->plan.procs[rank].node == j->here;
}

/* Whether the job may keep that many more bytes in one more entry on behalf of the process; the
 * other two account for them. */
bool proc_can_keep(const struct proc *p, size_t bytes);
void proc_keeps(struct proc *p, size_t bytes);
void proc_drops(struct proc *p, size_t bytes);

#endif
