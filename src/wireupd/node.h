/* node.h - one node at work: it carries out what the core decides.
 *
 * Owns the loop, the server, the processes of this node with their connections and streams, and
 * the shared stores.  It decides nothing about jobs: news goes to the server, effects come back and
 * become signals, processes and bytes.
 *
 * News enters through four doors only: a connection is readable, a process has ended, the control
 * pipe speaks, a timer rings.  Each of them ends in node_settle(), which carries out all effects
 * and writes all answers.
 */
#ifndef WIREUP_WIREUPD_NODE_H
#define WIREUP_WIREUPD_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/log.h"
#include "core/job_map.h"
#include "io/loop.h"
#include "io/session_dir.h"
#include "io/streams.h"
#include "session/server.h"

enum node_stdin { NODE_STDIN_NONE, NODE_STDIN_ONE, NODE_STDIN_ALL };

/* Whether tools find files that lead them here from the start; they are let in at any time. */
enum node_tools { NODE_TOOLS_OFF, NODE_TOOLS_ON, NODE_TOOLS_SYSTEM };

/* up of all; who is waited for, "hangB: ssh has not answered for 3 s", or empty. */
struct node_progress {
    uint32_t up, all;
    char awaited[200];
};

struct node_config {
    struct log log;
    const char *name; /* of this host, for names of jobs */
    int control_fd;   /* from the guard: one byte per signal; its end ends everything; -1 */
    /* How far the nodes are that come up; or NULL: there is this one only. */
    void (*progress)(void *arg, struct node_progress *p);
    bool diverted; /* standard output and error are pipes of our own (streams_divert()) */
    enum node_stdin stdin_to;
    uint32_t stdin_rank;
    const char *label;   /* pattern before each line (see output_format.h), or NULL */
    const char *outfile; /* pattern of a file for each rank's output, or NULL */
    const char *errfile;
    uint32_t timeout_s; /* since begun_ns, if that is known; 0: none */
    bool keep_going;
    bool pmi_port;         /* PMI_PORT/PMI_ID instead of an inherited descriptor */
    bool print_exit_codes; /* of every rank, at the end */
    bool hostname;         /* tell processes the name of their node */
    bool one_rank_speaks;  /* show the output of speaker only */
    uint32_t speaker;
    const struct spawn_pair *job_attrs; /* what programs shall find besides, or NULL */
    uint32_t njob_attrs;
    const char *memory_kinds;      /* PMI_mpi_memory_alloc_kinds, or NULL */
    bool report_startup;           /* where the start-up time went (startup_timing.h) */
    bool json;                     /* reports are for programs */
    uint64_t begun_ns, planned_ns; /* for that report: the launcher's start, and its plan */
    enum node_tools tools;
    struct session_dir *sessions; /* named before the worker parted from its guard; or NULL */
    const char *tool_dir;         /* where tools look for files */
    pid_t guard;                  /* the pid that people know us by; 0: our own */
    /* Turns a spawn request into a plan: as spawn_plan_build() of the launcher.  NULL: no spawning.
     */
    int (*plan_spawn)(void *arg, const struct job *parent, const struct spawn_request *rq,
                      struct job_map *plan_p, int *codes, struct errmsg *err);
    /* A child of the process that is none of the node's has ended.  May be NULL. */
    void (*reaped)(void *arg, pid_t pid, int status);
    void *arg;
    struct rlimit nofile; /* what processes get back, when raised is set */
    bool raised;
};

/* Each process takes three descriptors of ours; they get back the limit that we were given. */
void node_raise_nofile(struct node_config *config);

struct node;
struct multinode;

/* NULL with a sentence in err. */
struct node *node_new(const struct node_config *config, struct errmsg *err);
/* What node_record(), node_tools() and node_start() say of a file that the user has named and that
 * cannot be made: the command line is wrong, and nothing was started.  (No other condition of who
 * opens a launch has this number.) */
enum { NODE_BAD_FILE = 64 };

/* Records what is said from now on in that file; behind node_share(), because the recording begins
 * with who the neighbours are.  The name lives as long as the node.  0, or NODE_BAD_FILE with a
 * sentence. */
int node_record(struct node *n, const char *file, struct errmsg *err);
/* Writes the files for tools that the config asks for.  0, or NODE_BAD_FILE with a sentence. */
int node_tools(struct node *n, struct errmsg *err);
struct node *node_free(struct node *n); /* returns NULL */

/* This node is one of several from now on (multinode.h); before its first job. */
void node_share(struct node *n, struct multinode *s);

struct loop *node_loop(struct node *n);
/* As configured, without anybody's waiting for who reads it; until node_free(). */
const struct log *node_log(const struct node *n);

/* Starts what has been added while the loop runs. */
void node_begin(struct node *n);

/* Ends now, with this exit code: before a job was started. */
void node_give_up(struct node *n, int exit_code);

/* All daemons are there and stay, without a job: the time limit was for that. */
void node_stands(struct node *n);

/* Starts a job; the plan is taken over.  0, NODE_BAD_FILE or -errno with a sentence.  That a
 * process could not be started is the job's failure, not this call's. */
int node_start(struct node *n, struct job_map *plan, struct errmsg *err);

/* Runs until every job has ended and its output is written.  The exit code for the user. */
int node_run(struct node *n);

#endif
