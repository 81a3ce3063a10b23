/* core.h - all jobs of one launcher or daemon.
 *
 * Requests go in (core_request.h), effects come out (core_effect.h).  No file descriptor, no clock,
 * no global: a test can hold a whole cluster of cores.
 */
#ifndef WIREUP_CORE_CORE_H
#define WIREUP_CORE_CORE_H

#include <stdint.h>

#include "base/list.h"
#include "core/effect_queue.h"
#include "core/group_store.h"
#include "core/job.h"
#include "core/nameservice.h"
#include "core/psets.h"
#include "core/pending.h"

/* The record that is kept of a job after its removal. */
struct ended_job {
    char nspace[256];
    uint32_t id, parent;
    bool failed;
    int exit_code;
};

/* A job attribute that no client can name: the topology itself, as hwloc's XML text. */
#define CORE_TOPOLOGY "\ntopology"
/* Likewise, with a cpuset ("hwloc:0-3") behind it: the devices of this machine and their distances
 * from these processors.  The value: for each device five fields, each with a NUL: its uuid, its
 * name, and in decimals its type, the least and the greatest distance (PMIx). */
#define CORE_DISTANCES "\ndistances "

enum { CORE_ENDED_JOBS = 64 };

struct startup;

struct core {
    struct list jobs;
    struct list foreign; /* jobs of other launchers, with whose processes some here have connected:
                            only gets, events and connects know them (foreign_connect.h) */
    struct nameservice names;
    struct list lookups;       /* struct nameservice_wait */
    struct list name_batches;  /* struct name_batch */
    struct pending_list waits; /* requests without an answer that are not part of a collective */
    struct list
        bootstraps; /* groups of members that do not know each other (core/group_bootstrap.h) */
    uint64_t bootstraps_due_ns; /* a time-out of theirs passes; never: UINT64_MAX */
    struct list sets;           /* process sets defined by the host (core/psets.h) */
    struct list host_calls;     /* of a host that is not `wireup` (core/host_calls.h) */
    struct {
        uint32_t connection, job;
    } scheduler; /* a tool that is asked for allocations; connection 0: there is none */
    struct effects effects;
    uint32_t next_job, next_base;
    struct collective_set meetings; /* collectives across jobs; members are job->base + rank */
    uint32_t nmeetings;             /* completed ones */
    struct group_store group_data;  /* what they brought their members */
    uint32_t position;              /* of this node among all; 0 for the launcher's node */
    uint64_t seed;
    uint32_t uid, gid;    /* of the host; of each client unless the host says otherwise */
    bool has_topology;    /* the host can provide PMI_hwloc_xmlfile and CORE_TOPOLOGY */
    bool shares_topology; /* it can provide CORE_TOPOLOGY, and each client is to have it */
    bool is_manager; /* the host starts every process and decides its fate: each eventually has a
                        pid (MODEX_PID), and connected processes fail together (proc_connect.h) */
    bool reports_topologies;  /* no manager, but it answers REQ_node_parts about topologies */
    bool has_neighbours;      /* the host can ask other launchers about names */
    bool reports_collectives; /* collectives across jobs on this node alone are EFFECT_contribute
                                 too */
    const char *name;         /* of the server, as in its address; the host's, or NULL */
    uint32_t name_rank;
    const char *uri;     /* that address; the host's, or NULL */
    uint64_t started_s;  /* when the server has started, as time(2); 0: not known */
    const char *started; /* the same in words, of a recording (server_started()); or NULL */
    struct ended_job *ended_jobs; /* the most recent ones, at most CORE_ENDED_JOBS, in a ring */
    uint32_t nended, ended_room;  /* ever recorded */
    const char *hostname;         /* this machine's, as it calls itself; the host's, or NULL */
    uint64_t memory;              /* of this machine, in bytes; 0: not known */
    uint64_t wall_offset_ns;      /* from the host's clock to the time of day; 0: not known,
                                     and events have no time */
    const char *wdir; /* where processes start that name no directory; the host's, or NULL */
    const char
        *sessions;      /* below it each job has its session directory, <job>/<rank>, which the host
                           makes (EFFECT_session_dir) and removes; the host's, or NULL: there are none */
    bool takes_tools;   /* the host can accept tools (EFFECT_tool_connect) */
    uint32_t listeners; /* clients' subscriptions to output */
    uint64_t last_subscription; /* ids of subscriptions, by which other nodes know them */
    bool has_others;      /* there are other nodes: they are notified of events (EFFECT_event) */
    bool names_elsewhere; /* another node keeps the published names: the host asks it (EFFECT_names)
                             and passes its answer on as its own */
    /* How nodes exchange the data of a fence: whether one of these names (separated by commas) is
     * an exchange method of the host.  NULL: this host cannot judge it. */
    bool (*knows_way)(struct slice words);
    struct startup *startup; /* the host's, which times the start of one job; or NULL */
};

