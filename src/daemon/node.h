/* node.h - one node at run time: it carries out the decisions of the core.
 *
 * Owns the loop, the server, the processes of this node with their connections and streams, and the
 * shared stores.  It decides nothing about jobs: events go to the server, effects come back and
 * become signals, processes and bytes.
 *
 * There are four sources of events only: a connection is readable, a process has ended, the control
 * socket is readable, a timer expires.  Each handler ends in turn_end() (turn.h), which carries out
 * all effects and writes all answers.
 */
#ifndef WIREUP_DAEMON_NODE_H
#define WIREUP_DAEMON_NODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/log.h"
#include "core/job_map.h"
#include "core/spawn.h"
#include "io/loop.h"
#include "io/session_dir.h"
#include "io/streams.h"
#include "server/server.h"
#include "daemon/launcher_state.h"

enum node_stdin { NODE_STDIN_NONE, NODE_STDIN_ONE, NODE_STDIN_ALL };

/* Whether tool files exist from the start; tools are admitted at any time. */
enum node_tools { NODE_TOOLS_OFF, NODE_TOOLS_ON, NODE_TOOLS_SYSTEM };

/* Nodes up, and in all; awaited: "hangB: ssh has not answered for 3 s", or empty. */
struct node_progress {
    uint32_t up, all;
    bool slots; /* ... these are counted, not nodes */
    char awaited[200];
};

struct distant_launchers_config;

struct node_config {
    struct log log;
    const char *name; /* of this host, part of namespaces */
    int control_fd;   /* from the supervisor: one byte per signal; its EOF ends everything; -1: none
                       */
    /* Reports how many nodes are up; NULL: there is only this one. */
    void (*progress)(void *arg, struct node_progress *p);
    bool listens_late; /* others find it from node_listen_soon() on, not from its creation on */
    bool diverted;     /* standard output and error are pipes to ourselves (streams_divert()) */
    enum node_stdin stdin_to;
    uint32_t stdin_rank;
    const char *label;   /* pattern of a prefix for each line (see output_format.h), or NULL */
    const char *outfile; /* pattern of the output file of each rank, or NULL */
    const char *errfile;
    uint32_t timeout_s; /* from begun_ns if that is known; 0: none */
    int warning;        /* sent to all processes warning_s before that; 0: none */
    uint32_t warning_s;
    bool stacks_when_late; /* the report at its end has the stacks of the processes */
    uint32_t exit_wait_s;  /* the job ends so long after its first process; 0: it does not */
    bool exit_warns;       /* ... or there is only a warning */
    bool keep_going;
    bool replace; /* lost nodes of jobs that start processes again, by nodes that have none */
    uint32_t replace_wait_s; /* ... or by those that come within so long */
    /* ... a node is wanted for so many ranks; 0: none is, any more.  NULL: none can come. */
    void (*seek_node)(void *arg, uint32_t ranks);
    bool pmi_port;         /* PMI_PORT/PMI_ID instead of an inherited descriptor */
    bool print_exit_codes; /* of every rank, at the end */
    bool hostname;         /* pass processes the name of their node */
    bool one_rank_speaks;  /* show the output of speaker only */
    uint32_t speaker;
    const struct spawn_pair *job_attrs; /* additional job attributes for programs, or NULL */
    uint32_t njob_attrs;
    const char *job_name;          /* the user's word for the first job, or NULL */
    const char *memory_kinds;      /* PMI_mpi_memory_alloc_kinds, or NULL */
    bool report_startup;           /* report where the start-up time went (startup_timing.h) */
    bool json;                     /* reports are JSON */
    bool terminal;                 /* a person reads our messages (end_progress.h) */
    uint64_t begun_ns, planned_ns; /* for that report: launcher started, plan ready */
    enum node_tools tools;
    struct session_dir *sessions;   /* named before the fork of worker and supervisor; or NULL */
    const char *tool_dir;           /* where tools look for files */
    struct tool_callback *callback; /* the tool that has started us (tool_callback.h); or NULL */
    pid_t guard;                    /* the pid that users know; 0: our own */
    /* Turns a spawn request into a plan, as spawn_plan_build() of the launcher; NULL: no spawning */
    int (*plan_spawn)(void *arg, const struct job_map *like, const struct spawn_request *rq,
                      struct job_map *plan_p, int *codes, struct errmsg *err);
    /* Appends the nodes that join for a spawn request if they are not there, as in -hosts, as far
     * as they can be read: a DVM's are spawn_hosts_added() of the launcher, those of a job on one
     * spawn_hosts_all().  NULL: none can. */
    void (*added_nodes)(void *arg, const struct spawn_request *rq, struct buf *out);
    struct dvm_leases *dvm_leases; /* of a DVM; NULL: this is none */
    /* A DVM: nodes are to join or leave.  Takes over the connection, and the words of the request
     * line, to which it answers.  NULL: this is none. */
    void (*resize)(void *arg, int fd, struct slice words);
    bool submits; /* ... more of them can be had from its resource manager, by their number */
    /* The same, of a job's launcher: nodes are to join the job (`grow HOSTS`), for a spawn that
     * names them in added_nodes(). */
    void (*add_nodes)(void *arg, int fd, struct slice words);
    /* That process leads the DVM of this name from now on; or NULL. */
    void (*successor)(void *arg, pid_t pid, struct slice name);
    /* What the launcher knows about the loss of a node that its link does not tell, in a sentence;
     * NULL: nothing.  May be NULL. */
    const char *(*why_lost)(void *arg);
    const struct job_map *tools_like; /* what jobs of tools are like; NULL: the first job */
    /* All processes of a job have been started, on all nodes.  May be NULL. */
    void (*started)(void *arg, const struct job *j);
    /* A job has ended, on all nodes, and is removed next.  May be NULL. */
    void (*ended)(void *arg, const struct job *j);
    /* How a command of the user is run on another node: agent_reach().  NULL: there is none. */
    int (*reach)(void *arg, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err);
    /* A child of this process that is not the node's has ended.  May be NULL. */
    void (*reaped)(void *arg, pid_t pid, int status);
    /* All processes of all jobs have ended.  True: the end waits until a child has been reaped
     * (then it asks again).  May be NULL. */
    bool (*waits)(void *arg);
    void *arg;
    const struct distant_launchers_config *distant; /* NULL: only launchers of this machine */
};

