/* stdin_push.h - the standard input of one process, filled with data from others
 * (PMIx_IOF_push).
 *
 * A sender is answered when the process has taken most of its data, so that nobody sends faster
 * than the process reads.
 */
#ifndef WIREUP_DAEMON_STDIN_PUSH_H
#define WIREUP_DAEMON_STDIN_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "io/loop.h"

/* A piece has been taken, or (false) nobody reads any more. */
typedef void stdin_push_taken(void *arg, uint64_t ticket, bool taken);

struct stdin_push {
    int fd; /* ours; -1: closed, or never opened */
    struct watch watch;
    struct buf queue;
    bool ends;         /* EOF when the queue is empty */
    uint64_t *tickets; /* of the waiting senders */
    uint32_t ntickets;
    stdin_push_taken *taken;
    void *arg;
};

/* Zeroed memory with fd -1 is a closed queue. */
void stdin_push_open(struct stdin_push *f, struct loop *l, int fd, stdin_push_taken *taken,
                     void *arg);
void stdin_push_close(struct stdin_push *f); /* harmless twice; waiting senders are answered */

static inline bool stdin_push_is_open(const struct stdin_push *f)
{
    return f->fd >= 0 && !f->ends;
}

/* Empty bytes mean EOF.  ticket 0: no answer wanted; else taken() is called with it, now or later.
 */
void stdin_push_write(struct stdin_push *f, struct slice bytes, uint64_t ticket);

#endif