/* A job as described by a host with several nodes. */
struct job_order {
    const char *nspace;
    struct job_map *plan;      /* taken over on success */
    struct seg_region *region; /* outlives the job */
    uint32_t parent;           /* or JOB_NO_RANK */
    uint32_t parent_rank;      /* the process of it that asked for the job */
    bool keep_going;
    uint32_t here; /* the index of this node in the plan; JOB_ALL_HERE, JOB_NONE_HERE */
    bool follows;  /* another node's core controls the job */
    bool numbered; /* id and base are given: they are the same on all nodes */
    uint32_t id, base;
    bool is_tool;
    bool is_asked;    /* a tool requested it and may want output written earlier */
    bool is_adopted;  /* something else starts its processes */
    bool is_foreign;  /* another launcher's */
    uint32_t session; /* the reservation that it runs in (reservation.h); 0: none */
    uint32_t epoch;   /* job_restart.h: where the others are, if this node comes later */
};

void core_init(struct core *c, uint64_t seed);
void core_free(struct core *c);

/* The session directory of a job, or (rank) of a process of this node, is given to a client: it
 * must exist. */
void core_place(struct core *c, const struct job *j, uint32_t rank);

/* A new job.  The plan is taken over on success; the region outlives the job.  NULL: no memory. */
struct job *core_job_add(struct core *c, const char *nspace, struct job_map *plan,
                         struct seg_region *region, uint32_t parent, bool keep_going);
struct job *core_job_order(struct core *c, const struct job_order *o);
void core_job_remove(struct core *c,
                     struct job *j); /* removes its published names too, except those that stay */
struct job *core_job(const struct core *c, uint32_t id); /* also another launcher's */
/* A job of that name, or that number, that has been removed; NULL: none is recorded. */
const struct ended_job *core_ended_job(const struct core *c, struct slice nspace);
const struct ended_job *core_ended_number(const struct core *c, uint32_t id);
/* The number of a job and its name, also of one that has been removed: what an answer names may be
 * over when the answer is written.  False, NULL: none is known, or recorded. */
bool core_job_number(const struct core *c, struct slice nspace, uint32_t *id_p);
const char *core_job_name(const struct core *c, uint32_t id);
/* Of the process with this number (job->base + rank); NULL: there is none. */
struct job *core_job_of_id(const struct core *c, uint32_t id);
struct job *core_job_named(const struct core *c, struct slice nspace);
/* The same, also if it is another launcher's. */
struct job *core_known_job(const struct core *c, struct slice nspace);
/* The oldest job that is not a tool's; NULL: there is none. */
struct job *core_first_job(const struct core *c);
/* The processes of jobs that have not ended. */
uint32_t core_running(const struct core *c);

/* The number of the last collective across jobs that this node has numbered; unique over all nodes.
 */
static inline uint64_t core_meetings(const struct core *c)
{
    return (uint64_t)c->position << 32 | c->nmeetings;
}

#endif
