/* spawn.h - a request for more processes, independent of any protocol's encoding.
 *
 * Collected by a session (several messages in PMI-1, one in PMI-2), handed over whole.  All of it
 * lives in its own arena; the holder of the request frees it with spawn_free().
 */
#ifndef WIREUP_CORE_SPAWN_H
#define WIREUP_CORE_SPAWN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"
#include "wire/text.h"

struct spawn_pair {
    struct slice key, value;
};

struct spawn_command {
    char *program;
    char **args; /* without the program; NULL-terminated */
    uint32_t nargs;
    uint32_t nprocs;
    struct spawn_pair *infos;
    uint32_t ninfos;
};

struct spawn_request {
    struct arena arena;
    struct spawn_command *commands;
    uint32_t ncommands;
    struct spawn_pair *preputs; /* put into the new job's store before it starts */
    uint32_t npreputs;
    uint32_t requestor; /* rank of the process that asks; the core fills it in */
};

/* Infos of a command that several modules name; all are listed in launch/spawn_plan.h. */
#define SPAWN_RECOVERABLE   "recoverable" /* the job goes on when one of its processes fails */
#define SPAWN_ALLOC         "alloc-id"    /* daemon/allocations.h */
#define SPAWN_ALLOC_REQ     "alloc-req-id"
#define SPAWN_ALLOC_SESSION "alloc-session"
#define SPAWN_ALLOC_NODES   "alloc-nodes" /* daemon/spawn_wish.h */
#define SPAWN_ALLOC_CPUS    "alloc-cpus"
#define SPAWN_ALLOC_LIST    "alloc-node-list"
#define SPAWN_ALLOC_EXCLUDE "alloc-exclude"
#define SPAWN_ALLOC_TIME    "alloc-time"
#define SPAWN_PE            "cpus-per-proc"
#define SPAWN_CPU_LIST      "cpu-list"
#define SPAWN_NOT_OVER      "no-oversubscribe"
#define SPAWN_CONNECTIVITY  "connectivity" /* core/connectivity.h */
#define SPAWN_OUT_TAG       "tag-output"   /* launch/spawn_output.h */
#define SPAWN_OUT_TIME      "timestamp-output"
#define SPAWN_OUT_RANK      "rank-output"
#define SPAWN_OUT_NAME      "name-output"
#define SPAWN_OUT_NODE      "node-output"
#define SPAWN_OUT_MERGE     "merge-output"
#define SPAWN_OUT_RAW       "raw-output"
#define SPAWN_OUT_XML       "xml-output"
#define SPAWN_OUT_EACH      "output-rank"
#define SPAWN_OUT_FILE      "output-file"
#define SPAWN_OUT_PATTERN   "output-pattern"
#define SPAWN_OUT_DIRECTORY "output-directory"
#define SPAWN_SHOW_MAP      "display-map"
#define SPAWN_SHOW_BINDINGS "report-bindings"
#define SPAWN_SHOW_NODES    "display-allocation"
#define SPAWN_SHOW_OBJECTS  "display-topology"   /* nodes, or "all" */
#define SPAWN_SHOW_CPUS     "display-processors" /* likewise */
#define SPAWN_SHOW_JSON     "display-parseable"
#define SPAWN_NO_LAUNCH     "do-not-launch"
#define SPAWN_JOB_LIMIT     "job-timeout"
#define SPAWN_LIMIT         "spawn-timeout"
#define SPAWN_LATE_STATE    "timeout-state"
#define SPAWN_LATE_STACKS   "timeout-stacks"
#define SPAWN_STRICT        "abort-non-zero" /* the ways of core/job_map.h */
#define SPAWN_SILENT        "silent-termination"
#define SPAWN_APART         "apart"
#define SPAWN_JOINT         "joint-exit-code"
#define SPAWN_LOG_EVENTS    "log-job-events"
#define SPAWN_LOG_END       "log-completion"
#define SPAWN_LOG_EXITS     "log-exits"
#define SPAWN_LOG_FAILURES  "log-failures"
#define SPAWN_LOG_PROGRESS  "show-progress"
#define SPAWN_EACH_HELP     "each-help"
#define SPAWN_EXEC_AGENT    "exec-agent"
#define SPAWN_NOT_ON_HEAD   "no-procs-on-head"
#define SPAWN_SESSION       "session-wdir"
#define SPAWN_INDEX         "index-argv"
#define SPAWN_RESTARTS      "max-restarts"
#define SPAWN_BESIDE        "beside"         /* daemon/cospawn.h */
#define SPAWN_PRELOAD_BIN   "preload-binary" /* launch/staging_list.h */
#define SPAWN_PRELOAD_FILES "preload-files"
#define SPAWN_STOP_ON_EXEC  "stop-on-exec" /* launch/spawn_stops.h */
#define SPAWN_STOP_IN_INIT  "stop-in-init"
#define SPAWN_STOP_IN_APP   "stop-in-app"
#define SPAWN_BREAKPOINT    "breakpoint"
#define SPAWN_PSET          "pset"
#define SPAWN_COLOCATE      "colocate" /* daemon/colocate.h */
#define SPAWN_PER_NODE      "colocate-per-node"
#define SPAWN_PER_PROC      "colocate-per-proc"
#define SPAWN_DEBUG_TARGET  "debug-target"
#define SPAWN_ENV_VALUE     "env-value" /* launch/spawn_env.h */
#define SPAWN_ENV_SET       "env-set"
#define SPAWN_ENV_ADD       "env-add"
#define SPAWN_ENV_UNSET     "env-unset"
#define SPAWN_ENV_FIRST     "env-first"
#define SPAWN_ENV_PREPEND   "env-prepend"
#define SPAWN_ENV_APPEND    "env-append"

