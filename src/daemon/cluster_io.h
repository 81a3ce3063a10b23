/* cluster_io.h - a daemon's side of src/cluster: its links, clock and streams, and the modules of
 * the node that received messages concern.
 *
 * Effects of the core become messages to other daemons, and received messages become calls into the
 * core (cluster/dispatch.h).  The launcher (position 0) decides about jobs, numbers them, keeps the
 * published names and plans spawns; the daemons follow (docs/design/nodes.md).  Collectives belong
 * to the overlay (overlay_io.h).
 */
#ifndef WIREUP_DAEMON_CLUSTER_IO_H
#define WIREUP_DAEMON_CLUSTER_IO_H

#include "cluster/dispatch.h"
#include "core/job_map.h"
#include "daemon/daemon_state.h"
#include "daemon/own_state.h"
#include "daemon/router_io.h"
#include "daemon/node_context.h"
#include "daemon/replacing.h"
#include "daemon/streams.h"
#include "daemon/overlay_io.h"

struct effect;
struct bootstrap_node;

struct child_daemons;
struct dvm_exec_list;
struct foreign_jobs;
struct foreign_launchers;
struct help;
struct job_shutdown;
struct launcher;
struct local_jobs;
struct node_parts;
struct pending_queries;
struct processes;
struct shutdown;
struct trace_writer;

/* Callbacks of the owner; all may be NULL. */
struct cluster_io_calls {
    void (*on_ready)(void *arg, uint32_t position); /* these three as in router.h */
    void (*on_near)(void *arg, uint32_t position);
    void (*on_joined)(void *arg); /* a daemon: its first link towards the launcher is up */
    void (*on_lost)(void *arg, uint32_t position, const char *why);
    /* Launcher: a sentence about a daemon that will not come up, or about none (-1). */
    void (*on_trouble)(void *arg, int64_t position, struct slice text);
    /* Launcher: the hardware of a node (view_pack.h), or the sentence why it is unknown. */
    void (*on_hardware)(void *arg, uint32_t position, struct slice view, struct slice why_not);
    /* A node joins whose parent we are: its daemon has to be started. */
    void (*on_grow)(void *arg, const struct bootstrap_node *node);
    /* Launcher: the answer to cluster_io_probe(). */
    void (*on_alive)(void *arg, uint32_t position);
    /* Launcher: all daemons are told to exit; its state before. */
    void (*on_quit)(void *arg, enum launcher_state before);
    /* Launcher: all daemons are gone; last call.  In the state LAUNCHER_STATE_STOPPING
     * shutdown_commands_ended() must follow, once the commands that started them are gone too. */
    void (*on_gone)(void *arg);
};

struct cluster_io {
    const struct node_context *context; /* NULL: not open */
    /* Modules of the node, which received messages concern. */
    struct local_jobs *jobs;
    struct processes *processes;
    struct launcher *launcher;
    struct job_shutdown *job_shutdown;
    struct shutdown *shutdown;
    struct pending_queries *pending_queries;
    struct node_parts *node_parts;
    struct foreign_jobs *foreign_jobs;
    struct foreign_launchers *foreign_launchers;
    struct help *help;
    struct trace_writer *trace_writer;
    struct node_config *config; /* a daemon takes over the launcher's settings, … */
    struct arena *kept;         /* … whose texts are here */
    struct dispatch dispatch;
    struct timer batch; /* of process states: for the dispatcher */
    struct router router;
    struct router_io router_io;
    struct overlay_io overlay_io;
    struct daemon_states daemons;
    const char *const *names; /* launcher: of the nodes, by position; [0] is our own or NULL */
    struct streams streams;
    const uint32_t *slots;      /* launcher of a DVM: of the nodes, by position; or NULL */
    const char *trace;          /* launcher: prefix of the trace files of all nodes; NULL: none */
    struct list reasons;        /* why daemons are lost, until it is reported (node_failure.c) */
    struct replacing replacing; /* launcher: lost nodes of jobs */
    bool lost_late;             /* the loss of a node at the end has been reported */
    struct buf scratch;
    enum own_state own;   /* how far this daemon is; the launcher's stays joining */
    bool outlives;        /* a daemon of a DVM: it outlives its launcher (up -keep) */
    bool dismissed;       /* a daemon: it was asked to leave, and its end is no failure */
    char why[ERRMSG_MAX]; /* a daemon: why it has no link towards the launcher */
    struct dvm_exec_list *dvm_execs;           /* of a DVM; NULL: this is none */
    const struct child_daemons *child_daemons; /* the owner's: when daemons came up; or NULL */
    uint64_t linked_ns;       /* a daemon: since when it has a link towards the launcher */
    uint32_t clock_questions; /* ... has asked for its clock so often (trace_clock.h) */
    uint64_t announced_ns;    /* … and when the last job was announced to it */
    struct cluster_io_calls calls;
    void *arg;
};

/* Joins the launcher or a daemon to the other nodes; takes effect with node_share().  0, or -errno
 * with a sentence. */
int cluster_io_open(struct cluster_io *s, struct node *n, const struct router_io_config *config,
                    const struct overlay_io_config *overlay_io, const int pipe_ends[STREAM_KINDS],
                    struct errmsg *err);
void cluster_io_close(struct cluster_io *s); /* harmless twice, and on zeroed memory */

/* Sends an effect to the other nodes. */
void cluster_io_effect(struct cluster_io *s, const struct effect *e);

/* Sends a message to a position, or to all (MSG_EVERYBODY). */
static inline void cluster_io_send(struct cluster_io *s, struct msg *m, uint32_t to)
{
    send_queue_to(&s->dispatch.queue, m, to);
}

/* Launcher: this node joins; its parent starts it, by on_grow() of the launcher perhaps.  0 or
 * -errno. */
int cluster_io_grow(struct cluster_io *s, const struct bootstrap_node *node, uint32_t parent);
/* Launcher: asks a daemon to leave.  It ends, and is lost as far as others know.  0 or -errno. */
int cluster_io_dismiss(struct cluster_io *s, uint32_t position);
/* Launcher: asks a daemon for an answer, on_alive(). */
void cluster_io_probe(struct cluster_io *s, uint32_t position);
/* Has that position a node, or has it had one? */
static inline bool cluster_io_has(const struct cluster_io *s, uint32_t position)
{
    return membership_has(&s->overlay_io.member, position);
}

/* Is this the launcher? */
static inline bool cluster_io_is_root(const struct cluster_io *s)
{
    return s->router.config.me == 0;
}

static inline struct server *cluster_io_server(const struct cluster_io *s)
{
    return s->context->server;
}

/* The job with that number, or NULL. */
static inline struct job *cluster_io_job(const struct cluster_io *s, uint64_t id)
{
    return id < UINT32_MAX ? core_job(&cluster_io_server(s)->core, (uint32_t)id) : NULL;
}

/* The job, if it has that rank. */
static inline struct job *cluster_io_job_with(const struct cluster_io *s, uint64_t id,
                                              uint64_t rank)
{
    struct job *j = cluster_io_job(s, id);

    return j && rank < j->plan.nprocs ? j : NULL;
}

/* Sends bytes to the standard input of a rank elsewhere, or of all ranks. */
void cluster_io_input(struct cluster_io *s, const struct job *j, uint32_t rank, struct slice bytes);

#endif
