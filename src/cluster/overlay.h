/* overlay.h - one node's part in the communication of all nodes: collectives over the tree, reports
 * to the top that survive the loss of a relay, broadcasts of the top.
 *
 * Sans-IO: no descriptor, no clock.  The host (membership.h) reports which
 * links are up, delivers messages, and carries messages and events away.  Positions and shape:
 * tree.h.
 *
 * Collectives.  The same `what` and generation name the same collective on all nodes; each
 * participant names the set of participants.  Each node gathers its subtree (itself, if it takes
 * part) and sends one message up; the top decides by the total size, or as a participant has asked,
 * how the data gets to everybody:
 *   TREE      little data: up with the gathering, and down again with the result.
 *   EXCHANGE  much data: the gathering carries sizes only, the result is "exchange", and then every
 *             participant sends all that it has by then to others, one after the other
 *             (exchange.c): log2(n) messages, and no byte reaches a node twice.  The tree would
 *             carry each byte `width` times out of each daemon.
 * A barrier is a gathering without data.  Equal blocks are sent once per message (overlay_codec.h).
 *
 * Losses.  The top announces each lost node to everybody.  A lost relay costs nothing but time: the
 * nodes below it connect to their nearest living ancestor and send their gatherings again; results
 * are kept for a while for latecomers; lost pieces of an exchange are requested again.
 *
 * Agreement.  A collective with a lost participant has one outcome on all nodes that live.  The top
 * alone decides, once, when all have contributed that are not lost: no other node draws a
 * conclusion from a loss.  The decision is the result, which goes by the tree, and to those that
 * connect to another ancestor again.  A loss that the top hears of later changes nothing in it.
 * When the result is "exchange", a loss may still keep some participants from the data that others
 * have got: then these help, or it fails for all (recovery.h).  Nothing of that is sent when
 * nobody is lost.
 *
 * Growth.  Positions may be without a node at first.  A new node links to its nearest living
 * ancestor, begins with what that one knows (overlay_config: members, lost, last_broadcast), and is
 * a member once the top has announced it.  Positions are handed out in ascending order, so no
 * ancestor of a member is without a node, and no position is used twice.
 */
#ifndef WIREUP_CLUSTER_OVERLAY_H
#define WIREUP_CLUSTER_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "cluster/block_set.h"
#include "cluster/rank_set.h"
#include "cluster/tree.h"

enum overlay_schedule { OVERLAY_AUTO, OVERLAY_TREE, OVERLAY_EXCHANGE };

/* What the loss of a participant means for a collective; all participants say the same. */
enum overlay_losses {
    OVERLAY_LOSS_FAILS,   /* it fails for all, unless one that lives has completed it */
    OVERLAY_LOSS_ORDERED, /* the same, by the tree: in order with other results and broadcasts */
    OVERLAY_LOSS_BORNE /* the top completes it without the lost, if it has not before; in order */
};

struct overlay_way {
    enum overlay_schedule schedule; /* of OVERLAY_LOSS_FAILS; the others take the tree, always */
    enum overlay_losses losses;
};

/* Parses the value of --collective and PMIX_COLLECTIVE_ALGO: "auto", "tree", "exchange" ("bruck",
 * "recursive" ...).  False: unknown. */
bool overlay_schedule_named(struct slice word, enum overlay_schedule *schedule_p);
/* The first known word of a comma-separated list.  False: none is known, and AUTO is returned. */
bool overlay_schedule_known(struct slice words, enum overlay_schedule *schedule_p);

struct overlay_config {
    uint32_t me, count, width; /* count: of positions, those that no node has yet included */
    enum overlay_schedule schedule;
    uint64_t inline_max; /* most bytes of a subtree sent with the gathering; beyond it they stay
                          * local */
    uint64_t piece_max;  /* of one message of an exchange; one block may be more */
    uint64_t keep_max;   /* bytes of results kept for those that come to another parent */
    uint32_t alpha_ns;   /* cost of a message ... */
    uint32_t beta_ps;    /* ... of each of its bytes ... */
    uint32_t link_ns;    /* ... and of setting up a link outside the tree, for the choice */
    /* What the node that a new one joins knows at that moment (copied).  NULL: all positions are
     * members, none is lost. */
    const struct rank_set *members, *lost;
    uint64_t last_broadcast; /* the first one that we receive is the next */
    /* Nobody completes a collective of that name any more, as all nodes know or will: nothing is
     * gathered for it (overlay_forget).  NULL: there is none. */
    bool (*is_over)(void *arg, const char *what);
    void *over_arg;
};

/* For daemons on an Ethernet of 10 Gbit/s; costs as measured (docs/performance.md). */
void overlay_defaults(struct overlay_config *c, uint32_t me, uint32_t count, uint32_t width);

