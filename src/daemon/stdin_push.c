/* stdin_push.c - see stdin_push.h. */
#include "daemon/stdin_push.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limit.h"

static void stdin_push_writable(void *arg);

void stdin_push_open(struct stdin_push *f, struct loop *l, int fd, stdin_push_taken *taken,
                     void *arg)
{
    *f = (struct stdin_push){ .fd = fd, .taken = taken, .arg = arg };
    buf_init(&f->queue, LIMIT_PUSH_QUEUE);
    watch_open(&f->watch, l, fd, NULL, stdin_push_writable, f);
}

static void answer_all(struct stdin_push *f, bool taken)
{
    uint64_t *tickets = f->tickets;
    uint32_t n = f->ntickets;

    f->tickets = NULL;
    f->ntickets = 0;
    for (uint32_t i = 0; i < n; i++)
        f->taken(f->arg, tickets[i], taken);
    free(tickets);
}

static void close_pipe(struct stdin_push *f)
{
    watch_close(&f->watch);
    close(f->fd);
    f->fd = -1;
    buf_free(&f->queue);
}

void stdin_push_close(struct stdin_push *f)
{
    if (f->fd >= 0)
        close_pipe(f);
    answer_all(f, false);
}

static void flush(struct stdin_push *f)
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
            stdin_push_close(f);
            return;
        }
        buf_take(&f->queue, (size_t)n);
    }
    watch_want(&f->watch, 0);
    if (f->ends)
        close_pipe(f);
    answer_all(f, true);
}

static void stdin_push_writable(void *arg)
{
    flush(arg);
}

static bool keep_ticket(struct stdin_push *f, uint64_t ticket)
{
    uint64_t *more = realloc(f->tickets, (f->ntickets + (size_t)1) * sizeof *more);

    if (!more)
        return false;
    f->tickets = more;
    more[f->ntickets++] = ticket;
    return true;
}

void stdin_push_write(struct stdin_push *f, struct slice bytes, uint64_t ticket)
{
    if (!stdin_push_is_open(f)) {
        if (ticket)
            f->taken(f->arg, ticket, false);
        return;
    }
    buf_slice_put(&f->queue, bytes);
    if (!buf_ok(&f->queue) || (ticket && !keep_ticket(f, ticket))) {
        if (ticket)
            f->taken(f->arg, ticket, false);
        stdin_push_close(f); /* a piece is missing: the bytes after it would be wrong */
        return;
    }
    f->ends = bytes.len == 0;
    flush(f);
}
