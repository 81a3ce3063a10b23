/* share.h - jobs that are shared by several nodes: what a core wants told to others becomes
 * messages, messages become the doors of cores.
 *
 * The launcher (position 0) decides about jobs, numbers them, keeps the names and plans what is
 * spawned; the others follow (docs/design/nodes.md).  Collectives are the overlay's (weave.h).
 */
#ifndef WIREUP_WIREUPD_SHARE_H
#define WIREUP_WIREUPD_SHARE_H

#include "core/plan.h"
#include "wireupd/cluster.h"
#include "wireupd/ears.h"
#include "wireupd/node.h"
#include "wireupd/streams.h"
#include "wireupd/weave.h"

struct errands;

/* Why a daemon is lost, until it is told. */
struct share_reason {
    struct list link;
    uint32_t position;
    char text[];
};

/* Of who has opened the share; all may be NULL. */
struct share_calls {
    void (*on_ready)(void *arg, uint32_t position); /* these three as of the cluster */
    void (*on_near)(void *arg, uint32_t position);
    void (*on_lost)(void *arg, uint32_t position, const char *why);
    /* Launcher: a sentence about a daemon that will not come, or that concerns none (-1). */
    void (*on_trouble)(void *arg, int64_t position, struct slice text);
    void (*on_gone)(void *arg); /* nothing is left of the others; last call */
};

struct share {
    struct node *node;
    struct cluster cluster;
    struct weave weave;
    const char *const *names; /* launcher: of the nodes, by position; [0] is our own or NULL */
    struct streams streams;
    const uint32_t *slots; /* launcher of a standing system: of the nodes, by position; or NULL */
    struct list placed;    /* struct placement: where the nodes of each job are */
    const char *trace;     /* launcher: what the recordings of all nodes begin with; NULL: none */
    struct list asked;     /* questions of other nodes that our server works on */
    struct ears ears;
    bool *heeding;       /* launcher: who is told of ends, by position */
    struct list reasons; /* struct share_reason */
    uint64_t next_ticket;
    struct msg news; /* not yet sent; its lists are the buffers below */
    struct buf ranks, events, codes, pids;
    struct timer gossip; /* launcher: until they are */
    bool urgent;         /* somebody may wait for one of those processes */
    struct buf scratch;
    bool quitting, closed;   /* all links are */
    bool left;               /* a daemon: nothing more will be said */
    bool told;               /* launcher: the node knows that nothing is left of the others */
    char why[ERRMSG_MAX];    /* a daemon: why there is no link towards the launcher */
    struct errands *errands; /* of a standing system; NULL: this is none */
    struct share_calls calls;
    void *arg;
};

/* A ticket of ours, for what other nodes have asked. */
#define SHARE_TICKET (UINT64_C(1) << 62)

/* A launcher's or daemon's part in the cluster; takes effect with node_share().  0, or -errno with
 * a sentence. */
int share_open(struct share *s, struct node *n, const struct cluster_config *config,
               const struct weave_config *weave, const int far[STREAM_KINDS], struct errmsg *err);
void share_close(struct share *s); /* harmless twice, and on zeroed memory */

/* Where the nodes of a plan are: positions by the node's number, in the plan's arena; NULL with a
 * sentence: one of them is none of ours. */
uint32_t *share_places(const struct share *s, struct plan *p, struct errmsg *err);

/* Launcher: everybody is told of a job of ours and starts its part.  rq: what has been put into its
 * store before; or NULL; push_to: as in the message. */
void share_announce(struct share *s, struct job *j, const uint32_t *positions, int64_t push_to,
                    const struct spawn_request *rq);

/* Where a node of a job's plan is; our own position when nothing is known of it. */
uint32_t share_place(const struct share *s, uint32_t job, uint32_t node);
/* Which node of the job's plan is there; JOB_NONE_HERE: none. */
uint32_t share_node_at(const struct share *s, const struct job *j, uint32_t position);
/* Where the rank runs. */
uint32_t share_position(const struct share *s, const struct job *j, uint32_t rank);

/* An effect that other nodes are to hear of; it is taken over. */
void share_effect(struct share *s, struct effect *e);

/* The end of every door: what has gathered is sent. */
void share_settle(struct share *s);

/* To the processes of other nodes: rank or (JOB_NO_RANK) all of the job, or of all jobs (NULL);
 * meant: it is to end them. */
void share_signal(struct share *s, const struct job *j, uint32_t rank, int sig, bool meant);

/* Somebody on another node listens to that process. */
bool share_is_heard(const struct share *s, const struct job *j, uint32_t rank);
/* A process of ours has written something: for who listens on other nodes. */
void share_said(struct share *s, const struct job *j, uint32_t rank, uint16_t channel,
                struct slice bytes);

/* Bytes for the standard input of a rank elsewhere, or of all. */
void share_input(struct share *s, const struct job *j, uint32_t rank, struct slice bytes);

void share_kill(struct share *s, const struct job *j); /* launcher: as the core has decided */
/* A daemon: the launcher is to end the job; asked once. */
void share_ask_end(struct share *s, struct job *j, uint32_t rank, int code, const char *reason);
void share_over(struct share *s, const struct job *j); /* launcher: everybody forgets it */

/* Launcher: everybody is asked who is missing; inquest_heard() is told. */
void share_who(struct share *s, uint64_t ticket, struct slice job);

/* Launcher: the answer to a spawn that another node asked for.  False: it was not another's. */
bool share_answer(struct share *s, uint64_t ticket, const struct answer *a);

/* ---- doors of weave.c and streams.c ---- */

/* To a position, or to everybody; behind the news that have gathered. */
void share_say(struct share *s, struct msg *m, uint32_t to);
/* A stream has come to its end. */
void share_streams_ended(struct share *s);

/* A message for us. */
void share_hear(struct share *s, const struct msg *m);
/* That daemon is lost, and the processes there are gone. */
void share_lost(struct share *s, uint32_t position);
/* A daemon: it cannot stay. */
void share_end(struct share *s, const char *why);

/* Launcher: everybody ends; share->closed is set and the node told (ending_unshared()) when nothing
 * is left of them. */
void share_quit(struct share *s);

#endif
