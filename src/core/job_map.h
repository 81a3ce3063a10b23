/* job_map.h - the job map: processes to be started, decided in full before the first one exists.
 *
 * The launcher's first half (options, host files, mapping, binding) or a spawn request fills a
 * plan; the spawner and the core only read it.  Nothing in it refers to file descriptors or to this
 * machine's memory, so a plan can be printed (--dry-run), sent to another node, or tested.
 *
 * Everything lives in the plan's arena and goes with job_map_free().
 */
#ifndef WIREUP_CORE_JOB_MAP_H
#define WIREUP_CORE_JOB_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Of an application. */
enum {
    JOB_MAP_APP_SESSION = 1, /* it starts in the session directory of its job; wdir is only for
                                finding the program */
    JOB_MAP_APP_INDEX = 2,   /* argv[0] ends with "-" and the rank */
    JOB_MAP_APP_PREFORK = 4, /* it is loaded once on each node, and forked for each rank */
};

/* Ways of a spawned job that its controlling node alone needs to know. */
enum {
    JOB_MAP_STRICT = 1,        /* a process that ends with another code than 0 ends the job */
    JOB_MAP_SILENT = 2,        /* no event tells that it has ended well */
    JOB_MAP_JOINT = 4,         /* its exit code counts as the launcher's, unless that has one */
    JOB_MAP_LOG_EVENTS = 8,    /* texts for the user: start, launch, end */
    JOB_MAP_LOG_END = 16,      /* the end alone */
    JOB_MAP_LOG_EXITS = 32,    /* the end of each process */
    JOB_MAP_LOG_FAILURES = 64, /* that of each one that fails */
    JOB_MAP_APART = 256,       /* it does not fail with the job that spawned it, nor that with it */
    JOB_MAP_LOG_PROGRESS = 128, /* how many processes have started, now and then */
    JOB_MAP_EACH_HELP = 512,    /* help messages are shown each time */
    JOB_MAP_NO_LAUNCH = 1024,   /* the plan was all that was wanted */
};

/* Which protocols the environment of an application names, in the order of the words of the option
 * -pmi; JOB_MAP_PMI_1_OR_2 is only found by looking at its program. */
enum job_map_pmi {
    JOB_MAP_PMI_AUTO, /* by its program */
    JOB_MAP_PMI_1,
    JOB_MAP_PMI_2,
    JOB_MAP_PMI_X,
    JOB_MAP_PMI_ALL,
    JOB_MAP_PMI_1_OR_2
};

/* One application of the job: an executable with its arguments.  Separated by `:` on the command
 * line, one command of a spawn request.  Its index is the "appnum". */
struct job_map_app {
    char **argv;      /* argv[0] is the program as the user wrote it; NULL-terminated */
    uint32_t argc;    /* without the final NULL */
    const char *path; /* file to exec: found on PATH, executable */
    const char *wdir; /* absolute directory to start in, or NULL: the server's own */
    const char *pset; /* name of the set of its processes; NULL: none */
    char **env;       /* NAME=VALUE, complete except for the per-rank variables; NULL-terminated */
    uint32_t flags;   /* JOB_MAP_APP_... */
    uint32_t pmi;     /* enum job_map_pmi, as the user says it */
    uint32_t offer;   /* the same as this node has decided; JOB_MAP_PMI_AUTO: not yet */
    bool copied;      /* the path is that of a copy on this node (daemon/staging.h) */
    bool looked;      /* this node has decided on: */
    const char *library_path; /* LD_LIBRARY_PATH with our libraries in front; NULL: as it is */
    uint32_t restarts;  /* how often one of its processes is started again that fails before it has
                           joined the job */
    uint32_t placement; /* which of the job's placements is its own; below nplacements */
    uint32_t nprocs;
    uint32_t first_rank; /* its ranks are first_rank .. first_rank + nprocs - 1 */
};

/* Where a process waits for a debugger (struct job_map_proc). */
enum job_map_stop {
    JOB_MAP_STOP_ON_EXEC, /* at the first instruction of its program */
    JOB_MAP_STOP_IN_INIT, /* in PMIx_Init */
    JOB_MAP_STOP_IN_APP,  /* where the program itself says that it does */
    JOB_MAP_STOPS
};

/* How processes of a node are bound to its processors, in the numbers of topo/bind.h; each node
 * applies it to its own hardware. */
