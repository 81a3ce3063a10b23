/* talk.h - requests of a PMI-1 client to its server, and their replies.
 *
 * Between talk_begin and talk_end the caller owns the wire; slices of a reply live until talk_end.
 * The lock is released while bytes travel.
 *
 * The exception are barriers with tags: several threads may each be in one.  A thread that waits
 * for the end of such a barrier does not keep the wire; the thread that reads the end passes it on.
 */
#ifndef WIREUP_LIB_PMI_TALK_H
#define WIREUP_LIB_PMI_TALK_H

#include "lib/pmi/client.h"

/* 0, or CLIENT_FAILED: there is no connection. */
int talk_begin(struct client *c, struct errmsg *err);
void talk_end(struct client *c);

/* Adds a message to the send buffer.  0; CLIENT_BAD_ARG: it cannot be encoded; -ENOMEM. */
int talk_say(struct client *c, enum pmi1_msg msg, const void *in, struct errmsg *err);

/* Adds the unsent puts of the batch.  0 or -ENOMEM. */
int talk_say_puts(struct client *c, struct errmsg *err);

/* Sends what was added.  0, CLIENT_FAILED or -ENOMEM. */
int talk_send(struct client *c, struct errmsg *err);

/* Reads the outstanding replies to puts; a refusal goes to c->put_rc. */
int talk_hear_puts(struct client *c, struct errmsg *err);

/* Reads the server's next message, which must be `want`, into c->reply.  0, CLIENT_FAILED or
 * -ENOMEM. */
int talk_hear(struct client *c, enum pmi1_msg want, struct errmsg *err);

/* A barrier with a tag: sends what was added, then `m`, and waits for the end; other threads may
 * use the wire meanwhile.  *broken_p: the barrier has failed.  0, CLIENT_FAILED, CLIENT_BAD_ARG
 * or -ENOMEM. */
int talk_meet_tagged(struct client *c, const struct pmi1_barrier_in *m, bool *broken_p,
                     struct errmsg *err);

/* Raw bytes after a message. */
int talk_hear_bytes(struct client *c, size_t n, struct slice *bytes_p, struct errmsg *err);

/* Sends what was added, then `in`; reads the outstanding replies, then `want`. */
int talk_ask(struct client *c, enum pmi1_msg msg, const void *in, enum pmi1_msg want,
             struct errmsg *err);

/* The refusal of an earlier put that was not reported yet, or 0. */
int talk_put_verdict(struct client *c, struct errmsg *err);

/* Sends `abort`, even while another thread waits for a reply. */
void talk_abort(struct client *c, const struct pmi1_abort *m);

#endif