enum overlay_kind {
    OVERLAY_MSG_GATHER,    /* to the parent: the contributions of this subtree */
    OVERLAY_MSG_RESULT,    /* to a child: all data; or "exchange"; or the failure */
    OVERLAY_MSG_PIECE,     /* to a participant: a part of a step of an exchange */
    OVERLAY_MSG_AGAIN,     /* to a participant: send that step again */
    OVERLAY_MSG_REPORT,    /* towards the top */
    OVERLAY_MSG_ACK,       /* to the reporting node: reports up to this number are received */
    OVERLAY_MSG_BROADCAST, /* broadcast from the top */
    OVERLAY_MSG_HELLO      /* to a new parent: the last broadcast received */
};

enum {
    OVERLAY_WITHHELD = 1,
    OVERLAY_EXCHANGES = 2,
    OVERLAY_LOSSES = 4,
    OVERLAY_BY_TREE = 8, /* of a gathering: a participant has asked for this schedule */
    OVERLAY_BY_EXCHANGE = 16,
    OVERLAY_ORDERED = 32,   /* of a gathering and a result: OVERLAY_LOSS_ORDERED */
    OVERLAY_BEARS = 64,     /* ... OVERLAY_LOSS_BORNE */
    OVERLAY_WELCOMES = 128, /* of a broadcast: arrived are new members */
    OVERLAY_RECOVERS = 256, /* of a report: asks for a round of the recovery of an exchange, after
                             * round `step`; of a broadcast: round `step` begins */
    OVERLAY_FLAGS = 511
};

struct overlay_msg {
    struct list link;
    enum overlay_kind kind;
    uint32_t from, to; /* positions; not only neighbours for PIECE, AGAIN, REPORT and ACK */
    char *what;
    uint64_t generation; /* REPORT, ACK, BROADCAST, HELLO: the number; OVERLAY_RECOVERS: the
                          * generation of `what` is `bytes` */
    unsigned flags;
    bool failed;
    uint32_t culprit;             /* the lost node, when failed; TREE_NONE: none */
    struct rank_set all, arrived; /* GATHER; BROADCAST and REPORT with OVERLAY_LOSSES: arrived is
                                   * the lost; RESULT with OVERLAY_BEARS: those that are left out */
    uint64_t bytes;               /* GATHER: of all blocks, withheld ones too */
    uint32_t step, piece, pieces;
    struct block_set *data;
};

struct overlay_msg *overlay_msg_new(enum overlay_kind kind); /* NULL: no memory */
struct overlay_msg *overlay_msg_free(struct overlay_msg *m); /* returns NULL; NULL is harmless */

enum overlay_event_kind {
    OVERLAY_COMPLETED,  /* what, generation; failed, culprit; blocks: of all, including ours, but
                         * for those that are left_out */
    OVERLAY_DECIDED,    /* top: all gathered; what, generation, bytes, exchanges: the decision */
    OVERLAY_EXCHANGING, /* pieces will be sent to and from `peers`: links to them are useful */
    OVERLAY_REPORTED,   /* top: from, and its report in blocks */
    OVERLAY_BROADCAST,  /* a broadcast of the top, in blocks */
    OVERLAY_LOST,       /* the top announced that `from` is lost.  The host calls
                         * overlay_overdue() later */
    OVERLAY_WELCOMED,   /* the top announced that `from` is a member */
    OVERLAY_BEHIND,     /* what this node has missed is no longer kept by others: it must end */
    OVERLAY_STUCK,      /* for recovery_event(), as the next two: an exchange lacks a participant */
    OVERLAY_ASKED,      /* top: another node asks for a round after `round` */
    OVERLAY_ROUND       /* a round begins */
};

struct overlay_event {
    struct list link;
    enum overlay_event_kind kind;
    char *what;
    uint64_t generation;
    bool failed;
    uint32_t culprit, from;
    struct block_set *blocks;
    uint32_t nodes; /* DECIDED */
    uint64_t bytes;
    bool exchanges;
    uint32_t round;           /* ASKED, ROUND */
    struct rank_set peers;    /* EXCHANGING; ASKED, ROUND: the participants of the exchange */
    struct rank_set left_out; /* COMPLETED: lost participants (OVERLAY_LOSS_BORNE) */
};

struct overlay_event *overlay_event_free(struct overlay_event *e); /* returns NULL */

struct overlay_stats {
    uint64_t gathered, results, pieces, again; /* messages sent */
    uint64_t held, held_max;                   /* bytes of others' blocks */
};

