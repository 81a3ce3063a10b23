/* reliable.h - messages between two daemons come once and in order, whatever relay between them is
 * lost.
 *
 * Links keep order and lose nothing, but what stands in a daemon goes with it.  So messages between
 * two positions are numbered, and their sender keeps them until the other end has said that it has
 * them (with its own messages, or, when it has nothing to say, by one of its own kind after some of
 * them).  When a way has changed, what is kept is sent again; what comes twice, or ahead of what
 * was lost, is dropped at the other end.
 *
 * Sans-IO: the cluster sends and counts turns of the way.
 */
#ifndef WIREUP_OVERLAY_RELIABLE_H
#define WIREUP_OVERLAY_RELIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "overlay/msg.h"

struct reliable_end;

struct reliable {
    uint32_t count;
    struct reliable_end **ends; /* by position; NULL: nothing was said yet */
};

/* 0 or -ENOMEM. */
int reliable_open(struct reliable *t, uint32_t count);
void reliable_close(struct reliable *t); /* harmless twice, and on zeroed memory */

/* Gives a message to m->to its number, and says what we have of that one.  False: no memory. */
bool reliable_number(struct reliable *t, struct msg *m);
/* Its bytes, kept.  False: no memory (the number is given back). */
bool reliable_keep(struct reliable *t, uint32_t to, struct slice bytes);
/* What we have of that one, without a number. */
void reliable_note(struct reliable *t, struct msg *m);

/* A message for us has come.  True: it is the next one; false: it has come before, or something
 * before it has not. */
bool reliable_take(struct reliable *t, const struct msg *m, size_t bytes);
/* So much has come from there without a word of ours that a word is due. */
bool reliable_owes(const struct reliable *t, uint32_t position);

/* The kept messages for that one, the oldest first; `at` is NULL at first.  NULL: no more. */
const struct reliable_kept *reliable_next(const struct reliable *t, uint32_t to,
                                          const struct reliable_kept *at);
struct slice reliable_bytes(const struct reliable_kept *k);

/* That one is lost: nothing is kept for it. */
void reliable_forget(struct reliable *t, uint32_t position);

#endif