/* Why a request has failed, for clients whose protocol tells them apart. */
enum spawn_failure {
    SPAWN_NOT_STARTED = 1, /* any other reason */
    SPAWN_BAD_REQUEST,     /* an info is wrong */
    SPAWN_NO_COMMAND,      /* no program is named */
    SPAWN_NO_PROGRAM,      /* it does not exist */
    SPAWN_NOT_EXECUTABLE,
    SPAWN_NO_DIRECTORY, /* the one to start in cannot be entered */
    SPAWN_NO_NODES,     /* nodes that are named are unknown, or cannot be reached */
    SPAWN_NO_RESOURCES, /* too many processes: slots, limits, memory */
    SPAWN_NO_PLACE,     /* the mapping is impossible on these nodes */
    SPAWN_NO_FILES,     /* output files cannot be created */
    SPAWN_LATE,         /* its time limit has passed */
    SPAWN_FAILURES
};

/* The exit code of a job that a node has refused as impossible on its hardware. */
enum { SPAWN_CODE_REFUSED = 125 };

/* The code of a process that was not started, as if it had ended with it (PROC_EVENT_NOT_STARTED).
 * Its exit code is the low byte. */
enum {
    SPAWN_CODE_NO_PROGRAM = 127,
    SPAWN_CODE_NOT_EXECUTABLE = 126,
    SPAWN_CODE_NO_DIRECTORY = 0x100 | SPAWN_CODE_NOT_EXECUTABLE
};

struct spawn_request *spawn_new(void);                      /* NULL: no memory */
struct spawn_request *spawn_free(struct spawn_request *rq); /* returns NULL; NULL is harmless */

/* Copies, in the request's arena, of texts from a message; NULL: no memory. */
struct spawn_pair *spawn_copy_pairs(struct arena *a, const struct text_list *keys,
                                    const struct text_list *values);
/* A command with its arguments and infos, the same way. */
struct spawn_command spawn_copy_command(struct arena *a, struct slice program, uint32_t nprocs,
                                        const struct text_list *args, const struct text_list *keys,
                                        const struct text_list *values);

/* The value of an info key of one command, or the empty slice. */
struct slice spawn_info(const struct spawn_command *cmd, const char *key);

/* The same of the first of n commands that has it. */
struct slice spawn_info_of_all(const struct spawn_command *commands, uint32_t n, const char *key);

/* The sum of nprocs over all commands. */
uint64_t spawn_nprocs(const struct spawn_request *rq);

#endif