struct job_map_binding {
    uint32_t how, kind, width;
    const char *list; /* or NULL */
    bool ordered;
    uint32_t order_kind, order_width, order_block;
    /* The order in which processors are dealt out, by seat (job_map_seats()): ranks need not be
     * numbered in the order of the mapping.  NULL: they are. */
    const uint32_t *turns;
    uint32_t nturns;
};

/* One node of the job, in the order of first use by the mapping. */
struct job_map_node {
    const char *name; /* as the user or the resource manager gave it */
    uint32_t slots;
    uint32_t nprocs;                         /* ranks placed here */
    const struct job_map_binding **bindings; /* by placement; NULL, as each of them: not bound */
    bool lost;                               /* known on the controlling node */
};

/* The processors of a process, in the words of PMIx. */
struct job_map_place {
    const char *cpuset;   /* "0-3,8" */
    const char *locality; /* "SK0:L30:L20:L10:CR0:HT0:NM0" (topo/locality.h), or NULL: not known */
};

struct job_map_proc {
    uint32_t rank;
    uint32_t app;
    uint32_t node;
    uint32_t local_rank;               /* counts the job's processes on this node, from 0 */
    uint32_t package_rank;             /* the same of those on its package */
    uint8_t stops;                     /* bits: 1 << enum job_map_stop */
    const struct job_map_place *place; /* NULL: not bound, or not on this node */
    /* The processors it may use, as sched_setaffinity takes them; NULL: not bound. */
    const unsigned long *cpus;
    size_t cpus_bytes;
    const char *binding; /* the same for people ("core 3, hwthreads 3,7"), or NULL */
    /* The GPUs or network interfaces that it shall use: their ids, and NAME=VALUE for its
     * environment, NULL-terminated.  NULL: none, or not on this node. */
    const char *devices;
    const char *const *device_env;
};

/* How the processes were placed, as the options say it; the name of the cluster; and which of them
 * will talk to each other (connectivity.h). */
enum job_map_word {
    JOB_MAP_BY,
    JOB_RANK_BY,
    JOB_BIND_TO,
    JOB_CLUSTER,
    JOB_CONNECTIVITY,
    JOB_ALLOCATED, /* all nodes of its allocation, by name, with commas; NULL: it has all */
    JOB_MAP_WORDS
};

/* How the output of a job is shown that has its own ways: patterns as in node.h; NULL: as the
 * launcher shows that of all jobs. */
struct job_map_output {
    const char *label, *outfile, *errfile;
    bool merged; /* standard error goes to standard output */
    bool raw;    /* pieces of lines are shown as they come */
    bool xml;    /* each line is an element, and the label is not used */
    bool timed;  /* ... with the time of day */
};

/* A file or directory that is brought to the nodes (docs/design/staging.md). */
struct job_map_staged {
    struct job_map_staged *next;
    const char *name; /* below the job's directory for them */
    const char *path; /* on the planner */
};

struct job_map {
    struct arena arena;
    struct job_map_app *apps;
    struct job_map_node *nodes;
    struct job_map_proc *procs; /* by rank */
    uint32_t napps, nnodes, nprocs;
    uint32_t
        nplacements;  /* applications that are mapped and bound alike have the same; 1 or more */
    int64_t universe; /* slots in the allocation; -1: unlimited */
    bool path_only;   /* nodes search for a program by name on PATH alone */
    const char *words[JOB_MAP_WORDS]; /* NULL: not known */
    struct job_map_output output;
    const char
        *target; /* of these processes, which debug it: "RANK:NAMESPACE" or "all:..."; or NULL */
    const char *breakpoint; /* where processes stop that stop in the program; NULL: they choose */
    bool staged;            /* files are brought to its nodes first: */
    struct job_map_staged *stage; /* these; only on the planner */
    uint32_t ways;                /* JOB_MAP_...; only on the planner */
    const char *report; /* lines for the user before the start; NULL: none.  Only on the planner */
};

static inline uint8_t job_map_stop_bit(enum job_map_stop stop)
{
    return (uint8_t)(1U << stop);
}

/* How the processes of a placement are bound on a node. */
static inline const struct job_map_binding *job_map_bound(const struct job_map *p, uint32_t node,
                                                          uint32_t placement)
{
    return p->nodes[node].bindings ? p->nodes[node].bindings[placement] : NULL;
}

/* By rank: the number of the process among those of its node with the same placement, from 0; the
 * local rank where there is one placement.  The caller frees them; NULL: no memory. */
uint32_t *job_map_seats(const struct job_map *p);

void job_map_init(struct job_map *p);
void job_map_free(struct job_map *p); /* harmless twice */

#endif
