/* overlay.h - one node's part in what the nodes of a launch do together: collectives over the tree,
 * reports to the top that no loss of a relay swallows, words of the top for everybody.
 *
 * Sans-IO: no descriptor, no clock.  The host (wireupd/router.h, or the simulator) says which
 * links are up, brings messages, and carries messages and events away.  Positions and shape:
 * tree.h.
 *
 * Collectives.  The same `what` and generation name the same collective on all nodes; who takes
 * part is said by each who does.  Each node gathers its subtree (itself, if it takes part) and
 * sends one message up; the top decides by the sum of what was brought, or as somebody has asked,
 * how it gets to everybody:
 *   TREE      little: with the gathering, and down again with the result.
 *   EXCHANGE  much: the gathering carries sizes only, the result says "exchange", and then every
 *             participant sends to the ones 1, 2, 4 ... places before it what it has by then
 * (Bruck): log2(n) messages, and no byte reaches anybody twice.  The tree would carry each byte
 *             `width` times out of each daemon.
 * A barrier is a gathering without data.  Blocks that are equal travel once in a message
 * (overlay_codec.h).
 *
 * Losses.  Who is lost is told by the top to everybody.  A collective with a lost participant fails
 * on every node that has not completed it, and names the node.  A lost relay costs nothing but
 * time: who was below it comes to its nearest living ancestor and brings its gatherings again;
 * results are kept for a while for those who come late; what got lost of an exchange is asked for
 * again.
 */
#ifndef WIREUP_OVERLAY_OVERLAY_H
#define WIREUP_OVERLAY_OVERLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "overlay/block_set.h"
#include "overlay/rank_set.h"
#include "overlay/tree.h"

enum overlay_schedule { OVERLAY_AUTO, OVERLAY_TREE, OVERLAY_EXCHANGE };

/* The word for --collective and PMIX_COLLECTIVE_ALGO: "auto", "tree", "exchange" ("bruck",
 * "recursive" ...).  False: unknown. */
bool overlay_schedule_named(struct slice word, enum overlay_schedule *schedule_p);
/* Of several words with commas between, the first that is known.  False: none, and AUTO. */
bool overlay_schedule_known(struct slice words, enum overlay_schedule *schedule_p);

struct overlay_config {
    uint32_t me, count, width;
    enum overlay_schedule schedule;
    uint64_t inline_max; /* bytes of a subtree that ride the gathering at most; more stay at home */
    uint64_t piece_max;  /* of one message of an exchange; one block may be more */
    uint64_t keep_max;   /* bytes of results for those who come late */
    uint32_t alpha_ns;   /* a message's own cost … */
    uint32_t beta_ps;    /* … that of each of its bytes … */
    uint32_t link_ns;    /* … and of a link beside the tree that comes up, for the choice */
};

/* For daemons on an Ethernet of 10 Gbit/s; costs as measured (docs/performance.md). */
void overlay_defaults(struct overlay_config *c, uint32_t me, uint32_t count, uint32_t width);

enum overlay_kind {
    OVERLAY_MSG_GATHER, /* to the parent: what all of this subtree has brought */
    OVERLAY_MSG_RESULT, /* to a child: all of it; or "exchange"; or why not */
    OVERLAY_MSG_PIECE,  /* to a participant: a part of a step of an exchange */
    OVERLAY_MSG_AGAIN,  /* to a participant: that step, please, once more */
    OVERLAY_MSG_REPORT, /* towards the top */
    OVERLAY_MSG_ACK,    /* to who has reported: up to this number */
    OVERLAY_MSG_TELL,   /* from the top to everybody */
    OVERLAY_MSG_HELLO   /* to a new parent: what I was told last */
};

enum {
    OVERLAY_WITHHELD = 1,
    OVERLAY_EXCHANGES = 2,
    OVERLAY_LOSSES = 4,
    OVERLAY_BY_TREE = 8, /* of a gathering: somebody has asked for this schedule … */
    OVERLAY_BY_EXCHANGE = 16,
    OVERLAY_FLAGS = 31
};

struct overlay_msg {
    struct list link;
    enum overlay_kind kind;
    uint32_t from, to; /* positions; of PIECE, AGAIN, REPORT and ACK not only neighbours */
    char *what;
    uint64_t generation; /* REPORT, ACK, TELL, HELLO: the number */
    unsigned flags;
    bool failed;
    uint32_t culprit; /* the lost one, when failed; TREE_NONE: nobody */
    struct rank_set all,
        arrived;    /* GATHER; TELL and REPORT with OVERLAY_LOSSES: arrived is the lost */
    uint64_t bytes; /* GATHER: of all blocks, withheld ones too */
    uint32_t step, piece, pieces;
    struct block_set *data;
};

struct overlay_msg *overlay_msg_new(enum overlay_kind kind); /* NULL: no memory */
struct overlay_msg *overlay_msg_free(struct overlay_msg *m); /* returns NULL; NULL is harmless */

