/* core.h - all jobs of one launcher or daemon: requests in, answers and effects out.
 *
 * No descriptor, no clock, no global: a test holds a whole cluster of cores.  The caller identifies
 * a waiting request by a ticket of its own making and gets it back when the answer is there.
 */
#ifndef WIREUP_CORE_CORE_H
#define WIREUP_CORE_CORE_H

#include <stdint.h>

#include "base/list.h"
#include "core/effect.h"
#include "core/job.h"
#include "core/nameservice.h"
#include "core/psets.h"
#include "core/pending.h"

/* What is remembered of a job that is gone. */
struct grave {
    char nspace[256];
    uint32_t id, parent;
    bool failed;
    int exit_code;
};

/* An attribute of every job that no client can name: the topology itself, as hwloc's XML text. */
#define CORE_TOPOLOGY "\ntopology"

enum { CORE_GRAVES = 64 };

struct startup;

struct core {
    struct list jobs;
    struct nameservice names;
    struct list lookups;       /* struct nameservice_wait */
    struct pending_list waits; /* requests without an answer that are in no collective */
    struct list sets;          /* of processes, as the host has defined them (core/psets.h) */
    struct effects effects;
    uint32_t next_job, next_base;
    struct collective_set meetings; /* fences across jobs; members are job->base + rank */
    uint32_t nmeetings;             /* that have come to pass */
    uint32_t position;              /* of this node among all, 0 for the one with the launcher */
    uint64_t seed;
    bool has_topology;   /* the host can find out PMI_hwloc_xmlfile and CORE_TOPOLOGY */
    bool is_manager;     /* the host starts every process and decides what becomes of it: each has a
                            pid in the end (MODEX_PID), and who has connected fails together
                            (proc_connect.h) */
    bool has_neighbours; /* the host can ask other launchers about names */
    bool tells_meetings; /* also those that happen on this node alone are EFFECT_CONTRIBUTE */
    const char *name;    /* of the server, as its address tells; the host's, or NULL */
    uint32_t name_rank;
    const char *uri;                  /* … and that address; the host's, or NULL */
    struct grave graves[CORE_GRAVES]; /* of the last ones, in a ring */
    uint32_t ngraves;                 /* ever dug */
    /* Bytes of memory that a process (0: we) has to itself, as the host can find out; may be NULL.
     */
    uint64_t (*memory_of)(int pid);
    const char *wdir; /* where processes start that are not told where; the host's, or NULL */
    const char
        *sessions;    /* below it every job has its session directory, <job>/<rank>, which the host
                         makes (EFFECT_PLACE) and removes; the host's, or NULL: there are none */
    bool takes_tools; /* the host can let tools in (EFFECT_TOOL) */
    uint32_t listeners;   /* clients' demands for output */
    uint64_t last_ear;    /* they have numbers, by which other nodes know them */
    bool has_others;      /* there are other nodes: they are told of events (EFFECT_EVENT) */
    bool names_elsewhere; /* another node keeps the names: the host asks it (EFFECT_NAMES) and gives
                             its answer back as its own */
    /* How nodes exchange what a fence collects: whether one of these words (with commas between)
     * is the name of a way that the host has.  NULL: nobody here can judge it. */
    bool (*knows_way)(struct slice words);
    struct startup *startup; /* the host's, who wants to know when one job's processes ask for what;
                                or NULL */
};

/* A job as a host with several nodes describes it. */
struct job_order {
    const char *nspace;
    struct job_map *plan;      /* taken over on success */
    struct seg_region *region; /* outlives the job */
    uint32_t parent;           /* or JOB_NO_RANK */
    bool keep_going;
    uint32_t here; /* the plan's node that this one is; JOB_ALL_HERE, JOB_NONE_HERE */
    bool follows;  /* another node's core decides about the job */
    bool numbered; /* id and base are given: they are the same on all nodes */
    uint32_t id, base;
    bool is_tool;
    bool is_asked; /* a tool has asked for it: it may want to hear what was said before */
};

void core_init(struct core *c, uint64_t seed);
void core_free(struct core *c);

/* The session directory of a job is told to somebody, or (rank) also that of a process of this
 * node: it is to be there. */
void core_place(struct core *c, const struct job *j, uint32_t rank);

/* A new job.  The plan is taken over on success; the region outlives the job.  NULL: no memory. */
struct job *core_job_add(struct core *c, const char *nspace, struct job_map *plan,
                         struct seg_region *region, uint32_t parent, bool keep_going);
struct job *core_job_order(struct core *c, const struct job_order *o);
void core_job_remove(struct core *c, struct job *j); /* its names go, but those that stay */
struct job *core_job(const struct core *c, uint32_t id);
/* A job of that name that is gone; NULL: none is remembered. */
const struct grave *core_grave(const struct core *c, struct slice nspace);
struct job *core_job_named(const struct core *c, struct slice nspace);
/* The oldest job that is no tool's; NULL: there is none. */
struct job *core_first_job(const struct core *c);

/* The number of the last meeting that this node has numbered; no other node gives the same. */
static inline uint64_t core_meetings(const struct core *c)
{
    return (uint64_t)c->position << 32 | c->nmeetings;
}

/* A job has been aborted: the jobs that spawned it or were spawned by it end with it, each with one
 * sentence that says so. */
void core_abort_connected(struct core *c, const struct job *j);

/* Whoever has these tickets (first..last) has gone: its look-ups wait no more, or one would get a
 * name that may be read once. */
void core_lookups_drop(struct core *c, uint64_t first, uint64_t last);

/* A look-up that had to wait is answered from what is published now. */
void core_lookup_now(struct core *c, const struct nameservice_query *q, struct answer *a_p);

/* A name is withdrawn, by whomever. */
enum answer_status core_unpublish(struct core *c, struct slice service);

/* The neighbours have been asked: found says whether one of them has (or had, and has withdrawn)
 * the name, with its port.  Decides the query and fills the answer, which borrows from port. */
void core_names_heard(struct core *c, uint64_t ticket, const struct nameservice_query *q,
                      bool found, struct slice port, struct answer *a_p);

/* Time has passed: answers what was promised until now, and says when to call again (UINT64_MAX:
 * nothing is waited for). */
uint64_t core_tick(struct core *c, uint64_t now_ns);

/* One request of one process.  ANSWER_LATER: an EFFECT_ANSWER (or, for a spawn, the host's own
 * answer) will bring the ticket back. */
void core_request(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                  const struct request *rq, uint64_t now_ns, struct answer *a_p);

/* The next effect, in order; false: none.  What could not be queued for want of memory is made good
 * here: a job that lost an answer is aborted, an end or an abort is told late. */
bool core_effect(struct core *c, struct effect *e_p);

#endif
