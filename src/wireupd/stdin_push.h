/* stdin_push.h - the standard input of one process, fed with what others send it (PMIx_IOF_push).
 *
 * Who sends is answered when the process has taken most of it, so that nobody sends faster than it
 * reads.
 */
#ifndef WIREUP_WIREUPD_STDIN_PUSH_H
#define WIREUP_WIREUPD_STDIN_PUSH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "io/loop.h"

/* Somebody's piece has been taken, or (false) nobody reads any more. */
typedef void stdin_push_taken(void *arg, uint64_t ticket, bool taken);

struct stdin_push {
    int fd; /* ours; -1: closed, or never opened */
    struct watch watch;
    struct buf queue;
    bool ends;         /* when the queue is empty */
    uint64_t *tickets; /* of who waits */
    uint32_t ntickets;
    stdin_push_taken *taken;
    void *arg;
};

/* Zeroed memory with fd -1 is a feed that is closed. */
void stdin_push_open(struct stdin_push *f, struct loop *l, int fd, stdin_push_taken *taken,
                     void *arg);
void stdin_push_close(struct stdin_push *f); /* harmless twice; who waits is told */

static inline bool stdin_push_is_open(const struct stdin_push *f)
{
    return f->fd >= 0 && !f->ends;
}

/* Empty bytes are the end.  ticket 0: nobody waits; else taken() is called with it, now or later.
 */
void stdin_push_write(struct stdin_push *f, struct slice bytes, uint64_t ticket);

#endif
