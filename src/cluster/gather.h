/* gather.h - one collective at one node (see overlay.h); internal to the overlay. */
#ifndef WIREUP_CLUSTER_GATHER_H
#define WIREUP_CLUSTER_GATHER_H

#include "cluster/overlay.h"

enum gather_phase { GATHER_GATHERS, GATHER_EXCHANGES, GATHER_DONE };

/* No exchange has GATHER_WHOLE steps: as a step of a message it means the data of all. */
enum { GATHER_STEPS = 32, GATHER_WHOLE = GATHER_STEPS - 1 };

/* One step of an exchange, while its pieces arrive. */
struct gather_step {
    struct block_set **pieces;
    uint32_t npieces, here;
    struct block_set *all; /* joined, when complete */
};

struct gather {
    struct list link;
    char *key; /* generation and what: the map's key */
    size_t key_len;
    const char *what; /* in key */
    uint64_t generation;
    enum gather_phase phase;
    struct rank_set all, expected, arrived;
    enum overlay_schedule schedule; /* requested by a participant; AUTO: by none */
    enum overlay_losses losses;
    struct rank_set left_out; /* of the result: lost participants */
    bool mine;                /* we take part and have contributed */
    bool sent;                /* to the present parent */
    bool withheld;            /* some of the data that has arrived is not in `data` */
    bool exchanges;           /* the top has decided so */
    bool suspect;             /* a node was lost meanwhile, perhaps with pieces for us */
    uint32_t round;           /* of its recovery; 0: there is none */
    bool asked;               /* for the next round */
    bool frozen;     /* the others count on our not having it, until the end of the round */
    uint32_t source; /* the participant that sends us the data of all; TREE_NONE: nobody does */
    bool failed;
    uint32_t culprit;
    uint64_t after;         /* it was over after this broadcast, before the next one */
    uint64_t bytes;         /* of all that has arrived */
    struct block_set *data; /* the contributions that have arrived; later the result */
    bool latest; /* of the exchanges of its name that are over here: a recovery may need it */
    struct block_set *own;
    uint32_t me, steps, step; /* of an exchange: our index, the number of steps, the step that we
                               * wait for */
    struct gather_step *got;  /* of each step, and last that of the data of all */
    uint64_t held;
};

struct gather *gather_find(const struct map *m, const char *what, uint64_t generation);
struct gather *gather_free(struct gather *c); /* returns NULL */

/* Goes on with the collective, if enough has arrived. */
void gather_advance(struct overlay *o, struct gather *c);
/* The collective is over here: raises an event if we took part, and keeps the result for a while.
 */
void gather_finish(struct overlay *o, struct gather *c);
/* The top, or the recovery of an exchange, has failed it: so for those below us. */
void gather_fail(struct overlay *o, struct gather *c, uint32_t culprit);
/* The recovery goes on without the exchange: so for those below us. */
void gather_pass_exchange(struct overlay *o, struct gather *c);
/* A participant is lost. */
void gather_lost(struct overlay *o, struct gather *c);
void gather_account(struct overlay *o, struct gather *c);

/* Sends a child the results of those that the top decides, of after broadcast `from` and before
 * broadcast `to`. */
void gather_results_between(struct overlay *o, uint32_t child, uint64_t from, uint64_t to);

int gather_gathering(struct overlay *o, struct overlay_msg *m);
int gather_result(struct overlay *o, struct overlay_msg *m);

/* exchange.c */
void exchange_begin(struct overlay *o, struct gather *c);
int exchange_piece(struct overlay *o, struct overlay_msg *m);
int exchange_again(struct overlay *o, struct overlay_msg *m);
/* A node was lost, and with it perhaps pieces that it was relaying: asks for them again. */
void exchange_ask_again(struct overlay *o, struct gather *c);
void exchange_free(struct gather *c);
/* That participant, which has the data of all, is asked for it. */
void exchange_fetch(struct overlay *o, struct gather *c, uint32_t source);
/* A participant is lost, perhaps with data that we need: OVERLAY_STUCK, unless that has no effect.
 */
void exchange_stuck(struct overlay *o, struct gather *c);

/* overlay.c */
void overlay_send(struct overlay *o, struct overlay_msg *m);
struct overlay_msg *overlay_msg_about(struct overlay *o, enum overlay_kind kind,
                                      const struct gather *c, uint32_t to);
void overlay_push_event(struct overlay *o, struct overlay_event *e);
/* To the top, as overlay_report(); takes over m. */
int overlay_report_msg(struct overlay *o, struct overlay_msg *m);
/* Top: to every other node, as overlay_broadcast(); takes over m. */
int overlay_broadcast_msg(struct overlay *o, struct overlay_msg *m);
/* What this node needs is no longer kept by others. */
void overlay_behind(struct overlay *o);

#endif
