/* client_conn.h - a connection to a PMIx server: framed messages, in both directions.
 *
 * Writing: a message is packed straight into `out` (conn_begin, conn_end) and leaves with the next
 * conn_flush, which never waits.  Reading: conn_receive takes the bytes in the socket, conn_frame
 * cuts messages from it; a message's bytes are handed over, not copied again.
 *
 * Not locked.  Writing and cutting belong to the holder of the client's lock, conn_receive to the
 * thread with the reader's role (client_op.h): it touches nothing that the others use.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_CONN_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/pmix/client/client_env.h"
#include "lib/pmix/client/client_hello.h"

enum { CONN_HEADER = 16, CONN_STAGE = 8192 };

/* A received message.  bytes is malloc'ed, and NULL only when len is 0. */
struct frame {
    uint32_t tag;
    unsigned char *bytes;
    size_t len;
};

struct conn {
    int fd;         /* -1: none */
    bool inherited; /* left open at the end, with its old flags */
    uint32_t index; /* goes into every header */
    struct buf out;
    /* The message being received: header first, then as much of it as has come. */
    unsigned char header[CONN_HEADER];
    size_t have_header, have, room;
    struct frame f;
    /* Received and not yet looked at. */
    size_t at, end;
    unsigned char stage[CONN_STAGE]; /* last: its unused pages are never touched */
};

/* Sets it to unconnected. */
void conn_reset(struct conn *c);

/* Connects.  0 or -errno with a sentence. */
int conn_dial(struct conn *c, const struct pmix_uri *uri, struct errmsg *err);

/* Takes over a socket that is connected. */
void conn_take(struct conn *c, int fd);

/* Takes over an inherited socket to our own server, if no other process uses it yet. 0; -EBUSY:
 * in use; -ENOTSOCK: not a socket of the right kind. */
int conn_adopt(struct conn *c, int fd);

/* The server has refused the hello; why is the reply's status. */
enum { CONN_REFUSED = 1 };

/* Sends the hello and waits for the reply; *passed_p is a descriptor that came along, or -1. 0;
 * CONN_REFUSED; -ECONNREFUSED: closed without a reply; other -errno; with a sentence. */
int conn_greet(struct conn *c, const struct hello *h, struct welcome *w, int *passed_p,
               struct errmsg *err);

void conn_close(struct conn *c); /* idempotent */

/* In a forked child: the connection is the parent's; closes only our descriptor. */
void conn_abandon(struct conn *c);

/* Reserves a header; the bytes appended to c->out from now on are the message. */
size_t conn_begin(struct conn *c);
/* Completes the message that began at from.  False: it cannot be sent (no memory, too long) and
 * is removed from the buffer. */
bool conn_end(struct conn *c, size_t from, uint32_t tag);
void conn_drop(struct conn *c, size_t from); /* discards the message */

/* Writes without waiting.  0: everything is written; 1: something is left; -EPIPE: the server is
 * gone. */
int conn_flush(struct conn *c);

/* Receives one piece (wait: blocks until something comes).  >0 bytes; 0: nothing there; -EPIPE:
 * the server is gone; -EMSGSIZE; -ENOMEM. */
int conn_receive(struct conn *c, bool wait);

/* The next message.  1; 0: not complete yet; -EMSGSIZE: impossible length; -ENOMEM. */
int conn_frame(struct conn *c, struct frame *f_p);

#endif
