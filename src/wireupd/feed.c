/* feed.c - see feed.h. */
#include "wireupd/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limit.h"

static void feed_writable(void *arg);

void feed_open(struct feed *f, struct loop *l, int fd, feed_taken *taken, void *arg)
{
    *f = (struct feed){ .fd = fd, .taken = taken, .arg = arg };
    buf_init(&f->queue, LIMIT_PUSH_QUEUE);
    watch_open(&f->watch, l, fd, NULL, feed_writable, f);
}

static void tell_all(struct feed *f, bool taken)
{
    uint64_t *tickets = f->tickets;
    uint32_t n = f->ntickets;

    f->tickets = NULL;
    f->ntickets = 0;
    for (uint32_t i = 0; i < n; i++)
        f->taken(f->arg, tickets[i], taken);
    free(tickets);
}

static void close_pipe(struct feed *f)
{
    watch_close(&f->watch);
    close(f->fd);
    f->fd = -1;
    buf_free(&f->queue);
}

void feed_close(struct feed *f)
{
    if (f->fd >= 0)
        close_pipe(f);
    tell_all(f, false);
}

static void flush(struct feed *f)
{
    while (buf_len(&f->queue)) {
        struct slice s = buf_slice(&f->queue);
        ssize_t n = write(f->fd, s.ptr, s.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            watch_want(&f->watch, LOOP_WRITE);
            return;
        }
        if (n < 0) { /* the process has closed it */
            feed_close(f);
            return;
        }
        buf_take(&f->queue, (size_t)n);
    }
    watch_want(&f->watch, 0);
    if (f->ends)
        close_pipe(f);
    tell_all(f, true);
}

static void feed_writable(void *arg)
{
    flush(arg);
}

static bool keep_ticket(struct feed *f, uint64_t ticket)
{
    uint64_t *more = realloc(f->tickets, (f->ntickets + (size_t)1) * sizeof *more);

    if (!more)
        return false;
    f->tickets = more;
    more[f->ntickets++] = ticket;
    return true;
}

void feed_write(struct feed *f, struct slice bytes, uint64_t ticket)
{
    if (!feed_is_open(f)) {
        if (ticket)
            f->taken(f->arg, ticket, false);
        return;
    }
    buf_slice_put(&f->queue, bytes);
    if (!buf_ok(&f->queue) || (ticket && !keep_ticket(f, ticket))) {
        if (ticket)
            f->taken(f->arg, ticket, false);
        feed_close(f); /* a piece is missing: what follows would be something else */
        return;
    }
    f->ends = bytes.len == 0;
    flush(f);
}
