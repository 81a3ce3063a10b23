/* collect.h - one collective at one node (see overlay.h); for the files of the overlay. */
#ifndef WIREUP_OVERLAY_COLLECT_H
#define WIREUP_OVERLAY_COLLECT_H

#include "overlay/overlay.h"

enum collect_phase { COLLECT_GATHERS, COLLECT_EXCHANGES, COLLECT_DONE };

enum { COLLECT_STEPS = 32 };

/* One step of an exchange, as its pieces come. */
struct collect_step {
    struct bundle **pieces;
    uint32_t npieces, here;
    struct bundle *all; /* when they are */
};

struct collect {
    struct list link;
    char *key; /* generation and what: the map's key */
    size_t key_len;
    const char *what; /* in key */
    uint64_t generation;
    enum collect_phase phase;
    struct posset all, expected, arrived;
    enum overlay_schedule schedule; /* that somebody has asked for; AUTO: nobody */
    bool mine;                      /* we take part and have contributed */
    bool sent;                      /* to the present parent */
    bool withheld;                  /* not everything that has arrived is in `data` */
    bool exchanges;                 /* the top has said so */
    bool suspect;                   /* somebody was lost meanwhile, perhaps with pieces for us */
    bool failed;
    uint32_t culprit;
    uint64_t bytes;      /* of all that has arrived */
    struct bundle *data; /* what has arrived; later the result */
    struct bundle *own;
    uint32_t me, steps, step; /* of an exchange: our index, how many, the one that we wait for */
    struct collect_step *got;
    uint64_t held;
};

struct collect *collect_find(const struct map *m, const char *what, uint64_t generation);
struct collect *collect_new(struct overlay *o, const char *what, uint64_t generation,
                            const struct posset *all); /* NULL: no memory */
struct collect *collect_free(struct collect *c);       /* returns NULL */

/* What has arrived may be enough to go on. */
void collect_advance(struct overlay *o, struct collect *c);
/* It is over here: an event if it was ours, and the result is kept for a while. */
void collect_finish(struct overlay *o, struct collect *c);
void collect_fail(struct overlay *o, struct collect *c, uint32_t culprit);
void collect_account(struct overlay *o, struct collect *c);

int collect_gathering(struct overlay *o, struct overlay_msg *m);
int collect_result(struct overlay *o, struct overlay_msg *m);

/* exchange.c */
void exchange_begin(struct overlay *o, struct collect *c);
int exchange_piece(struct overlay *o, struct overlay_msg *m);
int exchange_again(struct overlay *o, struct overlay_msg *m);
/* Somebody was lost, and with it perhaps pieces on their way through it. */
void exchange_ask_again(struct overlay *o, struct collect *c);
void exchange_free(struct collect *c);

/* overlay.c */
void overlay_send(struct overlay *o, struct overlay_msg *m);
struct overlay_msg *overlay_msg_about(struct overlay *o, enum overlay_kind kind,
                                      const struct collect *c, uint32_t to);
void overlay_push_event(struct overlay *o, struct overlay_event *e);

#endif
