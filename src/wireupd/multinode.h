/* multinode.h - jobs that are shared by several nodes: what a core wants told to others becomes
 * messages, messages become the doors of cores.
 *
 * The launcher (position 0) decides about jobs, numbers them, keeps the names and plans what is
 * spawned; the others follow (docs/design/nodes.md).  Collectives are the overlay's (overlay_io.h).
 */
#ifndef WIREUP_WIREUPD_MULTINODE_H
#define WIREUP_WIREUPD_MULTINODE_H

#include "core/job_map.h"
#include "wireupd/router.h"
#include "wireupd/iof_subscribers.h"
#include "wireupd/node.h"
#include "wireupd/streams.h"
#include "wireupd/overlay_io.h"

struct child_daemons;
struct dvm_exec_list;

/* Of who has opened the share; all may be NULL. */
struct multinode_calls {
    void (*on_ready)(void *arg, uint32_t position); /* these three as of the cluster */
    void (*on_near)(void *arg, uint32_t position);
    void (*on_lost)(void *arg, uint32_t position, const char *why);
    /* Launcher: a sentence about a daemon that will not come, or that concerns none (-1). */
    void (*on_trouble)(void *arg, int64_t position, struct slice text);
    /* Launcher: what a node has (view_pack.h), or the sentence why it cannot tell. */
    void (*on_hardware)(void *arg, uint32_t position, struct slice view, struct slice why_not);
    void (*on_quit)(void *arg); /* Launcher: everybody is told to go */
    /* Nothing is left of the others; last call.  False: multinode_gone() will be called, when
     * nothing is left of what has started them either. */
    bool (*on_gone)(void *arg);
};

struct multinode {
    struct node *node;
    struct router router;
    struct overlay_io overlay_io;
    const char *const *names; /* launcher: of the nodes, by position; [0] is our own or NULL */
    struct streams streams;
    const uint32_t *slots; /* launcher of a standing system: of the nodes, by position; or NULL */
    struct list placed;    /* struct placement: where the nodes of each job are */
    const char *trace;     /* launcher: what the recordings of all nodes begin with; NULL: none */
    struct list asked;     /* questions of other nodes that our server works on */
    struct iof_subscribers iof_subscribers;
    bool *heeding;       /* launcher: who is told of ends, by position */
    struct list reasons; /* why daemons are lost, until it is told (node_failure.c) */
    uint64_t next_ticket;
    struct msg news; /* not yet sent; its lists are the buffers below */
    struct buf ranks, events, codes, pids;
    struct timer gossip; /* launcher: until they are */
    bool urgent;         /* somebody may wait for one of those processes */
    struct buf scratch;
    bool quitting, closed;         /* all links are */
    bool left;                     /* a daemon: nothing more will be said */
    bool told;                     /* launcher: the node knows that nothing is left of the others */
    char why[ERRMSG_MAX];          /* a daemon: why there is no link towards the launcher */
    struct dvm_exec_list *errands; /* of a standing system; NULL: this is none */
    const struct child_daemons
        *child_daemons; /* of who has opened the share: when daemons came; or NULL */
    uint64_t linked_ns; /* a daemon: since when it has a link towards the launcher */
    uint64_t heard_ns;  /* … and when it was told of the last job */
    struct multinode_calls calls;
    void *arg;
};

/* A ticket of ours, for what other nodes have asked. */
#define MULTINODE_TICKET (UINT64_C(1) << 62)

/* A launcher's or daemon's part in the cluster; takes effect with node_share().  0, or -errno with
 * a sentence. */
int multinode_open(struct multinode *s, struct node *n, const struct router_config *config,
                   const struct overlay_io_config *overlay_io, const int far[STREAM_KINDS],
                   struct errmsg *err);
void multinode_close(struct multinode *s); /* harmless twice, and on zeroed memory */

/* An effect that other nodes are to hear of; it is taken over. */
void multinode_effect(struct multinode *s, struct effect *e);

/* To the processes of other nodes: rank or (JOB_NO_RANK) all of the job, or of all jobs (NULL);
 * meant: it is to end them. */
void multinode_signal(struct multinode *s, const struct job *j, uint32_t rank, int sig, bool meant);

/* Bytes for the standard input of a rank elsewhere, or of all. */
void multinode_input(struct multinode *s, const struct job *j, uint32_t rank, struct slice bytes);

/* ---- doors of overlay_io.c and streams.c ---- */

/* A stream has come to its end. */
void multinode_streams_ended(struct multinode *s);

/* A message for us. */
void multinode_hear(struct multinode *s, const struct msg *m);
/* A daemon: it cannot stay. */
void multinode_end(struct multinode *s, const char *why);

/* See on_gone(). */
void multinode_gone(struct multinode *s);

/* Launcher: everybody ends; share->closed is set and the node told (shutdown_unshared()) when
 * nothing is left of them. */
void multinode_quit(struct multinode *s);

#endif
