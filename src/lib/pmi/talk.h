/* talk.h - conversations of a PMI-1 client with its server.
 *
 * Request and reply.  Between talk_begin and talk_end the wire is the caller's; slices of a reply
 * live as long.  The gate is open while bytes travel.
 *
 * The one exception are barriers with tags: several threads may be in one each.  Who waits for the
 * end of such a barrier does not keep the wire; the end goes to whom it is for, whoever reads it.
 */
#ifndef WIREUP_LIB_PMI_TALK_H
#define WIREUP_LIB_PMI_TALK_H

#include "lib/pmi/client.h"

/* 0, or CLIENT_FAILED: there is nobody to talk to. */
int talk_begin(struct client *c, struct errmsg *err);
void talk_end(struct client *c);

/* Adds a message to what will be sent.  0; CLIENT_BAD_ARG: it cannot be said; -ENOMEM. */
int talk_say(struct client *c, enum pmi1_msg msg, const void *in, struct errmsg *err);

/* Adds the puts of the batch that are not sent yet.  0 or -ENOMEM. */
int talk_say_puts(struct client *c, struct errmsg *err);

/* Sends what was added.  0, CLIENT_FAILED or -ENOMEM. */
int talk_send(struct client *c, struct errmsg *err);

/* Reads the answers to puts that are still due; a refusal goes to c->put_rc. */
int talk_hear_puts(struct client *c, struct errmsg *err);

/* The next message of the server, which must be `want`, into c->reply.  0, CLIENT_FAILED or
 * -ENOMEM. */
int talk_hear(struct client *c, enum pmi1_msg want, struct errmsg *err);

/* A barrier with a tag: sends what was added, then `m`, and waits for the end; others have the wire
 * meanwhile.  *broken_p: the barrier has failed.  0, CLIENT_FAILED, CLIENT_BAD_ARG or -ENOMEM. */
int talk_meet_tagged(struct client *c, const struct pmi1_barrier_in *m, bool *broken_p,
                     struct errmsg *err);

/* Raw bytes behind a message. */
int talk_hear_bytes(struct client *c, size_t n, struct slice *bytes_p, struct errmsg *err);

/* Sends what was added, then `in`; reads the answers due, then `want`. */
int talk_ask(struct client *c, enum pmi1_msg msg, const void *in, enum pmi1_msg want,
             struct errmsg *err);

/* The refusal of an earlier put that nobody was told of yet, or 0. */
int talk_put_verdict(struct client *c, struct errmsg *err);

/* `abort`, past whoever waits for an answer. */
void talk_abort(struct client *c, const struct pmi1_abort *m);

#endif
