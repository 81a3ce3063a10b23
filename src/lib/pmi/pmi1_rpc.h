/* pmi1_rpc.h - requests of a PMI-1 client to its server, and their replies.
 *
 * Between pmi1_rpc_begin and pmi1_rpc_end the caller owns the wire; slices of a reply live until
 * pmi1_rpc_end. The lock is released while bytes travel.
 *
 * The exception are barriers with tags: several threads may each be in one.  A thread that waits
 * for the end of such a barrier does not keep the wire; the thread that reads the end passes it on.
 */
#ifndef WIREUP_LIB_PMI_PMI1_RPC_H
#define WIREUP_LIB_PMI_PMI1_RPC_H

#include "lib/pmi/client.h"

/* 0, or CLIENT_FAILED: there is no connection. */
int pmi1_rpc_begin(struct pmi1_client *c, struct errmsg *err);
void pmi1_rpc_end(struct pmi1_client *c);

/* Adds a message to the send buffer.  0; CLIENT_BAD_ARG: it cannot be encoded; -ENOMEM. */
int pmi1_rpc_put(struct pmi1_client *c, enum pmi1_msg msg, const void *in, struct errmsg *err);

/* Adds the unsent puts of the batch.  0 or -ENOMEM. */
int pmi1_rpc_put_puts(struct pmi1_client *c, struct errmsg *err);

/* Sends the puts that were added.  0, CLIENT_FAILED or -ENOMEM. */
int pmi1_rpc_send(struct pmi1_client *c, struct errmsg *err);

/* Reads the outstanding replies to puts; a refusal goes to c->put_rc. */
int pmi1_rpc_read_puts(struct pmi1_client *c, struct errmsg *err);

/* Reads the server's next message, which must be `want`, into c->reply.  0, CLIENT_FAILED or
 * -ENOMEM. */
int pmi1_rpc_read(struct pmi1_client *c, enum pmi1_msg want, struct errmsg *err);

/* A barrier with a tag: sends the added puts, then `m`, and waits for the end; other threads may
 * use the wire meanwhile.  *broken_p: the barrier has failed.  0, CLIENT_FAILED, CLIENT_BAD_ARG
 * or -ENOMEM. */
int pmi1_rpc_tagged_barrier(struct pmi1_client *c, const struct pmi1_barrier_in *m, bool *broken_p,
                            struct errmsg *err);

/* Raw bytes after a message. */
int pmi1_rpc_read_bytes(struct pmi1_client *c, size_t n, struct slice *bytes_p, struct errmsg *err);

/* Sends the added puts, then `in`; reads the outstanding replies, then `want`. */
int pmi1_rpc_call(struct pmi1_client *c, enum pmi1_msg msg, const void *in, enum pmi1_msg want,
                  struct errmsg *err);

/* The refusal of an earlier put that was not reported yet, or 0. */
int pmi1_rpc_put_verdict(struct pmi1_client *c, struct errmsg *err);

/* Sends `abort`, even while another thread waits for a reply. */
void pmi1_rpc_abort(struct pmi1_client *c, const struct pmi1_abort *m);

#endif
