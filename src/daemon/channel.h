/* channel.h - one direction of a stream between two daemons: bytes read from a descriptor here are
 * written to a descriptor there.
 *
 * The reading end may have a window of bytes in flight (cluster/window.h); the writing end gives
 * credit for the bytes that it has written.  So a reader that stops reading stops the writer on the
 * other node, and no daemon in between holds more than one window.  When the reader has gone, the
 * other end is notified and closes, so that the writing program gets EPIPE as from a pipe.  The
 * owner sends and receives the messages: a channel passes outgoing data to callbacks, and the owner
 * calls it for incoming messages.
 */
#ifndef WIREUP_DAEMON_CHANNEL_H
#define WIREUP_DAEMON_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "io/loop.h"
#include "cluster/msg_address.h"
#include "cluster/window.h"

struct channel;

struct channel_ops {
    /* Reading end: send these bytes; empty: end of stream. */
    void (*data)(void *arg, struct channel *c, struct slice bytes);
    /* Writing end: this many bytes have been written. */
    void (*credit)(void *arg, struct channel *c, uint64_t count);
    /* Writing end: the reader has gone; ended() follows. */
    void (*unread)(void *arg, struct channel *c);
    /* The descriptor is closed: everything has been passed on (or has no reader any more). */
    void (*ended)(void *arg, struct channel *c);
};

/* Zeroed memory with fd -1 is a closed channel. */
struct channel {
    const struct channel_ops *ops;
    void *arg;
    uint32_t position, number; /* position of the other end; number of the stream */
    int fd;
    bool writes; /* bytes from the other end are written to fd */
    bool eof;    /* no more data will come */
    struct window window;
    struct buf queue; /* writing end: not yet written */
    struct watch watch;
};

/* The channel owns fd and makes it non-blocking.  0 or -errno. */
int channel_open(struct channel *c, struct loop *l, int fd, bool writes,
                 const struct channel_ops *ops, void *arg);
/* Notifies nobody; harmless twice. */
void channel_close(struct channel *c);

/* The messages that the callbacks send. */
struct msg channel_data_msg(const struct channel *c, struct slice bytes);
struct msg channel_credit_msg(const struct channel *c, uint64_t count);
struct msg channel_unread_msg(const struct channel *c);

/* Messages from the other end.  False: it sent more than its window, or credit for bytes that were
 * never sent. */
bool channel_data(struct channel *c, struct slice bytes);
bool channel_credit(struct channel *c, uint64_t count);

/* The reader at the other end has gone: a reading end closes, so that its writer gets EPIPE. */
void channel_unread(struct channel *c);

/* A reading end reads the available bytes now, up to the window. */
void channel_catch_up(struct channel *c);

/* The other end has gone: a writing end writes its queue and closes, a reading end closes. */
void channel_cut(struct channel *c);

#endif