struct overlay {
    struct overlay_config config;
    uint32_t parent;          /* the link towards the top; TREE_NONE: there is none now */
    struct rank_set below;    /* links to nodes below */
    struct rank_set greeted;  /* of these, the ones that have sent their last received broadcast */
    struct rank_set subtree;  /* ours */
    struct rank_set members;  /* positions that have, or had, a node */
    uint64_t *lost;           /* bits */
    uint64_t *shunned;        /* bits: ancestors that cannot be reached */
    struct rank_set losses;   /* the same */
    struct rank_set deferred; /* top: of these, the ones about which the host has yet to speak */
    struct rank_set broken;   /* below us, gone, and not yet announced by the top */
    struct map pending, done; /* struct gather, by what and generation */
    struct list pendings, dones;
    uint64_t kept, latest; /* bytes of results in dones; of those that recoveries may need */
    struct list out, events;
    struct list unacked;     /* reports of ours: struct overlay_msg */
    uint64_t reported;       /* number of the last one */
    uint64_t last_broadcast; /* number of the last broadcast received */
    struct list broadcasts;  /* broadcasts of the top, kept for latecomers */
    uint64_t first_broadcast, broadcasts_bytes;
    uint64_t *last_reports; /* top: of each position, the number of its last report */
    struct overlay_stats stats;
    bool no_memory; /* data was lost for lack of memory: this node must end */
};

/* 0 or -ENOMEM. */
int overlay_init(struct overlay *o, const struct overlay_config *config);
void overlay_free(struct overlay *o); /* harmless twice, and on zeroed memory */

/* ---- links ---- */

/* A link is up, towards the top or from below.  False: it must be closed (the other node is lost).
 */
bool overlay_link_up(struct overlay *o, uint32_t position);
/* It is down.  If it was from below, the top will be informed that the node is lost. */
void overlay_link_down(struct overlay *o, uint32_t position);
/* Top: that node is lost, whichever node noticed it. */
void overlay_lose(struct overlay *o, uint32_t position);
/* Top, while the event OVERLAY_LOST is handled: another node may take the place of that one, and
 * its host will say so, or not.  Until overlay_settle() no collective in order
 * (OVERLAY_LOSS_ORDERED) fails because of it.  0 or -ENOMEM. */
int overlay_defer(struct overlay *o, uint32_t gone);
/* Top, after the event OVERLAY_LOST has been handled: fails the collectives that it decides, unless
 * that is deferred. */
void overlay_decide(struct overlay *o, uint32_t gone);
/* Top: the host has said what becomes of the deferred loss.  Harmless of another one. */
void overlay_settle(struct overlay *o, uint32_t gone);
/* Top: that position has a node now, which is linked to its living parent.  (Only of members is it
 * expected that they come to another parent when theirs is lost.) */
void overlay_welcome(struct overlay *o, uint32_t position);
/* The node to connect to if there is no link towards the top: the nearest ancestor that is neither
 * lost nor known to be unreachable (overlay_shun).  TREE_NONE: there is none left. */
uint32_t overlay_wanted_parent(const struct overlay *o);
void overlay_shun(struct overlay *o, uint32_t position);
/* To be called some time after OVERLAY_LOST (the time a node may take to find another parent): the
 * nodes below a lost one that should have connected to us by now, and have not, are lost too. */
void overlay_overdue(struct overlay *o);
/* ---- messages ---- */

/* This node's part in a collective.  all NULL: every node takes part.  The block is taken over
 * (NULL: none).  OVERLAY_COMPLETED follows.  0, -EINVAL: we are not a participant, -ENOMEM. */
int overlay_contribute(struct overlay *o, struct slice what, uint64_t generation,
                       const struct rank_set *all, struct block_set *block);
/* The same in a way of its own; of schedules, on each path up the first one requested counts. */
int overlay_contribute_by(struct overlay *o, struct overlay_way way, struct slice what,
                          uint64_t generation, const struct rank_set *all, struct block_set *block);
/* Something has become over (is_over): what was gathered or is exchanged for it is dropped; no
 * event follows. */
void overlay_forget(struct overlay *o);
/* Sends to the top, once, in order, whatever relay is lost on the way. */
int overlay_report(struct overlay *o, struct slice bytes);
/* Top: broadcasts to every other node, once, in order. */
int overlay_broadcast(struct overlay *o, struct slice bytes);

/* Handles a received message, which is taken over.  0, or 1: it was invalid and has been ignored.
 */
int overlay_receive(struct overlay *o, struct overlay_msg *m);

/* Most bytes of all nodes that are sent along the tree with that many participants, unless a
 * schedule was requested. */
uint64_t overlay_border(const struct overlay_config *c, uint32_t participants);

/* The next message to be sent, or event; owned by the caller.  NULL: none.  Looking for an event
 * can cause messages. */
struct overlay_msg *overlay_next(struct overlay *o);
struct overlay_event *overlay_event(struct overlay *o);

#endif
