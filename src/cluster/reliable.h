/* reliable.h - delivers messages between two daemons once and in order, whatever relay between them
 * is lost.
 *
 * Links keep order and lose nothing, but messages inside a daemon are lost with it.  So messages
 * between two positions are numbered, and their sender keeps them until the other end has
 * acknowledged them (with its own messages, or, if it has none to send, by an acknowledgement after
 * some of them).  When a route has changed, the kept messages are sent again; the other end drops
 * duplicates, and messages that come ahead of a lost one.
 *
 * Sans-IO: the router sends and counts changes of the route.
 */
#ifndef WIREUP_CLUSTER_RELIABLE_H
#define WIREUP_CLUSTER_RELIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/number_map.h"
#include "base/slice.h"
#include "cluster/msg_address.h"

struct reliable_end;

struct reliable {
    uint32_t count;
    struct number_map ends; /* struct reliable_end by position; none: no traffic yet */
};

void reliable_open(struct reliable *t, uint32_t count);
void reliable_close(struct reliable *t); /* harmless twice, and on zeroed memory */

/* Numbers a message to m->to, and acknowledges all messages received from there.  False: no memory.
 */
bool reliable_number(struct reliable *t, struct msg *m);
/* Keeps the bytes of that message.  False: no memory (the number is given back). */
bool reliable_keep(struct reliable *t, uint32_t to, struct slice bytes);
/* Adds the acknowledgement to a message without a number. */
void reliable_note(struct reliable *t, struct msg *m);

/* A message for us has arrived.  True: it is the next one; false: it is a duplicate, or an earlier
 * one is missing. */
bool reliable_take(struct reliable *t, const struct msg *m, size_t bytes);
/* So much has been received from there that an acknowledgement is due. */
bool reliable_owes(const struct reliable *t, uint32_t position);

/* Iterates over the kept messages for that position, oldest first; `at` is NULL at first.  NULL: no
 * more. */
const struct reliable_kept *reliable_next(const struct reliable *t, uint32_t to,
                                          const struct reliable_kept *at);
struct slice reliable_bytes(const struct reliable_kept *k);

/* The positions with which there has been traffic, in no special order; *at is 0 at first.
 * UINT32_MAX: no more.  The numbering of a message to a new position ends the iteration. */
uint32_t reliable_each(const struct reliable *t, size_t *at);

/* That daemon is lost: drops the messages kept for it. */
void reliable_forget(struct reliable *t, uint32_t position);

#endif
