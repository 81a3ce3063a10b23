/* client_conn.h - a connection to a PMIx server: framed messages, in both directions.
 *
 * Writing: a message is packed straight into `out` (conn_begin, conn_end) and leaves with the next
 * conn_flush, which never waits.  Reading: conn_receive takes what the socket has, conn_frame cuts
 * messages from it; a message's bytes are handed over, not copied again.
 *
 * Not locked.  Writing and cutting belong to who holds the client's lock, conn_receive to the one
 * who has the reader's role (client_op.h): it touches nothing that the others use.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CONN_H
#define WIREUP_LIB_PMIX_CLIENT_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/pmix/client_env.h"
#include "lib/pmix/client_hello.h"

enum { CONN_HEADER = 16, CONN_STAGE = 8192 };

/* A message as it came.  bytes is malloc'ed, and NULL only when len is 0. */
struct frame {
    uint32_t tag;
    unsigned char *bytes;
    size_t len;
};

struct conn {
    int fd;         /* -1: none */
    bool inherited; /* it is left open, and as it was found */
    uint32_t index; /* goes into every header */
    struct buf out;
    /* The message under way: header first, then as much of it as has come. */
    unsigned char header[CONN_HEADER];
    size_t have_header, have, room;
    struct frame f;
    /* Received and not yet looked at. */
    size_t at, end;
    unsigned char stage[CONN_STAGE]; /* the last: what is not used of it is not touched */
};

/* Connected with nobody. */
void conn_reset(struct conn *c);

/* Connects.  0 or -errno with a sentence. */
int conn_dial(struct conn *c, const struct pmix_uri *uri, struct errmsg *err);

/* Takes over an inherited socket that leads to our own server, if nobody uses it yet.
 * 0; -EBUSY: somebody does; -ENOTSOCK: it is none of the right kind. */
int conn_adopt(struct conn *c, int fd);

/* Says hello and waits for the answer; *passed_p is a descriptor that came along, or -1.
 * 0; -ECONNREFUSED: closed without a word; -EPROTO; other -errno; with a sentence. */
int conn_greet(struct conn *c, const struct hello *h, struct welcome *w, int *passed_p,
               struct errmsg *err);

void conn_close(struct conn *c); /* harmless twice */

/* In a forked child: the connection is the parent's; only our descriptor goes. */
void conn_abandon(struct conn *c);

/* Makes room for a header; what is appended to c->out from now on is the message. */
size_t conn_begin(struct conn *c);
/* Completes the message that began there.  False: it cannot be sent (no memory, too long) and is
 * gone from the buffer. */
bool conn_end(struct conn *c, size_t from, uint32_t tag);
void conn_drop(struct conn *c, size_t from); /* the message is not sent after all */

/* Writes without waiting.  0: all is out; 1: something is left; -EPIPE: the server is gone. */
int conn_flush(struct conn *c);

/* Waits (wait: until something comes) and takes one piece.  >0 bytes; 0: nothing there;
 * -EPIPE: the server is gone; -EMSGSIZE; -ENOMEM. */
int conn_receive(struct conn *c, bool wait);

/* The next message.  1; 0: not yet; -EMSGSIZE: too long to be one; -ENOMEM. */
int conn_frame(struct conn *c, struct frame *f_p);

#endif
