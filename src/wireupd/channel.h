/* channel.h - one direction of a stream between two daemons: bytes of a descriptor here come out of
 * a descriptor there.
 *
 * The reading end may have LIMIT_CHANNEL_WINDOW bytes on the way; the writing end gives credit for
 * what it has written.  So a reader of ours that does not read stops the writer on the other node,
 * and nobody in between holds more than a window.  A reader that has gone is told to the other end,
 * which closes: so the fact travels to whoever writes, as through a pipe.  Messages are the
 * owner's: a channel says what is to be sent by a callback, and is told what has come.
 */
#ifndef WIREUP_WIREUPD_CHANNEL_H
#define WIREUP_WIREUPD_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "io/loop.h"
#include "overlay/msg.h"

struct channel;

struct channel_ops {
    /* Reading end: send these bytes; none: the end. */
    void (*data)(void *arg, struct channel *c, struct slice bytes);
    /* Writing end: so many bytes have been passed on. */
    void (*credit)(void *arg, struct channel *c, uint64_t count);
    /* Writing end: nobody reads what is written; ended() follows. */
    void (*unread)(void *arg, struct channel *c);
    /* The descriptor is closed: everything has been passed on (or nobody takes it any more). */
    void (*ended)(void *arg, struct channel *c);
};

/* Zeroed memory with fd -1 is a closed channel. */
struct channel {
    const struct channel_ops *ops;
    void *arg;
    uint32_t position, number; /* of the other end; which stream */
    int fd;
    bool writes;      /* what comes from the other end is written to fd */
    bool eof;         /* no more will come */
    uint64_t window;  /* reading end: may still be sent */
    struct buf queue; /* writing end: not yet written */
    struct watch watch;
};

/* fd becomes the channel's and non-blocking.  0 or -errno. */
int channel_open(struct channel *c, struct loop *l, int fd, bool writes,
                 const struct channel_ops *ops, void *arg);
/* Without a word to anybody; harmless twice. */
void channel_close(struct channel *c);

/* What the callbacks send, as messages. */
struct msg channel_data_msg(const struct channel *c, struct slice bytes);
struct msg channel_credit_msg(const struct channel *c, uint64_t count);
struct msg channel_unread_msg(const struct channel *c);

/* Messages of the other end.  False: it sent more than it may, or credit that nobody owes. */
bool channel_data(struct channel *c, struct slice bytes);
bool channel_credit(struct channel *c, uint64_t count);

/* Nobody reads at the other end: a reading end closes, so that whoever writes here gets what it
 * would get there (EPIPE). */
void channel_unread(struct channel *c);

/* A reading end takes what is there now, as far as the window goes. */
void channel_catch_up(struct channel *c);

/* The other end has gone: a writing end writes what it has and closes, a reading end closes. */
void channel_cut(struct channel *c);

#endif