enum overlay_event_kind {
    OVERLAY_COMPLETED, /* what, generation; failed, culprit; blocks: of all, ours too */
    OVERLAY_DECIDED, /* top: all is gathered; what, generation, bytes, exchanges: how it goes on */
    OVERLAY_EXCHANGING, /* pieces will go from here to `peers`: links to them are of use */
    OVERLAY_REPORTED,   /* top: from, and its words in blocks */
    OVERLAY_TOLD,       /* words of the top in blocks */
    OVERLAY_LOST,       /* from is lost: the top says so.  The host calls overlay_overdue() later */
    OVERLAY_BEHIND /* what we have not been told is not to be had any more: this node must end */
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
    struct rank_set peers; /* EXCHANGING */
};

struct overlay_event *overlay_event_free(struct overlay_event *e); /* returns NULL */

struct overlay_stats {
    uint64_t gathered, results, pieces, again; /* messages sent */
    uint64_t held, held_max;                   /* bytes of others' blocks */
};

struct overlay {
    struct overlay_config config;
    uint32_t parent;          /* the link towards the top; TREE_NONE: there is none now */
    struct rank_set below;    /* links of the other kind */
    struct rank_set greeted;  /* of these, the ones that have said what they were told last */
    struct rank_set subtree;  /* ours */
    uint64_t *lost;           /* bits */
    uint64_t *shunned;        /* bits: ancestors that cannot be reached */
    struct rank_set losses;   /* the same */
    struct rank_set broken;   /* below us, gone, and not yet told by the top */
    struct map pending, done; /* struct gather, by what and generation */
    struct list pendings, dones;
    uint64_t kept; /* bytes of results in dones */
    struct list out, events, held;
    struct list unacked; /* reports of ours: struct overlay_msg */
    uint64_t reported;   /* number of the last one */
    uint64_t told;       /* number of the last word of the top that we have */
    struct list words;   /* of the top, kept for those who come late */
    uint64_t first_word, words_bytes;
    uint64_t *heard; /* top: of each position, the number of its last report */
    struct overlay_stats stats;
    bool no_memory; /* something was lost for want of memory: this node must end */
};

/* 0 or -ENOMEM. */
int overlay_init(struct overlay *o, const struct overlay_config *config);
void overlay_free(struct overlay *o); /* harmless twice, and on zeroed memory */

/* ---- links ---- */

/* A link is up: towards the top, or from below.  False: it must not be (the other is lost). */
bool overlay_link_up(struct overlay *o, uint32_t position);
/* It is down.  If it was from below, the top will be told that the node is lost. */
void overlay_link_down(struct overlay *o, uint32_t position);
/* Top: that node is lost, whoever noticed. */
void overlay_lose(struct overlay *o, uint32_t position);
/* Where to connect to when there is no link towards the top: the nearest ancestor that is neither
 * lost nor has been tried in vain (overlay_shun).  TREE_NONE: there is none left. */
uint32_t overlay_wanted_parent(const struct overlay *o);
void overlay_shun(struct overlay *o, uint32_t position);
/* Some time after OVERLAY_LOST (as long as a node may take to come to another parent): those who
 * were below a lost one and should have come to us by now, and have not, are lost too. */
void overlay_overdue(struct overlay *o);
/* The neighbour on the way to that position; TREE_NONE: there is none now, and the message (taken
 * over) is for overlay_hold(), which brings it out again when a link comes up. */
uint32_t overlay_route(const struct overlay *o, uint32_t to);
void overlay_hold(struct overlay *o, struct overlay_msg *m);

/* ---- what is said ---- */

/* This node's part in a collective.  all NULL: everybody.  The block is taken over (NULL: none).
 * OVERLAY_COMPLETED comes.  0, -EINVAL: we are none of them, -ENOMEM. */
int overlay_contribute(struct overlay *o, struct slice what, uint64_t generation,
                       const struct rank_set *all, struct block_set *block);
/* The same, and how this one should go; the first that is said on a way up counts. */
int overlay_contribute_by(struct overlay *o, enum overlay_schedule schedule, struct slice what,
                          uint64_t generation, const struct rank_set *all, struct block_set *block);
/* To the top, once, in order, whatever relay is lost on the way. */
int overlay_report(struct overlay *o, struct slice bytes);
/* Top: to everybody else, once, in order. */
int overlay_tell(struct overlay *o, struct slice bytes);

/* A message that has come, taken over.  0, or 1: it cannot be (and has been ignored). */
int overlay_hear(struct overlay *o, struct overlay_msg *m);

/* Bytes of all that ride the tree when so many take part and nobody has asked for a way. */
uint64_t overlay_border(const struct overlay_config *c, uint32_t participants);

/* The next message to be sent, or event; the caller's from then on.  NULL: none. */
struct overlay_msg *overlay_next(struct overlay *o);
struct overlay_event *overlay_event(struct overlay *o);

/* Whose part in a collective is missing here, of those below us and of ourselves: for reports on
 * who is waited for.  TREE_NONE: nobody's (the rest of the tree's is). */
uint32_t overlay_missing(const struct overlay *o, struct slice what, uint64_t generation);

#endif