struct node;
struct cluster_io;

/* NULL with a sentence in err. */
struct node *node_new(const struct node_config *config, struct errmsg *err);
/* Result of node_record(), node_tools() and node_start() for a file that the user has named and
 * that cannot be created: the command line is wrong, and nothing was started.  (No other result of
 * a launch has this number.) */
enum { NODE_BAD_FILE = 64 };

/* Traces to that file from now on; after node_share(), because the trace begins with the
 * neighbours.  The name must outlive the node.  0, or NODE_BAD_FILE with a sentence. */
int node_record(struct node *n, const char *file, struct errmsg *err);
/* Writes the tool files that the config asks for.  0, or NODE_BAD_FILE with a sentence. */
int node_tools(struct node *n, struct errmsg *err);
struct node *node_free(struct node *n); /* returns NULL */

/* From now on this node is one of several (cluster_io.h); before its first job. */
void node_share(struct node *n, struct cluster_io *s);

struct loop *node_loop(struct node *n);
/* Before any job: the name of the configuration was preliminary. */
void node_rename(struct node *n, const char *name);
/* Launchers and commands find this one from the loop's next turn on, or the start of a job. */
void node_listen_soon(struct node *n);
/* Launchers and commands find this one by that alias, too (control_socket.h); it must outlive the
 * node. */
void node_set_alias(struct node *n, const char *alias);
/* The configured log, without waiting for its reader; valid until node_free(). */
const struct log *node_log(const struct node *n);

/* Starts the jobs that were added while the loop runs. */
void node_begin(struct node *n);

/* The launcher's state, and its step. */
enum launcher_state node_state(const struct node *n);
enum launcher_action node_event(struct node *n, enum launcher_event event);

/* " NAME RANKS" for each node of each job that we lead and that has not ended; a node may be named
 * several times. */
void node_places(const struct node *n, struct buf *out);

/* A node joins the DVM, or leaves it: processes and tools that want to know are notified.  code: of
 * wireup_client.h. */
void node_dvm_news(struct node *n, int code, struct slice name, uint32_t slots);

/* The DVM ends, and its daemons with it: nothing of a job is started again. */
void node_dvm_ends(struct node *n);

/* All daemons are up and stay, without a job: the time limit was for their start, and so were our
 * standard output and error. */
void node_stands(struct node *n);
/* Ends now, with this exit code: before a job was started. */
void node_give_up(struct node *n, int exit_code);

/* Starts a job; takes over the plan.  0, NODE_BAD_FILE or -errno with a sentence.  A process that
 * could not be started is the job's failure, not this call's. */
int node_start(struct node *n, struct job_map *plan, struct errmsg *err);

/* Starts a further job while others run (or `waits` holds the end): as one that was spawned, it
 * leaves nothing behind, and is no child of another one.  Takes over the plan on success; *job_p:
 * its number.  0, or positive or -errno with a sentence.  Several calls are followed by
 * node_go_on(). */
int node_add(struct node *n, struct job_map *plan, uint32_t *job_p, struct errmsg *err);
/* From a callback of the loop: starts what was added, or ends if there is nothing more. */
void node_go_on(struct node *n);

/* A signal has asked for the end. */
bool node_is_interrupted(const struct node *n);
/* Somebody or the time limit has asked for the end of the launch or of its first job. */
bool node_is_asked_to_end(const struct node *n);

/* Runs until every job has ended and its output is written.  Returns the exit code for the user. */
int node_run(struct node *n);

/* After it: the job has failed by itself, and nothing has asked for its end. */
bool node_has_failed(const struct node *n);

#endif
